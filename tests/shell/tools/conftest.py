"""A workspace in a temporary folder, and calls of tools in it."""

from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Literal

import msgspec
import pytest

from zidane_acp.tools.local import LocalTools
from zidane_core.agent.work import RunTool
from zidane_core.data.content import Text
from zidane_core.data.tools import Preview, ToolOutput, ToolResult


class Workspace:
    """Tools over the folder `root`; what they report comes into `reported`."""

    def __init__(self, root: Path, tools: LocalTools) -> None:
        self.root = root
        self.tools = tools
        self.further: tuple[str, ...] = ()
        self.reported: list[str] = []
        self.on_report: Callable[[str], None] = lambda _: None

    def _report(self, output: ToolOutput) -> None:
        self.reported.append(output.text)
        self.on_report(output.text)

    def call(
        self, name: str, arguments: dict[str, object], stage: Literal["prepare", "run"] = "run"
    ) -> RunTool:
        return RunTool(
            stage=stage,
            name=name,
            arguments=arguments,
            session="s",
            call="c",
            cwd=str(self.root),
            roots=(str(self.root), *self.further),
        )

    async def prepare(self, name: str, **arguments: object) -> Preview:
        preview = await self.tools.run(self.call(name, arguments, "prepare"), self._report)
        assert isinstance(preview, Preview), preview
        return preview

    async def run(
        self,
        name: str,
        *,
        outside: bool = False,
        granted: bool = True,
        preview: Preview | None = None,
        **arguments: object,
    ) -> ToolResult:
        if outside and preview is None:  # the grant is for what the user was shown
            preview = await self.prepare(name, **arguments)
        call = msgspec.structs.replace(
            self.call(name, arguments), outside=outside, granted=granted, preview=preview
        )
        result = await self.tools.run(call, self._report)
        assert isinstance(result, ToolResult)
        return result

    async def text(self, name: str, *, outside: bool = False, **arguments: object) -> str:
        result = await self.run(name, outside=outside, **arguments)
        assert not result.failed, result
        return text_of(result)

    async def refusal(self, name: str, *, outside: bool = False, **arguments: object) -> str:
        result = await self.run(name, outside=outside, **arguments)
        assert result.failed, result
        return text_of(result)


def text_of(result: ToolResult) -> str:
    (part,) = result.content
    assert isinstance(part, Text)
    return part.text


@pytest.fixture
async def space(tmp_path: Path, anyio_backend: object) -> AsyncIterator[Workspace]:
    root = tmp_path / "w"
    root.mkdir()
    tools = LocalTools(hidden_variables=("SECRET_API_KEY",))
    space = Workspace(root, tools)
    yield space
    await tools.aclose()
    await space.tools.aclose()  # some tests take others
