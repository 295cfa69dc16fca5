"""The client's side of ACP: opens a session, sends prompts, cancels, and answers permission questions."""

from collections.abc import Callable
from typing import Literal, Protocol, TypeAlias

import anyio
from returns.result import Result

from zidane_acp.chat.connection import Connection, Refused, RpcError
from zidane_acp.chat.opening import Opened, open_session
from zidane_acp.chat.updates import Commands, Option, Question, Title, Update, read_question, read_update
from zidane_acp.chat.wanted import Wanted
from zidane_acp.fields import JsonObject, child, text

Decision: TypeAlias = Literal["allow", "reject", "ask"]
Decide: TypeAlias = Callable[[Question], Decision]


class View(Protocol):
    """What shows a session."""

    def show(self, update: Update) -> None: ...

    async def ask(self, question: Question) -> Option | None:
        """The user's choice; None when the user gave none."""
        ...

    def decided(self, question: Question, option: Option | None) -> None:
        """A question was answered without the user."""
        ...


class Client:
    """One agent, one session."""

    def __init__(self, view: View, decide: Decide) -> None:
        self._view = view
        self._decide = decide
        self._connection: Connection | None = None
        self.opened: Opened | None = None
        self.title = ""
        self._replayed: list[Update] = []
        self._replaying = False
        self._cancelling = False
        self._one_question = anyio.Lock()
        self._asking: set[anyio.CancelScope] = set()

    def attach(self, connection: Connection) -> None:
        """Use this connection; its handlers are `notified` and `requested`."""
        self._connection = connection

    @property
    def session(self) -> str:
        """The id of the open session, empty before."""
        return "" if self.opened is None else self.opened.id

    @property
    def connection(self) -> Connection:
        assert self._connection is not None, "attach comes first"
        return self._connection

    async def open(
        self, cwd: str, wanted: Wanted | None = None, list_command: str = ""
    ) -> Result[Opened, RpcError]:
        """Initialize and open a session: a new one in `cwd` (absolute), or the stored one that is wanted.

        `take_replayed` gives what the agent replays meanwhile.
        """
        self._replaying = wanted is not None
        opened = await open_session(self.connection.request, cwd, wanted, list_command)
        self._replaying = False
        self.opened = opened.value_or(None)
        if self.opened is not None and self.opened.listed is not None and not self.title:
            self.title = self.opened.listed.title
        return opened

    def take_replayed(self) -> tuple[Update, ...]:
        """What was replayed while the session was opened, once, in order."""
        replayed, self._replayed = tuple(self._replayed), []
        return replayed

    async def prompt(self, words: str) -> Result[str, RpcError]:
        """Run one turn and give its stop reason."""
        self._cancelling = False
        params: JsonObject = {"sessionId": self.session, "prompt": [{"type": "text", "text": words}]}
        answer = await self.connection.request("session/prompt", params)
        return answer.map(lambda result: text(result, "stopReason"))

    async def cancel(self) -> None:
        """Stop the running turn; open questions are answered as cancelled."""
        self._cancelling = True
        for scope in tuple(self._asking):
            scope.cancel()
        await self.connection.notify("session/cancel", {"sessionId": self.session})

    def notified(self, method: str, params: JsonObject) -> None:
        """A notification of the agent."""
        if method != "session/update":
            return
        update = read_update(child(params, "update"))
        if isinstance(update, Title):
            self.title = update.text
        elif self._replaying and update is not None and not isinstance(update, Commands):
            self._replayed.append(update)
        elif update is not None:
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
