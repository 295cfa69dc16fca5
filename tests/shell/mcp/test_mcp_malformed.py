"""Servers that do not keep to the protocol: a call ends with a reason, and a server costs no more than itself."""

import json
import sys
from pathlib import Path

import anyio
import pytest
from support.mcp_bench import Bench

from zidane_acp.mcp.lines import JUNK
from zidane_acp.mcp.messages import messages_of
from zidane_acp.mcp.reasons import FOREIGN, UNREADABLE
from zidane_acp.mcp.sieve import MOST
from zidane_core.data.mcp import McpServerConfig

pytestmark = [pytest.mark.anyio, pytest.mark.parametrize("anyio_backend", ["asyncio"])]
RAW = str(Path(__file__).parents[2] / "support" / "mcp_raw.py")


def raw(mode: str, *more: str) -> McpServerConfig:
    return McpServerConfig(
        name="raw", transport="stdio", command=sys.executable, args=("-S", RAW, mode, *more)
    )


async def said(bench: Bench) -> str:
    result = await bench.call("t", server="raw")
    (part,) = result.content
    return getattr(part, "text", repr(part))


# Lists -------------------------------------------------------------------------------------------------


async def test_the_first_tool_of_each_name_is_kept(bench: Bench) -> None:
    offer = await bench.connect(raw("twice"))
    assert [(tool.name, tool.description) for tool in offer.tools] == [("t", "first"), ("u", "")]


@pytest.mark.parametrize(("mode", "pages"), [("for ever", 2), ("around", 2)])
async def test_paging_ends_where_nothing_new_comes(bench: Bench, mode: str, pages: int) -> None:
    log = bench.root / "log"
    offer = await bench.connect(raw(mode, str(log)))
    asked = [json.loads(line)["method"] for line in log.read_text().splitlines()]
    assert asked.count("tools/list") == pages and len(offer.tools) <= pages


@pytest.mark.parametrize("mode", ["many", "many pages"])
async def test_the_number_of_tools_is_bounded(bench: Bench, mode: str) -> None:
    offer = await bench.connect(raw(mode))
    assert len(offer.tools) == MOST
    first = {"many": "t1000", "many pages": "t100-3"}[mode]
    assert offer.remarks == (
        f"The MCP server raw has more than {MOST} tools; left out are those from {first} on.",
    )


async def test_malformed_entries_cost_only_themselves(bench: Bench) -> None:
    offer = await bench.connect(raw("malformed"))
    assert [tool.name for tool in offer.tools] == ["good", "fine"]
    assert [prompt.name for prompt in offer.prompts] == ["p"]
    assert offer.remarks == (
        "The MCP server raw describes tools wrongly, which are left out: "
        "bad 1, one without a name, one without a name.",
        "The MCP server raw describes prompts wrongly, which are left out: one without a name.",
    )


async def test_the_reason_is_not_that_a_running_server_has_closed_its_output(bench: Bench) -> None:
    assert await bench.problem(raw("no list")) == f"The MCP server raw could not be started: {FOREIGN}."
    assert await bench.problem(raw("old")) == (
        "The MCP server raw could not be started: it speaks no version of the protocol that is known here."
    )


async def test_a_storm_of_changes_is_listed_a_few_times_and_the_last_state_always(bench: Bench) -> None:
    log = bench.root / "log"
    await bench.connect(raw("storm", str(log)))
    assert await said(bench) == "ok"
    assert await said(bench) == "ok"

    def listed() -> int:
        return log.read_text().count('"tools/list"')

    # Both storms are over: what is listed after them is the last state, and no listing follows it.
    await bench.until(lambda: len(bench.offers) > 1 and bench.offers[-1].tools[0].name == f"t{listed()}")
    assert listed() <= 4, "a listing for each of 4000 changes"


# Lines -------------------------------------------------------------------------------------------------

FAILED = "The call to the MCP server raw failed: "


@pytest.mark.parametrize(
    ("mode", "text"),
    [
        ("latin", "caf\ufffd"),
        ("surrogate", "a\ufffd b"),
        ("batch", "hi"),
        ("marked", "hi"),
        ("deep", f"{FAILED}{UNREADABLE}."),
        ("deeper", f"{FAILED}{UNREADABLE}."),
        ("deepest", f"{FAILED}{UNREADABLE}."),
        ("digits", f"{FAILED}{UNREADABLE}."),
        ("broken", f"{FAILED}{UNREADABLE}."),
        ("text", f"{FAILED}{FOREIGN}."),
        ("null", f"{FAILED}{FOREIGN}."),
        ("versionless", f"{FAILED}{FOREIGN}."),
        ("video", f"{FAILED}{FOREIGN}."),
    ],
)
async def test_every_answer_ends_its_call(bench: Bench, mode: str, text: str) -> None:
    await bench.connect(raw(mode))
    assert await said(bench) == text
    assert await said(bench) == text, "the connection goes on"
    assert not bench.problems


@pytest.mark.parametrize(
    "line",
    [
        b"{}",
        b"[]",
        b"[7]",
        b'{"a":',
        b'{"jsonrpc":"2.0","method":"x","params":{"id":5}',
        b'{"jsonrpc":"2.0","method":7,"id":5}',
        b'{"result":{"id":5},}',
        b'{"jsonrpc":"2.0","id":true,"result":1}',
        b"[" * 100_000,
    ],
)
async def test_what_answers_nothing_is_no_message(line: bytes) -> None:
    assert messages_of(line) == []


async def test_a_flood_of_lines_that_are_no_message(bench: Bench) -> None:
    for mode in ("junk", "junk objects", "blank"):
        await bench.connect(raw(mode))
        assert "was lost before it answered" in await said(bench)
        await bench.until(lambda: bench.problems)
        assert bench.problems.pop() == (
            f"The MCP server raw was lost: it wrote {JUNK} lines in a row that are no message."
        )


async def test_others_get_their_turn_in_a_flood(bench: Bench) -> None:
    await bench.connect(raw("some junk"))
    turns = 0
    done = anyio.Event()

    async def others() -> None:
        nonlocal turns
        while not done.is_set():
            await anyio.lowlevel.checkpoint()
            turns += 1

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(others)
        assert await said(bench) == "ok", "half of the bound is no reason to give up"
        done.set()
    assert turns >= 50


async def test_a_line_that_is_too_long_has_its_own_reason(bench: Bench) -> None:
    await bench.connect(raw("long"))
    assert "was lost before it answered" in await said(bench)
    await bench.until(lambda: bench.problems)
    assert bench.problems == ["The MCP server raw was lost: it sent a line of more than 64 MiB."]


async def test_a_server_that_closes_its_input_is_lost(bench: Bench) -> None:
    await bench.connect(raw("deaf"))
    assert await said(bench) == "ok"
    assert "was lost before it answered" in await said(bench)
    await bench.until(lambda: bench.problems)
    assert bench.problems == ["The MCP server raw was lost: it closed its input."]
