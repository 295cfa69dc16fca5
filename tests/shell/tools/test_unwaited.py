"""A regular file whose read would wait, as that of /proc/kmsg: nobody waits, and nothing else is lost.

A pipe with a writer that is silent stands for it, and passes for a regular file.
"""

import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from zidane_acp.tools import handles, match_lines, walk
from zidane_acp.tools.attachments import read_attachments
from zidane_acp.tools.looking import look_at_file
from zidane_acp.tools.repository import is_plain
from zidane_core.agent.work import ReadAttachments
from zidane_core.data.content import Document, Link

pytestmark = pytest.mark.anyio
Space = Any


@pytest.fixture
def silent(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Makes a file of a name that has nothing to be read yet."""
    writers: list[int] = []

    def make(path: Path) -> None:
        os.mkfifo(path)
        writers.append(os.open(path, os.O_RDWR))

    monkeypatch.setattr(stat, "S_ISREG", lambda mode: stat.S_IFMT(mode) in (stat.S_IFREG, stat.S_IFIFO))
    yield make
    for writer in writers:
        os.close(writer)


async def test_the_tools_refuse(space: Space, silent: Any) -> None:
    silent(space.root / "a")
    assert await space.refusal("read_file", path="a") == "a: a read would have to wait."
    assert "a read would have to wait" in await space.refusal(
        "edit", path="a", old_string="a", new_string="b"
    )
    assert look_at_file(space.call("edit", {"path": "a"}, "prepare")).kind == "unreadable"


def test_a_file_that_stops_in_the_middle_is_not_taken_for_a_whole_one(tmp_path: Path, silent: Any) -> None:
    silent(tmp_path / "a")
    with open(tmp_path / "a", "wb", buffering=0) as writer:
        writer.write(b"text")
        with pytest.raises(BlockingIOError):
            handles.read_all(handles.Entry(None, str(tmp_path / "a")), "a", 100)


def test_the_other_attachments_are_read(tmp_path: Path, silent: Any) -> None:
    silent(tmp_path / "a")
    (tmp_path / "b").write_text("text")
    links = tuple((n, Link(f"file://{tmp_path}/{name}", name)) for n, name in enumerate("ab"))
    what = ReadAttachments(cwd=str(tmp_path), roots=(str(tmp_path),), links=links, image_bytes=9)
    waiting, whole = read_attachments(what).attachments
    assert waiting.notice == (
        'The file "a" in your message cannot be read (a read would have to wait), so the model got '
        "only its name; put its text in the message."
    )
    assert isinstance(whole.part, Document) and whole.part.text == "text"


def test_a_search_finds_nothing_in_it(tmp_path: Path, silent: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    silent(tmp_path / ".gitignore")
    monkeypatch.chdir(tmp_path)
    assert match_lines.contents(b".gitignore") == b""
    assert walk._content(str(tmp_path)) == b""


@pytest.mark.parametrize("name", ["config", "index"])
def test_a_repository_with_it_is_not_known_to_be_harmless(tmp_path: Path, silent: Any, name: str) -> None:
    own = tmp_path / ".git"
    for folder in ("objects", "refs"):
        (own / folder).mkdir(parents=True)
    (own / "HEAD").write_text("ref: refs/heads/main\n")
    (own / "config").write_text("[core]\n\tbare = false\n")
    assert is_plain(str(tmp_path), {})
    (own / name).unlink(missing_ok=True)
    silent(own / name)
    assert not is_plain(str(tmp_path), {})
