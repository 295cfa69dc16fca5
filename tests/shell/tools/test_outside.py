"""Outside the roots: the question names the real place, and a grant holds for that place only."""

import os
from pathlib import Path
from typing import Any

import msgspec
import pytest

from zidane_core.data.tools import Location, Preview

pytestmark = pytest.mark.anyio
Space = Any

ARGUMENTS: dict[str, dict[str, object]] = {
    "read_file": {"path": "lnk/f"},
    "write_file": {"path": "lnk/f", "content": "new"},
    "edit": {"path": "lnk/f", "old_string": "secret", "new_string": "new"},
    "multi_edit": {"path": "lnk/f", "edits": [{"old_string": "secret", "new_string": "new"}]},
    "list_files": {"path": "lnk"},
    "glob": {"path": "lnk", "pattern": "*"},
    "search": {"path": "lnk", "pattern": "secret"},
    "shell": {"command": "cat f", "cwd": "lnk"},
}

INSIDE = frozenset({"list_files", "glob", "search", "shell"})


@pytest.fixture
def shown(space: Space) -> Path:
    """A folder outside that a link in the workspace leads to, and another one beside it."""
    for name in ("shown", "other"):
        folder = space.root.parent / name
        folder.mkdir()
        (folder / "f").write_text("a secret\n")
    (space.root / "lnk").symlink_to(space.root.parent / "shown")
    return space.root.parent / "shown"  # type: ignore[no-any-return]


@pytest.mark.parametrize("tool", ARGUMENTS)
async def test_the_question_names_the_real_place(space: Space, shown: Path, tool: str) -> None:
    preview = await space.prepare(tool, **ARGUMENTS[tool])
    real = str(shown / "f" if ARGUMENTS[tool].get("path") == "lnk/f" else shown)
    assert preview.title.endswith(f" (outside the workspace: {real})")
    assert preview.locations == (Location(real),)
    assert all(diff.path == real for diff in preview.diffs)
    inside = (
        await space.prepare(tool, **{**ARGUMENTS[tool], "path": ".", "cwd": "."}) if tool in INSIDE else None
    )
    assert inside is None or inside.title == ""


@pytest.mark.parametrize("tool", sorted(INSIDE))
async def test_a_folder_that_the_title_leaves_out_is_named(space: Space, shown: Path, tool: str) -> None:
    arguments = {**ARGUMENTS[tool], "cwd" if tool == "shell" else "path": str(shown)}
    title = (await space.prepare(tool, **arguments)).title
    assert str(shown) in title
    assert "(outside the workspace" in title


@pytest.mark.parametrize("tool", ARGUMENTS)
async def test_a_link_swapped_after_the_question_does_not_redirect_the_grant(
    space: Space, shown: Path, tool: str
) -> None:
    preview = await space.prepare(tool, **ARGUMENTS[tool])
    (space.root / "lnk").unlink()
    (space.root / "lnk").symlink_to(space.root.parent / "other")
    result = await space.run(tool, outside=True, preview=preview, **ARGUMENTS[tool])
    assert result.failed
    assert "leads to another place outside the workspace" in result.content[0].text
    assert (space.root.parent / "other" / "f").read_text() == "a secret\n"
    (space.root / "lnk").unlink()
    (space.root / "lnk").symlink_to(shown)
    assert not (await space.run(tool, outside=True, preview=preview, **ARGUMENTS[tool])).failed


@pytest.mark.parametrize("tool", ["read_file", "list_files", "shell"])
async def test_a_grant_without_anything_shown_is_for_nothing(space: Space, shown: Path, tool: str) -> None:
    result = await space.run(tool, outside=True, preview=Preview(), **ARGUMENTS[tool])
    assert result.failed
    assert "leads to another place" in result.content[0].text


@pytest.mark.parametrize("tool", ["edit", "multi_edit"])
async def test_a_change_that_nobody_was_shown_is_not_made(space: Space, shown: Path, tool: str) -> None:
    """The preparation failed, so there was no diff; by now the text is there."""
    (shown / "f").write_text("something else\n")
    preview = await space.prepare(tool, **ARGUMENTS[tool])
    assert preview.digest == ""
    failed = await space.run(tool, outside=True, preview=preview, **ARGUMENTS[tool])
    assert "not found" in failed.content[0].text, "the model learns why once the user has allowed it"
    (shown / "f").write_text("a secret\n")
    refused = await space.run(tool, outside=True, preview=preview, **ARGUMENTS[tool])
    assert refused.failed
    assert "has changed since this edit was prepared" in refused.content[0].text
    assert (shown / "f").read_text() == "a secret\n"


async def test_a_file_that_could_not_be_looked_at_is_not_replaced(space: Space, shown: Path) -> None:
    (shown / "f").unlink()
    os.mkfifo(shown / "f")
    preview = await space.prepare("write_file", path="lnk/f", content="new")
    (shown / "f").unlink()
    (shown / "f").write_text("a secret\n")
    result = await space.run("write_file", outside=True, preview=preview, path="lnk/f", content="new")
    assert "has changed since" in result.content[0].text
    assert (shown / "f").read_text() == "a secret\n"


async def test_a_command_names_all_places_outside(space: Space, shown: Path) -> None:
    other = f"{space.root.parent}/other/f"
    call = space.call("shell", {"command": f"cat lnk/f {other}"}, "prepare")
    call = msgspec.structs.replace(call, paths=(str(space.root), f"{space.root}/lnk/f", other))
    preview = await space.tools.run(call, lambda _: None)
    assert preview.locations == (Location(str(shown / "f")), Location(other))
    assert preview.title == f"cat lnk/f {other} (outside the workspace: {shown}/f)"


@pytest.mark.parametrize("tool", ARGUMENTS)
async def test_a_further_folder_of_the_session_is_inside_by_its_real_path(
    space: Space, shown: Path, tool: str
) -> None:
    space.further = (str(shown),)
    assert (await space.prepare(tool, **ARGUMENTS[tool])).title == ""
    assert not (await space.run(tool, **ARGUMENTS[tool])).failed
    # A link out of the further folder leads outside, and so does a name that only begins like it.
    (shown / "way").symlink_to(shown.parent / "other")
    for folder in (f"{shown}/way", f"{shown}/../other"):
        where = f"{folder}/f" if ARGUMENTS[tool].get("path") == "lnk/f" else folder
        key = "cwd" if tool == "shell" else "path"
        arguments = {**ARGUMENTS[tool], key: where}
        assert "(outside the workspace" in (await space.prepare(tool, **arguments)).title
        assert (await space.run(tool, **arguments)).failed


async def test_a_folder_whose_name_begins_like_a_further_one_is_outside(space: Space, shown: Path) -> None:
    space.further = (str(shown),)
    beside = shown.parent / "shown2"
    beside.mkdir()
    (beside / "f").write_text("a secret\n")
    assert (await space.run("read_file", path=str(beside / "f"))).failed
