"""Two public MCP servers, as npm gives them (the optional Node group)."""

import importlib.util
import json
from pathlib import Path
from types import ModuleType

import anyio.to_thread
import pytest
from support.mcp_bench import benched

from zidane_core.data.content import Text
from zidane_core.data.mcp import McpServerConfig
from zidane_core.data.tools import ToolResult

pytestmark = [pytest.mark.node, pytest.mark.anyio, pytest.mark.timeout(600)]


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


def packages() -> ModuleType:
    """`scripts/node.d`, which is no package."""
    path = Path(__file__).parents[2] / "scripts" / "node.d" / "node_packages.py"
    spec = importlib.util.spec_from_file_location("node_packages", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def config(package: tuple[str, str], *args: str) -> McpServerConfig:
    """The server of a package, which is installed first."""
    npm = packages()
    folder: Path = npm.install(package) / "node_modules" / package[0]
    programs: dict[str, str] = json.loads((folder / "package.json").read_text("utf-8"))["bin"]
    (program,) = programs.values()
    return McpServerConfig(
        name="tests", transport="stdio", command=npm.node(20), args=(str(folder / program), *args)
    )


def texts(result: ToolResult) -> str:
    assert not result.failed, result
    return "".join(part.text for part in result.content if isinstance(part, Text))


async def test_everything(tmp_path: Path) -> None:
    server = await anyio.to_thread.run_sync(config, packages().MCP_EVERYTHING)
    async with benched(tmp_path) as bench:
        offer = await bench.connect(server)
        assert {"echo"} <= {tool.name for tool in offer.tools} and offer.prompts
        assert "hello" in texts(await bench.call("echo", message="hello"))
        await bench.stop()
        assert not bench.problems


async def test_filesystem(tmp_path: Path) -> None:
    (tmp_path / "note.txt").write_text("in the note")
    server = await anyio.to_thread.run_sync(config, packages().MCP_FILESYSTEM, str(tmp_path))
    async with benched(tmp_path) as bench:
        offer = await bench.connect(server)
        tools = {tool.name: tool for tool in offer.tools}
        assert tools["read_text_file"].read_only is True
        assert "in the note" in texts(await bench.call("read_text_file", path=str(tmp_path / "note.txt")))
        await bench.stop()
        assert not bench.problems
