// An editor with hands, on the official TypeScript SDK: unsaved buffers, terminals, a form, a client tool, a link.
// Usage: node hands_client.mjs FOLDER AGENT (its command as a JSON array)
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { Editor, check, main, methods, say, within } from "./editor.mjs";
import { CAPABILITIES, Hands } from "./hands.mjs";

const [folder, agent] = process.argv.slice(2);
const path = join(folder, "a.txt");

await main(async () => {
  const hands = new Hands();
  const editor = new Editor(JSON.parse(agent), [], hands);
  const greeting = await editor.initialize(CAPABILITIES);
  const extension = greeting.agentCapabilities._meta.zidane.clientTools;
  check(extension.call === "_zidane/client_tool/call", "client tools are not advertised");
  const pick = { name: "pick", inputSchema: { type: "object", properties: { of: { type: "array" } }, required: ["of"] } };
  const { sessionId } = await editor.request(methods.session.new, {
    cwd: folder,
    mcpServers: [],
    _meta: { zidane: { clientTools: [pick] } },
  });
  const ask = (prompt) => editor.ask(sessionId, prompt);
  const cards = () => {
    const found = new Map();
    for (const { update } of editor.updates)
      if (update.toolCallId) found.set(update.toolCallId, { ...found.get(update.toolCallId), ...update });
    return [...found.values()];
  };
  const said = (card) => card.content.map((item) => item.content?.text ?? "").join("\n");
  const count = (method) => hands.calls.filter((one) => one === method).length;

  writeFileSync(path, "on disk\n");
  hands.buffers.set(path, "not saved\n");
  await ask("read a.txt");
  check(said(cards().at(-1)).startsWith("not saved\n"), "the unsaved text was not read");

  await ask("edit a.txt");
  check(count("fs/write_text_file") === 1, `${count("fs/write_text_file")} writes instead of one`);
  check(readFileSync(path, "utf8") === "now saved\n", "the edit did not go by the unsaved text");
  check(cards().at(-1).content[0].oldText === "not saved\n", "the diff is not that of the editor's text");

  await ask("change it by a command, then read it");
  const [command, read] = cards().slice(-2);
  check(command.content[0].type === "terminal", "the terminal is not on the card");
  check(command.rawOutput.exitCode === 0, "the command's exit code is not known");
  check(said(read).startsWith("by a command\n"), `the stale text was given: ${said(read)}`);
  check(said(read).includes("changed on disk"), "nobody was told of the stale text");

  await ask("run something slow");
  check(cards().at(-1).rawOutput.timedOut === true, "the slow command was not ended");
  const order = hands.calls.filter((one) => one.startsWith("terminal/")).slice(-5);
  check(order.join() === "terminal/create,terminal/wait_for_exit,terminal/kill,terminal/output,terminal/release", `the order was ${order}`);

  const running = ask("run for ever");
  await editor.until(() => hands.made.length === 3, "third terminal");
  await editor.until(() => cards().at(-1).content?.[0]?.type === "terminal", "terminal on the card");
  await editor.connection.agent.notify(methods.session.cancel, { sessionId });
  check((await running) === "cancelled", "the cancelled turn did not end with cancelled");
  await within(hands.terminals.get("term-3").ended, "end of the endless command");

  await ask("ask me");
  check(said(cards().at(-1)).includes('"colour":"blue"'), `the form's answer did not arrive: ${said(cards().at(-1))}`);
  await ask("pick one");
  check(said(cards().at(-1)) === "pick took blue", "the client tool did not answer");

  const reads = count("fs/read_text_file");
  const link = { type: "resource_link", uri: `${pathToFileURL(path)}#L1`, name: "a.txt" };
  const prompt = [{ type: "text", text: "look at" }, link];
  check((await editor.request(methods.session.prompt, { sessionId, prompt })).stopReason === "end_turn", "the link hung");
  check(count("fs/read_text_file") === reads + 1, "the linked file was not read through the editor");

  check(hands.made.join() === hands.released.join(), `made ${hands.made}, released ${hands.released}`);
  say("--", `${hands.made.length} terminals made and released`);
  await editor.close();
});
