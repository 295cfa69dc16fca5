// An editor whose agent goes away in the middle of a turn, and which goes on with the stored session in another one.
// Usage: node restart_client.mjs FOLDER kill|close FIRST SECOND (the commands of the two agents as JSON arrays)
// Prints a transcript; ends with 1 and a sentence when something is not as it has to be.
import { deepStrictEqual as same } from "node:assert";
import { tmpdir } from "node:os";
import { Editor, check, main, methods, say } from "./editor.mjs";
import { fold } from "./fold.mjs";

const [folder, how, first, second] = process.argv.slice(2);
const KEPT = 500; // milliseconds: what was shown longer than this before a kill is on the disk
const ENOUGH = 1500; // characters of such an age, so that it takes more than one save
const ABILITIES = ["additionalDirectories", "close", "delete", "list", "resume"];
const FINISHED = "write a file";
const BROKEN = "count for ever";
const opening = (sessionId, cwd = folder) => ({ sessionId, cwd, mcpServers: [] });

// Another value of a select option, or its only one.
function choice(option) {
  const values = option.options.flatMap((one) => one.options ?? [one]).map((one) => one.value);
  return values.find((value) => value !== option.currentValue) ?? option.currentValue;
}

// The first agent: a finished turn, and one in which the agent goes away. What it has shown, and what of it must last.
async function before() {
  const editor = new Editor(JSON.parse(first), ["allow_once"]);
  const { agentCapabilities: can } = await editor.initialize();
  check(can.loadSession === true, "loadSession is not advertised");
  const missing = ABILITIES.filter((name) => !can.sessionCapabilities?.[name]);
  check(!missing.length, `not advertised: ${missing.join(", ")}`);

  const { sessionId, configOptions = [] } = await editor.request(methods.session.new, { cwd: folder, mcpServers: [] });
  check((await editor.ask(sessionId, FINISHED)) === "end_turn", "the first turn did not end with end_turn");
  const finished = fold(editor.since(0));
  // Not the mode, which a replay shows too: what is compared was seen before the choice.
  const option = configOptions?.find((one) => one.type === "select" && one.category !== "mode");
  const chosen = option && { configId: option.id, value: choice(option) };
  if (chosen) {
    await editor.request(methods.session.setConfigOption, { sessionId, ...chosen });
    say("->", `${chosen.configId} = ${chosen.value}`);
  }

  const start = editor.updates.length;
  const running = editor.ask(sessionId, BROKEN).catch((error) => error);
  const old = () => editor.text(start, performance.now() - KEPT).length >= ENOUGH;
  await editor.until(old, "text of some age");
  const lasting = editor.text(start, how === "kill" ? performance.now() - KEPT : Infinity);
  await (how === "kill" ? editor.kill() : editor.close());
  const end = await running;
  check(how === "kill" ? end instanceof Error : end === "cancelled", `the broken turn ended with ${end}`);
  return { sessionId, finished, chosen, lasting, broken: fold(editor.since(start)), shown: editor.text(start) };
}

// Every session that the agent lists, or those of a folder.
async function list(editor, filter) {
  const { sessions } = await editor.request(methods.session.list, filter);
  say("<-", `session/list ${JSON.stringify(filter)}: ${sessions.map((one) => one.title).join(", ") || "none"}`);
  return sessions;
}

// The fold of what a load shows, and the answer.
async function load(editor, sessionId) {
  const start = editor.updates.length;
  const answer = await editor.request(methods.session.load, opening(sessionId));
  const replayed = fold(editor.since(start));
  say("<-", `session/load: ${replayed.placed.map(([what]) => what.split(" ")[0]).join(", ")}`);
  return { replayed, answer };
}

// That these entries are a user's prompt and what was shown in its turn.
function sameTurn([[what, prompt], ...rest], text, live) {
  check(what.startsWith("user_message_chunk "), `a turn begins with ${what}`);
  same(prompt, [{ type: "text", text }]);
  same(rest, live);
}

// The replay of the turn that broke off: the same message, with at least the lasting part of what was shown.
function sameBeginning([[what, prompt], ...rest], live) {
  check(what.startsWith("user_message_chunk "), `the broken turn begins with ${what}`);
  same(prompt, [{ type: "text", text: BROKEN }]);
  same(rest.map(([name]) => name), live.broken.placed.map(([name]) => name));
  const [{ text }] = rest[0][1];
  say("--", `of the broken answer ${text.length} characters came back; ${live.lasting.length} had to, ${live.shown.length} were shown`);
  check(text.startsWith(live.lasting), "text that was shown long before the end is lost");
  check("tick ".repeat(text.length).startsWith(text), "the broken text is not what the model said");
  check(how === "kill" || text === live.shown, "the text of the cancelled turn is not what was shown");
}

async function after(live) {
  const { sessionId } = live;
  const editor = new Editor(JSON.parse(second));
  await editor.initialize();
  for (const filter of [{}, { cwd: folder }]) {
    const listed = await list(editor, filter);
    check(listed.length === 1 && listed[0].sessionId === sessionId, "the list does not have just this session");
    check(listed[0].title && listed[0].title !== sessionId, `the title is ${listed[0].title}`);
    check(listed[0].cwd === folder, `the folder is ${listed[0].cwd}`);
  }
  check((await list(editor, { cwd: tmpdir() })).length === 0, "another folder's list is not empty");

  const other = opening(sessionId, tmpdir());
  check((await editor.refusal(methods.session.load, other)) === -32602, "another cwd was not refused");
  const { replayed, answer } = await load(editor, sessionId);
  const turn = live.finished.placed.length + 1;
  sameTurn(replayed.placed.slice(0, turn), FINISHED, live.finished.placed);
  sameBeginning(replayed.placed.slice(turn), live);
  same(replayed.last, live.finished.last);
  if (live.chosen) {
    const option = answer.configOptions.find((one) => one.id === live.chosen.configId);
    check(option.currentValue === live.chosen.value, `the option is ${option.currentValue}`);
  }

  const start = editor.updates.length;
  check((await editor.ask(sessionId, "are you there?")) === "end_turn", "the last turn did not end with end_turn");
  check(editor.text(start) === "Still here.", `the last answer was ${JSON.stringify(editor.text(start))}`);
  const lastTurn = fold(editor.since(start)).placed;

  const resumed = editor.updates.length; // nothing before its answer: the caller looks at the frames
  await editor.request(methods.session.resume, opening(sessionId));
  same(fold(editor.since(resumed)).placed, []);
  say("<-", "session/resume");
  check((await editor.refusal(methods.session.load, other)) === -32602, "another cwd was not refused");

  await editor.request(methods.session.close, { sessionId });
  say("<-", "session/close");
  const again = (await load(editor, sessionId)).replayed.placed;
  same(again.slice(0, replayed.placed.length), replayed.placed);
  sameTurn(again.slice(replayed.placed.length), "are you there?", lastTurn);

  for (const _ of [1, 2]) same(await editor.request(methods.session.delete, { sessionId }), {});
  check((await list(editor, {})).length === 0, "the list is not empty after the delete");
  check((await editor.refusal(methods.session.load, opening(sessionId))) === -32002, "a deleted session was loaded");
  await editor.close();
}

await main(async () => after(await before()));
