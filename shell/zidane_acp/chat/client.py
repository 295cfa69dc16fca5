"""The client's side of ACP: opens a session, sends prompts, cancels, sets the mode, answers permission questions."""

from collections.abc import Callable
from typing import Literal, Protocol, TypeAlias

import anyio
from returns.result import Failure, Result

from zidane_acp.chat.connection import Connection, Refused, RpcError
from zidane_acp.chat.login import with_methods
from zidane_acp.chat.opening import Opened, initialize, open_session
from zidane_acp.chat.past import with_modes
from zidane_acp.chat.standing import ModeChoice, Standing, after, changes, next_mode, opened
from zidane_acp.chat.told import ModeTold, Told, read_options
from zidane_acp.chat.updates import (
    Changed,
    Commands,
    Option,
    Question,
    Title,
    Update,
    read_question,
    read_update,
)
from zidane_acp.chat.wanted import Wanted
from zidane_acp.fields import JsonObject, child, text

Decision: TypeAlias = Literal["allow", "reject", "ask"]
Decide: TypeAlias = Callable[[Question], Decision]


class View(Protocol):
    """What shows a session."""

    def show(self, update: Update) -> None: ...

    def stands(self, standing: Standing) -> None:
        """The session stands like this from now on."""
        ...

    async def ask(self, question: Question) -> Option | None:
        """The user's choice; None when the user gave none."""
        ...

    def decided(self, question: Question, option: Option | None) -> None:
        """A question was answered without the user."""
        ...


class Client:
    """One agent, one session."""

    def __init__(self, view: View, decide: Decide, *, terminal: bool = False) -> None:
        """`terminal` says that the user can log in by a program on this terminal."""
        self._view = view
        self._terminal = terminal
        self._decide = decide
        self._connection: Connection | None = None
        self._agent: JsonObject | None = None
        self.opened: Opened | None = None
        self.standing = Standing()
        self._agreed = Standing()
        self.title = ""
        self._replayed: list[Update | ModeTold] = []
        self._replaying = False
        self._prompting = False
        self._cancelling = False
        self._one_question = anyio.Lock()
        self._asking: set[anyio.CancelScope] = set()

    def attach(self, connection: Connection) -> None:
        """Use this connection; its handlers are `notified` and `requested`."""
        self._connection = connection
        self._agent = None

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

        `take_replayed` gives what the agent replays meanwhile. After a failure it may be tried again.
        """
        request = self.connection.request
        if self._agent is None:
            agent = await initialize(request, terminal=self._terminal)
            if isinstance(agent, Failure):
                return agent
            self._agent = agent.unwrap()
        self._replaying = wanted is not None
        answer = await open_session(request, self._agent, cwd, wanted, list_command)
        self._replaying = False
        self.opened = answer.value_or(None)
        if self.opened is not None:
            self._agreed = opened(self.standing, self.opened.session)
            self._stand(self._agreed)
            if self.opened.listed is not None and not self.title:
                self.title = self.opened.listed.title
        return answer.alt(self._with_methods)

    async def log_in(self, method: str) -> Result[JsonObject, RpcError]:
        """Let the agent log in by one of its own methods; `open` comes after it."""
        return await self.connection.request("authenticate", {"methodId": method})

    def take_replayed(self) -> tuple[Update, ...]:
        """What was replayed while the session was opened, once, in order."""
        replayed, self._replayed = self._replayed, []
        return tuple(with_modes(replayed, self.standing))

    async def prompt(self, words: str) -> Result[str, RpcError]:
        """Run one turn and give its stop reason."""
        self._cancelling = False
        params: JsonObject = {"sessionId": self.session, "prompt": [{"type": "text", "text": words}]}
        self._prompting = True
        try:
            answer = await self.connection.request("session/prompt", params)
        finally:
            self._prompting = False
        return answer.map(lambda result: text(result, "stopReason")).alt(self._with_methods)

    async def cancel(self) -> None:
        """Stop the running turn; open questions are answered as cancelled."""
        self._cancelling = True
        for scope in tuple(self._asking):
            scope.cancel()
        await self.connection.notify("session/cancel", {"sessionId": self.session})

    def next_mode(self) -> ModeChoice | None:
        """The mode behind the present one, None where there is none."""
        return next_mode(self.standing)

    async def set_mode(self, choice: ModeChoice) -> RpcError | None:
        """Go to a mode. It counts at once, and no longer when the agent refuses it, with the error that is given then."""
        self._stand(after(self.standing, ModeTold(choice.mode)))
        params: JsonObject = {"sessionId": self.session, **choice.params}
        answer: Result[JsonObject, RpcError] = await self.connection.request(choice.method, params)
        if isinstance(answer, Failure):
            self._stand(self._agreed)
            error: RpcError = answer.failure()
            return error
        self._agreed = after(self._agreed, read_options(answer.unwrap()) or ModeTold(choice.mode))
        self._stand(self._agreed)
        return None

    def notified(self, method: str, params: JsonObject) -> None:
        """A notification of the agent."""
        if method != "session/update":
            return
        update = read_update(child(params, "update"))
        if isinstance(update, Title):
            self.title = update.text
        elif isinstance(update, Told):
            self._told(update)
        elif self._replaying and update is not None and not isinstance(update, Commands):
            self._replayed.append(update)
        elif update is not None:
            self._view.show(update)

    def _told(self, told: Told) -> None:
        before = self.standing
        self._agreed = after(self._agreed, told)
        self._stand(after(before, told))
        if self._replaying:
            if isinstance(told, ModeTold):
                self._replayed.append(told)
        elif self._prompting and (words := changes(before, self.standing)):
            # At the prompt the line above it says the same.
            self._view.show(Changed(words))

    def _stand(self, standing: Standing) -> None:
        self.standing = standing
        self._view.stands(standing)

    def _with_methods(self, error: RpcError) -> RpcError:
        return with_methods(error, self._agent or {})

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
