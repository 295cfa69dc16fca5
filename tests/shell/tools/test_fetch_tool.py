"""`fetch`: public addresses only, checked at the connection, bounded, and readable."""

import base64
import contextlib
import gzip
import http.server
import socket
import threading
import zlib
from collections.abc import Iterator
from typing import Any

import anyio
import pytest

from zidane_acp.tools import fetch as fetch_module
from zidane_acp.tools.addresses import is_public
from zidane_acp.tools.local import LocalTools
from zidane_core import __version__
from zidane_core.data.content import Image

pytestmark = pytest.mark.anyio
Space = Any


@pytest.fixture
def anyio_backend() -> str:
    """The HTTP library leaves a generator of its own to the event loop when a body is not read to its end; only
    asyncio closes such generators by itself."""
    return "asyncio"


PNG = b"\x89PNG\r\n\x1a\n" + bytes(20)
HTML = (
    "<html><head><title>A page</title><style>p {}</style></head><body><script>alert(1)</script>"
    "<h2>Head</h2><p>Some <b>bold</b> <a href='/x'>link</a></p>\n\n\n<ul><li>ä</li></ul></body></html>"
)
BOMB = zlib.compress(bytes(64 * 2**20))
PAGES: dict[str, tuple[int, dict[str, str], bytes]] = {
    "/html": (200, {"Content-Type": "text/html; charset=utf-8"}, HTML.encode()),
    "/latin": (200, {"Content-Type": "text/plain; charset=iso-8859-1"}, "caf\xe9".encode("latin-1")),
    "/json": (200, {"Content-Type": "application/json"}, b'{"a": 1}'),
    "/gzip": (200, {"Content-Type": "text/plain", "Content-Encoding": "gzip"}, gzip.compress(b"packed")),
    "/bomb": (200, {"Content-Type": "text/plain", "Content-Encoding": "deflate"}, BOMB),
    "/broken": (200, {"Content-Type": "text/plain", "Content-Encoding": "gzip"}, b"no gzip"),
    "/brotli": (200, {"Content-Type": "text/plain", "Content-Encoding": "br"}, b"x"),
    "/png": (200, {"Content-Type": "image/png"}, PNG),
    "/zip": (200, {"Content-Type": "application/zip"}, b"PK\x03\x04"),
    "/big": (200, {"Content-Type": "text/plain"}, b"x" * (2 * 2**20)),
    "/empty": (200, {"Content-Type": "text/plain"}, b""),
    "/missing": (404, {"Content-Type": "text/plain"}, b"not here"),
    "/go": (302, {"Location": "/json"}, b""),
    "/round": (302, {"Location": "/round"}, b""),
    "/file": (302, {"Location": "file:///etc/passwd"}, b""),
    "/deep": (200, {"Content-Type": "text/html"}, b"<div>" * 5000 + b"inside"),
}


