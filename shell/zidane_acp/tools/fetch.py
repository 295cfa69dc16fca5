"""The tool `fetch`: GET over http and https, to public addresses only, bounded in size, time and redirects.

The name is resolved here and the connection goes to the very address that was checked, with the name kept for
the `Host` header and for TLS; so a name that changes its address meanwhile (DNS rebinding) gains nothing.
"""

import base64
import socket
import urllib.request
import zlib
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol

import anyio

from zidane_acp.tools.addresses import is_public
from zidane_acp.tools.arguments import text
from zidane_acp.tools.reading import IMAGE_ROOM
from zidane_acp.tools.results import Refused, said
from zidane_core import __version__
from zidane_core.agent.work import RunTool
from zidane_core.bounded import bounded
from zidane_core.data.content import Image
from zidane_core.data.tools import ToolResult
from zidane_core.models.picture_head import head_of_bytes

if TYPE_CHECKING:
    import httpx2

SECONDS: Final = 30.0
REDIRECTS: Final = 5
ROOM: Final = 2**20
TEXT_ROOM: Final = 96 * 1024

_REDIRECT: Final = frozenset({301, 302, 303, 307, 308})
_TEXT_TYPES: Final = ("json", "xml", "javascript", "yaml", "toml", "x-sh", "x-www-form-urlencoded")
_HEADERS: Final = {
    "User-Agent": f"zidane-acp/{__version__}",
    "Accept": "text/html, text/markdown;q=0.9, text/plain;q=0.9, application/json;q=0.9, */*;q=0.5",
    "Accept-Encoding": "gzip, deflate",
}


class _Answer(NamedTuple):
    url: str
    status: int
    media_type: str
    charset: str | None
    body: bytes
    whole: bool


def _checked_url(url: str) -> "httpx2.URL":
    import httpx2

    try:
        parsed = httpx2.URL(url)
    except httpx2.InvalidURL as error:
        raise Refused(f"The address {url!r} is not valid: {error}.") from None
    if parsed.scheme not in ("http", "https"):
        raise Refused(f"Only http and https addresses can be fetched, not {url!r}.")
    if not parsed.host:
        raise Refused(f"The address {url!r} names no host.")
    if parsed.userinfo:
        raise Refused("The address contains a user name or password; leave them out.")
    return parsed


