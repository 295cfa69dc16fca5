// What a user sets and watches, on the official TypeScript SDK: pickers with and without booleans, modes, the meter, a model
// that changes in the middle of a turn, a login by a page and a logout, a login that is required.
// Usage: node settings_client.mjs FOLDER SELECTS BOOLEANS SWITCHING LOGIN GATED (commands as JSON arrays)
import * as acp from "@agentclientprotocol/sdk";
import { Editor, check, main, methods, say, within } from "./editor.mjs";

const [folder, ...agents] = process.argv.slice(2);
const [selects, booleans, switching, login, gated] = agents.map((agent) => JSON.parse(agent));
const setup = { cwd: folder, mcpServers: [] };
const BOOLEANS = { session: { configOptions: { boolean: {} } } };
const KEY = "sk-outside-0123456789";

const values = (options) => Object.fromEntries(options.map((one) => [one.id, one.currentValue]));
const option = (options, id) => options.find((one) => one.id === id);
const kinds = (editor, kind) => editor.updates.map((one) => one.update).filter((one) => one.sessionUpdate === kind);
const choose = async (editor, sessionId, configId, value) => {
  const given = typeof value === "boolean" ? { type: "boolean", value } : { value };
  const answer = await editor.request(methods.session.setConfigOption, { sessionId, configId, ...given });
  say("<-", `options ${JSON.stringify(values(answer.configOptions))}`);
  return answer.configOptions;
};

// A page that the agent asks to open is opened, and the key given there as a browser gives it.
class Browser {
  calls = [];
  pages = [];
  completed = [];

  handlers() {
    return {
      [acp.methods.client.elicitation.create]: async ({ mode, url, elicitationId }) => {
        check(mode === "url", `a key was asked for by a ${mode}`);
        this.pages.push(elicitationId);
        setTimeout(() => this.give(url), 0); // the browser works while the client has answered
        return { action: "accept" };
      },
    };
  }

  async give(url) {
    const page = await fetch(url);
    check(page.ok && /type="?password/.test(await page.text()), "the page does not ask for a key");
    const body = new URLSearchParams({ key: KEY });
    const done = await fetch(url, { method: "POST", body, headers: { origin: new URL(url).origin } });
    check(done.ok, `the key was not taken: ${done.status}`);
  }
}

async function pickers(command, capabilities, fast, isOn) {
  const editor = new Editor(command);
  await editor.initialize(capabilities);
  const { sessionId, modes, configOptions } = await editor.request(methods.session.new, setup);
  check(modes.currentModeId === "build" && modes.availableModes.length === 2, "the modes are not there");
  check(option(configOptions, "model").category === "model", "there is no picker of models");
  check(option(configOptions, "model").options.length === 2, "the models are not grouped by provider");
  check(option(configOptions, "model.fast").type === fast, `the switch is a ${option(configOptions, "model.fast").type}`);
  const on = await choose(editor, sessionId, "model.fast", isOn);
  check(option(on, "model.fast").currentValue === isOn, "the switch is not on");

  await editor.request(methods.session.setMode, { sessionId, modeId: "plan" });
  await editor.until(() => kinds(editor, "config_option_update").length === 1, "update of the options");
  check(values(kinds(editor, "config_option_update")[0].configOptions).mode === "plan", "the option is not in step");
  await choose(editor, sessionId, "mode", "build");
  check(kinds(editor, "current_mode_update").at(-1).currentModeId === "build", "the modes are not in step");

  const other = await choose(editor, sessionId, "model", "right-model");
  check(!option(other, "model.fast"), "the other model has the options of the first");
  check((await editor.refusal(methods.session.setConfigOption, { sessionId, configId: "model", value: "gone" })) === -32602, "a model that is not there");
  check((await editor.refusal(methods.session.setMode, { sessionId, modeId: "gone" })) === -32602, "a mode that is not there");
  const commands = kinds(editor, "available_commands_update").at(-1).availableCommands.map((one) => one.name);
  check(["model", "mode", "compact", "usage", "help"].every((name) => commands.includes(name)), `the commands are ${commands}`);
  await editor.ask(sessionId, "/usage");
  await editor.close();
}

async function inATurn(command) {
  const editor = new Editor(command, ["allow_once"]);
  await editor.initialize();
  const { sessionId } = await editor.request(methods.session.new, setup);
  const answer = editor.answer.bind(editor);
  editor.answer = (question) => {
    const chosen = answer(question);
    return choose(editor, sessionId, "model", "right-model").then(() => chosen);
  };
  check((await editor.ask(sessionId, "write it")) === "end_turn", "the turn did not end");
  check(editor.text().includes("I go on."), "the other model did not go on");
  const [left, right] = kinds(editor, "usage_update");
  check(left.size === 100000 && right.size === 50000, "the meter has not followed the model");
  check(right.cost.currency === "USD" && right.cost.amount > left.cost.amount, "the cost is not the sum");
  await editor.close();
}

async function loggingIn(command) {
  const browser = new Browser();
  const editor = new Editor(command, [], browser);
  const greeting = await editor.initialize({ elicitation: { url: {} }, auth: { terminal: true } });
  const ids = greeting.authMethods.map((one) => one.id);
  check(ids.includes("openai-api-key") && ids.includes("terminal-login"), `the methods are ${ids}`);
  check(!greeting.agentCapabilities.auth?.logout, "there is nothing to forget, and yet a logout");
  const { sessionId } = await editor.request(methods.session.new, setup);
  check((await editor.refusal(methods.authenticate, { methodId: "terminal-login" })) === -32602, "a terminal method was taken");
  check((await editor.refusal(methods.authenticate, { methodId: "gone" })) === -32602, "an unknown method was taken");
  await editor.request(methods.authenticate, { methodId: "openai-api-key" });
  check(browser.pages.length === 1, "no page was opened");
  await editor.until(() => kinds(editor, "config_option_update").length, "models of the key");
  check((await editor.ask(sessionId, "hello")) === "end_turn", "the same process does not work after the login");
  check(editor.text().includes("with the key"), `the model said ${editor.text()}`);
  const again = await editor.initialize({ elicitation: { url: {} } });
  check(again.agentCapabilities.auth?.logout, "there is something to forget, and no logout");
  await editor.request(methods.logout, {});
  const made = await editor.request(methods.session.new, setup);
  check(values(made.configOptions).model === "offline", "the key was not forgotten");
  await editor.close();
}

async function required(command) {
  const editor = new Editor(command, [], new Browser());
  await editor.initialize({ elicitation: { url: {} } });
  const refused = await within(
    editor.connection.agent.request(methods.session.new, setup).then(
      () => undefined,
      (error) => error,
    ),
    "refusal",
  );
  check(refused?.code === -32000, "a session was made without the login that is required");
  check(refused.data?.authMethods?.some((one) => one.id === "openai-api-key"), "the refusal does not tell the methods");
  await editor.request(methods.authenticate, { methodId: "openai-api-key" });
  await editor.request(methods.session.new, setup);
  await editor.close();
}

await main(async () => {
  say("--", "pickers of a client without booleans");
  await pickers(selects, {}, "select", "on");
  say("--", "pickers of a client with booleans");
  await pickers(booleans, BOOLEANS, "boolean", true);
  say("--", "a model changes in a turn");
  await inATurn(switching);
  say("--", "login and logout");
  await loggingIn(login);
  say("--", "a login that is required");
  await required(gated);
});
