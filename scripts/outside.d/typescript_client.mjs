// An editor written with the official TypeScript SDK: initialize, new session, a prompt with permission, a refusal,
// a cancel, and one more prompt. Usage: node typescript_client.mjs FOLDER AGENT (its command as a JSON array)
// Prints a transcript; ends with 1 and a sentence when something is not as it has to be.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Editor, check, main, methods, say } from "./editor.mjs";

const [folder, agent] = process.argv.slice(2);

await main(async () => {
  const editor = new Editor(JSON.parse(agent), ["allow_once", "reject_once"]);
  const lastStatus = (question) => editor.statuses.get(editor.questions[question].toolCall.toolCallId).at(-1);
  await editor.initialize();
  const { sessionId } = await editor.request(methods.session.new, { cwd: folder, mcpServers: [] });
  const ask = (prompt) => editor.ask(sessionId, prompt);

  check((await ask("write a file")) === "end_turn", "the allowed turn did not end with end_turn");
  check(readFileSync(join(folder, "hello.txt"), "utf8") === "hi\n", "hello.txt was not written");
  check(lastStatus(0) === "completed", "the allowed card is not completed");

  check((await ask("write another")) === "end_turn", "the refused turn did not end with end_turn");
  check(!existsSync(join(folder, "no.txt")), "no.txt was written although it was refused");
  check(lastStatus(1) === "failed", "the refused card is not failed");

  const running = ask("count for ever");
  await editor.until(() => editor.text().includes("tick tick "), "text");
  say("->", "cancel");
  await editor.connection.agent.notify(methods.session.cancel, { sessionId });
  check((await running) === "cancelled", "the cancelled turn did not end with cancelled");

  const start = editor.updates.length;
  check((await ask("are you there?")) === "end_turn", "the turn after the cancel did not end with end_turn");
  check(editor.text(start) === "Still here.", `the last answer was ${JSON.stringify(editor.text(start))}`);
  await editor.close();
});
