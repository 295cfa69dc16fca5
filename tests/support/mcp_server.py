"""A real MCP server for the tests: `mcp_server.py stdio|http|sse [PORT]`, or `silent` that never answers."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import anyio
from mcp.server import MCPServer
from mcp.server.lowlevel import NotificationOptions
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.prompts.base import AssistantMessage, UserMessage
from mcp.server.stdio import stdio_server
from mcp.shared.exceptions import UrlElicitationRequiredError
from mcp.shared.message import SessionMessage
from mcp_types import (
    UNSUPPORTED_PROTOCOL_VERSION,
    Annotations,
    AudioContent,
    BlobResourceContents,
    CallToolResult,
    ElicitRequest,
    ElicitRequestFormParams,
    ElicitRequestURLParams,
    ElicitResult,
    EmbeddedResource,
    ErrorData,
    ImageContent,
    InputRequiredResult,
    JSONRPCError,
    ResourceLink,
    TextContent,
    TextResourceContents,
    ToolAnnotations,
)
from pydantic import BaseModel

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
server = MCPServer("tests", log_level="ERROR")


class Name(BaseModel):
    name: str


@server.tool(title="Say it back", annotations=ToolAnnotations(read_only_hint=True))
def echo(text: str) -> CallToolResult:
    """Says it back."""
    return CallToolResult(content=[TextContent(text=text)])


@server.tool(annotations=ToolAnnotations(destructive_hint=True))
def fail(text: str) -> CallToolResult:
    """Fails."""
    return CallToolResult(content=[TextContent(text=text)], is_error=True)


@server.tool()
def everything() -> CallToolResult:
    """One of each kind of content."""
    return CallToolResult(
        content=[
            TextContent(text="words"),
            ImageContent(data=PIXEL, mime_type="image/png"),
            AudioContent(data="AAAA", mime_type="audio/wav"),
            EmbeddedResource(
                resource=TextResourceContents(uri="file:///a.txt", mime_type="text/plain", text="a")
            ),
            EmbeddedResource(
                resource=BlobResourceContents(uri="file:///b.png", mime_type="image/png", blob=PIXEL)
            ),
            EmbeddedResource(resource=BlobResourceContents(uri="file:///c.bin", blob="AAAA")),
            ResourceLink(
                uri="file:///d.txt",
                name="d",
                title="D",
                size=4,
                annotations=Annotations(audience=["user"], priority=0.5, last_modified="2026-01-01"),
            ),
        ]
    )


@server.tool()
def structured() -> CallToolResult:
    """Structured content alone."""
    return CallToolResult(content=[], structured_content={"answer": 42})


@server.tool()
def nothing() -> CallToolResult:
    """Nothing at all."""
    return CallToolResult(content=[])


@server.tool()
async def progress(ctx: Context) -> CallToolResult:
    """Tells how far it is."""
    await ctx.report_progress(3, 10, "message")
    await ctx.report_progress(4)
    return CallToolResult(content=[TextContent(text="done")])


def told(file: str) -> None:
    Path(file).write_text("cancelled")


@server.tool()
async def slow(ctx: Context, file: str) -> CallToolResult:
    """Waits for ever; writes into a file that it began and that it was cancelled."""
    await ctx.report_progress(0)
    try:
        await anyio.sleep_forever()
    finally:
        told(file)
    raise AssertionError


@server.tool()
async def ask(ctx: Context) -> CallToolResult:
    """Asks for a name."""
    answer = await ctx.elicit("Who are you?", Name)
    data = answer.data.name if answer.action == "accept" else ""
    return CallToolResult(content=[TextContent(text=f"{answer.action} {data}".strip())])


@server.tool()
async def ask_page(ctx: Context) -> CallToolResult:
    """Has a page opened."""
    answer = await ctx.elicit_url("Log in", "https://example.com/login", "page-1")
    if answer.action == "accept":
        await ctx.session.send_elicit_complete("page-1")
    return CallToolResult(content=[TextContent(text=answer.action)])


@server.tool()
async def page_first() -> CallToolResult:
    """Refuses until a page was opened."""
    raise UrlElicitationRequiredError(
        [
            ElicitRequestURLParams(
                mode="url", message="Log in", url="https://example.com/login", elicitation_id="page-2"
            )
        ]
    )


@server.tool()
async def sample(ctx: Context) -> CallToolResult:
    """Wants the client's model, which it does not get."""
    can = ctx.client_capabilities
    return CallToolResult(content=[TextContent(text=str(can.sampling if can else None))])


