"""What the user denied is not touched, not found, and not attached, by whatever name."""

import os
import shutil
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Literal

import pytest
from msgspec.structs import replace

from zidane_acp.tools.attachments import read_attachments
from zidane_acp.tools.local import LocalTools
from zidane_acp.tools.looking import look_at_file
from zidane_acp.tools.paths import resolve
from zidane_core.agent.work import ReadAttachments, RunTool
from zidane_core.data.content import Link, Text
from zidane_core.data.tools import Preview, ToolOutput, ToolResult

pytestmark = pytest.mark.anyio
DENIED = ("secrets/**", "*.pem")
WORD = "needle"


class Space:
    """A workspace with denied files; `root` is how the client names it."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.tools = LocalTools()

    def call(self, name: str, stage: Literal["prepare", "run"] = "run", **arguments: object) -> RunTool:
        return RunTool(
            stage=stage,
            name=name,
            arguments=arguments,
            session="s",
            call="c",
            cwd=str(self.root),
            roots=(str(self.root),),
            granted=True,
            denied=DENIED,
        )

    async def said(self, call: RunTool) -> str:
        result = await self.tools.run(call, self._unheard)
        assert isinstance(result, ToolResult), result
        return "".join(part.text for part in result.content if isinstance(part, Text))

    async def does(self, name: str, **arguments: object) -> str:
        return await self.said(self.call(name, **arguments))

    @staticmethod
    def _unheard(output: ToolOutput) -> None:
        """Nobody looks at what comes meanwhile."""


@pytest.fixture(params=["named as it is", "through a link"])
def root(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    real = tmp_path / "real"
    for name in ("secrets/key", "secrets/sub/key", "src/k.pem", "src/a.py", "b.py"):
        (real / name).parent.mkdir(parents=True, exist_ok=True)
        (real / name).write_text(f"{WORD} {name}\n")
    (real / "innocent").symlink_to("secrets/key")
    (real / "src" / "folder").symlink_to("../secrets")
    if request.param == "named as it is":
        return real
    (tmp_path / "root").symlink_to(real)
    return tmp_path / "root"


@pytest.fixture
async def space(root: Path, anyio_backend: object) -> AsyncIterator[Space]:
    made = Space(root)
    yield made
    await made.tools.aclose()


PATHS = [
    "secrets/key",
    "./src/../secrets/key",
    "innocent",
    "src/folder/key",
    "src/k.pem",
    "secrets/new",
    "src/new.pem",
]


@pytest.mark.parametrize("path", PATHS)
async def test_no_file_tool_touches_it(space: Space, path: str) -> None:
    for call in (
        space.call("read_file", path=path),
        space.call("read_file", "prepare", path=path),
        space.call("write_file", path=path, content="x"),
        space.call("write_file", "prepare", path=path, content="x"),
        space.call("edit", "prepare", path=path, old_string="absent", new_string="x"),
        space.call("multi_edit", path=path, edits=[{"old_string": WORD, "new_string": "x"}]),
        space.call("search", path=path, pattern=WORD),
    ):
        said = await space.said(call)
        assert "denied by the user's rule" in said and WORD not in said.replace(path, ""), (call, said)
    assert (space.root / "secrets" / "key").read_text() == f"{WORD} secrets/key\n"
    assert not (space.root / "secrets" / "new").exists() and not (space.root / "src" / "new.pem").exists()


async def test_what_was_judged_before_it_became_a_link_is_looked_at_again(space: Space) -> None:
    preview = await space.tools.run(space.call("read_file", "prepare", path="b.py"), space._unheard)
    assert isinstance(preview, Preview)
    (space.root / "b.py").unlink()
    (space.root / "b.py").symlink_to("secrets/key")
    said = await space.said(replace(space.call("read_file", path="b.py"), preview=preview))
    assert "denied by the user's rule" in said


async def test_lists_leave_it_out(space: Space) -> None:
    listed = (await space.does("list_files", depth=9)).splitlines()
    assert listed == ["b.py", "innocent", "src/", "src/a.py", "src/folder"]
    assert (await space.does("glob", pattern="**/*")).splitlines() == [
        "b.py",
        "innocent",
        "src/a.py",
        "src/folder",
    ]
    assert "No file fits" in await space.does("glob", pattern="*.pem")
    for tool in ("list_files", "glob", "search"):
        assert "denied by the user's rule" in await space.does(tool, path="secrets", pattern="x")


@pytest.mark.parametrize("ripgrep", [True, False])
async def test_a_search_finds_nothing_in_it(space: Space, ripgrep: bool) -> None:
    if ripgrep and shutil.which("rg") is None:
        pytest.skip("needs ripgrep")
    await space.tools.aclose()
    space.tools = LocalTools(ripgrep=ripgrep)
    found = (await space.does("search", pattern=WORD)).splitlines()
    assert sorted(line.split(":")[0] for line in found) == ["b.py", "src/a.py"]
    # What is left out does not count towards the limit either.
    few = await space.does("search", pattern=WORD, limit=2)
    assert sorted(line.split(":")[0] for line in few.splitlines()) == ["b.py", "src/a.py"]


async def test_a_command_does_not_run_there(space: Space) -> None:
    assert "denied by the user's rule" in await space.does("shell", command="true", cwd="secrets")
    assert "denied by the user's rule" in await space.does("shell", command="true", cwd="src/folder")
    reads = replace(space.call("shell", command="cat innocent"), granted=False, paths=("innocent",))
    assert "denied by the user's rule" in await space.said(reads)


@pytest.mark.parametrize("path", PATHS[:5])
def test_the_editor_is_not_asked_for_it(root: Path, path: str) -> None:
    seen = look_at_file(Space(root).call("read_file", "prepare", path=path))
    assert (seen.kind, seen.text) == ("unreadable", "")
    assert seen.path.real == resolve(path, str(root), (str(root),)).real


@pytest.mark.parametrize("path", PATHS[:5])
def test_a_link_of_a_prompt_to_it_is_only_a_name(root: Path, path: str) -> None:
    uri = (root / path).as_uri() if ".." not in path else f"file://{root}/{path}"
    asked = ReadAttachments(
        cwd=str(root),
        roots=(str(root),),
        links=((0, Link(uri=uri, name="it")),),
        image_bytes=1000,
        denied=DENIED,
    )
    (attachment,) = read_attachments(asked).attachments
    assert isinstance(attachment.part, Link) and attachment.path == ""
    assert 'The file "it" in your message is denied by a rule of yours' in attachment.notice
    assert not os.path.exists(root / "secrets" / "new")