class Handler(http.server.BaseHTTPRequestHandler):
    """Serves PAGES and remembers the headers of the last request."""

    def do_GET(self) -> None:
        self.server.seen = dict(self.headers)  # type: ignore[attr-defined]
        if self.path == "/slow":
            self.server.release.wait(20)  # type: ignore[attr-defined]
            return
        status, headers, body = PAGES[self.path]
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        with contextlib.suppress(OSError):  # the client may have read enough
            self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Be quiet."""


@pytest.fixture
def server() -> Iterator[Any]:
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as running:
        running.release = threading.Event()  # type: ignore[attr-defined]
        thread = threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        yield running
        running.release.set()  # type: ignore[attr-defined]
        running.shutdown()
        thread.join()


@pytest.fixture
def web(space: Space, server: Any) -> Space:
    space.tools = LocalTools(allow_private=True)
    space.base = f"http://127.0.0.1:{server.server_port}"
    return space


async def test_html_becomes_markdown(web: Space, server: Any) -> None:
    text = await web.text("fetch", url=f"{web.base}/html")
    assert text == "# A page\n\n## Head\n\nSome **bold** [link](/x)\n\n* ä"
    assert server.seen["User-Agent"] == f"zidane-acp/{__version__}"
    assert server.seen["Host"] == f"127.0.0.1:{server.server_port}"


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("/latin", "caf\xe9"),
        ("/json", '{"a": 1}'),
        ("/gzip", "packed"),
        ("/go", '{"a": 1}'),
        ("/empty", "[The answer is empty.]"),
    ],
)
async def test_texts(web: Space, path: str, text: str) -> None:
    assert await web.text("fetch", url=web.base + path) == text


@pytest.mark.parametrize(
    ("path", "sentence"),
    [
        ("/missing", "[HTTP status 404 from http://127.0.0.1:"),
        ("/round", "redirects more than 5 times"),
        ("/file", "Only http and https"),
        ("/broken", "could not be unpacked"),
        ("/brotli", "packed as 'br'"),
    ],
)
async def test_failures(web: Space, path: str, sentence: str) -> None:
    assert sentence in await web.refusal("fetch", url=web.base + path)


async def test_images_and_other_files(web: Space) -> None:
    result = await web.run("fetch", url=f"{web.base}/png")
    assert result.content == (Image("image/png", base64.b64encode(PNG).decode()),)
    assert "is no text (application/zip, 4 bytes or more)" in await web.text("fetch", url=f"{web.base}/zip")


@pytest.mark.parametrize("path", ["/big", "/bomb"])
async def test_size_is_bounded(web: Space, path: str) -> None:
    result = await web.run("fetch", url=web.base + path)
    assert result.raw["bytes"] == fetch_module.ROOM
    assert result.raw["truncated"]
    assert result.content[0].text.endswith("[Only the first 1 MiB were fetched.]")
    assert len(result.content[0].text) < fetch_module.TEXT_ROOM + 300


async def test_unpacking_stops_at_the_bound() -> None:
    """Not one byte more than the room is ever unpacked, whatever one chunk holds."""
    largest = 0
    inflate = zlib.decompressobj

    class Watched:
        def __init__(self, wbits: int) -> None:
            self.inner = inflate(wbits)

        @property
        def unconsumed_tail(self) -> bytes:
            return self.inner.unconsumed_tail

        def decompress(self, data: bytes, most: int, /) -> bytes:
            nonlocal largest
            out = self.inner.decompress(data, most)
            largest = max(largest, len(out))
            return out

    async def chunks() -> Any:
        yield BOMB

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fetch_module.zlib, "decompressobj", Watched)
        async with contextlib.aclosing(chunks()) as source:
            body, whole = await fetch_module._body(source, "gzip", 1000)
    assert (len(body), whole) == (1000, False)
    assert largest == 1001


async def test_deeply_nested_html(web: Space) -> None:
    assert "inside" in await web.text("fetch", url=f"{web.base}/deep")


async def test_time_is_bounded(web: Space, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fetch_module, "SECONDS", 0.3)
    with anyio.fail_after(15):
        assert "did not answer within 0.3 s" in await web.refusal("fetch", url=f"{web.base}/slow")


@pytest.mark.parametrize(
    ("url", "sentence"),
    [
        ("file:///etc/passwd", "Only http and https"),
        ("ftp://example.org", "Only http and https"),
        ("example.org", "Only http and https"),
        ("http://", "names no host"),
        ("http://user:pass@127.0.0.1/", "contains a user name"),
        ("http://[::1", "is not valid"),
        ("http://127.0.0.1/", "127.0.0.1 is at 127.0.0.1, which is not public"),
        ("http://localhost/", "which is not public"),
        ("http://2130706433/", "which is not public"),
        ("http://0x7f.1/", "which is not public"),
        ("http://0/", "which is not public"),
        ("http://10.1.2.3/", "which is not public"),
        ("http://169.254.169.254/latest", "which is not public"),
        ("http://[::1]/", "which is not public"),
        ("http://[::ffff:127.0.0.1]/", "which is not public"),
        ("http://[fe80::1]/", "which is not public"),
        ("http://[::]/", "which is not public"),
    ],
)
async def test_what_is_refused(space: Space, url: str, sentence: str) -> None:
    assert sentence in await space.refusal("fetch", url=url)


async def test_private_answers_are_refused_before_any_connection(space: Space, server: Any) -> None:
    await space.refusal("fetch", url=f"http://127.0.0.1:{server.server_port}/json")
    assert not hasattr(server, "seen")


async def test_a_redirect_into_the_private_network_is_refused(
    space: Space, server: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first address counts as public here; that of the redirect, within the same host, does not."""
    PAGES["/inside"] = (302, {"Location": f"http://www.public.test:{server.server_port}/json"}, b"")
    pretend(monkeypatch, {"public.test": [["127.0.0.2"]], "www.public.test": [["127.0.0.1"]]})
    monkeypatch.setattr(
        fetch_module, "is_public", lambda address: address == "127.0.0.2" or is_public(address)
    )
    running = http.server.ThreadingHTTPServer(("127.0.0.2", 0), Handler)
    thread = threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        refusal = await space.refusal("fetch", url=f"http://public.test:{running.server_port}/inside")
    finally:
        running.shutdown()
        thread.join()
        running.server_close()
    assert "www.public.test is at 127.0.0.1, which is not public" in refusal
    assert running.seen["Host"] == f"public.test:{running.server_port}"  # type: ignore[attr-defined]
    assert not hasattr(server, "seen")


