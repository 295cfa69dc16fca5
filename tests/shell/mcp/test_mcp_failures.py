"""Servers that cannot be used, are lost in the middle, or hold secrets."""

import logging
import os
import sys
import threading
from pathlib import Path

import anyio
import pytest
from support.mcp_bench import Bench, WebServer, command, free_port

from zidane_acp.mcp import servers
from zidane_core.data.mcp import McpServerConfig

pytestmark = [
    pytest.mark.anyio,
    # Each test starts an interpreter; how trio takes servers is seen in the other files.
    pytest.mark.parametrize("anyio_backend", ["asyncio"]),
]
SECRET = "swordfish"


async def test_a_missing_command(bench: Bench) -> None:
    assert await bench.problem(command("stdio", command="no-such-program", name="files")) == (
        "The MCP server files could not be started: there is no command no-such-program."
    )
    assert (await bench.problem(command("stdio", command="./no/such"))).endswith(
        "there is no command ./no/such."
    )
    assert (await bench.problem(command("stdio", command=""))).endswith("no command is given.")


async def test_what_cannot_be_executed(bench: Bench) -> None:
    (bench.root / "plain").write_text("text")
    assert (await bench.problem(command("stdio", command="./plain"))).endswith("./plain cannot be executed.")
    os.chmod(bench.root / "plain", 0o755)
    (bench.root / "plain").write_bytes(b"\x7fELF nonsense")
    assert "could not be started: " in await bench.problem(command("stdio", command="./plain"))
    bench.root = bench.root / "gone"
    assert (await bench.problem(command("stdio"))).endswith(f"there is no folder {bench.root}.")


async def test_a_command_relative_to_the_folder_and_on_its_own_path(bench: Bench) -> None:
    (bench.root / "bin").mkdir()
    (bench.root / "bin" / "my-python").write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    os.chmod(bench.root / "bin" / "my-python", 0o755)
    await bench.connect(command("stdio", command="bin/my-python"))
    await bench.stop()
    path = f"{bench.root}/bin:{os.environ['PATH']}"
    await bench.connect(command("stdio", command="my-python", env=(("PATH", path),)))


async def test_a_server_that_ends_before_it_speaks(bench: Bench) -> None:
    config = command("broken", env=(("TEST_SECRET", SECRET),))
    assert await bench.problem(config) == (
        "The MCP server tests could not be started: it ended with exit code 3: no database for [hidden]."
    )


async def test_a_server_that_never_answers(bench: Bench) -> None:
    problem = await bench.problem(command("silent"), within=0.5)
    assert problem.startswith("The MCP server tests did not answer within 0.5 s")
    assert len(problem) < 600


async def test_a_server_that_ends_in_the_middle(bench: Bench) -> None:
    await bench.connect(command("stdio", env=(("TEST_SECRET", SECRET),)))
    assert await bench.failure("leave", code=7) == (
        "The call to the MCP server tests failed: the connection was lost before it answered; what it did is not known."
    )
    await bench.until(lambda: bench.problems)
    assert bench.problems == [
        "The MCP server tests was lost: it ended with exit code 7: the token is [hidden]."
    ]
    assert "is not connected" in await bench.failure("echo", text="x")


async def test_a_server_that_ends_while_its_children_hold_its_output(bench: Bench) -> None:
    script = "import subprocess,sys; subprocess.Popen(['sleep','600']); sys.exit(4)"
    config = command("stdio", args=("-c", script))
    assert "it ended with exit code 4" in await bench.problem(config)


async def test_a_call_that_waits_while_the_server_is_stopped(bench: Bench, config: McpServerConfig) -> None:
    await bench.connect(config)
    failures: list[str] = []

    async def wait() -> None:
        failures.append(await bench.failure("slow", file=str(bench.root / "f")))

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(wait)
        await bench.until(lambda: bench.outputs)
        await bench.stop()
    assert "was lost before it answered" in failures[0]


async def test_nothing_is_started_after_the_end(bench: Bench) -> None:
    await bench.servers.aclose()
    assert "was closed with the connection" in await bench.problem(command("stdio"))


