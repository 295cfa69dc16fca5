// The hands of an editor: a real file system with unsaved buffers over it, real terminals, forms, and one client tool.
import { spawn } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import * as acp from "@agentclientprotocol/sdk";

const { fs, terminal, elicitation } = acp.methods.client;

export const CAPABILITIES = {
  fs: { readTextFile: true, writeTextFile: true },
  terminal: true,
  elicitation: { form: {} },
  session: { notices: {} },
};

export class Hands {
  constructor() {
    this.buffers = new Map(); // path -> text that the editor shows
    this.calls = []; // the methods that were called, in order
    this.terminals = new Map(); // id -> {child, output, ended}
    this.made = [];
    this.released = [];
    this.cancelled = []; // client tool calls that were given up
  }

  handlers() {
    return {
      [fs.readTextFile]: ({ path }) => ({ content: this.buffers.get(path) ?? readFileSync(path, "utf8") }),
      [fs.writeTextFile]: ({ path, content }) => {
        this.buffers.set(path, content);
        writeFileSync(path, content);
        return null; // as some editors answer
      },
      [terminal.create]: (params) => this.create(params),
      [terminal.waitForExit]: ({ terminalId }) => this.terminals.get(terminalId).ended,
      [terminal.output]: ({ terminalId }) => {
        const { output, status } = this.terminals.get(terminalId);
        return { output: output(), truncated: false, exitStatus: status() };
      },
      [terminal.kill]: ({ terminalId }) => this.end(terminalId),
      [terminal.release]: ({ terminalId }) => {
        this.end(terminalId);
        this.released.push(terminalId);
        return {};
      },
      [elicitation.create]: ({ requestedSchema }) => ({
        action: "accept",
        content: { colour: requestedSchema.properties.colour.enum.at(-1) },
      }),
      "_zidane/client_tool/call": ({ name, input }) => ({ content: `${name} took ${input.of.at(-1)}` }),
    };
  }

  create({ command, args = [], env = [], cwd }) {
    const variables = Object.fromEntries(env.map(({ name, value }) => [name, value]));
    const child = spawn(command, args, { cwd, env: { ...process.env, ...variables }, detached: true, stdio: ["ignore", "pipe", "pipe"] });
    let text = "";
    let status = null;
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (data) => (text += data));
    const ended = new Promise((resolve) =>
      child.on("close", (exitCode, signal) => resolve((status = { exitCode, signal }))),
    );
    const terminalId = `term-${this.made.length + 1}`;
    this.made.push(terminalId);
    this.terminals.set(terminalId, { child, ended, output: () => text, status: () => status });
    return { terminalId };
  }

  end(terminalId) {
    try {
      process.kill(-this.terminals.get(terminalId).child.pid, "SIGKILL");
    } catch {
      // it has ended
    }
    return {};
  }
}