async def test_a_redirect_to_another_host_is_not_followed(web: Space, server: Any) -> None:
    """Permission is for one host; the model has to ask for the other one."""
    PAGES["/away"] = (302, {"Location": f"http://other.test:{server.server_port}/json"}, b"")
    refusal = await web.refusal("fetch", url=f"{web.base}/away")
    assert "redirects to another host: http://other.test" in refusal


def pretend(monkeypatch: pytest.MonkeyPatch, names: dict[str, list[list[str]]]) -> list[str]:
    """Names with the addresses that each lookup gives in turn; the list of lookups made."""
    asked: list[str] = []
    real = anyio.getaddrinfo

    async def lookup(host: str, port: int, **options: Any) -> Any:
        if host not in names:
            return await real(host, port, **options)
        asked.append(host)
        answers = names[host]
        addresses = answers.pop(0) if len(answers) > 1 else answers[0]
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port)) for address in addresses]

    monkeypatch.setattr(anyio, "getaddrinfo", lookup)
    return asked


async def test_a_name_is_looked_up_once(space: Space, server: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """DNS rebinding: the second lookup would give loopback, but the checked address is the one connected to."""
    asked = pretend(monkeypatch, {"rebind.test": [["192.0.2.1"], ["127.0.0.1"]]})
    connected: list[str] = []

    async def get(url: Any, address: str) -> Any:
        connected.append(address)
        raise fetch_module.Refused("far enough")

    monkeypatch.setattr(fetch_module, "is_public", lambda address: not address.startswith("127."))
    monkeypatch.setattr(fetch_module, "_get", get)
    assert await space.refusal("fetch", url=f"http://rebind.test:{server.server_port}/json") == "far enough"
    assert connected == ["192.0.2.1"]
    assert asked == ["rebind.test"]


async def test_one_private_address_among_public_ones_refuses(
    space: Space, monkeypatch: pytest.MonkeyPatch
) -> None:
    pretend(monkeypatch, {"mixed.test": [["8.8.8.8", "10.0.0.1"]]})
    assert "mixed.test is at 10.0.0.1" in await space.refusal("fetch", url="http://mixed.test/")


async def test_the_next_address_is_tried(web: Space, server: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    pretend(monkeypatch, {"two.test": [["127.0.0.3", "127.0.0.1"]]})
    assert await web.text("fetch", url=f"http://two.test:{server.server_port}/json") == '{"a": 1}'


@pytest.mark.parametrize(
    ("address", "public"),
    [
        ("8.8.8.8", True), ("2606:4700::1111", True), ("64:ff9b::808:808", True),
        ("127.0.0.1", False), ("127.9.9.9", False), ("10.0.0.1", False), ("172.16.0.1", False), ("192.168.1.1", False),
        ("100.64.0.1", False), ("169.254.169.254", False), ("0.0.0.0", False), ("224.0.0.1", False),
        ("255.255.255.255", False), ("240.0.0.1", False), ("192.0.2.1", False), ("198.18.0.1", False),
        ("::", False), ("::1", False), ("fe80::1", False), ("fe80::1%eth0", False), ("fc00::1", False), ("ff02::1", False),
        ("::ffff:10.0.0.1", False), ("::ffff:127.0.0.1", False), ("::127.0.0.1", False), ("64:ff9b::7f00:1", False),
        ("2002:7f00:1::", False), ("2001:0:4136:e378:8000:63bf:f5ff:fffe", False), ("fec0::1", False), ("host", False), ("", False),
    ],
)  # fmt: skip
def test_addresses(address: str, public: bool) -> None:
    assert is_public(address) is public
