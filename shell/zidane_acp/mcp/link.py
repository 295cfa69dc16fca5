"""One live session with a server: its calls and prompts."""

from collections.abc import Awaitable, Callable, Iterable
from typing import TypeVar

import anyio
import mcp_types as types
from mcp import ClientSession, MCPError, UrlElicitationRequiredError
from pydantic import ValidationError

from zidane_acp.mcp.reasons import FOREIGN, LOST, RETURNED, UNREADABLE, not_connected, said, sentence
from zidane_acp.mcp.results import failed, prompt_of, result_of
from zidane_acp.mcp.web import ATTEMPT, Attempt
from zidane_acp.ports import McpProblem
from zidane_core.agent.events import PromptGot
from zidane_core.agent.work import GetMcpPrompt, RunMcpCall
from zidane_core.data.tools import ToolOutput, ToolResult

Elicit = Callable[[types.ElicitRequestParams], Awaitable[types.ElicitResult]]
R = TypeVar("R")


class Refusal(Exception):
    """A request came to nothing; the text says why. `pages` is the error of a server that wants pages opened first."""

    def __init__(self, why: str, pages: types.ErrorData | None = None) -> None:
        super().__init__(why)
        self.pages = pages


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
        """One call; a failure of the call is a failed result. Raises McpProblem and Unprocessed."""

        async def told(progress: float, total: float | None, message: str | None) -> None:
            report(ToolOutput(progress_line(progress, total, message)))

        try:
            result = await self._asked(
                lambda: self._session.call_tool(call.tool, call.arguments, progress_callback=told)
            )
        except Refusal as refusal:
            if refusal.pages is not None:
                return await self._pages_first(refusal)
            return failed(sentence(f"The call to the MCP server {self._name} failed: {refusal}"))
        return result_of(result)

    async def prompt(self, wanted: GetMcpPrompt) -> PromptGot:
        """One prompt. Raises McpProblem and Unprocessed."""
        try:
            result = await self._asked(lambda: self._session.get_prompt(wanted.prompt, wanted.arguments))
        except Refusal as refusal:
            start = f"The MCP server {self._name} could not give the prompt {wanted.prompt}: "
            raise McpProblem(self._name, sentence(f"{start}{refusal}")) from None
        return prompt_of(result)

    async def _asked(self, send: Callable[[], Awaitable[R]]) -> R:
        """One request. Raises Refusal, McpProblem when there is no server, and Unprocessed."""
        attempt = Attempt()
        problem: Exception
        mark = ATTEMPT.set(attempt)
        try:
            if not self.lost.is_set():
                return await send()
        except MCPError as error:
            problem = self._refusal(error, attempt)
        except ValidationError:
            raise Refusal(FOREIGN) from None
        except ValueError:  # it is nested more deeply than the official package takes
            raise Refusal(UNREADABLE) from None
        except RuntimeError:
            raise Refusal(RETURNED) from None
        except (anyio.BrokenResourceError, anyio.ClosedResourceError):
            problem = Refusal(attempt.trouble or LOST)
        else:
            # It was lost before anything was sent.
            problem = not_connected(self._name)
        finally:
            ATTEMPT.reset(mark)
        raise Unprocessed if self._again and not attempt.begun else problem

    def _refusal(self, error: MCPError, attempt: Attempt) -> "Refusal":
        if self.lost.is_set():
            return Refusal(attempt.trouble or LOST)
        pages = error.error if error.code == types.URL_ELICITATION_REQUIRED else None
        return Refusal(said(error.message, attempt.trouble, self._secrets), pages)

    async def _pages_first(self, refusal: Refusal) -> ToolResult:
        """The server wants pages opened before it does anything: ask the user for each, and let the model try again."""
        try:
            wanted = (
                UrlElicitationRequiredError.from_error(refusal.pages).elicitations if refusal.pages else []
            )
        except (ValidationError, ValueError, TypeError, AttributeError):
            wanted = []
        for page in wanted:
            if (await self._elicit(page)).action != "accept":
                return failed(
                    f"The MCP server {self._name} wants a page opened first, which the user refused."
                )
        if not wanted:
            return failed(sentence(f"The call to the MCP server {self._name} failed: {refusal}"))
        return failed(
            f"The MCP server {self._name} wants the user to finish something on a page that was opened; "
            "make the call again when that is done."
        )


def progress_line(done: float, total: float | None, message: str | None) -> str:
    """What a server says of its progress, as a line."""
    of = "" if total is None else f"/{total:g}"
    said = f" {message}" if message else ""
    return f"{done:g}{of}{said}\n"
