"""Files that a prompt names: what the model is given, and what the user is told."""

import os
from pathlib import Path
from threading import Event
from typing import Any

import anyio
import pytest
from support.attaching import linked, one, packed, png, read, text_of

from zidane_acp import perform
from zidane_acp.files import LocalFiles
from zidane_acp.tools import attachments, reading
from zidane_core.agent.editor_files import digest
from zidane_core.agent.events import Attachment, AttachmentsRead
from zidane_core.agent.work import ReadAttachments
from zidane_core.data.content import Document, Image, Link

PDF = b"%PDF-1.7\n\0 fake"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "w"
    folder.mkdir()
    return folder


# Text files ----------------------------------------------------------------------------------------

NUMBERED = "one\r\ntwo\nthree\n"
RANGES = [
    ("", NUMBERED, None, None),
    ("#L2", "two\n", 2, 2),
    ("#L1-L2", "one\r\ntwo\n", 1, 2),
    ("#L2:9", "two\nthree\n", 2, 9),
    ("#readme", NUMBERED, None, None),
    ("#L5", "[{path} has only 3 lines.]", 5, 5),
]


@pytest.mark.parametrize(("end", "text", "first", "last"), RANGES)
def test_the_lines_that_were_asked_for(
    root: Path, end: str, text: str, first: int | None, last: int | None
) -> None:
    (root / "a.py").write_bytes(NUMBERED.encode())
    place = str(root / "a.py")
    found = one(root, f"a.py{end}", links=linked(root, f"a.py{end}", media_type="text/x-python"))
    assert found == Attachment(
        position=1,
        part=Document(
            uri=f"file://{place}{end}", name="a.py", media_type="text/x-python", text=text.format(path=place)
        ),
        path=place,
        digest=digest(NUMBERED),
        first=first,
        last=last,
    )


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"", "[The file is empty.]"),
        (b"caf\xe9", "caf\xe9"),
        ("\ufeffa\r\nb".encode("utf-16-le"), "a\r\nb"),
        (b"\xef\xbb\xbfa", "a"),
    ],
)
def test_encodings(root: Path, data: bytes, text: str) -> None:
    (root / "a").write_bytes(data)
    assert text_of(one(root, "a")) == text


@pytest.mark.parametrize("hint", [None, "image/png", "application/pdf", "application/octet-stream"])
def test_the_bytes_decide_and_not_the_hint(root: Path, hint: str | None) -> None:
    (root / "a.png").write_text("text")
    (root / "b.txt").write_bytes(png(2, 2))
    text, picture = read(root, links=linked(root, "a.png", "b.txt", media_type=hint))
    assert isinstance(text.part, Document)
    assert (text.part.media_type, text.part.text) == ("text/plain", "text")
    assert isinstance(picture.part, Image)
    assert picture.part.media_type == "image/png"


def test_a_long_file_says_where_to_read_on(root: Path) -> None:
    (root / "a").write_text("\n".join(f"{number:07}" for number in range(1, 40_000)))
    text = text_of(one(root, "a"))
    assert text.endswith(f"\n[Cut here. Read on with line={reading.ROOM // 8 + 1}.]")
    assert len(text) < reading.ROOM + 100
    assert text_of(one(root, "a#L30000-L39000")).startswith("0030000\n")
    assert text_of(one(root, "a#L10000-L39000")).endswith("[Cut here. Read on with line=26384.]")


def test_all_files_share_a_bound_and_the_user_is_told_once(root: Path) -> None:
    for name in "abcdef":
        (root / name).write_text("1234567\n" * 20_000)
    (root / "small").write_text("small")
    found = read(root, *"abc", "d#L1-L16000", *"ef", "small")
    assert [one.position for one in found] == [1, 2, 3, 4, 5, 7]
    assert sum(len(text_of(one)) for one in (*found[:4], found[5])) < attachments.TEXT_ROOM + 500
    assert text_of(found[5]) == "small"
    assert found[4].part == Link(f"file://{root}/e", "e")
    assert found[4].notice == (
        "The files in your message have more than 512 KiB of text together, so the model got only the names of "
        "the rest; it can read them when it needs them."
    )
    assert not any(one.notice for one in (*found[:4], found[5]))


def test_at_most_so_many_files(root: Path) -> None:
    (root / "a").write_text("text")
    found = read(root, *["a"] * (attachments.MOST_FILES + 5))
    assert len(found) == attachments.MOST_FILES + 1
    assert text_of(found[-2]) == "text"
    assert isinstance(found[-1].part, Link)
    assert "more than 50 files" in found[-1].notice


def test_the_client_names_the_file_as_it_did(root: Path) -> None:
    (root / "a b%20").write_text("text")
    (root / "link").symlink_to("a b%20")
    (root / os.fsdecode(b"\xff")).write_text("odd")
    spaced, alias, odd = read(root, "x/../a%20b%2520", "link", "%FF")
    assert spaced.path == str(root / "a b%20")
    assert alias.path == str(root / "link")
    assert text_of(alias) == "text"
    assert (odd.path, text_of(odd)) == ("", "odd")


# What stays a link ---------------------------------------------------------------------------------


def test_what_needs_no_word(root: Path) -> None:
    (root / "dir").mkdir()
    (root / "bin").write_bytes(b"a\0b")
    (root / "doc.pdf").write_bytes(PDF)
    (root / "p.png").write_bytes(png(2, 2))
    os.mkfifo(root / "pipe")
    assert read(root, "dir", "dir/", "", "bin", "pipe", "doc.pdf", "p.png", images_taken=False) == ()
    others = tuple(
        (0, Link(uri, "x")) for uri in ("https://example.org/a", f"file://server{root}/bin", "zed:///a")
    )
    assert read(root, links=others) == ()


