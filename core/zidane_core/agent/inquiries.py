"""Questions of MCP servers to the user (ring 2): shown by the client where it can, else cancelled at once."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

import msgspec
from msgspec.structs import replace
from returns.result import Failure

from zidane_core.agent import forms, moves
from zidane_core.agent.effects import AskPeer, ClosePage, DropPeer, Effect, Log, Reply
from zidane_core.agent.events import Asked, Key
from zidane_core.agent.moves import Moved
from zidane_core.agent.peer import AskForm, AskPage, Filled, PeerAnswer
from zidane_core.agent.server_state import Inquiry, Page, Server
from zidane_core.agent.state import Thread
from zidane_core.fp import fold
from zidane_core.text import clean, decode_json_as

MOST_OPEN: Final = 10
"""Questions of servers that a session has open at once; a further one is cancelled."""

MOST_PAGES: Final = 50
"""Pages of which it is remembered that they are open."""


class _Question(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    mode: str
    message: str = ""
    requested_schema: dict[str, object] | None = None
    url: str = ""
    elicitation_id: str = ""


def asked(thread: Thread, server: Server, event: Asked) -> Moved:
    """A server asks the user something. What the client cannot show is cancelled."""
    question = decode_json_as(event.question, _Question).value_or(None)
    show = None if question is None else _SHOW.get(question.mode)
    stopping = thread.closing is not None or (thread.turn is not None and bool(thread.turn.stopping))
    if question is None or show is None or stopping or len(thread.inquiries) >= MOST_OPEN:
        return thread, (_cancel(event.key, event.ask),)
    return show(thread, server, event, question)


def _cancel(job: Key, ask: int) -> Effect:
    return Reply(job, ask, '{"action":"cancel"}')


def _message(server: Server, question: _Question) -> str:
    """Who asks stands first: the user must not take a server's question for the agent's."""
    return clean(f"{server.config.name}: {question.message}")


def _form(thread: Thread, server: Server, event: Asked, question: _Question) -> Moved:
    form = forms.form(question.requested_schema or {})
    if isinstance(form, Failure) or not thread.abilities.forms:
        why = "its form cannot be shown" if isinstance(form, Failure) else "the client shows no forms"
        return thread, (_unasked(server, why), _cancel(event.key, event.ask))
    thread, key = moves.key(thread)
    shown = form.unwrap()
    inquiry = Inquiry(event.key, event.ask, key, shown)
    return _opened(thread, inquiry), (
        AskPeer(key, thread.id, AskForm(_message(server, question), shown), _trace(thread)),
    )


def _page(thread: Thread, server: Server, event: Asked, question: _Question) -> Moved:
    if not thread.abilities.pages or not question.url.startswith(("https://", "http://")):
        return thread, (
            _unasked(server, "the client opens no pages"),
            _cancel(event.key, event.ask),
        )
    thread, key = moves.key(thread)
    inquiry = Inquiry(event.key, event.ask, key, page=question.elicitation_id)
    page = AskPage(_message(server, question), question.url, key)
    return _opened(thread, inquiry), (AskPeer(key, thread.id, page, _trace(thread)),)


def _opened(thread: Thread, inquiry: Inquiry) -> Thread:
    return replace(thread, inquiries=(*thread.inquiries, inquiry))


def _trace(thread: Thread) -> str:
    return "" if thread.turn is None else thread.turn.trace


def _unasked(server: Server, why: str) -> Effect:
    return Log("warning", f"a question of the MCP server {server.config.name} was cancelled: {why}")


_SHOW: Final[Mapping[str, Callable[[Thread, Server, Asked, _Question], Moved]]] = MappingProxyType(
    {"form": _form, "url": _page}
)


def of_key(thread: Thread, key: Key) -> Inquiry | None:
    """The question that the client was asked under this key."""
    return next((known for known in thread.inquiries if known.key == key), None)


def answered(thread: Thread, inquiry: Inquiry, answer: PeerAnswer) -> Moved:
    """What the user did; a form is seen to fit before the server gets it."""
    thread = replace(thread, inquiries=tuple(one for one in thread.inquiries if one is not inquiry))
    if not isinstance(answer, Filled) or answer.action not in {"accept", "decline"}:
        return thread, (_cancel(inquiry.job, inquiry.ask),)
    if answer.action == "decline":
        return thread, (Reply(inquiry.job, inquiry.ask, '{"action":"decline"}'),)
    if inquiry.form is None:
        pages = (*thread.pages, Page(inquiry.job, inquiry.page, inquiry.key))[-MOST_PAGES:]
        return replace(thread, pages=pages), (Reply(inquiry.job, inquiry.ask, '{"action":"accept"}'),)
    return fold(
        forms.filled(inquiry.form, answer.content),
        lambda content: (thread, (_accept(inquiry, content),)),
        lambda problem: (
            thread,
            (
                Log("warning", "a filled form did not fit what the MCP server asked for"),
                _cancel(inquiry.job, inquiry.ask),
            ),
        ),
    )


def _accept(inquiry: Inquiry, content: dict[str, object]) -> Effect:
    return Reply(
        inquiry.job, inquiry.ask, msgspec.json.encode({"action": "accept", "content": content}).decode()
    )


def page_done(thread: Thread, job: Key, page: str) -> Moved:
    """What a page was opened for is done: the client is told."""
    found = next((known for known in thread.pages if (known.job, known.page) == (job, page)), None)
    if found is None:
        return thread, ()
    pages = tuple(known for known in thread.pages if known is not found)
    return replace(thread, pages=pages), (ClosePage(found.id),)


def drop(thread: Thread, job: Key) -> Moved:
    """The server is gone: its questions are withdrawn, and nobody waits for its pages."""
    gone = tuple(one for one in thread.inquiries if one.job == job)
    pages = tuple(page for page in thread.pages if page.job != job)
    if not gone and len(pages) == len(thread.pages):
        return thread, ()
    left = tuple(one for one in thread.inquiries if one not in gone)
    return replace(thread, inquiries=left, pages=pages), tuple(DropPeer(one.key) for one in gone)


def cancel_all(thread: Thread) -> Moved:
    """The user cancels: every open question is withdrawn, and its server hears of it."""
    if not thread.inquiries:
        return thread, ()
    effects: tuple[Effect, ...] = ()
    for one in thread.inquiries:
        effects = (*effects, DropPeer(one.key), _cancel(one.job, one.ask))
    return replace(thread, inquiries=()), effects
