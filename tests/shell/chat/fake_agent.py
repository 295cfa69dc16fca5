"""A small ACP agent on the standard library: the words of the prompt pick what it does."""

import json
import os
import sys
import threading
from queue import Queue

OUT = threading.Lock()
ANSWERS: "dict[int, Queue]" = {}
CANCELLED = threading.Event()
DIFF = {
    "type": "diff",
    "path": os.path.join(os.getcwd(), "a.py"),
    "oldText": "one\ntwo\n",
    "newText": "one\n2\n",
}
OPTIONS = [
    {"optionId": "yes", "name": "Allow once", "kind": "allow_once"},
    {"optionId": "ever", "name": "Always allow edits here", "kind": "allow_always"},
    {"optionId": "no", "name": "Reject", "kind": "reject_once"},
]


def send(**frame):
    with OUT:
        sys.stdout.write(json.dumps({"jsonrpc": "2.0", **frame}) + "\n")
        sys.stdout.flush()


def update(tag, /, **fields):
    send(method="session/update", params={"sessionId": "s", "update": {"sessionUpdate": tag, **fields}})


def say(text, message="m1", kind="agent_message_chunk"):
    update(kind, content={"type": "text", "text": text}, messageId=message)


def ask(card, number=900):
    ANSWERS[number] = Queue()
    params = {"sessionId": "s", "toolCall": card, "options": OPTIONS}
    send(id=number, method="session/request_permission", params=params)
    return ANSWERS[number].get()


def edit(number=900):
    card = {"toolCallId": f"c{number}", "title": "Edit a.py", "kind": "edit", "content": [DIFF]}
    update("tool_call", status="pending", rawInput={"path": "a.py"}, **card)
    reply = ask(card, number)
    outcome = reply.get("result", {}).get("outcome", {})
    allowed = outcome.get("optionId") in ("yes", "ever")
    update("tool_call_update", toolCallId=card["toolCallId"], status="completed" if allowed else "failed")
    say("outcome=" + json.dumps(outcome, sort_keys=True))
    return outcome


def commands(_):
    listed = [
        {"name": "list", "description": "List the files"},
        {"name": "read", "description": "Read a file", "input": {"hint": "PATH"}},
    ]
    update("available_commands_update", availableCommands=listed)
    say("commands sent")


def show(_):
    say("Let me think about it.", "t", "agent_thought_chunk")
    say("# Title\n\nSome **bold** words")
    say(" go on.\n\n")
    update("plan", entries=[{"content": "First step", "status": "completed", "priority": "high"}])
    update("tool_call", toolCallId="c1", title="cat a.py", kind="read", status="in_progress")
    text = {"type": "content", "content": {"type": "text", "text": "\x1b[31mred\x1b[0m line\nline two"}}
    update("tool_call_update", toolCallId="c1", status="completed", content=[text])
    say("The end.", "m2")


def ask_when(text):
    say("working")
    with open(text.split()[1]):  # a named pipe: blocks until the test opens it
        return edit_and_end(text)


def wait(_):
    say("waiting")
    CANCELLED.wait()
    return {"stopReason": "cancelled"}


def stubborn(_):
    say("never ends")
    threading.Event().wait()


def escape(_):
    say("a\x1b]0;owned\x07b\x1b[2Jc")


def echo(text):
    say("echo:" + text)


def die(_):
    print("something broke inside", file=sys.stderr, flush=True)
    os._exit(7)


def stop(text):
    return {"stopReason": text.split()[1]}


def fail(_):
    data = {"kind": "rate_limit", "provider": "fake"}
    return {"error": {"code": -32603, "message": "Fake is busy, try again in 5 s.", "data": data}}


def junk(_):
    with OUT:
        sys.stdout.write("this is no JSON\n[1,2]\n\n")
    say("after junk")


def unknown(_):
    ANSWERS[901] = Queue()
    send(id=901, method="fs/read_text_file", params={"sessionId": "s", "path": "/x"})
    say("code=" + str(ANSWERS[901].get()["error"]["code"]))


def withdrawn(_):
    card = {"toolCallId": "c9", "title": "Edit b.py", "kind": "edit"}
    update("tool_call", status="pending", **card)
    ANSWERS[902] = Queue()
    send(
        id=902,
        method="session/request_permission",
        params={"sessionId": "s", "toolCall": card, "options": OPTIONS},
    )
    send(method="$/cancel_request", params={"requestId": 902})
    reply = ANSWERS[902].get()
    say("reply=" + str(reply["error"]["code"] if "error" in reply else reply["result"]))


def edit_and_end(_):
    outcome = edit()
    return {"stopReason": "cancelled"} if outcome.get("outcome") == "cancelled" else None


def big(_):
    say("x" * 300_000)
    say("done")


ACTIONS = {
    "show": show, "askwhen": ask_when, "wait": wait, "stubborn": stubborn, "escape": escape, "die": die, "stop": stop, "fail": fail,
    "junk": junk, "unknown": unknown, "edit": edit_and_end, "commands": commands, "big": big, "withdrawn": withdrawn,
}  # fmt: skip


def prompt(number, text):
    action = ACTIONS.get(text.split()[0], echo)
    result = action(text) or {"stopReason": "end_turn"}
    send(id=number, **(result if "error" in result else {"result": result}))


def main():
    mode = sys.argv[1] if len(sys.argv) > 1 else ""
    for line in sys.stdin:
        frame = json.loads(line)
        method, number, params = frame.get("method"), frame.get("id"), frame.get("params", {})
        if method == "initialize":
            info = {"name": "fake", "version": "9"}
            send(
                id=number,
                result={
                    "protocolVersion": 1,
                    "agentInfo": info,
                    "authMethods": [{"id": "x", "name": "Fake login"}],
                },
            )
        elif method == "session/new" and mode == "login":
            send(id=number, error={"code": -32000, "message": "Authentication required"})
        elif method == "session/new":
            provider = {"name": "fakery", "model": "m-1", "source": "FAKE_API_KEY"}
            send(id=number, result={"sessionId": "s", "_meta": {"zidane": {"provider": provider}}})
        elif method == "session/prompt":
            CANCELLED.clear()
            threading.Thread(target=prompt, args=(number, params["prompt"][0]["text"]), daemon=True).start()
        elif method == "session/cancel":
            CANCELLED.set()
        elif method is None:
            ANSWERS.get(number, Queue()).put(frame)
    if mode == "log":
        with open(sys.argv[2], "w") as file:
            file.write("ended by end of input")


main()
