"""Transcripts: what the client says (->), what the agent says (<-), and what happens outside (!).

`!` lines: `! path`, `! path PROBLEM`, `! model [EVENTS]` (one batch), `! model end`,
`! look CALL {...}`, `! prepare CALL {...}`, `! tool CALL {...}`, `! output CALL TEXT`, `! wait`. Values are JSON. `#` is a comment.
The transcripts whose name begins with `stored` have a store, which does what it is asked for at once.
"""

import json
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace
from support.disk import Disk
from support.driver import MODEL, OPTIONS, SERVER

from zidane_core.acp.connection import Opened, Received
from zidane_core.acp.step import begin, step
from zidane_core.agent.effects import Save, Send, Start, Stop
from zidane_core.agent.events import (
    CheckedPaths,
    Ended,
    FileSeen,
    JobValue,
    ModelDone,
    Ok,
    Progressed,
    Saved,
    Stopped,
    WaitDone,
)
from zidane_core.agent.work import (
    CheckPaths,
    DeleteThread,
    FindThread,
    ListThreads,
    LoadThread,
    LookAtFile,
    RunModel,
    RunTool,
    Wait,
)
from zidane_core.data.models import ModelEvent
from zidane_core.data.tools import Preview, ToolOutput, ToolResult

GOLDEN = Path(__file__).parent.parent / "golden"
OPENED = Opened(now=0.0, seed="golden", options=OPTIONS, server=SERVER)
STORED = replace(OPENED, options=replace(OPTIONS, store=True))
STORE_JOBS = FindThread | LoadThread | ListThreads | DeleteThread
assert MODEL.value == "test-model"


def opened(path: Path) -> Opened:
    """How the connection of a transcript begins."""
    return STORED if path.stem.startswith("stored") else OPENED


def lines(path: Path) -> list[tuple[str, str]]:
    """The lines of a transcript: kind and text."""
    found = [line.split(" ", 1) for line in path.read_text("utf-8").splitlines() if line and line[0] != "#"]
    return [(kind, text) for kind, text in found]


def outside(text: str) -> tuple[str, str, Any]:
    """An outside line as (what it is about, the call it is for, its value)."""
    word, _, rest = text.partition(" ")
    if word == "path":
        return word, "", CheckedPaths(rest or None)
    if word == "model":
        return word, "", None if rest == "end" else msgspec.json.decode(rest, type=tuple[ModelEvent, ...])
    if word == "wait":
        return word, "", None
    call, _, rest = rest.partition(" ")
    if word == "look":
        return word, call, msgspec.json.decode(rest, type=FileSeen)
    if word == "prepare":
        return word, call, msgspec.json.decode(rest, type=Preview)
    if word == "tool":
        return word, call, msgspec.json.decode(rest, type=ToolResult)
    assert word == "output", text
    return word, call, ToolOutput(json.loads(rest))


def call_of(what: Any) -> str:
    """The call that a job of a tool is for."""
    found: str = what.call.call if isinstance(what, LookAtFile) else getattr(what, "call", "")
    return found


def through_the_core(path: Path) -> list[str]:
    """The transcript with what the core really says, taken synchronously."""
    connection = begin(opened(path))
    disk = Disk()
    jobs: dict[str, Any] = {}
    out: list[str] = []

    def feed(event: Any) -> None:
        nonlocal connection
        connection, effects = step(connection, event)
        done: list[Any] = []
        for effect in effects:
            if isinstance(effect, Send):
                out.append(f"<- {effect.frame.decode()}")
            elif isinstance(effect, Save):
                disk.append(effect)
                done.append(Saved(0.0, effect.key))
            elif isinstance(effect, Start) and isinstance(effect.what, STORE_JOBS):
                pieces = disk.pieces(effect.what) if isinstance(effect.what, LoadThread) else []
                done.extend(Progressed(0.0, effect.key, (piece,)) for piece in pieces)
                done.append(Ended(0.0, effect.key, Ok(disk.value(effect.what))))
            elif isinstance(effect, Start):
                jobs[effect.key] = effect.what
            elif isinstance(effect, Stop) and effect.key in jobs:
                jobs.pop(effect.key)
                done.append(Ended(0.0, effect.key, Stopped()))
        for event in done:
            feed(event)

    def key_of(kind: Any, stage: str = "", call: str = "") -> str:
        return next(
            key
            for key, what in jobs.items()
            if isinstance(what, kind)
            and stage in ("", getattr(what, "stage", ""))
            and call in ("", call_of(what))
        )

    def end(key: str, value: JobValue) -> None:
        jobs.pop(key)
        feed(Ended(0.0, key, Ok(value)))

    for kind, text in lines(path):
        if kind == "->":
            out.append(f"-> {text}")
            feed(Received(0.0, text.encode()))
        elif kind == "!":
            out.append(f"! {text}")
            word, call, value = outside(text)
            if word == "path":
                end(key_of(CheckPaths), value)
            elif word == "model" and value is None:
                end(key_of(RunModel), ModelDone())
            elif word == "model":
                feed(Progressed(0.0, key_of(RunModel), value))
            elif word == "output":
                feed(Progressed(0.0, key_of(RunTool, "run", call), (value,)))
            elif word == "wait":
                end(key_of(Wait), WaitDone())
            elif word == "look":
                end(key_of(LookAtFile, "", call), value)
            else:
                end(key_of(RunTool, "prepare" if word == "prepare" else "run", call), value)
    return out
