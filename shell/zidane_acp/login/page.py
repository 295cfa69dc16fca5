"""The page on which a user gives a key: on loopback, behind a path that nobody can guess, for one key.

A key must not pass through the client, and other pages in the browser must not reach this one: the Host has to be ours,
which rebound names have not, and a form has to come from this very page.
"""

import contextlib
import secrets
from collections.abc import AsyncGenerator, Callable
from html import escape
from http import HTTPStatus
from typing import Final
from urllib.parse import parse_qs

import anyio
import anyio.abc

from zidane_acp.login.browser_request import BrowserRequest, read_request

HOST: Final = "127.0.0.1"
REQUEST_WITHIN: Final = 10.0
"""Seconds that a browser has for one request."""

MOST: Final = 16
"""Connections at once; a further one waits."""

HEADERS: Final = (
    "Content-Type: text/html; charset=utf-8",
    "Cache-Control: no-store",
    "Connection: close",
    "Content-Security-Policy: default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; "
    "frame-ancestors 'none'; base-uri 'none'",
    "Cross-Origin-Opener-Policy: same-origin",
    # Not no-referrer: the form would then come from the origin null.
    "Referrer-Policy: same-origin",
    "X-Content-Type-Options: nosniff",
)
STYLE: Final = (
    "body{font:16px/1.5 system-ui,sans-serif;max-width:32rem;margin:12vh auto;padding:0 1rem}"
    "input{font:inherit;width:100%;box-sizing:border-box;padding:.5rem}button{font:inherit;margin-top:1rem;padding:.4rem 1rem}"
    "@media(prefers-color-scheme:dark){body{background:#1b1b1d;color:#eee}}"
)


class KeyPage:
    """A page for the key of one account. `check` gives what is wrong with a key, '' when nothing is."""

    def __init__(self, title: str, check: Callable[[str], str], port: int) -> None:
        self._title: Final = title
        self._check: Final = check
        self._host: Final = f"{HOST}:{port}"
        self._path: Final = f"/{secrets.token_urlsafe(24)}"
        self._key = ""
        self._given: Final = anyio.Event()
        self._slots: Final = anyio.Semaphore(MOST)

    @property
    def url(self) -> str:
        """Where the page is."""
        return f"http://{self._host}{self._path}"

    async def key(self) -> str:
        """Wait for the key."""
        await self._given.wait()
        return self._key

    async def serve(self, stream: anyio.abc.ByteStream) -> None:
        """Answer one connection of a browser."""
        async with self._slots, stream:
            with anyio.move_on_after(REQUEST_WITHIN):
                request = await read_request(stream)
                status, body = (HTTPStatus.BAD_REQUEST, "") if request is None else self._answer(request)
                with contextlib.suppress(anyio.BrokenResourceError):
                    await stream.send(_response(status, body))
            # Only once the answer is out, since the page goes away then.
            if self._key:
                self._given.set()

    def _answer(self, request: BrowserRequest) -> tuple[HTTPStatus, str]:
        if request.headers.get("host") != self._host:
            return HTTPStatus.MISDIRECTED_REQUEST, ""
        if not secrets.compare_digest(request.target.encode(), self._path.encode()):
            return HTTPStatus.NOT_FOUND, ""
        if self._key:
            return HTTPStatus.GONE, _page("This page was used", "Start the login again in your editor.")
        if request.method == "GET":
            return HTTPStatus.OK, self._form()
        if request.method != "POST":
            return HTTPStatus.METHOD_NOT_ALLOWED, ""
        if request.headers.get("origin") != f"http://{self._host}":
            return HTTPStatus.FORBIDDEN, ""
        given = parse_qs(request.body.decode("latin-1"), max_num_fields=4).get("key", [""])[0]
        problem = self._check(given)
        if problem:
            return HTTPStatus.UNPROCESSABLE_ENTITY, self._form(problem)
        self._key = given.strip()
        return HTTPStatus.OK, _page("Thank you", "The key has arrived. You can close this page.")

    def _form(self, problem: str = "") -> str:
        told = f"<p role=alert><strong>{escape(problem)}</strong></p>" if problem else ""
        form = (
            f"{told}<form method=post><label>API key of {escape(self._title)}"
            "<input type=password name=key autocomplete=off autofocus required></label>"
            "<button>Keep it on this machine</button></form>"
        )
        about = "The key goes from this page to the agent on this machine, and from there to nobody but its provider."
        return _page(f"Log in: {self._title}", about, form)


def _page(title: str, about: str, more: str = "") -> str:
    return (
        f"<!doctype html><html lang=en><meta charset=utf-8><title>{escape(title)}</title><style>{STYLE}</style>"
        f"<h1>{escape(title)}</h1><p>{escape(about)}</p>{more}</html>"
    )


def _response(status: HTTPStatus, body: str) -> bytes:
    data = (body or _page(status.phrase, "There is nothing here.")).encode()
    head = (f"HTTP/1.1 {status.value} {status.phrase}", *HEADERS, f"Content-Length: {len(data)}")
    return "\r\n".join((*head, "", "")).encode() + data


@contextlib.asynccontextmanager
async def key_page(title: str, check: Callable[[str], str]) -> AsyncGenerator[KeyPage]:
    """A page that is there as long as the context. Raises OSError when nothing can listen on loopback."""
    async with await anyio.create_tcp_listener(local_host=HOST, local_port=0) as listener:
        port = listener.extra(anyio.abc.SocketAttribute.local_port)
        page = KeyPage(title, check, port)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(listener.serve, page.serve)
            try:
                yield page
            finally:
                tasks.cancel_scope.cancel()
