"""A small ACP agent with stored sessions, on the standard library.

Its words: what it offers (`list,load,resume,additionalDirectories`, or `-`), the file where it writes each request as a
line of JSON, and the folder of the newer sessions.
"""

import json
import sys

OFFERS, LOG = sys.argv[1].split(","), sys.argv[2]
HOSTILE = "\x1b]0;owned\x07"
SESSIONS = [
    {"sessionId": "old-1", "cwd": "/elsewhere", "title": "Old", "updatedAt": "2026-11-30T10:00:00Z"},
    {
        "sessionId": "new-1",
        "cwd": "CWD",
        "title": f"Fix {HOSTILE} it",
        "updatedAt": "2026-11-30T12:00:00.5Z",
        "additionalDirectories": ["/more"],
    },
    {"sessionId": "new-2", "cwd": "CWD", "title": None, "updatedAt": "2026-11-30T11:00:00+00:00"},
]


def send(**frame):
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **frame}) + "\n")
    sys.stdout.flush()


def update(session, tag, /, **fields):
    send(method="session/update", params={"sessionId": session, "update": {"sessionUpdate": tag, **fields}})


def say(session, kind, text, message):
    update(session, f"{kind}_chunk", content={"type": "text", "text": text}, messageId=message)


def replay(session):
    say(session, "user_message", f"please {HOSTILE}", "u1")
    say(session, "user_message", "fix", "u1")
    say(session, "agent_thought", "hm", "t1")
    update(session, "tool_call", toolCallId="c1", title=f"cat {HOSTILE}", kind="read", status="pending")
    say(session, "agent_message", "It **is** ", "m1")
    text = {"type": "content", "content": {"type": "text", "text": "line one"}}
    update(session, "tool_call_update", toolCallId="c1", status="completed", content=[text])
    update(session, "plan", entries=[{"content": "First step", "status": "completed", "priority": "high"}])
    say(session, "agent_message", "fixed.", "m1")
    say(session, "user_message", "thanks", "u2")
    say(session, "agent_message", "You are welcome.", "m2")
    update(session, "session_info_update", title="Fixed it")


def listed(params):
    # The wanted folder is not looked at: not every agent does.
    sessions = [{**one, "cwd": one["cwd"].replace("CWD", sys.argv[3])} for one in SESSIONS]
    at = int(params.get("cursor") or 0)
    page = {"sessions": sessions[at : at + 1]}
    return page if at + 1 == len(sessions) else {**page, "nextCursor": str(at + 1)}


def answer(method, params):
    session = params.get("sessionId", "fresh")
    if method == "initialize":
        session_capabilities = {name: {} for name in OFFERS if name != "load"}
        capabilities = {"loadSession": "load" in OFFERS, "sessionCapabilities": session_capabilities}
        return {
            "protocolVersion": 1,
            "agentInfo": {"name": "storing", "version": "1"},
            "agentCapabilities": capabilities,
        }
    if method == "session/new":
        return {"sessionId": "fresh"}
    if method == "session/list":
        return listed(params)
    if method == "session/load":
        replay(session)
        return {}
    if method == "session/prompt":
        update(session, "session_info_update", title="Named later")
        say(session, "agent_message", "echo:" + params["prompt"][0]["text"], "m9")
        return {"stopReason": "end_turn"}
    return {}


with open(LOG, "a") as log:
    for line in sys.stdin:
        frame = json.loads(line)
        if "id" in frame:
            log.write(json.dumps([frame["method"], frame["params"]]) + "\n")
            log.flush()
            send(id=frame["id"], result=answer(frame["method"], frame["params"]))
