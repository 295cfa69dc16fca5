// The fold of updates, by which a replay and what was shown live are compared; as in tests/support/folding.py.
// Order of first appearance; a message id has all its content joined; a tool id has the last value of each field; the
// last plan, mode and title. Usage, commands, options and notices are for the moment only.
const MESSAGES = new Set(["user_message_chunk", "agent_message_chunk", "agent_thought_chunk"]);
const LAST = new Set(["current_mode_update", "plan", "session_info_update"]);

// The updates as {placed: [[what, state], ...], last: {kind: state}}.
export function fold(updates) {
  const placed = new Map();
  const last = {};
  for (const { sessionUpdate: kind, ...rest } of updates) {
    if (MESSAGES.has(kind)) {
      if (rest._meta?.zidane?.notice !== undefined) continue;
      const key = `${kind} ${rest.messageId}`;
      const contents = placed.get(key) ?? [];
      placed.set(key, contents);
      if (contents.at(-1)?.type === "text" && rest.content.type === "text") {
        contents.push({ type: "text", text: contents.pop().text + rest.content.text });
      } else contents.push(rest.content);
    } else if (kind === "tool_call" || kind === "tool_call_update") {
      const key = `tool ${rest.toolCallId}`;
      placed.set(key, { ...placed.get(key), ...rest });
    } else if (LAST.has(kind)) last[kind] = rest;
  }
  return { placed: [...placed], last };
}