@server.tool()
async def roots(ctx: Context) -> CallToolResult:
    """The folders of the client."""
    found = await ctx.session.list_roots()
    return CallToolResult(content=[TextContent(text=" ".join(str(root.uri) for root in found.roots))])


@server.tool()
async def more(ctx: Context) -> CallToolResult:
    """Offers a tool and a prompt more."""
    server.add_tool(lambda: "x", name="another", description="Another.")
    server.prompt(name="another")(lambda: "x")
    await ctx.session.send_tool_list_changed()
    await ctx.session.send_prompt_list_changed()
    return CallToolResult(content=[TextContent(text="ok")])


@server.tool()
def leave(code: int) -> CallToolResult:
    """Ends in the middle."""
    print(f"the token is {os.environ.get('TEST_SECRET')}", file=sys.stderr, flush=True)
    os._exit(code)


@server.tool()
def spawn(pids: str) -> CallToolResult:
    """Starts processes that outlive it, if nobody ends them: in its group, and deaf in a session of their own."""
    script = "import os,signal,sys,time; signal.signal(15, signal.SIG_IGN); open(sys.argv[1],'a').write(f'{os.getpid()}\\n'); time.sleep(600)"
    for own in (False, True):
        subprocess.Popen(
            [sys.executable, "-c", script, pids], start_new_session=own, stdin=subprocess.DEVNULL
        )
    with open(pids, "a") as file:
        file.write(f"{os.getpid()}\n")
    return CallToolResult(content=[TextContent(text="ok")])


@server.tool()
def variable(name: str) -> CallToolResult:
    """A variable of its environment."""
    return CallToolResult(content=[TextContent(text=os.environ.get(name, "not set"))])


@server.tool()
def header(ctx: Context, name: str) -> CallToolResult:
    """A header of the request."""
    return CallToolResult(content=[TextContent(text=(ctx.headers or {}).get(name, "not set"))])


@server.tool()
def folder() -> CallToolResult:
    """Its working folder."""
    return CallToolResult(content=[TextContent(text=os.getcwd())])


@server.tool()
def banner() -> CallToolResult:
    """Writes what is no message."""
    os.write(1, b"Listening ...\n\n{}\n")
    return CallToolResult(content=[TextContent(text="ok")])


@server.prompt(title="Review")
def review(path: str, depth: str = "low") -> list[Any]:
    """Reviews a file."""
    return [
        UserMessage(f"Review {path}, {depth}."),
        AssistantMessage("With pleasure."),
        UserMessage(ImageContent(data=PIXEL, mime_type="image/png")),
    ]


async def ask_newer(ctx: Context) -> CallToolResult | InputRequiredResult:
    """Asks for a name by an answer."""
    if ctx.input_responses is None:
        asked = ElicitRequestFormParams(message="Who are you?", requested_schema=Name.model_json_schema())
        return InputRequiredResult(input_requests={"who": ElicitRequest(params=asked)})
    answer = ctx.input_responses["who"]
    assert isinstance(answer, ElicitResult)
    return CallToolResult(content=[TextContent(text=f"{answer.action} {(answer.content or {}).get('name')}")])


async def over_stdio(newer: bool = False) -> None:
    low = server._lowlevel_server
    changes = NotificationOptions(prompts_changed=True, tools_changed=True)
    async with stdio_server() as (read, write):
        if newer:
            await refuse_handshake(read, write)
        await low.run(read, write, low.create_initialization_options(changes))


async def refuse_handshake(read: Any, write: Any) -> None:
    """What a server says that speaks only a newer version."""
    first = (await read.receive()).message
    assert first.method == "initialize"
    data = {"supported": ["2026-07-28"], "requested": "2025-11-25"}
    error = ErrorData(code=UNSUPPORTED_PROTOCOL_VERSION, message="Unsupported protocol version", data=data)
    await write.send(SessionMessage(JSONRPCError(jsonrpc="2.0", id=first.id, error=error)))


def main() -> None:
    how = sys.argv[1]
    print("é" * 70_000, "starting", file=sys.stderr, flush=True)  # more than a pipe holds
    if how == "silent":
        sys.stdin.read()
    elif how == "broken":
        print(f"no database for {os.environ.get('TEST_SECRET')}", file=sys.stderr)
        sys.exit(3)
    elif how == "newer":
        server.add_tool(ask_newer)
        anyio.run(over_stdio, True)
    elif how == "stdio":
        print("Welcome to the server!", flush=True)
        anyio.run(over_stdio)
    else:
        port = int(sys.argv[2])
        server.run("streamable-http" if how == "http" else "sse", host="127.0.0.1", port=port)


if __name__ == "__main__":
    main()
