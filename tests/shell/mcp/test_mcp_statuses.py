"""What an HTTP server answers instead of a result: a call and a connection tell it, in our own words."""

import pytest
from support.mcp_bench import Bench, text_of
from support.mcp_web import web_server

from zidane_acp.mcp.reasons import SILENT, UNREADABLE
from zidane_core.data.mcp import McpServerConfig

pytestmark = [pytest.mark.anyio, pytest.mark.parametrize("anyio_backend", ["asyncio"])]
PAGE = "it answered with text/html, which is none of the protocol; check its URL"
MOVED = "it answered with HTTP 307, another address, which is not followed; check its URL"


def over(transport: str, port: int, path: str) -> McpServerConfig:
    return McpServerConfig(
        name="web",
        transport=transport,  # type: ignore[arg-type]
        url=f"http://127.0.0.1:{port}/{path}",
    )


@pytest.mark.parametrize(
    ("how", "why"),
    [
        ("401", "it answered with HTTP 401; check its headers"),
        ("500", "it answered with HTTP 500"),
        ("page", PAGE),
        ("garbage", UNREADABLE),
        ("events", UNREADABLE),
        ("nothing", SILENT),
        ("empty", SILENT),
        ("elsewhere", MOVED),
        ("error", "it said: own words"),
    ],
)
async def test_a_call_tells_what_it_met(bench: Bench, how: str, why: str) -> None:
    with web_server() as port:
        await bench.connect(over("streamable-http", port, how))
        assert (
            text_of(await bench.call("t", server="web")) == f"The call to the MCP server web failed: {why}."
        )
        assert not bench.problems
        await bench.stop("web")


async def test_a_page_at_the_address_of_a_stream(bench: Bench) -> None:
    with web_server() as port:
        problem = await bench.problem(over("sse", port, "sse-page"))
        assert problem == f"The MCP server web could not be reached: {PAGE}."


async def test_a_call_over_events_that_is_refused(bench: Bench) -> None:
    with web_server() as port:
        await bench.connect(over("sse", port, "sse-401"))
        assert text_of(await bench.call("t", server="web")) == (
            "The call to the MCP server web failed: it answered with HTTP 401; check its headers."
        )
        await bench.stop("web")


@pytest.mark.parametrize("how", ["sse-surrogate", "sse-batch"])
async def test_what_the_parser_refuses_in_an_event_is_repaired(bench: Bench, how: str) -> None:
    with web_server() as port:
        await bench.connect(over("sse", port, how))
        assert text_of(await bench.call("t", server="web")) == "a\ufffd b"
        await bench.stop("web")
