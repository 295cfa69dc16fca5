"""A folder that becomes a link while it is walked or searched: nothing behind the link is ever seen."""

import os
import stat
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from zidane_acp.tools import listing, search
from zidane_acp.tools.descent import Descent
from zidane_acp.tools.handles import HANDLES
from zidane_acp.tools.local import LocalTools
from zidane_acp.tools.walk import walk

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(not HANDLES, reason="this platform has no handles of folders"),
]
Space = Any


@pytest.fixture
def swap(space: Space) -> Callable[[str], None]:
    """Puts a link out of the workspace in the place of a folder."""
    outside = space.root.parent / "outside"
    (outside / "deep").mkdir(parents=True)
    for folder in (space.root / "src", outside):
        (folder / "deep").mkdir(parents=True, exist_ok=True)
        for name in ("f", "deep/f"):
            (folder / name).write_text(f"needle {folder.name}\n")
    (outside / "secret").write_text("needle\n")

    def swapped(name: str) -> None:
        os.rename(space.root / name, space.root.parent / "away")
        (space.root / name).symlink_to(outside)

    return swapped


def test_a_folder_swapped_while_it_is_walked(space: Space, swap: Callable[[str], None]) -> None:
    top = os.open(space.root, os.O_RDONLY)
    found = walk(top, str(space.root), lambda: False)
    assert next(found).path == "src"
    swap("src")
    assert [one.path for one in found] == []
    os.close(top)


def test_a_folder_swapped_below_one_that_is_open(space: Space, swap: Callable[[str], None]) -> None:
    top = os.open(space.root, os.O_RDONLY)
    found = walk(top, str(space.root), lambda: False)
    assert [next(found).path for _ in range(2)] == ["src", "src/deep"]
    swap("src/deep")
    assert [one.path for one in found] == ["src/f"]
    os.close(top)


@pytest.mark.parametrize("tool", ["list_files", "glob"])
async def test_the_folder_named_in_the_call_swapped(
    space: Space, swap: Callable[[str], None], monkeypatch: pytest.MonkeyPatch, tool: str
) -> None:
    def late(*given: Any, **more: Any) -> Any:
        swap("src")
        return walk(*given, **more)

    monkeypatch.setattr(listing, "walk", late)
    text = await space.text(tool, path="src", **({"pattern": "*"} if tool == "glob" else {}))
    assert "f" in text
    assert "secret" not in text


@pytest.mark.parametrize("folder", ["src", "src/deep"])
async def test_a_folder_swapped_between_listing_and_searching(
    space: Space, swap: Callable[[str], None], monkeypatch: pytest.MonkeyPatch, folder: str
) -> None:
    space.tools = LocalTools(ripgrep=False)
    begun = search.started

    async def late(*given: Any, **more: Any) -> Any:
        swap(folder)
        return await begun(*given, **more)

    monkeypatch.setattr(search, "started", late)
    text = await space.text("search", pattern="needle")
    assert text == ("No matches." if folder == "src" else "src/f:1: needle src")


@pytest.mark.parametrize("ripgrep", [True, False])
async def test_the_folder_to_search_in_swapped_before_the_child_starts(
    space: Space, swap: Callable[[str], None], monkeypatch: pytest.MonkeyPatch, ripgrep: bool
) -> None:
    stand_in(space, monkeypatch, "pwd -P >&2; exit 2")
    space.tools = LocalTools(ripgrep=ripgrep)
    begin = search._start

    async def late(*given: Any) -> Any:
        swap("src")
        return await begin(*given)

    monkeypatch.setattr(search, "_start", late)
    refusal = await space.refusal("search", pattern="needle", path="src")
    assert "is not a folder" in refusal.lower().replace("not a directory", "is not a folder")


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux can start a child in an open folder")
async def test_the_child_starts_in_the_folder_that_was_opened(
    space: Space, swap: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    stand_in(space, monkeypatch, 'pwd -P > "$0.folder"')
    begun = search.started

    async def late(*given: Any, **more: Any) -> Any:
        swap("src")
        return await begun(*given, **more)

    monkeypatch.setattr(search, "started", late)
    await space.text("search", pattern="needle", path="src")
    assert (space.root.parent / "bin" / "rg.folder").read_text() == f"{space.root.parent}/away\n"


async def test_what_ripgrep_found_behind_a_link_is_left_out(
    space: Space, swap: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A stand-in for a ripgrep that went into a folder just before it became a link."""
    stand_in(space, monkeypatch, r'printf "./src/secret\0001:needle\n./top\0001:needle\n./t\371p\0001:x\n"')
    (space.root / "top").touch()
    (space.root / os.fsdecode(b"t\xf9p")).touch()
    swap("src")
    assert await space.text("search", pattern="needle") == "top:1: needle\nt\ufffdp:1: x"


def stand_in(space: Space, monkeypatch: pytest.MonkeyPatch, script: str) -> None:
    folder: Path = space.root.parent / "bin"
    folder.mkdir()
    (folder / "rg").write_text(f"#!/bin/sh\n{script}\n")
    (folder / "rg").chmod(0o755 | stat.S_IEXEC)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")


def test_a_descent_comes_back_from_any_depth(tmp_path: Path) -> None:
    """Down 70 folders, back up some, and down another way; few files are open, and none stays open."""
    before = set(os.listdir("/dev/fd"))
    top = os.open(tmp_path, os.O_RDONLY)
    way = Descent(top)
    folder = top
    for number in range(70):
        os.mkdir(f"{number}", dir_fd=folder)
        os.mkdir("other", dir_fd=folder)
        folder = way.enter(f"{number}")
        assert isinstance(folder, int)
    assert len(set(os.listdir("/dev/fd")) - before) <= 5
    for number in reversed(range(70)):
        way.leave()
        if number % 7 == 0:
            assert os.listdir(way.enter("other")) == []
            way.leave()
    with pytest.raises(OSError):
        way.enter("70")
    assert sorted(os.listdir(way.enter("0"))) == ["1", "other"], "a failed step leaves all as it was"
    way.close()
    os.close(top)
    assert set(os.listdir("/dev/fd")) <= before
