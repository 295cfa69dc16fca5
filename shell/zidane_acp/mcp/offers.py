"""What a server offers: all pages of its lists, as our own records."""

from collections.abc import Awaitable, Callable
from typing import Final, NamedTuple, TypeVar

import mcp_types as types
from mcp import ClientSession, MCPError

from zidane_core.data.mcp import McpPrompt, McpPromptArgument, McpTool

PAGES: Final = 200
"""Pages of a list that are read; a server may say for ever that there is more."""

MOST: Final = 1000
"""Tools, or prompts, of one server."""


class Offered(NamedTuple):
    """What a server has now, and how many entries were left out since they are too many."""

    tools: tuple[McpTool, ...]
    prompts: tuple[McpPrompt, ...]
    more: int


Entry = TypeVar("Entry", types.Tool, types.Prompt)


async def offer_of(session: ClientSession) -> Offered:
    """All that the server has now. Raises MCPError, and ValidationError for what is none of the protocol."""
    tools, more_tools = await _entries(lambda params: _tool_page(session, params))
    capabilities = session.server_capabilities
    prompts, more_prompts = list[types.Prompt](), 0
    if capabilities is not None and capabilities.prompts is not None:
        prompts, more_prompts = await _entries(lambda params: _prompt_page(session, params))
    return Offered(tuple(map(_tool, tools)), tuple(map(_prompt, prompts)), more_tools + more_prompts)


async def _tool_page(
    session: ClientSession, params: types.PaginatedRequestParams | None
) -> tuple[list[types.Tool], str | None]:
    page = await session.list_tools(params=params)
    return page.tools, page.next_cursor


async def _prompt_page(
    session: ClientSession, params: types.PaginatedRequestParams | None
) -> tuple[list[types.Prompt], str | None]:
    page = await session.list_prompts(params=params)
    return page.prompts, page.next_cursor


async def _entries(
    ask: Callable[[types.PaginatedRequestParams | None], Awaitable[tuple[list[Entry], str | None]]],
) -> tuple[list[Entry], int]:
    """The entries of all pages, of each name the first, until a page brings nothing new; and how many are too many."""
    found: dict[str, Entry] = {}
    more = 0
    params: types.PaginatedRequestParams | None = None
    for _ in range(PAGES):
        try:
            entries, cursor = await ask(params)
        except MCPError as error:
            if error.code == types.METHOD_NOT_FOUND and params is None:
                break  # a server of prompts only, for example
            raise
        before = len(found)
        for entry in entries:
            if len(found) < MOST:
                found.setdefault(entry.name, entry)
            else:
                more += entry.name not in found
        if cursor is None or len(found) == before:
            break
        params = types.PaginatedRequestParams(cursor=cursor)
    return list(found.values()), more


def _tool(tool: types.Tool) -> McpTool:
    hints = tool.annotations or types.ToolAnnotations()
    return McpTool(
        name=tool.name,
        schema=tool.input_schema,
        description=tool.description or "",
        title=tool.title or hints.title or "",
        read_only=hints.read_only_hint,
        destructive=hints.destructive_hint,
    )


def _prompt(prompt: types.Prompt) -> McpPrompt:
    arguments = tuple(
        McpPromptArgument(
            name=argument.name, description=argument.description or "", required=bool(argument.required)
        )
        for argument in prompt.arguments or ()
    )
    return McpPrompt(name=prompt.name, description=prompt.description or "", arguments=arguments)
