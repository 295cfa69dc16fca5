"""File tools on a real folder: roots hold, bytes survive, changes are atomic and never blind."""

import base64
import os
import stat
from pathlib import Path
from typing import Any

import anyio
import pytest

from zidane_acp.tools import handles, reading
from zidane_acp.tools.paths import resolve
from zidane_acp.tools.results import Refused
from zidane_core.data.content import Image
from zidane_core.data.tools import Diff, Location, Preview, ToolResult

pytestmark = pytest.mark.anyio
Space = Any


# Reading ---------------------------------------------------------------------------------------------


async def test_read_a_range(space: Space) -> None:
    (space.root / "a").write_bytes(b"one\r\ntwo\nthree")
    assert await space.text("read_file", path="a") == "one\r\ntwo\nthree"
    assert await space.text("read_file", path="a", line=2, limit=1) == "two\n"
    assert await space.text("read_file", path="a", line=3.0) == "three"
    result = await space.run("read_file", path="a", line=2)
    assert result.locations == (Location(str(space.root / "a"), 2),)
    assert "has only 3 lines" in await space.refusal("read_file", path="a", line=4)


async def test_read_past_the_end_of_a_file_with_a_last_line_end(space: Space) -> None:
    (space.root / "a").write_bytes(b"one\n")
    assert "has only 1 line." in await space.refusal("read_file", path="a", line=2)
    assert "has only 1 line." in await space.refusal("read_file", path="a", line=9)


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"\xef\xbb\xbfa", "a"),
        (b"caf\xe9", "caf\xe9"),
        ("\ufeffa\nb".encode("utf-16-le"), "a\nb"),
        (b"", "[The file is empty.]"),
    ],
)
async def test_read_encodings(space: Space, data: bytes, text: str) -> None:
    (space.root / "a").write_bytes(data)
    assert await space.text("read_file", path="a") == text


async def test_a_long_file_says_where_to_read_on(space: Space) -> None:
    lines = [f"{number:07}" for number in range(1, 40_000)]
    (space.root / "a").write_text("\n".join(lines))
    text = await space.text("read_file", path="a")
    kept, _, note = text.rpartition("\n")
    count = reading.ROOM // 8
    assert kept.split("\n") == lines[:count]
    assert note == f"[Cut here. Read on with line={count + 1}.]"
    onward = await space.text("read_file", path="a", line=count + 1)
    assert onward.startswith(lines[count])


async def test_one_endless_line_is_cut_between_characters(space: Space) -> None:
    (space.root / "a").write_text("é" * reading.ROOM)
    text = await space.text("read_file", path="a")
    kept, _, note = text.partition("\n")
    assert set(kept) == {"é"}
    assert len(kept.encode()) <= reading.ROOM
    assert note == "[Cut here. Read on with line=2.]"


PNG = b"\x89PNG\r\n\x1a\n" + bytes(20)


@pytest.mark.parametrize(
    ("data", "media_type"),
    [(PNG, "image/png"), (b"\xff\xd8\xff\xe0", "image/jpeg"), (b"GIF89a", "image/gif"), (b"RIFF1234WEBP", "image/webp")],
)  # fmt: skip
async def test_images_are_seen(space: Space, data: bytes, media_type: str) -> None:
    (space.root / "a.png").write_bytes(data)
    result = await space.run("read_file", path="a.png")
    assert result.content == (Image(media_type, base64.b64encode(data).decode()),)


async def test_what_cannot_be_read(space: Space) -> None:
    (space.root / "bin").write_bytes(b"a\0b")
    (space.root / "dir").mkdir()
    os.mkfifo(space.root / "pipe")
    os.symlink("loop", space.root / "loop")
    assert await space.refusal("read_file", path="bin") == "bin is binary, not text."
    assert await space.refusal("read_file", path="dir") == "dir is a folder; use list_files."
    assert await space.refusal("read_file", path=".") == ". is a folder."
    assert await space.refusal("read_file", path="pipe") == "pipe is no regular file."
    assert await space.refusal("read_file", path="none/x") == "There is no file or folder none/x."
    assert "outside" in await space.refusal("read_file", path="loop")
    assert "cannot be used" in await space.refusal("read_file", path="a\0b")
    assert "cannot be used" in await space.refusal("read_file", path="a\ud800b")


# Roots -----------------------------------------------------------------------------------------------


@pytest.fixture
def secret(space: Space) -> Path:
    """A file next to the workspace, and ways to it."""
    outside = space.root.parent / "w2"
    outside.mkdir()
    (outside / "secret").write_text("secret")
    (space.root / "link").symlink_to(outside / "secret")
    (space.root / "dirlink").symlink_to(outside)
    return outside / "secret"


