"""Editors written with the official TypeScript SDK: a whole conversation, and a restart of the agent in it."""

import json
import subprocess
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from node_packages import TYPESCRIPT_SDK, install, node, place
from stage import PATIENCE, ROOT, Failed, Stage, answers, before_answer
from support.loopback import TWO_MODELS, Answer, calling, refusing, said, serving

HERE: Final = ROOT / "scripts" / "outside.d"
WRITE: Final = {"tool": "write_file", "args": {"path": "hello.txt", "content": "hi\n"}}
REFUSED: Final = {"tool": "write_file", "args": {"path": "no.txt", "content": "no\n"}}
ENDLESS: Final = {"text": "tick ", "repeat": 100_000, "delay_ms": 1}
PLAN: Final = [
    {"content": "write it", "priority": "high", "status": "completed"},
    {"content": "say so", "priority": "low", "status": "in_progress"},
]


def run(stage: Stage, script: str, *words: str, more: Mapping[str, str] = MappingProxyType({})) -> None:
    """One client to its end, in the stage's environment and with more variables."""
    install(TYPESCRIPT_SDK)
    placed = {source.name: place(source) for source in HERE.glob("*.mjs")}  # they import each other
    command = [node(20), str(placed[script]), str(stage.work), *words]
    done = subprocess.run(command, env={**stage.environment(), **more}, timeout=PATIENCE, check=False)
    if done.returncode != 0:
        raise Failed("the TypeScript client was not content")


def typescript(folder: Path) -> None:
    """The client of typescript_client.mjs."""
    stage = Stage(folder)
    turns: list[dict[str, Any]] = [
        {"text": "I write it. ", **WRITE},
        {"text": "It is written."},
        REFUSED,
        {"text": "Not written."},
        ENDLESS,
        {"text": "Still here."},
    ]
    with stage.nothing_left():
        run(stage, "typescript_client.mjs", json.dumps(stage.replaying(*turns)))
    stage.check()


def restart(folder: Path) -> None:
    """The client of restart_client.mjs, with a kill and with the end of the input between the two agents."""
    turns: list[dict[str, Any]] = [
        {"thinking": "A file is wanted.", "text": "I write it. ", **WRITE},
        {"tool": "update_plan", "args": {"entries": PLAN}},
        {"text": "It is written."},
        ENDLESS,
    ]
    models = ["--model", "first", "--model", "second"]  # so that there is an option to choose
    for how in ("kill", "close"):
        print(f"-- {how}", flush=True)
        stage = Stage(folder / how)
        first = stage.replaying(*turns, flags=models)
        second = stage.replaying({"text": "Still here."}, flags=models)
        with stage.nothing_left():
            run(stage, "restart_client.mjs", how, json.dumps(first), json.dumps(second))
        stage.check(killed=0 if how == "kill" else None)
        _, frames = stage.connections()
        # What the SDK does not let through: it turns "not found" after a delete into {}, and may reorder.
        if [answer.get("result") for answer in answers(frames, "session/delete")] != [{}, {}]:
            raise Failed("session/delete was not answered with {} twice")
        if shown := before_answer(frames, "session/resume"):
            raise Failed(f"session/resume showed something before its answer: {shown}")


def hands(folder: Path) -> None:
    """The client of hands_client.mjs, which reads, writes and runs commands for the agent."""
    stage = Stage(folder)
    edit = {"path": "a.txt", "old_string": "not", "new_string": "now"}
    colour = {"type": "string", "enum": ["red", "blue"]}
    form = {"type": "object", "properties": {"colour": colour, "why": {"type": "string"}}}
    turns: list[dict[str, Any]] = [
        {"tool": "read_file", "args": {"path": "a.txt"}},
        {"text": "Read."},
        {"tool": "edit", "args": edit},
        {"text": "Edited."},
        {"tool": "shell", "args": {"command": "echo by a command > a.txt; cat a.txt"}},
        {"tool": "read_file", "args": {"path": "a.txt"}},
        {"text": "Read again."},
        {"tool": "shell", "args": {"command": "echo begun; sleep 300", "timeout": 1}},
        {"text": "Too slow."},
        {"tool": "shell", "args": {"command": "sleep 300 & sleep 300"}},
        {"tool": "ask_user", "args": {"message": "Which colour?", "schema": form}},
        {"text": "Asked."},
        {"tool": "pick", "args": {"of": ["red", "blue"]}},
        {"text": "Picked."},
        {"text": "Looked."},
    ]
    with stage.nothing_left():
        run(
            stage,
            "hands_client.mjs",
            json.dumps(stage.replaying(*turns, flags=("--permission", "allow-all"))),
        )
    stage.check()


def settings(folder: Path) -> None:
    """The client of settings_client.mjs, with two model servers on loopback and a third one that wants a key."""
    stage = Stage(folder)
    call = calling("write_file", {"path": "a.txt", "content": "a\n"}, used=1000)

    def keyed(_: dict[str, Any]) -> Answer:
        return said("with the key") if third.keys[-1] == KEY else refusing(401, "no key")

    with (
        serving(lambda _: call) as left,
        serving(lambda _: said("I go on.", used=1200)) as right,
        serving(keyed) as third,
    ):
        file, gate = stage.folder / "config.toml", stage.folder / "gate.toml"
        file.write_text(TWO_MODELS.format(left=left.url, right=right.url))
        gate.write_text("require_login = true\n")
        chosen = stage.agent("--config", str(file))
        # The key is kept in a file: the keyring of this machine is nobody's business here.
        plain = {"OPENAI_BASE_URL": third.url, "PYTHON_KEYRING_BACKEND": "keyring.backends.fail.Keyring"}
        agents = (chosen, chosen, chosen, stage.agent(), stage.agent("--config", str(gate)))
        with stage.nothing_left():
            run(stage, "settings_client.mjs", *(json.dumps(agent) for agent in agents), more=plain)
        stage.check()
    if [body["model"] for body in (*left.bodies, *right.bodies)] != ["left-model", "right-model"]:
        raise Failed("the turn did not go from one server to the other")


KEY: Final = "sk-outside-0123456789"
