"""What the disk has where a call's path leads: each kind, nothing outside of the roots, nothing that waits."""

import os
import stat
from pathlib import Path
from threading import Event
from typing import Any

import anyio
import pytest

from zidane_acp import perform
from zidane_acp.files import LocalFiles
from zidane_acp.tools import looking
from zidane_acp.tools.handles import HANDLES
from zidane_core.agent.events import FileSeen
from zidane_core.agent.work import LookAtFile

pytestmark = pytest.mark.anyio
Space = Any
PNG = b"\x89PNG\r\n\x1a\n" + bytes(20)


async def look(space: Space, path: object, name: str = "edit") -> FileSeen:
    return await LocalFiles().look(LookAtFile(space.call(name, {"path": path}, "prepare")))


TEXTS = [
    (b"one\r\ntwo\nthree", "one\r\ntwo\nthree"),
    (b"", ""),
    (b"\xef\xbb\xbfa\r", "a\r"),
    (b"caf\xe9", "caf\xe9"),
    ("\ufeffa\r\nb".encode("utf-16-le"), "a\r\nb"),
    (b"x" * looking.LARGEST, "x" * looking.LARGEST),
]


@pytest.mark.parametrize(("data", "text"), TEXTS, ids=range(len(TEXTS)))
async def test_texts_keep_their_line_ends(space: Space, data: bytes, text: str) -> None:
    (space.root / "a").write_bytes(data)
    seen = await look(space, "a")
    assert (seen.kind, seen.shown, seen.title) == ("text", str(space.root / "a"), "")
    assert seen.text == text
    assert seen.path.inside and seen.path.real == str(space.root / "a")


KINDS = [
    (b"a\0b", "binary"),
    (b"\xff\xfea\0b", "binary"),
    (b"\xfe\xff\xd8\x00", "binary"),
    (b"x" * 9000 + b"\0", "binary"),
    (b"x" * (looking.LARGEST + 1), "large"),
    (PNG, "image"),
    (PNG + bytes(looking.LARGEST), "image"),
    (b"GIF89a", "image"),
]


@pytest.mark.parametrize(("data", "kind"), KINDS, ids=range(len(KINDS)))
async def test_what_is_no_text(space: Space, data: bytes, kind: str) -> None:
    (space.root / "a").write_bytes(data)
    seen = await look(space, "a")
    assert (seen.kind, seen.text) == (kind, "")


@pytest.mark.parametrize("path", [".", "", None, "dir", "dir/", "../w"])
async def test_folders(space: Space, path: str | None) -> None:
    (space.root / "dir").mkdir()
    assert (await look(space, path)).kind == "folder"


async def test_what_is_not_there(space: Space) -> None:
    (space.root / "a").write_text("text")
    (space.root / "dangling").symlink_to("gone")
    for path in ("b", "none/deep/b", "dangling"):
        seen = await look(space, path)
        assert (seen.kind, seen.path.inside) == ("missing", True)
    assert (seen.shown, seen.path.real) == (str(space.root / "dangling"), str(space.root / "gone"))
    assert (await look(space, "a/b")).kind == "unreadable"
    assert (await look(space, "x" * 300)).kind == "unreadable"


async def test_a_link_in_the_roots_is_shown_as_it_was_named(space: Space) -> None:
    (space.root / "a").write_text("text")
    (space.root / "link").symlink_to("a")
    seen = await look(space, "link")
    assert (seen.kind, seen.text, seen.shown) == ("text", "text", str(space.root / "link"))
    assert seen.path.real == str(space.root / "a")


@pytest.fixture
def secret(space: Space) -> Path:
    outside: Path = space.root.parent / "w2"
    outside.mkdir()
    (outside / "secret").write_text("secret")
    (space.root / "link").symlink_to(outside / "secret")
    (space.root / "dirlink").symlink_to(outside)
    return outside / "secret"