WAYS = ["../w2/secret", "link", "dirlink/secret", "{absolute}", "dirlink/../w2/secret"]


@pytest.mark.parametrize("way", WAYS)
async def test_reading_outside_is_refused_unless_granted(space: Space, secret: Any, way: str) -> None:
    path = way.format(absolute=secret)
    preview = await space.prepare("read_file", path=path)
    assert preview.paths[0].real == str(secret)
    assert not preview.paths[0].inside
    assert "lies outside the workspace" in await space.refusal("read_file", path=path)
    assert await space.text("read_file", path=path, outside=True) == "secret"


@pytest.mark.parametrize("way", [*WAYS, "dirlink/new", "../w2/new"])
async def test_writing_outside_is_refused(space: Space, secret: Any, way: str) -> None:
    path = way.format(absolute=secret)
    before = sorted(os.listdir(secret.parent))
    assert "outside" in await space.refusal("write_file", path=path, content="x")
    assert "outside" in await space.refusal("edit", path=path, old_string="secret", new_string="x")
    assert secret.read_text() == "secret"
    assert sorted(os.listdir(secret.parent)) == before


async def test_writing_outside_when_granted(space: Space, secret: Any) -> None:
    await space.text("write_file", path="link", content="x", outside=True)
    assert secret.read_text() == "x"
    assert (space.root / "link").is_symlink()


@pytest.mark.parametrize("tool", ["list_files", "glob", "search", "shell"])
async def test_folders_outside_are_refused(space: Space, secret: Any, tool: str) -> None:
    arguments = {"pattern": "secret", "command": "ls", "cwd": "dirlink", "path": "dirlink"}
    wanted = {"list_files": ["path"], "shell": ["command", "cwd"]}.get(tool, ["pattern", "path"])
    chosen = {name: arguments[name] for name in wanted}
    assert not (await space.prepare(tool, **chosen)).paths[0].inside
    assert "lies outside the workspace" in await space.refusal(tool, **chosen)
    assert "secret" in await space.text(tool, outside=True, **chosen)


async def test_failing_outside_tells_nothing_before_the_question(space: Space, secret: Any) -> None:
    """A wrong old_string would otherwise tell the model what a foreign file holds."""
    preview = await space.prepare("edit", path=str(secret), old_string="guess", new_string="x")
    title = f"Edit {secret} (outside the workspace)"
    assert preview == Preview(paths=preview.paths, locations=(Location(str(secret)),), title=title)


async def test_a_link_inside_is_edited_at_its_target(space: Space) -> None:
    (space.root / "real").write_text("a")
    (space.root / "alias").symlink_to("real")
    await space.text("edit", path="alias", old_string="a", new_string="b")
    assert (space.root / "real").read_text() == "b"
    assert (space.root / "alias").is_symlink()


def test_no_roots_means_outside(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("")
    assert not resolve("a", str(tmp_path), ()).inside
    assert not resolve("a", str(tmp_path), (str(tmp_path / "gone"),)).inside
    assert resolve("a", str(tmp_path), (str(tmp_path),)).inside
    assert resolve("new/deep", str(tmp_path), (str(tmp_path),)).inside


def test_a_root_may_be_a_link(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "root").symlink_to("real")
    assert resolve("x", str(tmp_path / "root"), (str(tmp_path / "root"),)).inside


@pytest.mark.parametrize("swapped", ["dir", "dir/file"])
def test_a_link_swapped_in_after_the_check_is_not_followed(tmp_path: Path, swapped: str) -> None:
    root, outside = tmp_path / "w", tmp_path / "o"
    (root / "dir").mkdir(parents=True)
    outside.mkdir()
    (root / "dir" / "file").write_text("mine")
    (outside / "file").write_text("secret")
    path = resolve("dir/file", str(root), (str(root),))
    assert path.inside
    os.rename(root / swapped, tmp_path / "away")
    (root / swapped).symlink_to(outside if swapped == "dir" else outside / "file")
    with pytest.raises((OSError, Refused)), handles.entry(path, (str(root),)) as place:
        handles.read_all(place, "dir/file", 100)
    with pytest.raises((OSError, Refused)), handles.entry(path, (str(root),)) as place:
        handles.replace_all(place, "dir/file", b"x")
    assert (outside / "file").read_text() == "secret"


# Changing --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "old", "new", "result"),
    [
        (b"a\r\nb\r\n", "a\nb", "a\nc\nb", b"a\r\nc\r\nb\r\n"),
        (b"\xef\xbb\xbfa\nb", "b", "c", b"\xef\xbb\xbfa\nc"),
        (b"caf\xe9 a\n", "a\n", "\xfc\n", None),
        (b"caf\xe9 x\n", "x", "\xfc", b"caf\xe9 \xfc\n"),
        (b"a\r\nb\nc", "b", "d", b"a\r\nd\nc"),
    ],
)
async def test_edit_keeps_all_other_bytes(
    space: Space, data: bytes, old: str, new: str, result: bytes
) -> None:
    (space.root / "f").write_bytes(data)
    if result is None:
        result = b"caf\xe9 \xfc\n"
    await space.text("edit", path="f", old_string=old, new_string=new)
    assert (space.root / "f").read_bytes() == result


