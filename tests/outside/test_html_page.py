"""The page of a session in a real browser (the optional browser group): it looks as it should and asks nobody."""

import http.server
import re
import struct
import subprocess
import threading
import zlib
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import NamedTuple

import pytest
from support.sample_session import ABOUT, sample

from zidane_acp.sessions.markdown import render
from zidane_core.convert.html_page import html_page
from zidane_core.convert.transcript import transcript
from zidane_core.data import history
from zidane_core.data.content import Image, Text

pytestmark = [pytest.mark.browser, pytest.mark.timeout(110)]

QUIET = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
)
DARK = "--blink-settings=preferredColorScheme=0"


class Server(NamedTuple):
    """A server on loopback and the paths that it was asked for."""

    address: str
    asked: list[str]


@pytest.fixture
def server() -> Iterator[Server]:
    asked: list[str] = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.send_response(204)
            self.end_headers()

        def log_message(self, *words: object) -> None:
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as listening:
        thread = threading.Thread(target=listening.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield Server(f"http://127.0.0.1:{listening.server_port}", asked)
        finally:
            listening.shutdown()
            thread.join()


class Elements(HTMLParser):
    """All elements of a document with their attributes, in order."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))

    def of_class(self, name: str, tag: str = "") -> list[dict[str, str | None]]:
        return [
            attributes
            for found, attributes in self.found
            if found == (tag or found) and name in (attributes.get("class") or "").split()
        ]


def look(program: str, page: Path, folder: Path, *words: str) -> str:
    profile = folder / "profile"
    done = subprocess.run(
        (program, *QUIET, f"--user-data-dir={profile}", *words, page.as_uri()),
        capture_output=True,
        text=True,
        timeout=100,
        check=True,
    )
    return done.stdout


def test_the_page_stands_in_a_browser_as_it_was_made(
    browser_program: str, server: Server, tmp_path: Path
) -> None:
    page = tmp_path / "page.html"
    page.write_text(html_page(ABOUT, transcript(sample(server.address)), render), "utf-8")
    elements = Elements(look(browser_program, page, tmp_path, "--dump-dom"))
    tags = {tag for tag, _attributes in elements.found}
    assert not tags & {"script", "iframe", "object", "embed", "link", "base", "form", "svg", "video", "audio"}
    assert len(elements.of_class("card")) == 4
    assert len(elements.of_class("failed", "details")) == 1
    assert len(elements.of_class("interrupted")) == 1
    assert len(elements.of_class("new", "tr")) == 4 and len(elements.of_class("gone", "tr")) == 1
    assert [
        attributes["class"] for tag, attributes in elements.found if tag == "li" and "class" in attributes
    ] == [
        "completed",
        "in_progress",
        "pending",
    ]
    pictures = [attributes["src"] or "" for tag, attributes in elements.found if tag == "img"]
    assert [re.match("data:image/[a-z]+;", source) is not None for source in pictures] == [True]
    assert not [name for _tag, attributes in elements.found for name in attributes if name.startswith("on")]
    links = [attributes for tag, attributes in elements.found if tag == "a"]
    assert all((link["href"] or "").startswith(server.address) for link in links)
    assert all(link["rel"] == "noreferrer" for link in links) and len(links) == 3
    assert server.asked == []


def test_hostile_texts_ask_nobody_and_run_nothing(
    browser_program: str, server: Server, tmp_path: Path
) -> None:
    there = server.address
    hostile = (
        f"</style></pre></main><script>document.title='taken'</script><img src='{there}/a.png' onerror=x>"
        f"![x]({there}/b.png) <style>body{{background:url({there}/c.png)}}</style>"
        f'<link rel="stylesheet" href="{there}/d.css"><iframe src="{there}/e"></iframe>'
        f'<meta http-equiv="refresh" content="0;url={there}/f">'
    )
    entries = (
        history.UserSaid("m", (Text(hostile), Image("image/png", uri=f"{there}/g.png")), 1),
        history.TextSaid("m", hostile),
        history.TextSaid("m", f"[r]: {there}/h.png\n\n![r] ![][r]"),
        history.CallMade(
            call="c", name="x", arguments="", title=hostile, kind="other", raw={hostile: hostile}
        ),
        history.ResultMade(call="c", name="x", content=(), failed=True, shown=(Text(hostile),)),
        history.NoticeGiven("n", "error", hostile),
    )
    page = tmp_path / "page.html"
    page.write_text(html_page(ABOUT, transcript(entries), render), "utf-8")
    dom = look(browser_program, page, tmp_path, "--dump-dom")
    assert f"<title>{ABOUT.title}</title>" in dom
    assert not {"script", "img", "iframe", "link"} & {tag for tag, _attributes in Elements(dom).found}
    assert server.asked == []


def test_a_page_that_loads_something_would_be_noticed(
    browser_program: str, server: Server, tmp_path: Path
) -> None:
    # The other tests rely on the server seeing what a page without our policy loads.
    page = tmp_path / "page.html"
    page.write_text(f'<!DOCTYPE html><title>x</title><img src="{server.address}/seen.png">', "utf-8")
    look(browser_program, page, tmp_path, "--dump-dom")
    assert "/seen.png" in server.asked


@pytest.mark.parametrize("width", [400, 1100])
def test_it_is_drawn_light_and_dark_and_in_the_colours_of_a_diff(
    browser_program: str, server: Server, tmp_path: Path, width: int
) -> None:
    page = tmp_path / "page.html"
    page.write_text(html_page(ABOUT, transcript(sample(server.address)), render), "utf-8")
    pictures: list[set[tuple[int, int, int]]] = []
    for name, words in (("light.png", ()), ("dark.png", (DARK,))):
        picture = tmp_path / name
        look(
            browser_program, page, tmp_path, f"--window-size={width},2400", f"--screenshot={picture}", *words
        )
        pictures.append(colours(picture.read_bytes()))
    light, dark = pictures
    # The colours of the back, of new and of gone lines, as in html_style.py.
    assert {(0xFB, 0xFB, 0xF9), (0xE3, 0xF4, 0xE6), (0xFC, 0xE8, 0xE6)} <= light
    assert {(0x17, 0x18, 0x1A), (0x16, 0x30, 0x1F), (0x3A, 0x1D, 0x1C)} <= dark
    assert server.asked == []


def colours(png: bytes) -> set[tuple[int, int, int]]:
    """The colours of a PNG of 8 bits a channel, by undoing its filters row by row."""
    at, width, channels, packed = 8, 0, 3, b""
    while at < len(png):
        (length,) = struct.unpack(">I", png[at : at + 4])
        kind, data = png[at + 4 : at + 8], png[at + 8 : at + 8 + length]
        if kind == b"IHDR":
            width, channels = struct.unpack(">I", data[:4])[0], {2: 3, 6: 4}[data[9]]
        packed += data if kind == b"IDAT" else b""
        at += 12 + length
    rows, stride = zlib.decompress(packed), width * channels
    before, found = bytearray(stride), set[tuple[int, int, int]]()
    for start in range(0, len(rows), stride + 1):
        row = unfiltered(rows[start], bytearray(rows[start + 1 : start + 1 + stride]), before, channels)
        if row != before:
            found.update(zip(row[::channels], row[1::channels], row[2::channels], strict=True))
        before = row
    return found


def unfiltered(kind: int, row: bytearray, above: bytearray, channels: int) -> bytearray:
    for index in range(len(row)) if kind else ():
        left = row[index - channels] if index >= channels else 0
        corner = above[index - channels] if index >= channels else 0
        guess = (0, left, above[index], (left + above[index]) // 2, paeth(left, above[index], corner))[kind]
        row[index] = (row[index] + guess) & 0xFF
    return row


def paeth(left: int, above: int, corner: int) -> int:
    estimate = left + above - corner
    return min((left, above, corner), key=lambda value: abs(estimate - value))