def test_what_the_user_is_told(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    outside = root.parent / "w2"
    outside.mkdir()
    (outside / "secret").write_text("secret")
    (root / "lnk").symlink_to(outside)
    away = (
        'The file "{name}" in your message lies outside of the workspace, so the model got only its name; '
        "add its folder to the workspace, or put its text in the message."
    )
    gone = 'The file "{name}" in your message does not exist, so the model got only its name; save it first if it is new.'
    odd = 'The file "{name}" in your message has a path that cannot be used, so the model got only its name; give the path of a file.'
    for end, notice in [
        ("../w2/secret", away),
        ("..%2Fw2/none", away),
        ("lnk/secret", away),
        ("none", gone),
        ("none/deeper#L1", gone),
        ("a%00b", odd),
    ]:
        found = one(root, end)
        ((_, link),) = linked(root, end)
        assert found == Attachment(position=1, part=link, notice=notice.format(name=link.name))

    def denied(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    (root / "a").write_text("text")
    monkeypatch.setattr(attachments, "opened", denied)
    assert "cannot be read (Permission denied), so" in one(root, "a").notice


def test_one_file_never_costs_the_others(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (root / "a").write_text("text")
    (root / "odd").write_text("odd")
    entry = attachments.entry

    def failing(path: Any, *given: Any) -> Any:
        if path.given.endswith("odd"):
            raise AttributeError("a fault of ours")
        return entry(path, *given)

    monkeypatch.setattr(attachments, "entry", failing)
    odd, whole = read(root, "odd", "a")
    assert odd.notice == (
        'The file "odd" in your message cannot be read (AttributeError), so the model got only its name; put its text '
        "in the message."
    )
    assert text_of(whole) == "text"


def test_a_further_root_counts(root: Path) -> None:
    more = root.parent / "more"
    more.mkdir()
    (more / "a").write_text("text")
    assert text_of(one(root, "../more/a", roots=(str(root), str(more)))) == "text"


def test_a_link_swapped_in_meanwhile(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    outside = root.parent / "w2"
    outside.mkdir()
    (outside / "a").write_text("secret")
    (root / "dir").mkdir()
    (root / "dir" / "a").write_text("harmless")
    resolve = attachments.resolve

    def late(*given: Any) -> Any:
        path = resolve(*given)
        os.rename(root / "dir", root / "away")
        (root / "dir").symlink_to(outside)
        return path

    monkeypatch.setattr(attachments, "resolve", late)
    assert "secret" not in str(read(root, "dir/a"))


def test_a_name_of_others_does_no_harm_in_a_notice(root: Path) -> None:
    link = Link(f"file://{root}/none", "a\n\x1b[31m" + "b" * 500)
    notice = one(root, "", links=((1, link),)).notice
    assert len(notice) < 250
    assert "\n" not in notice and "\x1b" not in notice


# PDFs ----------------------------------------------------------------------------------------------


def test_a_pdf(root: Path) -> None:
    (root / "doc").write_bytes(PDF)
    found = one(root, "doc", documents_taken=True)
    uri = f"file://{root}/doc"
    assert found == Attachment(
        position=1, part=Document(uri=uri, name="doc", media_type="application/pdf", data=packed(PDF))
    )


def test_large_pdfs(root: Path) -> None:
    (root / "big").write_bytes(PDF.ljust(attachments.MEDIA_ROOM + 1))
    (root / "half").write_bytes(PDF.ljust(attachments.MEDIA_ROOM // 2 + 1))
    big, first, second = read(root, "big", "half", "half", "half", documents_taken=True)
    assert isinstance(big.part, Link)
    assert "is a PDF of more than 20 MiB" in big.notice
    assert isinstance(first.part, Document)
    assert isinstance(second.part, Link)
    assert "more than 20 MiB together" in second.notice


# Behind the port -----------------------------------------------------------------------------------


@pytest.mark.anyio
async def test_the_performer_reads_attachments(root: Path) -> None:
    (root / "a").write_text("text")
    what = ReadAttachments(cwd=str(root), roots=(str(root),), links=linked(root, "a"), image_bytes=9)
    host: Any = None  # whatever runs the tools
    performer = perform.Performer({}, host, None, anyio.lowlevel.checkpoint)
    found = await performer.run(what, lambda _: None)
    assert isinstance(found, AttachmentsRead)
    assert text_of(found.attachments[0]) == "text"


@pytest.mark.anyio
async def test_a_cancel_leaves_the_thread_behind_and_it_ends_with_the_next_file(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (root / "a").write_text("text")
    begun, release, ended = Event(), Event(), Event()
    resolved: list[str] = []
    resolve, entire = attachments.resolve, attachments.read_attachments

    def slow(*given: Any) -> Any:
        resolved.append(given[0])
        begun.set()
        release.wait(30)
        return resolve(*given)

    def whole(*given: Any) -> Any:
        try:
            return entire(*given)
        finally:
            ended.set()

    monkeypatch.setattr(attachments, "resolve", slow)
    monkeypatch.setattr(attachments, "read_attachments", whole)
    what = ReadAttachments(cwd=str(root), roots=(str(root),), links=linked(root, "a", "a"), image_bytes=9)
    with anyio.fail_after(5):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(LocalFiles().attach, what)
            await anyio.to_thread.run_sync(begun.wait)
            tasks.cancel_scope.cancel()
    release.set()
    assert ended.wait(30)
    assert len(resolved) == 1
