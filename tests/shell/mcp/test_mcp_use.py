"""Tools and prompts of a real server over each transport."""

import json
import os
from collections.abc import Mapping
from pathlib import Path

import anyio
import pytest
from support.mcp_bench import Bench, WebServer, benched, command, text_of
from support.mcp_server import PIXEL

from zidane_acp.ports import McpProblem
from zidane_core.agent.work import RunMcpCall
from zidane_core.data.content import Annotations, Audio, Document, Hints, Image, Link, Text
from zidane_core.data.mcp import McpPrompt, McpPromptArgument, McpServerConfig, McpTool

pytestmark = pytest.mark.anyio

FOR_THE_USER = Hints(Annotations(("user",), "2026-01-01", 0.5))


async def test_what_a_server_offers(bench: Bench, config: McpServerConfig) -> None:
    offer = await bench.connect(config)
    tools = {tool.name: tool for tool in offer.tools}
    echo = tools["echo"]
    assert (echo.title, echo.description, echo.read_only, echo.destructive) == (
        "Say it back",
        "Says it back.",
        True,
        None,
    )
    assert echo.schema["required"] == ["text"]
    assert tools["fail"].destructive is True and isinstance(tools["fail"], McpTool)
    assert offer.prompts[0] == McpPrompt(
        name="review",
        description="Reviews a file.",
        arguments=(McpPromptArgument(name="path", required=True), McpPromptArgument(name="depth")),
    )


async def test_calls_over_each_transport(bench: Bench, config: McpServerConfig) -> None:
    await bench.connect(config)
    assert await bench.text("echo", text="hällo") == "hällo"
    assert await bench.failure("fail", text="no") == "no"
    assert "Unknown tool" in await bench.failure("nope")
    assert (await bench.call("structured")).raw == {"structuredContent": {"answer": 42}}
    assert await bench.text("structured") == '{"answer":42}'
    assert await bench.text("nothing") == "[The tool gave no output.]"
    assert await bench.text("roots") == bench.root.as_uri()
    assert await bench.text("sample") == "None", "sampling is not advertised"
    await bench.text("progress")
    await bench.until(lambda: len(bench.outputs) == 2)
    assert sorted(bench.outputs) == ["3/10 message\n", "4\n"]


async def test_each_kind_of_content(bench: Bench) -> None:
    await bench.connect(command("stdio"))
    assert (await bench.call("everything")).content == (
        Text("words"),
        Image("image/png", PIXEL),
        Audio("audio/wav", "AAAA"),
        Document(uri="file:///a.txt", media_type="text/plain", text="a"),
        Image("image/png", PIXEL, "file:///b.png"),
        Document(uri="file:///c.bin", data="AAAA"),
        Link(uri="file:///d.txt", name="d", title="D", size=4, hints=FOR_THE_USER),
    )


async def test_prompts(bench: Bench, config: McpServerConfig) -> None:
    await bench.connect(config)
    assert await bench.prompt("review", path="a.py") == (
        Text("Review a.py, low."),
        Text("Assistant: With pleasure."),
        Image("image/png", PIXEL),
    )
    with pytest.raises(McpProblem, match=r"could not give the prompt nope: .*nope"):
        await bench.prompt("nope")


async def test_a_cancelled_call_is_cancelled_at_the_server(bench: Bench, config: McpServerConfig) -> None:
    await bench.connect(config)
    told = bench.root / "told"
    async with anyio.create_task_group() as tasks:
        work = RunMcpCall(session="s", server="tests", tool="slow", arguments={"file": str(told)})
        tasks.start_soon(bench.servers.call, work, bench.output)
        await bench.until(lambda: bench.outputs == ["0\n"])
        tasks.cancel_scope.cancel()
    with anyio.fail_after(10):
        while not told.exists():
            await bench.text("echo", text="the server goes on")
    assert told.read_text() == "cancelled"


ANSWERS = {
    '{"action":"accept","content":{"name":"Ada"}}': "accept Ada",
    '{"action":"decline"}': "decline",
    '{"action":"cancel"}': "cancel",
    '{"action":"perhaps"}': "cancel",
    "no json": "cancel",
    '{"action":"accept","content":{"name":{"first":"Ada"}}}': "cancel",
}


async def test_questions_of_a_server(bench: Bench) -> None:
    await bench.connect(command("stdio"))
    for answer, said in ANSWERS.items():
        bench.answers.append(answer)
        assert await bench.text("ask") == said, answer
    question = json.loads(bench.asked[0])
    assert (question["mode"], question["message"]) == ("form", "Who are you?")
    assert question["requestedSchema"]["properties"]["name"]["type"] == "string"


