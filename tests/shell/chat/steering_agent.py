"""A small ACP agent whose session has options and modes, on the standard library.

Its words: how the mode is offered (`options`, `modes`, `refusing`, or `login` where a login is wanted first), and the
file where it writes each request as a line of JSON.
"""

import json
import os
import sys

HOW, LOG = sys.argv[1], sys.argv[2]
HOSTILE = "\x1b]0;owned\x07"
MODES = [{"id": "build", "name": "Build"}, {"id": "plan", "name": f"Plan{HOSTILE}"}]
PLAN = "# The plan\n\nLook **first**."
VALUES = {"mode": "build", "model": "big", "fast": False}
AGREE = [
    {"optionId": "yes", "name": "Begin", "kind": "allow_once"},
    {"optionId": "no", "name": "Not yet", "kind": "reject_once"},
]
ASKED = {}


def send(**frame):
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **frame}) + "\n")
    sys.stdout.flush()


def update(tag, /, **fields):
    send(method="session/update", params={"sessionId": "s", "update": {"sessionUpdate": tag, **fields}})


def say(text, kind="agent_message_chunk", message="m"):
    update(kind, content={"type": "text", "text": text}, messageId=message)


def options():
    models = [{"value": "big", "name": "Big One"}, {"value": "small", "name": "Small One"}]
    group = [{"group": "g", "name": "Group", "options": models}]
    modes = [{"value": mode["id"], "name": mode["name"]} for mode in MODES]
    offered = [
        {"id": "mode", "name": "Mode", "category": "mode", "type": "select", "options": modes},
        {"id": "model", "name": "Model", "category": "model", "type": "select", "options": group},
        {"id": "fast", "name": "Fast", "category": "model_config", "type": "boolean"},
    ]
    return [
        {**one, "currentValue": VALUES[one["id"]]}
        for one in offered
        if HOW != "modes" or one["id"] == "model"
    ]


def session():
    given = {"configOptions": options()}
    return (
        given
        if HOW != "modes"
        else {**given, "modes": {"currentModeId": VALUES["mode"], "availableModes": MODES}}
    )


def ask(number, title, kind, content, **card):
    shown = {"toolCallId": f"c{number}", "title": title, "kind": kind, **card}
    if content:
        shown["content"] = [{"type": "content", "content": {"type": "text", "text": content}}]
    update("tool_call", status="pending", **shown)
    ASKED[f"q{number}"] = number, shown["toolCallId"]
    send(
        id=f"q{number}",
        method="session/request_permission",
        params={"sessionId": "s", "toolCall": shown, "options": AGREE},
    )


def answered(question, result):
    number, call = ASKED.pop(question)
    agreed = result.get("outcome", {}).get("optionId") == "yes"
    update("tool_call_update", toolCallId=call, status="completed" if agreed else "failed")
    say("agreed" if agreed else "refused")
    send(id=number, result={"stopReason": "end_turn"})


def prompt(number, words):
    if words == "plan":
        ask(number, "Begin with this plan?", "switch_mode", PLAN, name="exit_plan", rawInput={"plan": PLAN})
        return
    if words == "trust":
        raw = {"folders": ["/w"], "instructions": ["/w/AGENTS.md", "/w/b/AGENTS.md"], "commands": []}
        ask(number, "Use the instructions of /w", "other", "", name="trust", rawInput=raw)
        return
    if words == "use":
        update("usage_update", used=30_000, size=200_000, cost={"amount": 0.25, "currency": "USD"})
    if words == "change":
        VALUES.update(mode="plan", model="small", fast=True)
        if HOW == "modes":
            update("current_mode_update", currentModeId="plan")
        update("config_option_update", configOptions=options())
    if words == "shorten":
        update("compaction_update", compactionId="k", status="in_progress")
        update(
            "compaction_summary_chunk",
            compactionId="k",
            content={"type": "text", "text": f"What was{HOSTILE} said."},
        )
        update("compaction_update", compactionId="k", status="completed")
    if words == "commands":
        update(
            "available_commands_update", availableCommands=[{"name": "model", "description": "Choose one"}]
        )
    if words == "login":
        send(id=number, error={"code": -32000, "message": "No key is there."})
        return
    say(f"did {words}")
    send(id=number, result={"stopReason": "end_turn"})


def replay():
    say("old prompt", "user_message_chunk", "u")
    update("current_mode_update", currentModeId="plan")
    say("old answer")
    summary = [{"type": "text", "text": "What was said."}]
    update("compaction_update", compactionId="k", status="completed", summary=summary)
    update("usage_update", used=100_000, size=200_000)


def answer(method, params):
    if method == "initialize":
        ways = [{"id": "browser", "name": f"In the browser{HOSTILE}"}]
        ways.append(
            {
                "id": "shell",
                "name": "In the shell",
                "type": "terminal",
                "args": ["login"],
                "env": {"WAY": "a b"},
            }
        )
        info = {"name": "steering", "version": "1"}
        can = {"loadSession": True, "sessionCapabilities": {"list": {}}}
        return {"protocolVersion": 1, "agentInfo": info, "agentCapabilities": can, "authMethods": ways}
    if method == "session/new":
        return {"sessionId": "s", **session()}
    if method == "session/list":
        return {"sessions": [{"sessionId": "s", "cwd": params.get("cwd", "/")}]}
    if method == "session/load":
        replay()
        return session()
    if method == "session/set_config_option":
        VALUES[params["configId"]] = params["value"]
        return {"configOptions": options()}
    if method == "session/set_mode":
        VALUES["mode"] = params["modeId"]
        update("current_mode_update", currentModeId=params["modeId"])
    return {}


def wants_login(method):
    return HOW == "login" and method == "session/new" and not os.path.exists(LOG + ".in")


def main():
    if sys.argv[3:] == ["login"]:
        print("logging in, the way is", os.environ["WAY"], flush=True)
        open(LOG + ".in", "w").close()
        return
    with open(LOG, "a") as log:
        for line in sys.stdin:
            frame = json.loads(line)
            method, number, params = frame.get("method"), frame.get("id"), frame.get("params", {})
            if method is None:
                answered(number, frame.get("result", {}))
                continue
            log.write(json.dumps([method, params]) + "\n")
            log.flush()
            if method == "authenticate":
                open(LOG + ".in", "w").close()
            if wants_login(method):
                send(id=number, error={"code": -32000, "message": "Authentication required"})
            elif method == "session/prompt":
                prompt(number, params["prompt"][0]["text"])
            elif HOW == "refusing" and method == "session/set_config_option":
                send(id=number, error={"code": -32602, "message": "Not now."})
            elif number is not None:
                send(id=number, result=answer(method, params))


main()
