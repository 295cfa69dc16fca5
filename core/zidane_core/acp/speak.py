"""Domain effects to frames (ring 3). The one place where anything is said to the client."""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Any, Final

import msgspec
from msgspec.structs import replace

from zidane_core import buckets
from zidane_core.acp import cards, cursors, jsonrpc, logins, outgoing, wire
from zidane_core.acp.config_options import config_options, modes
from zidane_core.acp.connection import Connection
from zidane_core.agent import effects as done
from zidane_core.agent import table
from zidane_core.agent.effects import Effect
from zidane_core.agent.state import Thread
from zidane_core.convert.stored import session_content_to_acp_content
from zidane_core.data.outcome import Usage
from zidane_core.faults import Fault
from zidane_core.text import clean

Spoken = tuple[Connection, tuple[Effect, ...]]


def speak(connection: Connection, effects: tuple[Effect, ...]) -> Spoken:
    """The effects for the shell: what is for the client becomes frames, in order, the rest passes."""
    out: list[Effect] = []
    for effect in effects:
        if type(effect) is done.Chunk:
            if effect.outlet:
                out.append(done.Send(chunk(effect)))
            continue
        say = _SAY.get(type(effect))
        if say is None:
            out.append(effect)
        else:
            connection, more = say(connection, effect)
            out.extend(more)
    return connection, tuple(out)


# Chunks: the hot path ------------------------------------------------------------------------------

_ENCODER: Final = msgspec.json.Encoder()
_TAGS: Final[Mapping[str, bytes]] = MappingProxyType(
    {"user": b"user_message_chunk", "agent": b"agent_message_chunk", "thought": b"agent_thought_chunk"}
)


def chunk(said: done.Chunk) -> bytes:
    """The frame of a text chunk, joined from its few changing parts: the dearest path of a turn."""
    return b"".join(
        (
            b'{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":',
            _ENCODER.encode(said.thread),
            b',"update":{"sessionUpdate":"',
            _TAGS[said.kind],
            b'","content":{"type":"text","text":',
            _text(said.text),
            b'},"messageId":',
            _text(said.message),
            b"}}}",
        )
    )


def _text(text: str) -> bytes:
    try:
        return _ENCODER.encode(text)
    except UnicodeEncodeError:
        return _ENCODER.encode(clean(text))


# Updates -------------------------------------------------------------------------------------------


def _tell(connection: Connection, told: done.Tell) -> Spoken:
    thread = table.find(connection.agent, told.thread)
    if thread is not None and not thread.outlet:
        return connection, ()
    update = _UPDATES[type(told.shown)](connection, thread, told.shown)
    if update is None:
        return connection, ()
    params = {"sessionId": told.thread, "update": update}
    return connection, (done.Send(jsonrpc.encode_notification("session/update", params)),)


def _content(connection: Connection, thread: Thread | None, shown: done.ContentShown) -> object:
    blocks = session_content_to_acp_content((shown.part,))
    block = blocks[0] if blocks else wire.TextContent(text="")
    return _CHUNKS[shown.kind](content=block, message_id=shown.message)


_CHUNKS: Final[
    Mapping[str, type[wire.AgentMessageChunk | wire.UserMessageChunk | wire.AgentThoughtChunk]]
] = MappingProxyType(
    {"agent": wire.AgentMessageChunk, "user": wire.UserMessageChunk, "thought": wire.AgentThoughtChunk}
)


def _opened(connection: Connection, thread: Thread | None, shown: done.CardOpened) -> object:
    return cards.opened(shown)


def _changed(connection: Connection, thread: Thread | None, shown: done.CardChanged) -> object:
    return cards.changed(shown)


def _plan(connection: Connection, thread: Thread | None, shown: done.PlanShown) -> object:
    entries = tuple(
        wire.PlanEntry(content=entry.content, priority=entry.priority, status=entry.status)
        for entry in shown.entries
    )
    return wire.Plan(entries=entries)