async def test_prepare_shows_the_diff_and_changes_nothing(space: Space) -> None:
    (space.root / "f").write_bytes(b"a\r\nb\n")
    preview = await space.prepare("edit", path="f", old_string="b", new_string="c")
    assert preview.diffs == (Diff(str(space.root / "f"), "a\r\nb\n", "a\r\nc\n"),)
    assert preview.locations == (Location(str(space.root / "f")),)
    assert preview.digest
    assert (space.root / "f").read_bytes() == b"a\r\nb\n"
    result = await space.run("edit", path="f", old_string="b", new_string="c", preview=preview)
    assert not result.failed
    assert result.diffs == preview.diffs
    assert result.raw == {"path": str(space.root / "f"), "bytes": 5, "created": False}


async def test_a_new_file_has_no_old_text(space: Space) -> None:
    preview = await space.prepare("write_file", path="new/deep/f", content="x")
    assert preview.diffs == (Diff(str(space.root / "new/deep/f"), None, "x"),)
    assert not (space.root / "new").exists()
    result = await space.run("write_file", path="new/deep/f", content="x", preview=preview)
    assert result.raw["created"]
    assert (space.root / "new/deep/f").read_text() == "x"


async def test_a_file_changed_since_is_not_written(space: Space) -> None:
    (space.root / "f").write_text("a b")
    preview = await space.prepare("edit", path="f", old_string="b", new_string="c")
    (space.root / "f").write_text("z b")
    result = await space.run("edit", path="f", old_string="b", new_string="c", preview=preview)
    assert result.failed
    assert "has changed since" in result.content[0].text
    assert (space.root / "f").read_text() == "z b"


async def test_a_file_that_appeared_since_is_not_overwritten(space: Space) -> None:
    preview = await space.prepare("write_file", path="f", content="x")
    (space.root / "f").write_text("")
    result = await space.run("write_file", path="f", content="x", preview=preview)
    assert result.failed
    assert (space.root / "f").read_text() == ""


async def test_preparing_an_impossible_edit_fails(space: Space) -> None:
    (space.root / "f").write_text("a")
    result = await space.tools.run(
        space.call("edit", {"path": "f", "old_string": "b", "new_string": "c"}, "prepare"), lambda _: None
    )
    assert isinstance(result, ToolResult)
    assert result.failed
    assert "not found" in result.content[0].text  # type: ignore[union-attr]
    assert "There is no file g. Use write_file" in await space.refusal(
        "edit", path="g", old_string="b", new_string=""
    )


async def test_multi_edit_is_all_or_none(space: Space) -> None:
    (space.root / "f").write_text("a b")
    good = [{"old_string": "a", "new_string": "x"}, {"old_string": "x b", "new_string": "y"}]
    await space.text("multi_edit", path="f", edits=good)
    assert (space.root / "f").read_text() == "y"
    bad = [{"old_string": "y", "new_string": "z"}, {"old_string": "gone", "new_string": "y"}]
    assert "Edit 2:" in await space.refusal("multi_edit", path="f", edits=bad)
    assert (space.root / "f").read_text() == "y"


@pytest.mark.parametrize("mode", [0o755, 0o600, 0o640])
async def test_a_write_keeps_the_mode_and_leaves_nothing_behind(space: Space, mode: int) -> None:
    (space.root / "f").write_text("a")
    os.chmod(space.root / "f", mode)
    inode = os.stat(space.root / "f").st_ino
    await space.text("write_file", path="f", content="b")
    after = os.stat(space.root / "f")
    assert stat.S_IMODE(after.st_mode) == mode
    assert after.st_ino != inode, "the file was written in place, not replaced in one step"
    assert os.listdir(space.root) == ["f"]