@pytest.mark.parametrize("way", ["../w2/secret", "link", "dirlink/secret", "{absolute}", "dirlink/none"])
async def test_outside_nothing_is_read(
    space: Space, secret: Path, way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(looking, "entry", None)  # whoever looks fails
    seen = await look(space, way.format(absolute=secret))
    real = str(secret.with_name("none") if "none" in way else secret)
    assert (seen.kind, seen.text, seen.shown, seen.path.real) == ("outside", "", real, real)
    assert "(outside the workspace" in seen.title
    assert real in seen.title
    assert seen.title.startswith("Edit ")


async def test_a_loop_counts_as_outside(space: Space) -> None:
    (space.root / "loop").symlink_to("loop")
    assert (await look(space, "loop")).kind == "outside"


@pytest.mark.parametrize("path", ["a\0b", "a\ud800b"])
async def test_a_path_that_cannot_be_used(space: Space, path: str) -> None:
    seen = await look(space, path)
    assert (seen.kind, seen.title, seen.path.inside) == ("unreadable", "", False)
    assert seen.shown == str(space.root / path)


async def test_what_is_never_opened(space: Space, monkeypatch: pytest.MonkeyPatch) -> None:
    os.mkfifo(space.root / "pipe")
    monkeypatch.setattr(looking, "opened", None)
    with anyio.fail_after(5):
        assert (await look(space, "pipe")).kind == "unreadable"


async def test_a_refused_open_is_unreadable(space: Space, monkeypatch: pytest.MonkeyPatch) -> None:
    (space.root / "a").write_text("text")

    def denied(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(looking, "opened", denied)
    assert (await look(space, "a")).kind == "unreadable"


@pytest.mark.skipif(not HANDLES, reason="this platform has no handles of folders")
@pytest.mark.parametrize("what", ["folder", "file"])
async def test_a_link_swapped_in_meanwhile(
    space: Space, secret: Path, what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (space.root / "dir").mkdir()
    (space.root / "dir" / "secret").write_text("harmless")
    resolve = looking.resolve

    def late(*given: Any) -> Any:
        path = resolve(*given)
        if what == "folder":
            os.rename(space.root / "dir", space.root / "away")
            (space.root / "dir").symlink_to(secret.parent)
        else:
            (space.root / "dir" / "secret").unlink()
            (space.root / "dir" / "secret").symlink_to(secret)
        return path

    monkeypatch.setattr(looking, "resolve", late)
    seen = await look(space, "dir/secret")
    assert (seen.kind, seen.text) == ("unreadable", "")


@pytest.mark.skipif(not HANDLES, reason="this platform has no handles of folders")
async def test_a_pipe_swapped_in_after_the_look_is_not_waited_for(
    space: Space, monkeypatch: pytest.MonkeyPatch
) -> None:
    (space.root / "a").write_text("text")
    stands = looking.stands

    def late(place: Any) -> Any:
        kind = stands(place)
        (space.root / "a").unlink()
        os.mkfifo(space.root / "a")
        return kind

    monkeypatch.setattr(looking, "stands", late)
    with anyio.fail_after(5):
        assert (await look(space, "a")).kind == "unreadable"
    assert stat.S_ISFIFO((space.root / "a").stat().st_mode)


async def test_the_performer_looks_whatever_the_host_runs_tools_with(space: Space) -> None:
    (space.root / "a").write_text("text")
    performer = perform.Performer({}, space.tools, None, anyio.lowlevel.checkpoint)
    seen = await performer.run(LookAtFile(space.call("edit", {"path": "a"})), lambda _: None)
    assert isinstance(seen, FileSeen)
    assert seen.text == "text"


async def test_a_cancel_leaves_the_thread_behind(space: Space, monkeypatch: pytest.MonkeyPatch) -> None:
    begun, release = Event(), Event()

    def slow(_: object) -> None:
        begun.set()
        release.wait(30)

    monkeypatch.setattr(looking, "look_at_file", slow)
    with anyio.fail_after(5):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(look, space, "a")
            await anyio.to_thread.run_sync(begun.wait)
            tasks.cancel_scope.cancel()
    release.set()