def _notice(connection: Connection, thread: Thread | None, shown: done.NoticeShown) -> object:
    session = None if connection.capabilities is None else connection.capabilities.session
    if session is not None and session.notices is not None:
        return wire.Notice(severity=shown.severity, title=shown.text)
    # Clients without notices get a line of the agent, told apart by its own message id and `_meta`.
    return wire.AgentMessageChunk(
        content=wire.TextContent(text=f"{shown.text}\n\n"),
        message_id=shown.message,
        meta={"zidane": {"notice": shown.severity, "kind": shown.kind}},
    )


def _compaction(connection: Connection, thread: Thread | None, shown: done.CompactionShown) -> object:
    session = None if connection.capabilities is None else connection.capabilities.session
    if session is not None and session.compaction is not None:
        return wire.CompactionUpdate(
            compaction_id=shown.id,
            status=shown.status,
            summary=(wire.TextContent(text=shown.summary),) if shown.summary else msgspec.UNSET,
            error=shown.error or msgspec.UNSET,
        )
    # Other clients get one line at the end, told apart like a notice; unlike one it is replayed at its place.
    line = _COMPACTIONS.get(shown.status)
    if line is None:
        return None
    severity, kind, text = line
    return wire.AgentMessageChunk(
        content=wire.TextContent(text=text.format(error=shown.error)),
        message_id=shown.id,
        meta={"zidane": {"notice": severity, "kind": kind}},
    )


_COMPACTIONS: Final[Mapping[str, tuple[str, str, str]]] = MappingProxyType(
    {
        "completed": (
            "info",
            "compaction",
            "The conversation was summarised for the model, to make room. What is above stays here.\n\n",
        ),
        "failed": ("warning", "compaction_failed", "The conversation could not be summarised. {error}\n\n"),
    }
)
"""By status: the severity, the kind and the words; nothing is said of other ones."""


def _usage(connection: Connection, thread: Thread | None, shown: done.UsageShown) -> object:
    cost = None if shown.cost is None else wire.Cost(amount=shown.cost, currency="USD")
    return wire.UsageUpdate(used=shown.used, size=shown.size, cost=cost)


def _options(connection: Connection, thread: Thread | None, shown: done.OptionsShown) -> object:
    return wire.ConfigOptionUpdate(config_options=config_options(connection, thread))


def _mode(connection: Connection, thread: Thread | None, shown: done.ModeShown) -> object:
    return wire.CurrentModeUpdate(current_mode_id=shown.mode)


def _commands(connection: Connection, thread: Thread | None, shown: done.CommandsShown) -> object:
    commands = tuple(
        wire.AvailableCommand(
            name=name,
            description=description,
            input=wire.UnstructuredCommandInput(hint=hint) if hint else None,
        )
        for name, description, hint in shown.commands
    )
    return wire.AvailableCommandsUpdate(available_commands=commands)


def _title(connection: Connection, thread: Thread | None, shown: done.TitleShown) -> object:
    return wire.SessionInfoUpdate(title=shown.title)


# Any: each function takes the record type of its key, which a dict type cannot say. None: this client is told nothing.
_UPDATES: Final[Mapping[type, Callable[[Connection, Thread | None, Any], object]]] = MappingProxyType(
    {
        done.ContentShown: _content,
        done.CardOpened: _opened,
        done.CardChanged: _changed,
        done.PlanShown: _plan,
        done.NoticeShown: _notice,
        done.UsageShown: _usage,
        done.CompactionShown: _compaction,
        done.OptionsShown: _options,
        done.ModeShown: _mode,
        done.CommandsShown: _commands,
        done.TitleShown: _title,
    }
)


# Answers -------------------------------------------------------------------------------------------


def _answer(connection: Connection, answer: done.Answer) -> Spoken:
    if isinstance(answer.value, Fault):
        return respond(connection, answer.ticket, answer.value)
    return respond(connection, answer.ticket, _ANSWERS[type(answer.value)](connection, answer.value))