async def test_the_package_is_loaded_beside_the_loop(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    loaded, threads = servers._loaded, list[str]()

    def load() -> object:
        threads.append(threading.current_thread().name)
        return loaded()

    monkeypatch.setattr(servers, "_loaded", load)
    await bench.connect(command("stdio"))
    assert threads and threads[0] != threading.current_thread().name


async def test_the_package_is_missing(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail() -> None:
        raise ImportError(SECRET)

    monkeypatch.setattr(servers, "_loaded", fail)
    assert await bench.problem(command("stdio")) == (
        "The MCP server tests could not be started: the Python package mcp cannot be imported; "
        "install it with: pip install 'mcp>=2.0'."
    )


# Over HTTP -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("transport", ["streamable-http", "sse"])
async def test_a_server_that_is_not_there(bench: Bench, transport: str) -> None:
    config = McpServerConfig(
        name="far",
        transport=transport,  # type: ignore[arg-type]
        url=f"http://127.0.0.1:{free_port()}/mcp?key={SECRET}",
        headers=(("Authorization", f"Bearer {SECRET}"),),
    )
    problem = await bench.problem(config)
    assert problem.startswith("The MCP server far could not be reached: 127.0.0.1 cannot be reached (")
    assert SECRET not in problem


@pytest.mark.parametrize("url", ["nonsense", "ftp://127.0.0.1/x", "http://[::1"])
async def test_a_url_that_is_none(bench: Bench, url: str) -> None:
    problem = await bench.problem(McpServerConfig(name="far", transport="streamable-http", url=url))
    assert problem == "The MCP server far could not be reached: its URL cannot be used."


@pytest.mark.parametrize("value", [f"{SECRET}\n{SECRET}", f"{SECRET}é€"])
async def test_a_header_that_cannot_be_sent(
    bench: Bench, value: str, caplog: pytest.LogCaptureFixture
) -> None:
    url = f"http://127.0.0.1:{free_port()}/mcp"
    config = McpServerConfig(
        name="far", transport="streamable-http", url=url, headers=(("Authorization", value),)
    )
    problem = await bench.problem(config)
    assert problem.startswith("The MCP server far could not be reached: ")
    assert SECRET not in problem and SECRET not in caplog.text


async def test_a_wrong_path(bench: Bench, http_server: WebServer) -> None:
    config = McpServerConfig(name="far", transport="streamable-http", url=http_server.config().url + "/no")
    assert await bench.problem(config) == (
        "The MCP server far could not be reached: it answered with HTTP 404; check its URL."
    )


async def test_a_session_that_the_server_forgot_is_begun_anew(bench: Bench, tmp_path: Path) -> None:
    server = WebServer("http")
    try:
        await bench.connect(server.config())
        server.stop()
        server.start()
        assert await bench.text("echo", text="again") == "again"
        assert len(bench.offers) == 2, "what it offers is told again"
        assert not bench.problems
    finally:
        server.stop()


async def test_a_stream_that_was_closed_is_opened_anew(bench: Bench) -> None:
    server = WebServer("sse")
    try:
        await bench.connect(server.config())
        server.stop()
        server.start()
        await bench.until(lambda: len(bench.offers) == 2)
        assert await bench.text("echo", text="again") == "again"
        assert not bench.problems
    finally:
        server.stop()


@pytest.mark.parametrize("how", ["http", "sse"])
async def test_a_server_that_stays_away(bench: Bench, how: str) -> None:
    server = WebServer(how)
    try:
        await bench.connect(server.config(), within=1)
        server.stop()
        assert "tests" in await bench.failure("echo", text="x")
        await bench.until(lambda: bench.problems)
        assert "could not be reached: 127.0.0.1 cannot be reached" in bench.problems[0]
    finally:
        server.stop()


# Secrets ---------------------------------------------------------------------------------------------


async def test_secrets_are_not_logged(
    bench: Bench, config: McpServerConfig, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    if config.transport == "stdio":
        config = command("stdio", env=(("TEST_SECRET", SECRET),))
    else:
        config = McpServerConfig(
            name="tests",
            transport=config.transport,
            url=f"{config.url}?key={SECRET}",
            headers=(("Authorization", f"Bearer {SECRET}"),),
        )
    offer = await bench.connect(config)
    await bench.text("echo", text="x")
    await bench.failure("nope")
    await bench.text("more")
    await bench.stop()
    assert SECRET not in caplog.text and SECRET not in repr(offer) and not bench.problems