async def test_a_question_over_each_transport(bench: Bench, config: McpServerConfig) -> None:
    await bench.connect(config)
    bench.answers.append('{"action":"accept","content":{"name":"Ada"}}')
    assert await bench.text("ask") == "accept Ada"


async def test_a_page_that_the_user_opens(bench: Bench) -> None:
    await bench.connect(command("stdio"))
    bench.answers.append('{"action":"accept"}')
    assert await bench.text("ask_page") == "accept"
    await bench.until(lambda: bench.pages)
    assert bench.pages == ["page-1"]
    assert [json.loads(question) for question in bench.asked] == [
        {
            "mode": "url",
            "message": "Log in",
            "url": "https://example.com/login",
            "elicitationId": "page-1",
        }
    ]


async def test_a_call_that_wants_a_page_first(bench: Bench) -> None:
    await bench.connect(command("stdio"))
    for action, said in {"accept": "make the call again", "decline": "refused"}.items():
        bench.answers.append(json.dumps({"action": action}))
        assert said in await bench.failure("page_first")
        assert json.loads(bench.asked[-1])["elicitationId"] == "page-2"


async def test_changed_lists_are_read_again(bench: Bench) -> None:
    first = await bench.connect(command("stdio"))
    assert "another" not in {tool.name for tool in first.tools}
    await bench.text("more")
    await bench.until(
        lambda: len(bench.offers[-1].tools) > len(first.tools) and len(bench.offers[-1].prompts) == 2
    )
    assert bench.offers[-1].tools[-1].name == "another"
    assert bench.offers[-1].remarks == ()


async def test_output_that_is_no_message_is_told_once(bench: Bench) -> None:
    offer = await bench.connect(command("stdio"))
    # The server greets on standard output before it speaks.
    assert offer.remarks == (
        "The MCP server tests writes to its standard output what is no message; that was skipped.",
    )
    await bench.text("banner")
    assert await bench.text("echo", text="still there") == "still there"
    assert all(offer.remarks == () for offer in bench.offers[1:])


async def test_two_sessions_share_nothing(bench: Bench) -> None:
    await bench.connect(command("stdio"))
    bench.session = "t"
    assert text_of(await bench.call("echo", text="x")) == (
        "The MCP server tests is not connected; it is tried again with the next message."
    )
    with pytest.raises(McpProblem, match="is not connected"):
        await bench.prompt("review", path="a")
    await bench.connect(command("stdio", name="other"))
    assert await bench.text("more", server="other") == "ok"
    bench.session = "s"
    assert "Unknown tool" in await bench.failure("another")


async def test_where_a_process_runs(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-hidden")
    monkeypatch.setenv("OF_THE_AGENT", "yes")
    await bench.connect(command("stdio", env=(("OWN", "mine"),)))
    assert await bench.text("folder") == str(bench.root)
    assert [
        await bench.text("variable", name=name) for name in ("OWN", "OF_THE_AGENT", "OPENAI_API_KEY")
    ] == [
        "mine",
        "yes",
        "not set",
    ]


async def test_a_server_gets_what_the_host_gives_without_keys(tmp_path: Path) -> None:
    async def told() -> Mapping[str, str]:
        return {**os.environ, "OF_THE_SHELL": "told", "OPENAI_API_KEY": "sk-hidden"}

    async with benched(tmp_path, told) as bench:
        await bench.connect(command("stdio"))
        assert await bench.text("variable", name="OF_THE_SHELL") == "told"
        assert await bench.text("variable", name="OPENAI_API_KEY") == "not set"


async def test_headers_are_sent_as_given(bench: Bench, http_server: WebServer) -> None:
    await bench.connect(http_server.config(headers=(("Authorization", "Bearer abc"), ("X-Own", "1"))))
    assert await bench.text("header", name="authorization") == "Bearer abc"
    assert await bench.text("header", name="x-own") == "1"


async def test_a_server_of_a_newer_version(bench: Bench) -> None:
    offer = await bench.connect(command("newer"))
    assert "echo" in {tool.name for tool in offer.tools} and offer.prompts
    assert await bench.text("echo", text="x") == "x"
    assert await bench.failure("ask_newer") == (
        "The call to the MCP server tests failed: it wants an answer first, in the way of protocol 2026-07-28, "
        "which is not supported."
    )
    assert not bench.asked
    assert len(await bench.prompt("review", path="a")) == 3
