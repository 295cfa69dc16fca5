// A peer of the bench: an echo agent as one writes it with the official TypeScript SDK.
// "chunks N" is answered by N chunks, anything else by its own text.
import { Readable, Writable } from "node:stream";
import * as acp from "@agentclientprotocol/sdk";

let sessions = 0;
const chunk = (sessionId, text) => ({
  sessionId,
  update: { sessionUpdate: "agent_message_chunk", content: { type: "text", text } },
});

const app = acp
  .agent({ name: "echo" })
  .onRequest(acp.methods.agent.initialize, () => ({
    protocolVersion: acp.PROTOCOL_VERSION,
    agentCapabilities: { loadSession: false },
  }))
  .onRequest(acp.methods.agent.session.new, () => ({ sessionId: `s${++sessions}` }))
  .onRequest(acp.methods.agent.session.prompt, async ({ params, client }) => {
    const text = params.prompt.map((block) => block.text ?? "").join("");
    const wanted = /^chunks (\d+)$/.exec(text);
    if (wanted) {
      for (let n = 0; n < Number(wanted[1]); n++) {
        await client.notify(acp.methods.client.session.update, chunk(params.sessionId, "piece~ of text "));
      }
    } else {
      await client.notify(acp.methods.client.session.update, chunk(params.sessionId, text));
    }
    return { stopReason: "end_turn" };
  })
  .onNotification(acp.methods.agent.session.cancel, () => {});

app.connect(acp.ndJsonStream(Writable.toWeb(process.stdout), Readable.toWeb(process.stdin)));
