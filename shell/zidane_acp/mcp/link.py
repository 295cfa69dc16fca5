"""One live session with a server: its calls and prompts."""

from collections.abc import Awaitable, Callable, Iterable
from typing import Final

import anyio
import mcp_types as types
from mcp import ClientSession, MCPError, UrlElicitationRequiredError
from pydantic import ValidationError

from zidane_acp.mcp.newer import answered
from zidane_acp.mcp.on_demand import not_connected
from zidane_acp.mcp.reasons import hidden, sentence
from zidane_acp.mcp.results import failed, prompt_of, result_of
from zidane_acp.mcp.web import ATTEMPT, Attempt
from zidane_acp.ports import McpProblem
from zidane_core.agent.events import PromptGot
from zidane_core.agent.work import GetMcpPrompt, RunMcpCall
from zidane_core.data.tools import ToolOutput, ToolResult

Elicit = Callable[[types.ElicitRequestParams], Awaitable[types.ElicitResult]]
LOST: Final = (
    "The connection to the MCP server {} was lost before it answered; what the call did is not known."
)


class Unprocessed(Exception):
    """The server cannot have begun with a request, because its session is over; it may be sent on a new one."""


class Session(ClientSession):
    """The official session; what a tool gives is shown also where it does not fit the tool's own schema."""

    async def validate_tool_result(self, name: str, result: types.CallToolResult) -> None:
        """Let everything pass."""


class Link:
    """A session that is initialized; `lost` is set when it is over, `again` whether another one may follow."""

    def __init__(
        self,
        name: str,
        session: Session,
        lost: anyio.Event,
        secrets: Iterable[str],
        elicit: Elicit,
        again: bool,
    ) -> None:
        self.lost = lost
        self._name = name
        self._session = session
        self._secrets = tuple(secrets)
        self._elicit = elicit
        self._again = again

    async def call(self, call: RunMcpCall, report: Callable[[ToolOutput], None]) -> ToolResult:
        """One call; a failure is a failed result. Raises Unprocessed."""

        async def told(progress: float, total: float | None, message: str | None) -> None:
            report(ToolOutput(progress_line(progress, total, message)))

        if self.lost.is_set():
            return failed(str(not_connected(self._name)))
        attempt = Attempt()
        mark = ATTEMPT.set(attempt)
        try:
            result = await answered(
                self._session,
                lambda responses, state: self._session.call_tool(
                    call.tool,
                    call.arguments,
                    progress_callback=told,
                    input_responses=responses,
                    request_state=state,
                    allow_input_required=True,
                ),
            )
        except MCPError as error:
            if self._again and not attempt.begun:
                raise Unprocessed from None
            if error.code == types.URL_ELICITATION_REQUIRED:
                return await self._pages_first(error)
            if self.lost.is_set() or error.message == "Connection closed":
                return failed(LOST.format(self._name))
            # What the request met says more than the package's own words for it.
            return failed(
                self._told(
                    attempt.trouble or error.message, f"The MCP server {self._name} refused the call: "
                )
            )
        except ValidationError:
            return failed(f"The MCP server {self._name} gave a result that is none of the protocol.")
        except (RuntimeError, anyio.BrokenResourceError, anyio.ClosedResourceError):
            if self._again and not attempt.begun:
                raise Unprocessed from None
            return failed(LOST.format(self._name))
        finally:
            ATTEMPT.reset(mark)
        return result_of(result)

    async def prompt(self, wanted: GetMcpPrompt) -> PromptGot:
        """One prompt. Raises McpProblem and Unprocessed."""
        attempt = Attempt()
        mark = ATTEMPT.set(attempt)
        start = f"The MCP server {self._name} could not give the prompt {wanted.prompt}: "
        try:
            result = await answered(
                self._session,
                lambda responses, state: self._session.get_prompt(
                    wanted.prompt,
                    wanted.arguments,
                    input_responses=responses,
                    request_state=state,
                    allow_input_required=True,
                ),
            )
        except MCPError as error:
            if self._again and not attempt.begun:
                raise Unprocessed from None
            raise McpProblem(self._name, self._told(error.message, start)) from None
        except (ValidationError, RuntimeError, anyio.BrokenResourceError, anyio.ClosedResourceError) as error:
            if self._again and not attempt.begun:
                raise Unprocessed from None
            raise McpProblem(self._name, sentence(start + type(error).__name__)) from None
        finally:
            ATTEMPT.reset(mark)
        return prompt_of(result)

    async def _pages_first(self, error: MCPError) -> ToolResult:
        """The server wants pages opened before it does anything: ask the user for each, and let the model try again."""
        try:
            wanted = UrlElicitationRequiredError.from_error(error.error).elicitations
        except (ValidationError, ValueError, TypeError, AttributeError):
            wanted = []
        for page in wanted:
            if (await self._elicit(page)).action != "accept":
                return failed(
                    f"The MCP server {self._name} wants a page opened first, which the user refused."
                )
        if not wanted:
            return failed(self._told(error.message, f"The MCP server {self._name} refused the call: "))
        return failed(
            f"The MCP server {self._name} wants the user to finish something on a page that was opened; "
            "make the call again when that is done."
        )

    def _told(self, message: str, start: str) -> str:
        return sentence(start + (hidden(message, self._secrets) or "it gave no reason"))


def progress_line(done: float, total: float | None, message: str | None) -> str:
    """What a server says of its progress, as a line."""
    of = "" if total is None else f"/{total:g}"
    said = f" {message}" if message else ""
    return f"{done:g}{of}{said}\n"
