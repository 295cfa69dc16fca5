"""Outcome -> stop reason, MCP entries -> configuration, and the client's own tools."""

import pytest
from returns.result import Failure, Success

from zidane_core.acp import wire
from zidane_core.convert.client_tools import (
    CLIENT_TOOL_CALL_METHOD,
    CLIENT_TOOL_CANCEL_METHOD,
    ClientToolSpec,
    parse_client_tools,
)
from zidane_core.convert.mcp import acp_mcp_servers_to_zidane
from zidane_core.convert.outcome import outcome_to_stop_reason
from zidane_core.data.mcp import McpServerConfig
from zidane_core.data.outcome import Outcome, StopReason


@pytest.mark.parametrize(
    ("outcome", "stop"),
    [
        (Outcome(), "end_turn"),
        (Outcome(finish="stop"), "end_turn"),
        (Outcome(finish="tool-calls"), "end_turn"),
        (Outcome(finish="other"), "end_turn"),
        (Outcome(finish="length"), "max_tokens"),
        (Outcome(finish="content-filter"), "refusal"),
        (Outcome(finish="error"), "refusal"),
        (Outcome(turn_limit=True), "max_turn_requests"),
        (Outcome(turn_limit=True, finish="length"), "max_turn_requests"),
        (Outcome(aborted=True), "cancelled"),
        (Outcome(aborted=True, turn_limit=True, finish="error"), "cancelled"),
    ],
)
def test_stop_reason(outcome: Outcome, stop: StopReason) -> None:
    assert outcome_to_stop_reason(outcome) == stop


def test_mcp_servers() -> None:
    found = acp_mcp_servers_to_zidane(
        [
            wire.McpServerStdio(
                name="a", command="c", args=("-x",), env=(wire.EnvVariable(name="K", value="V"),)
            ),
            wire.McpServerHttp(name="b", url="http://b", headers=(wire.HttpHeader(name="H", value="V"),)),
            wire.McpServerSse(name="c", url="http://c", headers=()),
        ]
    )
    assert found.servers == (
        McpServerConfig(name="a", transport="stdio", command="c", args=("-x",), env=(("K", "V"),)),
        McpServerConfig(name="b", transport="streamable-http", url="http://b", headers=(("H", "V"),)),
        McpServerConfig(name="c", transport="sse", url="http://c"),
    )
    assert found.warnings == ()


def test_of_one_name_the_last_mcp_server_counts() -> None:
    def server(name: str, command: str) -> wire.McpServer:
        return wire.McpServerStdio(name=name, command=command, args=(), env=())

    found = acp_mcp_servers_to_zidane(
        [server("a", "1"), server("b", "2"), server("a", "3"), server("a", "4")]
    )
    assert [(config.name, config.command) for config in found.servers] == [("a", "4"), ("b", "2")]
    assert len(found.warnings) == 1
    assert '"a"' in found.warnings[0]


SCHEMA: dict[str, object] = {"type": "object"}


@pytest.mark.parametrize(
    "meta", [None, {}, {"zidane": {}}, {"zidane": 5}, {"clientTools": []}, {"zidane": None}]
)
def test_without_the_key_there_is_nothing_to_set(meta: dict[str, object] | None) -> None:
    assert parse_client_tools(meta) == Success(None)


def test_client_tools() -> None:
    tools = [
        {"name": "a", "inputSchema": SCHEMA, "zzz": 1},
        {"name": "b", "description": "B", "inputSchema": {}},
    ]
    assert parse_client_tools({"zidane": {"clientTools": tools}}) == Success(
        (
            ClientToolSpec(name="a", input_schema=SCHEMA),
            ClientToolSpec(name="b", description="B", input_schema={}),
        )
    )
    assert parse_client_tools({"zidane": {"clientTools": []}}) == Success(())


@pytest.mark.parametrize(
    ("tools", "place"),
    [
        (5, ""),
        (None, ""),
        ([5], "[0]"),
        ([{"name": "a"}], "[0]"),
        ([{"name": 5, "inputSchema": {}}], "[0].name"),
        ([{"name": "a", "inputSchema": []}], "[0].inputSchema"),
        ([{"name": " ", "inputSchema": {}}], "[0].name"),
        ([{"name": "a", "inputSchema": {}}, {"name": "a", "inputSchema": {}}], "[1].name"),
    ],
)
def test_malformed_client_tools(tools: object, place: str) -> None:
    found = parse_client_tools({"zidane": {"clientTools": tools}})
    assert isinstance(found, Failure)
    fault = found.failure()
    assert fault.code == -32602
    assert fault.data == {"field": f"_meta.zidane.clientTools{place}"}


def test_the_method_names_are_extensions() -> None:
    assert CLIENT_TOOL_CALL_METHOD.startswith("_zidane/")
    assert CLIENT_TOOL_CANCEL_METHOD.startswith("_zidane/")