async def test_a_new_file_gets_the_usual_mode(space: Space) -> None:
    mask = os.umask(0o027)
    try:
        await space.text("write_file", path="f", content="b")
    finally:
        os.umask(mask)
    assert stat.S_IMODE(os.stat(space.root / "f").st_mode) == 0o640


async def test_a_failed_replacement_leaves_the_old_file(
    space: Space, monkeypatch: pytest.MonkeyPatch
) -> None:
    (space.root / "f").write_text("a")

    def broken(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", broken)
    assert await space.refusal("write_file", path="f", content="b") == "f: No space left on device."
    assert (space.root / "f").read_text() == "a"
    assert os.listdir(space.root) == ["f"]


async def test_odd_targets_are_not_written(space: Space) -> None:
    (space.root / "d").mkdir()
    os.mkfifo(space.root / "pipe")
    assert "folder" in await space.refusal("write_file", path="d", content="x")
    assert "no regular file" in await space.refusal("write_file", path="pipe", content="x")
    (space.root / "f").write_text("")
    assert "is not a folder" in await space.refusal("write_file", path="f/g", content="x")


# Listing ---------------------------------------------------------------------------------------------


@pytest.fixture
def tree(space: Space) -> None:
    for name in [
        "a.py",
        "b.txt",
        "src/c.py",
        "src/deep/d.py",
        "build/e.py",
        "src/x.log",
        ".git/config",
        ".hidden",
    ]:
        (space.root / name).parent.mkdir(parents=True, exist_ok=True)
        (space.root / name).write_text(f"needle {name}\n")
    (space.root / ".gitignore").write_text("build/\n*.log\n!keep.log\n")
    (space.root / "src" / ".gitignore").write_text("deep\n!x.log\n")


@pytest.mark.usefixtures("tree")
async def test_list_files(space: Space) -> None:
    listed = (await space.text("list_files")).split("\n")
    assert listed == [
        ".gitignore",
        ".hidden",
        "a.py",
        "b.txt",
        "src/",
        "src/.gitignore",
        "src/c.py",
        "src/x.log",
    ]
    assert (await space.text("list_files", depth=1)).split("\n") == [
        ".gitignore",
        ".hidden",
        "a.py",
        "b.txt",
        "src/",
    ]
    assert (await space.text("list_files", path="build")) == "e.py", "named on purpose"
    assert (await space.text("list_files", path="src/deep")) == "d.py"
    assert "is a file" in await space.refusal("list_files", path="a.py")
    assert "does not exist" in await space.refusal("list_files", path="none")


async def test_long_lists_are_cut(space: Space) -> None:
    for number in range(1010):
        (space.root / f"{number:04}").touch()
    lines = (await space.text("list_files")).split("\n")
    assert len(lines) == 1001
    assert lines[-1].startswith("[There are more than 1000;")


@pytest.mark.usefixtures("tree")
@pytest.mark.parametrize(
    ("arguments", "found"),
    [
        ({"pattern": "*.py"}, ["a.py", "src/c.py"]),
        ({"pattern": "./*.py"}, ["a.py"]),
        ({"pattern": "src/**"}, ["src/.gitignore", "src/c.py", "src/x.log"]),
        ({"pattern": "**/c.*"}, ["src/c.py"]),
        ({"pattern": "{a,c}.py"}, ["a.py", "src/c.py"]),
        ({"pattern": "[!a].py"}, ["src/c.py"]),
        ({"pattern": "?.txt"}, ["b.txt"]),
        ({"pattern": "*.py", "path": "src"}, ["src/c.py"]),
        ({"pattern": "a.p"}, ["No file fits the pattern."]),
        ({"pattern": "[]a].py"}, ["a.py"]),
    ],
)
async def test_glob(space: Space, arguments: dict[str, object], found: list[str]) -> None:
    assert (await space.text("glob", **arguments)).split("\n") == found


async def test_glob_above_is_refused(space: Space) -> None:
    assert "`..`" in await space.refusal("glob", pattern="../*")


async def test_very_deep_folders(space: Space) -> None:
    folder = os.open(space.root, os.O_RDONLY)
    for _ in range(1500):
        os.mkdir("d", dir_fd=folder)
        deeper = os.open("d", os.O_RDONLY, dir_fd=folder)
        os.close(folder)
        folder = deeper
    os.close(folder)
    try:
        assert await space.text("glob", pattern="*.py") == "No file fits the pattern."
    finally:
        # Python's own removal goes one call deeper with each folder and would fail.
        await anyio.run_process(["rm", "-rf", str(space.root / "d")])


async def test_unknown_tool(space: Space) -> None:
    assert await space.refusal("dance") == "There is no tool named dance."
