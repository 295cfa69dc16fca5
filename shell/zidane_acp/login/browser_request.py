"""One request of a browser, read from bytes that anybody on this machine may send."""

from typing import Final, NamedTuple

import anyio.abc

LONGEST_HEAD: Final = 16 * 1024
LONGEST_BODY: Final = 8 * 1024
END: Final = b"\r\n\r\n"


class BrowserRequest(NamedTuple):
    """A request: header names are lower case, and each stands once."""

    method: str
    target: str
    headers: dict[str, str]
    body: bytes


async def read_request(stream: anyio.abc.ByteReceiveStream) -> BrowserRequest | None:
    """The request on a connection; None for what is none, is cut, or is too large."""
    data = b""
    try:
        while END not in data:
            if len(data) > LONGEST_HEAD:
                return None
            data += await stream.receive()
        head, _, body = data.partition(END)
        request = _head(head)
        length = 0 if request is None else _length(request.headers)
        if request is None or length is None:
            return None
        while len(body) < length:
            body += await stream.receive()
    except (anyio.EndOfStream, anyio.BrokenResourceError):
        return None
    return request._replace(body=body[:length])


def _head(head: bytes) -> BrowserRequest | None:
    lines = head.decode("latin-1").split("\r\n")
    words = lines[0].split(" ")
    if len(words) != 3 or not words[2].startswith("HTTP/1."):
        return None
    headers: dict[str, str] = {}
    for line in lines[1:]:
        name, colon, value = line.partition(":")
        name = name.lower()
        if not colon or name in headers or name.strip() != name:
            return None
        headers[name] = value.strip()
    return BrowserRequest(words[0], words[1], headers, b"")


def _length(headers: dict[str, str]) -> int | None:
    """The bytes of the body; None where that cannot be told, or is too much."""
    text = headers.get("content-length", "0")
    known = text.isascii() and text.isdigit() and len(text) < 6 and "transfer-encoding" not in headers
    return int(text) if known and int(text) <= LONGEST_BODY else None