async def _addresses(url: "httpx2.URL", allow_private: bool) -> list[str]:
    """The addresses of a host, all of them checked; one bad address refuses the host."""
    host = url.raw_host.decode("ascii").strip("[]")
    try:
        found = await anyio.getaddrinfo(host, url.port or 0, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise Refused(f"The host {host} could not be found: {error}.") from None
    addresses = list(dict.fromkeys(str(entry[4][0]) for entry in found))
    refused = [address for address in addresses if not allow_private and not is_public(address)]
    if refused or not addresses:
        raise Refused(
            f"{host} is at {', '.join(refused) or 'no address'}, which is not public, so it is not fetched."
        )
    return addresses


def _proxy(url: "httpx2.URL", address: str) -> str | None:
    """The proxy the environment names for a public address; private ones are never handed to a proxy."""
    if not is_public(address) or urllib.request.proxy_bypass(url.host):
        return None
    proxies = urllib.request.getproxies()
    return proxies.get(url.scheme) or proxies.get("all")


async def _get(url: "httpx2.URL", address: str) -> tuple[_Answer, str | None]:
    """One request to one address: the answer, and where it redirects to or None."""
    import httpx2

    timeout = httpx2.Timeout(SECONDS, connect=10.0)
    proxy = _proxy(url, address)
    # A client for each step: cookies of one host are not for the next one, even at the same address.
    async with httpx2.AsyncClient(trust_env=False, proxy=proxy, timeout=timeout) as client:
        request = client.build_request(
            "GET",
            url.copy_with(host=address, fragment=None),
            headers={"Host": url.netloc.decode("ascii"), **_HEADERS},
            extensions={"sni_hostname": url.raw_host.decode("ascii")},
        )
        response = await client.send(request, stream=True)
        try:
            location = response.headers.get("location")
            if response.status_code in _REDIRECT and location:
                return _Answer(str(url), response.status_code, "", None, b"", True), location
            media_type, charset = _media_type(response.headers.get("content-type", ""))
            room = IMAGE_ROOM if media_type.startswith("image/") else ROOM
            chunks = response.aiter_raw()
            try:
                body, whole = await _body(chunks, response.headers.get("content-encoding", ""), room)
            finally:
                if isinstance(chunks, AsyncGenerator):  # left in its middle when the room is full
                    await chunks.aclose()
        finally:
            await response.aclose()
    return _Answer(str(url), response.status_code, media_type, charset, body, whole), None


def _media_type(header: str) -> tuple[str, str | None]:
    media_type, *parameters = (part.strip() for part in header.split(";"))
    pairs = (parameter.partition("=") for parameter in parameters)
    charset = next(
        (value.strip("\"' ") for name, _, value in pairs if name.strip().lower() == "charset"), None
    )
    return media_type.lower(), charset


class _Inflater(Protocol):
    @property
    def unconsumed_tail(self) -> bytes: ...

    def decompress(self, data: bytes, max_length: int, /) -> bytes: ...


def _inflater(encoding: str) -> _Inflater | None:
    """What unpacks a body, by the name of its encoding. `deflate` and `gzip` are told apart by their header."""
    names = [name.strip().lower() for name in encoding.split(",") if name.strip(" \t")]
    if names in ([], ["identity"]):
        return None
    if names in (["gzip"], ["x-gzip"], ["deflate"]):
        return zlib.decompressobj(wbits=zlib.MAX_WBITS | 32)
    raise Refused(f"The answer is packed as {encoding!r}, which was not asked for.")


async def _body(chunks: AsyncIterator[bytes], encoding: str, room: int) -> tuple[bytes, bool]:
    """The unpacked body and whether it is all; never more than `room` bytes are unpacked."""
    inflater = _inflater(encoding)
    body = bytearray()
    async for chunk in chunks:
        try:
            body += inflater.decompress(chunk, room + 1 - len(body)) if inflater else chunk
        except zlib.error as error:
            raise Refused(f"The answer could not be unpacked: {error}.") from None
        if len(body) > room or (inflater and inflater.unconsumed_tail):
            return bytes(body[:room]), False
    return bytes(body), True


async def fetch(call: RunTool, allow_private: bool) -> ToolResult:
    """The content of an address, after its redirects, each of which is checked like the first."""
    import httpx2

    url = _checked_url(text(call, "url"))
    try:
        with anyio.fail_after(SECONDS):
            for _ in range(REDIRECTS + 1):
                answer, location = await _try_each(url, await _addresses(url, allow_private))
                if location is None:
                    return await anyio.to_thread.run_sync(_result, answer, abandon_on_cancel=True)
                url = _followed(url, _checked_url(str(url.join(location))))
    except TimeoutError:
        raise Refused(f"{url} did not answer within {SECONDS:g} s.") from None
    except httpx2.HTTPError as error:
        raise Refused(f"{url} could not be fetched: {str(error) or type(error).__name__}.") from None
    except httpx2.InvalidURL as error:
        raise Refused(f"{url} redirects to an address that is not valid: {error}.") from None
    raise Refused(f"The address redirects more than {REDIRECTS} times.")


def _followed(url: "httpx2.URL", target: "httpx2.URL") -> "httpx2.URL":
    """The target of a redirect within one host; permission was given for that host and for no other."""
    if url.host.removeprefix("www.") == target.host.removeprefix("www."):
        return target
    raise Refused(f"{url} redirects to another host: {target}. Fetch that address if you want its content.")


async def _try_each(url: "httpx2.URL", addresses: list[str]) -> tuple[_Answer, str | None]:
    """The answer of the first address that can be connected to."""
    import httpx2

    for address in addresses[:-1]:
        try:
            return await _get(url, address)
        except (httpx2.ConnectError, httpx2.ConnectTimeout):
            continue
    return await _get(url, addresses[-1])


def _result(answer: _Answer) -> ToolResult:
    raw: dict[str, object] = {
        "url": answer.url,
        "status": answer.status,
        "mediaType": answer.media_type,
        "bytes": len(answer.body),
        "truncated": not answer.whole,
    }
    failed = answer.status >= 400
    image = head_of_bytes(answer.body[:16]).media_type
    if image is not None and not failed:
        if not answer.whole:
            raise Refused(f"{answer.url} is an image of more than {IMAGE_ROOM // 2**20} MiB.")
        return ToolResult(content=(Image(image, base64.b64encode(answer.body).decode()),), raw=raw)
    read = _reader(answer)
    if read is None:
        kind = answer.media_type or "of unknown type"
        return said(
            f"{answer.url} is no text ({kind}, {len(answer.body)} bytes or more).", failed=failed, raw=raw
        )
    shown = read(answer)
    notes = [
        f"[HTTP status {answer.status} from {answer.url}.]" if failed else "",
        bounded(shown, TEXT_ROOM),
        "" if answer.whole else f"[Only the first {ROOM // 2**20} MiB were fetched.]",
    ]
    return said("\n".join(note for note in notes if note) or "[The answer is empty.]", failed=failed, raw=raw)


def _reader(answer: _Answer) -> Callable[[_Answer], str] | None:
    if "html" in answer.media_type:
        return _markdown
    readable = answer.media_type.startswith("text/") or any(name in answer.media_type for name in _TEXT_TYPES)
    unnamed = not answer.media_type and b"\0" not in answer.body
    return _plain if readable or unnamed else None


def _plain(answer: _Answer) -> str:
    try:
        return answer.body.decode(answer.charset or "utf-8", "replace")
    except LookupError:
        return answer.body.decode("utf-8", "replace")


def _markdown(answer: _Answer) -> str:
    """HTML as Markdown, without scripts and styles."""
    from bs4 import BeautifulSoup
    from markdownify import MarkdownConverter

    try:
        soup = BeautifulSoup(answer.body, "html.parser", from_encoding=answer.charset)
        for tag in soup(["script", "style", "noscript", "template", "svg", "head"]):
            if tag.name == "head" and soup.title and soup.title.string:
                tag.replace_with(soup.new_tag("h1", string=soup.title.string.strip()))
            else:
                tag.decompose()
        converted = str(MarkdownConverter(heading_style="ATX").convert_soup(soup))
    except RecursionError:
        return _plain(answer)
    lines = (line.rstrip() for line in converted.strip().splitlines())
    return "\n".join(line for line, after in _pairs(list(lines)) if line or after)


def _pairs(lines: list[str]) -> list[tuple[str, str]]:
    """Each line with the one after it, so that of several blank lines one stays."""
    return list(zip(lines, [*lines[1:], ""], strict=True))
