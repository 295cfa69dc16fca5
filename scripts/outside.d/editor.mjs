// What the clients of this folder share: an editor on the official TypeScript SDK that keeps what it is shown, bounded
// waits, and a transcript on standard output.
import { spawn } from "node:child_process";
import { Readable, Writable } from "node:stream";
import * as acp from "@agentclientprotocol/sdk";

export const PATIENCE = 30_000;
export const { agent: methods } = acp.methods;

export const say = (arrow, what) => console.log(`${arrow} ${what}`);

export const check = (holds, sentence) => {
  if (!holds) throw new Error(sentence);
};

export const within = (promise, what) =>
  Promise.race([
    promise,
    new Promise((_, reject) => setTimeout(() => reject(new Error(`no ${what} within ${PATIENCE} ms`)), PATIENCE).unref()),
  ]);

const brief = (text) => (text.length > 80 ? `${text.slice(0, 80)}...` : text);

// One agent process and the connection to it.
export class Editor {
  static all = [];

  // `wanted` are the kinds of the options to choose, question by question; `hands` is what does the editor's part.
  constructor([command, ...args], wanted = [], hands = undefined) {
    this.wanted = [...wanted];
    this.questions = [];
    this.updates = []; // {at: milliseconds, update}
    this.statuses = new Map(); // tool call id -> the statuses it had
    this.complaints = []; // of handlers, whose errors the SDK would send to the agent
    this.onUpdate = () => {};
    this.process = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"] });
    this.ended = new Promise((resolve) => this.process.on("exit", (code, signal) => resolve(code ?? signal)));
    Editor.all.push(this);
    const app = acp
      .client({ name: "outside" })
      .onRequest(acp.methods.client.session.requestPermission, ({ params }) => this.answer(params))
      .onNotification(acp.methods.client.session.update, ({ params: { update } }) => this.shown(update));
    for (const [method, handle] of Object.entries(hands?.handlers() ?? {})) {
      const handler = ({ params }) => {
        hands.calls.push(method);
        say("<-", method);
        return handle(params);
      };
      // Methods of our own are not in the SDK: their params pass as they are.
      if (method.startsWith("_")) app.onRequest(method, (params) => params, handler);
      else app.onRequest(method, handler);
    }
    const streams = [Writable.toWeb(this.process.stdin), Readable.toWeb(this.process.stdout)];
    this.connection = app.connect(acp.ndJsonStream(...streams));
  }

  answer(question) {
    const kind = this.wanted.shift();
    this.questions.push(question);
    const option = question.options.find((one) => one.kind === kind);
    if (!this.statuses.has(question.toolCall.toolCallId)) this.complaints.push("a question came before its tool call");
    if (!option) this.complaints.push(`no option of kind ${kind} was offered`);
    say("<-", `may I: ${question.toolCall.title} [${question.options.map((one) => one.kind).join(", ")}]`);
    say("->", option.name);
    return { outcome: { outcome: "selected", optionId: option.optionId } };
  }

  shown(update) {
    this.updates.push({ at: performance.now(), update });
    if (update.sessionUpdate === "tool_call" || update.sessionUpdate === "tool_call_update") {
      const statuses = this.statuses.get(update.toolCallId) ?? [];
      if (update.sessionUpdate === "tool_call_update" && !statuses.length) {
        this.complaints.push("an update came before its tool call");
      }
      this.statuses.set(update.toolCallId, [...statuses, update.status ?? statuses.at(-1) ?? "pending"]);
      say("<-", `${update.sessionUpdate} ${update.title ?? ""} ${update.status ?? ""}`.trim());
    }
    this.onUpdate();
  }

  // The updates from the given place on.
  since(start) {
    return this.updates.slice(start).map((one) => one.update);
  }

  text(start = 0, until = Infinity) {
    return this.updates
      .slice(start)
      .filter(({ at, update }) => at <= until && update.sessionUpdate === "agent_message_chunk")
      .map(({ update }) => update.content.text ?? "")
      .join("");
  }

  // Resolves with the first update after which the condition holds.
  until(condition, what) {
    return within(
      new Promise((resolve) => {
        this.onUpdate = () => condition() && resolve();
        this.onUpdate();
      }),
      what,
    );
  }

  request(method, params) {
    return within(this.connection.agent.request(method, params), `answer to ${method}`);
  }

  // The code of the error that this request is answered with.
  async refusal(method, params) {
    const code = await this.request(method, params).then(
      () => undefined,
      (error) => error.code,
    );
    say("<-", `${method}: ${code ?? "no error"}`);
    return code;
  }

  async initialize(clientCapabilities = {}) {
    const greeting = await this.request(methods.initialize, {
      protocolVersion: acp.PROTOCOL_VERSION,
      clientCapabilities,
    });
    say("<-", `protocol ${greeting.protocolVersion}, ${greeting.agentInfo?.name} ${greeting.agentInfo?.version}`);
    check(greeting.protocolVersion === 1, "the protocol version is not 1");
    return greeting;
  }

  async ask(sessionId, prompt) {
    const start = this.updates.length;
    say("->", prompt);
    const params = { sessionId, prompt: [{ type: "text", text: prompt }] };
    const { stopReason } = await this.request(methods.session.prompt, params);
    say("<-", `${brief(this.text(start))} [${stopReason}]`);
    return stopReason;
  }

  // Ends the agent by the end of its input.
  async close() {
    this.process.stdin.end();
    const code = await within(this.ended, "exit of the agent");
    say("--", `the agent ended with ${code}`);
    check(code === 0, `the agent ended with ${code}`);
  }

  // Kills the agent with SIGKILL, which the tee does when it is told to.
  async kill() {
    this.process.kill("SIGUSR1");
    const code = await within(this.ended, "exit of the agent");
    say("--", `the agent was killed: ${code}`);
    check(code === 128 + 9, `the killed agent ended with ${code}`);
  }
}

// Runs a client to its end. The process ends with 1 and a sentence when something is not as it has to be.
export async function main(client) {
  let status = 0;
  try {
    await client();
    const complaints = Editor.all.flatMap((editor) => editor.complaints);
    check(!complaints.length, complaints.join("; "));
  } catch (error) {
    console.log(`FAILED: ${error.message}`);
    status = 1;
  }
  for (const editor of Editor.all) editor.process.kill();
  process.exit(status);
}
