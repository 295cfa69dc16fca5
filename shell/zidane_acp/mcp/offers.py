"""What a server offers: all pages of its lists, as our own records."""

from collections.abc import Awaitable, Callable, Iterable
from typing import Final, TypeVar

import mcp_types as types
from mcp import ClientSession, MCPError

from zidane_acp.mcp.remarks import Remarks, names_of
from zidane_acp.mcp.sieve import MOST, Sieve
from zidane_core.data.mcp import McpOffer, McpPrompt, McpPromptArgument, McpTool

PAGES: Final = 200
"""Pages of a list that are read; a server may say for ever that there is more."""

Page = TypeVar("Page", types.ListToolsResult, types.ListPromptsResult)
Entry = TypeVar("Entry", types.Tool, types.Prompt)


async def offer_of(session: ClientSession, sieve: Sieve, server: str, remarks: Remarks) -> McpOffer:
    """All that the server has now, the first of each name; what is left out is remarked. Raises MCPError and
    ValidationError."""

    async def listed(
        what: str, ask: Callable[..., Awaitable[Page]], entries: Callable[[Page], Iterable[Entry]]
    ) -> list[Entry]:
        sieve.malformed.clear()
        found = await _all_of(ask, entries)
        if sieve.malformed:
            left = names_of(sieve.malformed)
            text = f"The MCP server {server} describes {what} wrongly, which are left out: {left}."
            remarks.add(f"malformed {what}", text)
        if len(found) > MOST:
            text = f"The MCP server {server} has more than {MOST} {what}; left out are those from {{}} on."
            remarks.add(f"many {what}", text.format(names_of([found[MOST].name])))
        return found[:MOST]

    tools = await listed("tools", session.list_tools, lambda page: page.tools)
    capabilities = session.server_capabilities
    prompts: list[types.Prompt] = []
    if capabilities is not None and capabilities.prompts is not None:
        prompts = await listed("prompts", session.list_prompts, lambda page: page.prompts)
    return McpOffer(
        tools=tuple(map(_tool, tools)), prompts=tuple(map(_prompt, prompts)), remarks=remarks.taken()
    )


async def _all_of(
    ask: Callable[..., Awaitable[Page]], entries: Callable[[Page], Iterable[Entry]]
) -> list[Entry]:
    """The first entry of each name, of all pages that bring something new; no more pages than show that there are
    too many."""
    found: dict[str, Entry] = {}
    cursor: str | None = None
    cursors: set[str] = set()
    for number in range(PAGES):
        try:
            page = await ask(params=None if cursor is None else types.PaginatedRequestParams(cursor=cursor))
        except MCPError as error:
            if error.code == types.METHOD_NOT_FOUND and not number:
                return []  # a server of prompts only, for example
            raise
        before = len(found)
        for entry in entries(page):
            found.setdefault(entry.name, entry)
        cursor = page.next_cursor
        if cursor is None or cursor in cursors or len(found) == before or len(found) > MOST:
            break
        cursors.add(cursor)
    return list(found.values())


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
