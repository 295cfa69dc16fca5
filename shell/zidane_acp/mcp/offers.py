"""What a server offers: all pages of its lists, as our own records."""

from collections.abc import Awaitable, Callable
from typing import Final, TypeVar

import mcp_types as types
from mcp import ClientSession, MCPError

from zidane_core.data.mcp import McpOffer, McpPrompt, McpPromptArgument, McpTool

PAGES: Final = 200
"""Pages of a list that are read; a server may say for ever that there is more."""

Page = TypeVar("Page", types.ListToolsResult, types.ListPromptsResult)


async def offer_of(session: ClientSession, remarks: tuple[str, ...] = ()) -> McpOffer:
    """All that the server has now. Raises MCPError."""
    tools = [tool for page in await _pages(session.list_tools) for tool in page.tools]
    capabilities = session.server_capabilities
    prompts: list[types.Prompt] = []
    if capabilities is not None and capabilities.prompts is not None:
        prompts = [prompt for page in await _pages(session.list_prompts) for prompt in page.prompts]
    return McpOffer(tools=tuple(map(_tool, tools)), prompts=tuple(map(_prompt, prompts)), remarks=remarks)


async def _pages(ask: Callable[..., Awaitable[Page]]) -> list[Page]:
    pages: list[Page] = []
    cursor: str | None = None
    seen: set[str] = set()
    while len(pages) < PAGES:
        try:
            page = await ask(params=None if cursor is None else types.PaginatedRequestParams(cursor=cursor))
        except MCPError as error:
            if error.code == types.METHOD_NOT_FOUND and not pages:
                return []  # a server of prompts only, for example
            raise
        pages.append(page)
        cursor = page.next_cursor
        if cursor is None or cursor in seen:
            break
        seen.add(cursor)
    return pages


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
