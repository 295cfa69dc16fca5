"""What the scripted model does in a round: three shapes of turns, each with prompts that follow each other directly."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

from orphans import nap

PIECE: Final = 401
"""Characters of a streamed piece; a closed block of the machine is no multiple of it."""


NEVER: Final = "begun; "
"""What the command that never ends begins with."""


class Shape(NamedTuple):
    """How many prompts there are for each session, and whether a command of the last one never ends."""

    name: str
    prompts: int
    hangs: bool = False


SHAPES: Final = (Shape("stream", 2), Shape("calls", 3), Shape("hang", 2, hangs=True))


def write(path: Path, shape: Shape, sessions: int, mark: str) -> Path:
    """The script of a round. Which session takes which turn of it depends on the moment; all of them fit."""
    turns = [turn for _ in range(sessions) for turn in _TURNS[shape.name](mark)]
    path.write_text(json.dumps({"turns": turns}), encoding="utf-8")
    return path


def write_quick(path: Path, prompts: int, shape: Shape | None = None, mark: str = "") -> Path:
    """A script whose first prompts have their answers at once, after a call each; then the turns of a shape."""
    turns = [turn for number in range(prompts) for turn in _quick(number)]
    if shape is not None:
        turns += _TURNS[shape.name](mark)
    path.write_text(json.dumps({"turns": turns}), encoding="utf-8")
    return path


def texts(script: Path) -> list[str]:
    """Everything that the scripted model says or thinks in one message."""
    turns = json.loads(script.read_text(encoding="utf-8"))["turns"]
    return [t.get("text", "") * t.get("repeat", 1) for t in turns] + [t.get("thinking", "") for t in turns]


# The turns -----------------------------------------------------------------------------------------


def _quick(number: int) -> Iterator[dict[str, Any]]:
    yield {"text": "At once. ", "tools": [_file(f"quick-{number}.txt", "quick")]}
    yield {"text": "That was quick."}


def _stream(mark: str) -> list[dict[str, Any]]:
    long = f"A long answer{'.' * (PIECE - 14)} "
    return [
        {"thinking": "I think for a while. " * 40, "text": long, "repeat": 60, "delay_ms": 20},
        {
            "thinking": "And I think again.",
            "text": "Some words. ",
            "repeat": 20,
            "delay_ms": 10,
            "tools": [_plan("streamed"), _left(mark)],
        },
        {"text": "The end of it."},
    ]


def _calls(mark: str) -> list[dict[str, Any]]:
    turns: list[dict[str, Any]] = []
    for number in range(3):
        name = f"note-{number}.txt"
        turns += [
            {
                "thinking": "Many calls.",
                "text": "I call. ",
                "repeat": 5,
                "delay_ms": 15,
                "tools": [
                    _file(name, f"note {number}\n" * 50),
                    _plan(f"call {number}"),
                    _left(mark),
                    {"tool": "read_file", "args": {"path": name}},
                ],
            },
            {"tools": [{"tool": "read_file", "args": {"path": name}}, _shell("echo short")]},
            {"text": "Done with it. ", "repeat": 10, "delay_ms": 10},
        ]
    return turns


def _hang(mark: str) -> list[dict[str, Any]]:
    return [
        {"text": "First a file. ", "tools": [_file("hang.txt", "a"), _plan("hang")]},
        {"text": "And now ", "repeat": 20, "delay_ms": 15},
        {
            "thinking": "This takes long.",
            "text": "I wait. ",
            "repeat": 20,
            "delay_ms": 20,
            "tools": [_shell(f"echo {NEVER}{nap(mark)} & {nap(mark)}"), _file("never.txt", "b")],
        },
        {"text": "It never comes here."},
    ]


def _file(path: str, content: str) -> dict[str, Any]:
    return {"tool": "write_file", "args": {"path": path, "content": content}}


def _plan(word: str) -> dict[str, Any]:
    entries = [{"content": f"Step {word}", "status": "in_progress"}, {"content": "Rest", "status": "pending"}]
    return {"tool": "update_plan", "args": {"entries": entries}}


def _left(mark: str) -> dict[str, Any]:
    """A command that ends and leaves two more running, one of them in a session of its own."""
    return _shell(f"({nap(mark)} & setsid {nap(mark)} &) ; sleep 0.05; echo left")


def _shell(command: str) -> dict[str, Any]:
    return {"tool": "shell", "args": {"command": command}}


_TURNS: Final = {"stream": _stream, "calls": _calls, "hang": _hang}
