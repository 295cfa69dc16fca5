"""The client's side of ACP: opens a session, sends prompts, cancels, and answers permission questions."""

from collections.abc import Callable
from typing import Final, Literal, Protocol, TypeAlias

import anyio
import msgspec
from returns.result import Failure, Result, Success

from zidane_acp.chat.connection import Connection, Refused, RpcError
from zidane_acp.chat.updates import Option, Question, Update, read_question, read_update
from zidane_acp.fields import JsonObject, child, objects, text
from zidane_core import __version__

Decision: TypeAlias = Literal["allow", "reject", "ask"]
Decide: TypeAlias = Callable[[Question], Decision]
AUTH_REQUIRED: Final = -32000


class View(Protocol):
    """What shows a session."""

    def show(self, update: Update) -> None: ...

    async def ask(self, question: Question) -> Option | None:
        """The user's choice; None when the user gave none."""
        ...

    def decided(self, question: Question, option: Option | None) -> None:
        """A question was answered without the user."""
        ...


class Opened(msgspec.Struct, frozen=True, gc=False):
    """An open session: the answers to `initialize` and `session/new`."""

    agent: JsonObject
    session: JsonObject


class Client:
    """One agent, one session."""

    def __init__(self, view: View, decide: Decide) -> None:
        self._view = view
        self._decide = decide
        self._connection: Connection | None = None
        self._session = ""
        self._cancelling = False
        self._one_question = anyio.Lock()
        self._asking: set[anyio.CancelScope] = set()

    def attach(self, connection: Connection) -> None:
        """Use this connection; its handlers are `notified` and `requested`."""
        self._connection = connection

    @property
    def connection(self) -> Connection:
        assert self._connection is not None, "attach comes first"
        return self._connection

    async def open(self, cwd: str) -> Result[Opened, RpcError]:
        """Initialize and open a session in `cwd` (absolute)."""
        agent = await self.connection.request("initialize", INITIALIZE)
        if isinstance(agent, Failure):
            return agent
        session = await self.connection.request("session/new", {"cwd": cwd, "mcpServers": []})
        if isinstance(session, Failure):
            return Failure(_with_login(session.failure(), agent.unwrap()))
        self._session = text(session.unwrap(), "sessionId")
        return Success(Opened(agent.unwrap(), session.unwrap()))

    async def prompt(self, words: str) -> Result[str, RpcError]:
        """Run one turn and give its stop reason."""
        self._cancelling = False
        params: JsonObject = {"sessionId": self._session, "prompt": [{"type": "text", "text": words}]}
        answer = await self.connection.request("session/prompt", params)
        return answer.map(lambda result: text(result, "stopReason"))

    async def cancel(self) -> None:
        """Stop the running turn; open questions are answered as cancelled."""
        self._cancelling = True
        for scope in tuple(self._asking):
            scope.cancel()
        await self.connection.notify("session/cancel", {"sessionId": self._session})

    def notified(self, method: str, params: JsonObject) -> None:
        """A notification of the agent."""
        if method != "session/update":
            return
        update = read_update(child(params, "update"))
        if update is not None:
            self._view.show(update)

    async def requested(self, method: str, params: JsonObject) -> JsonObject:
        """A request of the agent. Raises Refused."""
        if method != "session/request_permission":
            raise Refused(-32601, f"This client has no method {method}.")
        option = await self._choose(read_question(params))
        if option is None:
            return {"outcome": {"outcome": "cancelled"}}
        return {"outcome": {"outcome": "selected", "optionId": option.id}}

    async def _choose(self, question: Question) -> Option | None:
        decision = self._decide(question)
        if decision != "ask":
            option = option_of(question, ("allow_once", "allow_always")) if decision == "allow" else None
            option = option or option_of(question, ("reject_once", "reject_always"))
            self._view.decided(question, option)
            return option
        async with self._one_question:
            if self._cancelling:
                return None
            with anyio.CancelScope() as scope:
                self._asking.add(scope)
                try:
                    return await self._view.ask(question)
                finally:
                    self._asking.discard(scope)
        return None


def option_of(question: Question, kinds: tuple[str, ...]) -> Option | None:
    """The first option of the first of these kinds that is offered."""
    return next((option for kind in kinds for option in question.options if option.kind == kind), None)


def _with_login(error: RpcError, agent: JsonObject) -> RpcError:
    if error.code != AUTH_REQUIRED:
        return error
    methods = ", ".join(text(method, "name") for method in objects(agent, "authMethods"))
    ways = f" It offers: {methods}." if methods else ""
    return RpcError(
        error.code,
        f"The agent wants a login first ({error.message}).{ways} Log in with the agent's own program, then start the chat again.",
    )


INITIALIZE: Final[JsonObject] = {
    "protocolVersion": 1,
    "clientCapabilities": {
        "fs": {"readTextFile": False, "writeTextFile": False},
        "terminal": False,
        "session": {"notices": {}},
    },
    "clientInfo": {"name": "zidane-acp-chat", "title": "zidane-acp chat", "version": __version__},
}
