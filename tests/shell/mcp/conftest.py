"""Real MCP servers over each transport."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from support.mcp_bench import Bench, WebServer, benched, command

from zidane_core.data.mcp import McpServerConfig


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="session")
def http_server() -> Iterator[WebServer]:
    server = WebServer("http")
    yield server
    server.stop()


@pytest.fixture(scope="session")
def sse_server() -> Iterator[WebServer]:
    server = WebServer("sse")
    yield server
    server.stop()


@pytest.fixture(params=["stdio", "http", "sse"])
def config(request: pytest.FixtureRequest) -> McpServerConfig:
    """The test server over each transport."""
    if request.param == "stdio":
        return command("stdio")
    server: WebServer = request.getfixturevalue(f"{request.param}_server")
    return server.config()


@pytest.fixture
async def bench(tmp_path: Path, anyio_backend: object) -> AsyncIterator[Bench]:
    async with benched(tmp_path) as made:
        yield made


def _allowed(item: pytest.Item) -> bool:
    """The HTTP client leaves generators behind that trio warns of, so over HTTP there is only asyncio."""
    params = getattr(item, "callspec", None)
    values = {} if params is None else params.params
    over_http = values.get("config") in ("http", "sse") or {"http_server", "sse_server"} & set(
        getattr(item, "fixturenames", ())
    )
    return not (over_http and values.get("anyio_backend") == "trio")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items[:] = [item for item in items if _allowed(item)]
