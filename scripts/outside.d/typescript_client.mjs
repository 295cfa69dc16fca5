// An editor written with the official TypeScript SDK: initialize, new session, a prompt with permission, a refusal,
// a cancel, and one more prompt. Usage: node typescript_client.mjs FOLDER COMMAND [ARGUMENT...]
// Prints a transcript; ends with 1 and a sentence when something is not as it has to be.
import { spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Readable, Writable } from "node:stream";
import * as acp from "@agentclientprotocol/sdk";

const PATIENCE = 30_000;
const [folder, command, ...args] = process.argv.slice(2);
const agent = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"] });
const ended = new Promise((resolve) => agent.on("exit", (code, signal) => resolve(code ?? signal)));

const say = (arrow, what) => console.log(`${arrow} ${what}`);
const check = (holds, sentence) => {
  if (!holds) throw new Error(sentence);
};
const within = (promise, what) =>
  Promise.race([
    promise,
    new Promise((_, reject) => setTimeout(() => reject(new Error(`no ${what} within ${PATIENCE} ms`)), PATIENCE).unref()),
  ]);

const wanted = ["allow_once", "reject_once"];
const questions = [];
const cards = new Map(); // tool call id -> the statuses it had
let text = "";
let onText = () => {};

const app = acp
  .client({ name: "outside" })
  .onRequest(acp.methods.client.session.requestPermission, ({ params }) => {
    const kind = wanted.shift();
    questions.push(params);
    check(cards.has(params.toolCall.toolCallId), "the question came before its tool call");
    const option = params.options.find((one) => one.kind === kind);
    check(option, `no option of kind ${kind} was offered`);
    say("<-", `may I: ${params.toolCall.title} [${params.options.map((one) => one.kind).join(", ")}]`);
    say("->", option.name);
    return { outcome: { outcome: "selected", optionId: option.optionId } };
  })
  .onNotification(acp.methods.client.session.update, ({ params: { update } }) => {
    if (update.sessionUpdate === "agent_message_chunk") {
      text += update.content.text ?? "";
      onText();
    } else if (update.sessionUpdate === "tool_call" || update.sessionUpdate === "tool_call_update") {
      const statuses = cards.get(update.toolCallId) ?? [];
      check(update.sessionUpdate === "tool_call" || statuses.length > 0, "an update came before its tool call");
      cards.set(update.toolCallId, [...statuses, update.status ?? statuses.at(-1) ?? "pending"]);
      say("<-", `${update.sessionUpdate} ${update.title ?? ""} ${update.status ?? ""}`.trim());
    }
  });

const textHolds = (piece) =>
  within(
    new Promise((resolve) => {
      onText = () => text.includes(piece) && resolve();
      onText();
    }),
    `text with "${piece}"`,
  );

async function converse(ctx) {
  const greeting = await within(
    ctx.request(acp.methods.agent.initialize, { protocolVersion: acp.PROTOCOL_VERSION, clientCapabilities: {} }),
    "answer to initialize",
  );
  say("<-", `protocol ${greeting.protocolVersion}, ${greeting.agentInfo?.name} ${greeting.agentInfo?.version}`);
  check(greeting.protocolVersion === 1, "the protocol version is not 1");
  const { sessionId } = await within(
    ctx.request(acp.methods.agent.session.new, { cwd: folder, mcpServers: [] }),
    "new session",
  );
  const ask = async (prompt) => {
    text = "";
    say("->", prompt);
    const params = { sessionId, prompt: [{ type: "text", text: prompt }] };
    const { stopReason } = await within(ctx.request(acp.methods.agent.session.prompt, params), "end of the turn");
    say("<-", `${text.length > 80 ? `${text.slice(0, 80)}...` : text} [${stopReason}]`);
    return stopReason;
  };

  check((await ask("write a file")) === "end_turn", "the allowed turn did not end with end_turn");
  check(readFileSync(join(folder, "hello.txt"), "utf8") === "hi\n", "hello.txt was not written");
  check(cards.get(questions[0].toolCall.toolCallId).at(-1) === "completed", "the allowed card is not completed");

  check((await ask("write another")) === "end_turn", "the refused turn did not end with end_turn");
  check(!existsSync(join(folder, "no.txt")), "no.txt was written although it was refused");
  check(cards.get(questions[1].toolCall.toolCallId).at(-1) === "failed", "the refused card is not failed");

  const running = ask("count for ever");
  await textHolds("tick tick ");
  say("->", "cancel");
  await ctx.notify(acp.methods.agent.session.cancel, { sessionId });
  check((await running) === "cancelled", "the cancelled turn did not end with cancelled");

  check((await ask("are you there?")) === "end_turn", "the turn after the cancel did not end with end_turn");
  check(text === "Still here.", `the last answer was ${JSON.stringify(text)}`);
}

let status = 0;
try {
  const stream = acp.ndJsonStream(Writable.toWeb(agent.stdin), Readable.toWeb(agent.stdout));
  await app.connectWith(stream, converse);
} catch (error) {
  console.log(`FAILED: ${error.message}`);
  status = 1;
}
agent.stdin.end();
const code = await within(ended, "exit of the agent").catch((error) => error.message);
if (code !== 0) {
  console.log(`FAILED: the agent ended with ${code}`);
  status = 1;
}
agent.kill();
process.exit(status);