def respond(connection: Connection, ticket: int, value: object) -> Spoken:
    """The one answer of a request; a ticket that has its answer already says nothing."""
    if ticket not in connection.tickets:
        return connection, ()
    request_id = connection.tickets.get(ticket)
    connection = replace(
        connection,
        tickets=buckets.drop(connection.tickets, ticket),
        by_id=buckets.drop(connection.by_id, jsonrpc.id_key(request_id)),
    )
    if isinstance(value, Fault):
        fault = logins.with_methods(connection, value)
        return connection, (done.Send(jsonrpc.encode_error(request_id, fault)),)
    return connection, (done.Send(jsonrpc.encode_result(request_id, value)),)


def _turn(connection: Connection, value: done.TurnAnswer) -> object:
    meta: dict[str, object] = {"zidane": {"usage": _usage_meta(value.usage)}}
    return wire.PromptResponse(stop_reason=value.stop, meta=meta if value.usage != Usage() else None)


def _usage_meta(usage: Usage) -> dict[str, int]:
    return {
        "inputTokens": usage.input,
        "outputTokens": usage.output,
        "cachedReadTokens": usage.cached_read,
        "cachedWriteTokens": usage.cached_write,
        "thoughtTokens": usage.thought,
        "totalTokens": usage.input + usage.output,
    }


def _thread(connection: Connection, value: done.ThreadAnswer) -> object:
    thread = table.find(connection.agent, value.thread)
    return wire.NewSessionResponse(
        session_id=value.thread,
        modes=modes(connection, thread),
        config_options=config_options(connection, thread),
        meta=_source(connection),
    )


def _source(connection: Connection) -> wire.Meta | None:
    """Where the default model comes from."""
    source = connection.server.source
    if source is None:
        return None
    told = {"name": source.provider, "model": source.model, "source": source.source}
    return {"zidane": {"provider": told}}


def _reopened(connection: Connection, value: done.ReopenAnswer) -> object:
    """`session/load` and `session/resume` are answered with the same fields."""
    thread = table.find(connection.agent, value.thread)
    return wire.LoadSessionResponse(
        modes=modes(connection, thread),
        config_options=config_options(connection, thread),
        meta=_source(connection),
    )


def _listed(connection: Connection, value: done.ListAnswer) -> object:
    sessions = tuple(
        wire.SessionInfo(
            session_id=listed.thread,
            cwd=listed.cwd,
            additional_directories=listed.roots,
            title=listed.title or None,
            updated_at=_moment(listed.updated),
        )
        for listed in value.threads
    )
    return wire.ListSessionsResponse(sessions=sessions, next_cursor=cursors.cursor_of(value.after))


def _moment(seconds: float) -> str | None:
    """ISO 8601 in UTC; None for a time that no calendar has."""
    try:
        moment = datetime.fromtimestamp(seconds, UTC)
    except (ValueError, OverflowError, OSError):
        return None
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _set(connection: Connection, value: done.OptionsAnswer) -> object:
    thread = table.find(connection.agent, value.thread)
    return wire.SetSessionConfigOptionResponse(config_options=config_options(connection, thread))


def _empty(connection: Connection, value: done.EmptyAnswer) -> object:
    return {}


# Any: as above.
_ANSWERS: Final[Mapping[type, Callable[[Connection, Any], object]]] = MappingProxyType(
    {
        done.TurnAnswer: _turn,
        done.ThreadAnswer: _thread,
        done.ReopenAnswer: _reopened,
        done.ListAnswer: _listed,
        done.OptionsAnswer: _set,
        done.EmptyAnswer: _empty,
    }
)


def _page_closed(connection: Connection, closed: done.ClosePage) -> Spoken:
    params = wire.CompleteElicitationNotification(elicitation_id=closed.id)
    return connection, (done.Send(jsonrpc.encode_notification("elicitation/complete", params)),)


# Any: as above.
_SAY: Final[Mapping[type, Callable[[Connection, Any], Spoken]]] = MappingProxyType(
    {
        done.Tell: _tell,
        done.Answer: _answer,
        done.AskPeer: outgoing.ask,
        done.DropPeer: outgoing.drop,
        done.ClosePage: _page_closed,
    }
)
