"""Opens the session of a chat: a new one, or one that the agent has stored. Only what an agent offers is asked of it."""

import os
from collections.abc import Awaitable, Callable
from typing import Final, TypeAlias

import msgspec
from returns.result import Failure, Result, Success

from zidane_acp.chat.connection import RpcError
from zidane_acp.chat.safe_text import line
from zidane_acp.chat.wanted import Listed, Named, Wanted, newest, of_folder, pick, read_listed, same_folder
from zidane_acp.fields import JsonObject, child, text
from zidane_acp.sessions.beginnings import LAST
from zidane_core import __version__
from zidane_core.text import is_object

Request: TypeAlias = Callable[[str, JsonObject], Awaitable[Result[JsonObject, RpcError]]]
OURS: Final = -1
"""The code of a sentence of the client itself."""
PAGES: Final = 1000
"""An agent whose list never ends is not asked for ever."""


class Opened(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """An open session. `session` is the answer that opened it, `listed` is None for a new one."""

    agent: JsonObject
    session: JsonObject
    id: str = ""
    cwd: str = ""
    listed: Listed | None = None
    replayed: bool = False


def can_list(agent: JsonObject) -> bool:
    return _offers(agent, "list")


def can_load(agent: JsonObject) -> bool:
    return child(agent, "agentCapabilities").get("loadSession") is True


def can_reopen(agent: JsonObject) -> bool:
    """Whether a stored session can be gone on with, with its history or without."""
    return can_load(agent) or _offers(agent, "resume")


def _offers(agent: JsonObject, name: str) -> bool:
    # An empty object says yes.
    return is_object(child(agent, "agentCapabilities", "sessionCapabilities").get(name))


async def initialize(request: Request, *, terminal: bool) -> Result[JsonObject, RpcError]:
    """The agent's answer. `terminal` says that the user can log in by a program on this terminal."""
    return await request(
        "initialize",
        {
            "protocolVersion": 1,
            "clientCapabilities": {
                "fs": {"readTextFile": False, "writeTextFile": False},
                "terminal": False,
                "auth": {"terminal": terminal},
                "session": {"configOptions": {"boolean": {}}, "notices": {}, "compaction": {}},
            },
            "clientInfo": {"name": "zidane-acp-chat", "title": "zidane-acp chat", "version": __version__},
        },
    )


async def open_session(
    request: Request, agent: JsonObject, cwd: str, wanted: Wanted | None, list_command: str = ""
) -> Result[Opened, RpcError]:
    """Open a session of an agent that answered `agent`; `cwd` (absolute) is where a new one works.

    `list_command` lists the sessions of our own agent, and is empty for those of others.
    """
    if wanted is None:
        return await _new(request, agent, cwd)
    named = wanted if isinstance(wanted, Named) else None
    found = await _found(request, agent, cwd, named, list_command)
    if isinstance(found, Failure):
        return found
    listed = found.unwrap()
    return await (_new(request, agent, cwd) if listed is None else _reopened(request, agent, cwd, listed))


async def _new(request: Request, agent: JsonObject, cwd: str) -> Result[Opened, RpcError]:
    answer = await request("session/new", {"cwd": cwd, "mcpServers": []})
    return answer.map(
        lambda session: Opened(agent=agent, session=session, id=text(session, "sessionId"), cwd=cwd)
    )


async def _reopened(
    request: Request, agent: JsonObject, cwd: str, listed: Listed
) -> Result[Opened, RpcError]:
    folder, load = listed.cwd or cwd, can_load(agent)
    params: JsonObject = {"sessionId": listed.id, "cwd": folder, "mcpServers": []}
    if listed.roots and _offers(agent, "additionalDirectories"):
        params["additionalDirectories"] = list(listed.roots)
    answer = await request("session/load" if load else "session/resume", params)
    return answer.map(
        lambda session: Opened(
            agent=agent, session=session, id=listed.id, cwd=folder, listed=listed, replayed=load
        )
    )


async def _found(
    request: Request, agent: JsonObject, cwd: str, named: Named | None, list_command: str
) -> Result[Listed | None, RpcError]:
    """The stored session that is wanted; None when the folder has none yet."""
    if not can_reopen(agent):
        return _said(
            "This agent cannot open stored sessions; start a new chat without --continue and --resume."
        )
    if not can_list(agent):
        if named is None or named.word == LAST:
            return _said("This agent does not list its sessions; name one with --resume and its whole id.")
        return Success(Listed(named.word, cwd))
    # The sessions of all folders, to find an id; those of the working folder, to find its newest.
    pages = await _pages(request, cwd if named is None else None, "" if named is None else named.word)
    if isinstance(pages, Failure):
        return pages
    if named is None:
        return Success(newest(of_folder(pages.unwrap(), cwd)))
    picked = pick(named.word, pages.unwrap(), list_command)
    if isinstance(picked, Failure):
        return _said(picked.failure())
    return _in_its_folder(picked.unwrap(), named.cwd, ours=bool(list_command))


def _in_its_folder(session: Listed, typed: str | None, *, ours: bool) -> Result[Listed | None, RpcError]:
    # An agent of others may live on another machine; what it thinks of the folder it says itself.
    if ours and not os.path.isdir(session.cwd):
        return _said(
            f"The session's folder {line(session.cwd)} is not there any more; make it again to go on."
        )
    if typed is not None and session.cwd and not same_folder(session.cwd, typed):
        return _said(
            f"This session belongs to the folder {line(session.cwd)}; leave --cwd out to go on there."
        )
    return Success(session)


async def _pages(request: Request, cwd: str | None, word: str) -> Result[tuple[Listed, ...], RpcError]:
    """All listed sessions; the pages end early where the whole id stands on one."""
    found: list[Listed] = []
    params: JsonObject = {} if cwd is None else {"cwd": cwd}
    for _ in range(PAGES):
        answer = await request("session/list", params)
        if isinstance(answer, Failure):
            return answer
        page = read_listed(answer.unwrap())
        found.extend(page)
        cursor = text(answer.unwrap(), "nextCursor")
        if not cursor or cursor == params.get("cursor") or any(session.id == word for session in page):
            break
        params = {**params, "cursor": cursor}
    return Success(tuple(found))


def _said(sentence: str) -> Failure[RpcError]:
    return Failure(RpcError(OURS, sentence))
