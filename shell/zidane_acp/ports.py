"""The doors to the outside world, as Protocols. `perform` knows only these."""

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Literal, NoReturn, Protocol, TypeAlias

from zidane_core.agent.effects import Journal, Save
from zidane_core.agent.events import AttachmentsRead, FileSeen, PromptGot
from zidane_core.agent.work import (
    GetMcpPrompt,
    LookAtFile,
    ReadAttachments,
    RunMcpCall,
    RunMcpServer,
    RunTool,
)
from zidane_core.data.auth import AuthMethod
from zidane_core.data.mcp import McpOffer, McpPageDone
from zidane_core.data.models import ModelEvent, ModelRequest
from zidane_core.data.rules import Grant
from zidane_core.data.stored import Behind, Piece, Place, Refusal, StoredRow
from zidane_core.data.tools import Preview, ToolOutput, ToolResult


class Model(Protocol):
    """A source of model answers.

    `stream` yields batches: all events that one read gave. It ends after `Finished` or `Broke`; a stream
    that ends without either was cut. It must let cancellation pass and free its connection then. Failures
    come as `Broke`; an exception is a bug.
    """

    def stream(self, request: ModelRequest, session: str) -> AsyncIterator[tuple[ModelEvent, ...]]: ...

    async def aclose(self) -> None: ...


class Tools(Protocol):
    """The executors of local tools.

    `run` does one stage of one call: `prepare` gives a `Preview` and changes nothing, `run` gives a
    `ToolResult`. A tool failure is a `ToolResult` with `failed`, for prepare too. `report` takes output as
    it comes. On cancellation every process that the call started is gone before `run` ends.
    """

    async def run(self, call: RunTool, report: Callable[[ToolOutput], None]) -> ToolResult | Preview: ...

    async def aclose(self) -> None: ...


class Files(Protocol):
    """What is on the disk, for calls and for prompts. Whatever the disk has is an answer, no failure."""

    async def look(self, what: LookAtFile) -> FileSeen: ...

    async def attach(self, what: ReadAttachments) -> AttachmentsRead: ...


AskKind: TypeAlias = Literal["permission", "elicit", "model", "tool", "client"]
Ask: TypeAlias = Callable[[AskKind, str], Awaitable[str]]
"""Ask something through a job: kind and question (JSON text) in, the answer (JSON text) out; see `Asked`."""


class McpProblem(Exception):
    """A server of tools cannot do what it was asked for; the message is one sentence that names it, without secrets."""

    def __init__(self, server: str, message: str) -> None:
        super().__init__(message)
        self.server = server


class Mcp(Protocol):
    """The MCP servers of the sessions of one connection; each (session, name of the server) is one connection of its own.

    `serve` connects a server and keeps it until it is lost, which raises McpProblem, or until it is cancelled; the
    server's processes are gone before it ends. It reports what the server offers, again at every change. `call` never
    raises for what the server does: a failure is a result with `failed`. `prompt` raises McpProblem.
    """

    async def serve(
        self, server: RunMcpServer, report: Callable[[McpOffer | McpPageDone], None], ask: Ask
    ) -> NoReturn: ...

    async def call(self, call: RunMcpCall, report: Callable[[ToolOutput], None]) -> ToolResult: ...

    async def prompt(self, wanted: GetMcpPrompt) -> PromptGot: ...

    async def aclose(self) -> None:
        """End every server at once."""
        ...


class AuthProblem(Exception):
    """A login or logout cannot be done; the message is one sentence for the user, with the next step and without secrets.
    `data` is for programs, a JSON object."""

    def __init__(self, message: str, data: dict[str, object] | None = None) -> None:
        super().__init__(message)
        self.data = data


class Auth(Protocol):
    """Logging in and out.

    `methods` are offered to clients; `needed` tells that no session is opened before a login, `can_forget` that there is
    something that `logout` forgets. They are asked at the start, where nothing may wait, and again after each login and logout.
    """

    def methods(self) -> tuple[AuthMethod, ...]: ...

    def needed(self) -> bool: ...

    def can_forget(self) -> bool: ...

    async def authenticate(self, method: str, ask: Ask | None) -> None:
        """Log in by a method of the kind `agent`. Raises AuthProblem.

        `ask` shows a page: of the kind `elicit`, with the question {"mode": "url", "url", "message"}; the answer {"action"} is
        accept, decline or cancel, where accept says that it was opened and no more. It is None where the client shows
        none. Secrets come by pages only, never through the client.
        """
        ...

    async def logout(self) -> None:
        """Forget what logins have kept; nothing to forget is no failure. Raises AuthProblem."""
        ...


class Transport(Protocol):
    """A pair of byte streams. `receive` gives b"" at the end; `send` writes all of the bytes.

    `receive` may be cancelled at any time without losing bytes.
    """

    async def receive(self) -> bytes: ...

    async def send(self, data: bytes) -> None: ...

    async def aclose(self) -> None: ...


class Rules(Protocol):
    """What the user allowed to keep: permissions of projects, and trust in folders; folders are real paths.

    Its methods wait, and are called in threads. What cannot be done raises StoreProblem.
    """

    def grants(self, folder: str) -> tuple[Grant, ...]:
        """The permissions of the project that has this folder."""
        ...

    def keep_grant(self, folder: str, grant: Grant) -> None:
        """Remember a permission; one that is there already is no failure."""
        ...

    def trusted(self, folders: tuple[str, ...]) -> frozenset[str]:
        """Those of the folders that are trusted."""
        ...

    def keep_trust(self, folders: tuple[str, ...]) -> None:
        """Remember that folders are trusted."""
        ...


class StoreProblem(Exception):
    """A store cannot do what it was asked for; the message is one sentence for the user, with the next step."""


class Store(Protocol):
    """Where sessions are kept: rows and texts, whose meaning the store does not know.

    Its methods wait, and are called in threads, also from several at once. An `owner` is one connection of one
    process: at most one has the lease of a session, and the lease of one that is gone counts as free. What cannot be
    done raises StoreProblem; a save that fails is a `Refusal` instead. A call is done whole or not at all.
    """

    def enter(self) -> str:
        """A new owner."""
        ...

    def leave(self, owner: str) -> None:
        """The owner is gone; its leases are free."""
        ...

    def append(self, save: Save, owner: str) -> Refusal | Behind | None:
        """Do a save, None; see `Save` and `data/stored.py` for what it means and how it fails."""
        ...

    def note(self, journal: Journal, owner: str) -> None:
        """Overwrite one row of the journal, if the session is stored and the owner has its lease."""
        ...

    def release(self, session: str, owner: str) -> None:
        """The owner gives back the lease of a session; what cannot be done now is done with a later call."""
        ...

    def find(self, session: str) -> StoredRow | None:
        """The session's row, or None."""
        ...

    def read(self, session: str, after: int, limit: int) -> Piece:
        """At most `limit` entries behind the first `after`; the last piece has the journal, in order of writing."""
        ...

    def page(self, cwd: str | None, after: Place | None, limit: int) -> tuple[StoredRow, ...]:
        """At most `limit` sessions of a folder (None: of all), the newest first, behind a place of the list. Those
        without any entry are not in the list, and may be forgotten after a week."""
        ...

    def remove(self, session: str) -> None:
        """Remove a session and all that is known of it, for good; one that is not there is no failure."""
        ...

    def close(self) -> None:
        """Free what the store holds."""
        ...
