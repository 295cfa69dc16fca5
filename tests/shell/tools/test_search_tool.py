"""`search` with ripgrep and without it: one format, the same rules, and no pattern that holds the agent up."""

import os
import shutil
import stat
from typing import Any

import anyio
import pytest

from zidane_acp.tools import search as search_module
from zidane_acp.tools.local import LocalTools

pytestmark = pytest.mark.anyio
Space = Any

WAYS = [
    pytest.param(False, id="python"),
    pytest.param(
        True,
        id="ripgrep",
        marks=pytest.mark.skipif(
            shutil.which("rg") is None, reason="ripgrep is not installed on this machine"
        ),
    ),
]


@pytest.fixture(params=WAYS)
def searching(request: pytest.FixtureRequest, space: Space) -> Space:
    space.tools = LocalTools(ripgrep=request.param)
    files = {
        "a.py": b"def needle():\r\n    pass\nNeedle\n",
        "src/b.py": b"one\n\nneedle two\n",
        "src/c.txt": b"needle: three\n",
        "name:1: x": b"needle in an odd name\n",
        "build/out.py": b"needle ignored\n",
        "src/x.log": b"needle kept again\n",
        ".git/config": b"needle in git\n",
        ".hidden": b"needle hidden\n",
        "binary": b"\0needle\n",
        "latin": b"needle caf\xe9\n",
        "long": b"x" * 9000 + b" needle-at-end\n",
    }
    for name, data in files.items():
        (space.root / name).parent.mkdir(parents=True, exist_ok=True)
        (space.root / name).write_bytes(data)
    (space.root / ".gitignore").write_text("build/\n*.log\n")
    (space.root / "src" / ".gitignore").write_text("!x.log\n")
    outside = space.root.parent / "outside"
    outside.mkdir()
    (outside / "f").write_text("needle outside\n")
    (space.root / "link").symlink_to(outside / "f")
    (space.root / "dirlink").symlink_to(outside)
    return space


async def test_format_and_rules(searching: Space) -> None:
    text = await searching.text("search", pattern="needle")
    lines = text.split("\n")
    assert [line for line in lines if "latin" not in line and "long" not in line] == [
        ".hidden:1: needle hidden",
        "a.py:1: def needle():",
        "name:1: x:1: needle in an odd name",
        "src/b.py:3: needle two",
        "src/c.txt:1: needle: three",
        "src/x.log:1: needle kept again",
    ]
    assert [line for line in lines if line.startswith("latin:1: needle caf")]
    (long,) = [line for line in lines if line.startswith("long:")]
    assert len(long) < 500
    assert long.endswith("…")


@pytest.mark.parametrize(
    ("arguments", "found"),
    [
        ({"pattern": "(?i)^needle$"}, ["a.py:3: Needle"]),
        ({"pattern": "needle", "glob": "*.py"}, ["a.py:1: def needle():", "src/b.py:3: needle two"]),
        ({"pattern": "needle", "glob": "*.log"}, ["src/x.log:1: needle kept again"]),
        ({"pattern": "needle", "glob": "out.py"}, ["No matches."]),
        ({"pattern": "needle", "glob": "src/*"}, ["src/b.py:3: needle two", "src/c.txt:1: needle: three", "src/x.log:1: needle kept again"]),
        ({"pattern": "needle", "path": "src", "glob": "c*"}, ["src/c.txt:1: needle: three"]),
        ({"pattern": "needle", "path": "build"}, ["build/out.py:1: needle ignored"]),
        ({"pattern": "needle", "path": "a.py"}, ["a.py:1: def needle():"]),
        ({"pattern": "^$", "path": "src/b.py"}, ["src/b.py:2: "]),
        ({"pattern": "-x"}, ["No matches."]),
        ({"pattern": "--files"}, ["No matches."]),
        ({"pattern": "nothing like that"}, ["No matches."]),
    ],
)  # fmt: skip
async def test_searches(searching: Space, arguments: dict[str, object], found: list[str]) -> None:
    result = await searching.text("search", **arguments)
    assert [line.rstrip("\r") for line in result.split("\n")] == found


async def test_a_limit_is_told(searching: Space) -> None:
    result = await searching.run("search", pattern="needle", limit=2)
    lines = result.content[0].text.split("\n")
    assert len(lines) == 3
    assert lines[2] == "[There are more than 2 matches; narrow the search or raise the limit.]"
    assert result.raw == {"count": 2, "truncated": True}


async def test_a_broken_pattern_is_told(searching: Space) -> None:
    refusal = await searching.refusal("search", pattern="a(b")
    assert refusal.startswith("The search failed:")
    assert "regex parse error" in refusal
    assert "cannot be passed" in await searching.refusal("search", pattern="a\0b")
    assert "There is no file or folder none" in await searching.refusal("search", pattern="a", path="none")


async def test_a_pattern_that_never_ends_is_ended(space: Space, monkeypatch: pytest.MonkeyPatch) -> None:
    space.tools = LocalTools(ripgrep=False)
    (space.root / "a").write_text("a" * 60 + "!")
    monkeypatch.setattr(search_module, "SECONDS", 0.5)
    with anyio.fail_after(20):
        refusal = await space.refusal("search", pattern="(a+)+$")
    assert "ended after 0.5 s" in refusal


async def test_cancelling_ends_the_child(space: Space) -> None:
    space.tools = LocalTools(ripgrep=False)
    (space.root / "a").write_text("a" * 60 + "!")
    with anyio.fail_after(20):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(lambda: space.run("search", pattern="(a+)+$cancelled"))
            while not (found := children("(a+)+$cancelled")):  # noqa: ASYNC110  another process has no event
                await anyio.sleep(0.01)
            tasks.cancel_scope.cancel()
    assert not set(found) & set(children("(a+)+$cancelled"))


def children(argument: str) -> list[int]:
    """Processes with this argument."""
    found: list[int] = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/cmdline", "rb") as file:
                if argument.encode() in file.read().split(b"\0"):
                    found.append(int(name))
        except OSError:
            continue
    return found


async def test_ripgrep_is_called_without_a_shell(
    space: Space, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A stand-in for rg writes down its arguments and answers in ripgrep's format."""
    folder = tmp_path / "bin"
    folder.mkdir()
    program = folder / "rg"
    program.write_text('#!/bin/sh\nprintf "%s\\n" "$@" > "$PWD/arguments"\nprintf "./a\\0001:found\\n"\n')
    program.chmod(program.stat().st_mode | stat.S_IEXEC)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    (space.root / "a").touch()
    assert await space.text("search", pattern="--pre=x; $(touch y)") == "a:1: found"
    arguments = (space.root / "arguments").read_text().splitlines()
    assert arguments[-3:] == ["--", "--pre=x; $(touch y)", "./"]
    assert "--no-config" in arguments
