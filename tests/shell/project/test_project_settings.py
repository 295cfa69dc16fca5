"""The settings in the folders of a session: whose counts, and that no file of a stranger does harm."""

import os
from pathlib import Path

import pytest
from support.process import Process

from zidane_acp.config.project import LONGEST
from zidane_acp.project.reading import read_project
from zidane_acp.project.settings import read_settings
from zidane_core.data.project import ProjectSettings
from zidane_core.data.rules import Denials


def written(folder: Path, text: str) -> str:
    (folder / ".zidane").mkdir(parents=True, exist_ok=True)
    (folder / ".zidane" / "config.toml").write_text(text)
    return str(folder)


def read(*folders: str) -> tuple[ProjectSettings, list[str]]:
    warnings: list[str] = []
    return read_settings(folders, warnings.append), warnings


def test_the_first_folder_chooses_and_all_of_them_deny(tmp_path: Path) -> None:
    one = written(
        tmp_path / "one", 'mode = "plan"\n[permissions]\npolicy = "allow-all"\ndeny_paths = ["a"]\n'
    )
    two = written(
        tmp_path / "two",
        'mode = "build"\nthinking = "high"\n[permissions]\npolicy = "read-only"\ndeny_paths = ["b"]\ndeny_commands = ["c"]\n',
    )
    both = ProjectSettings(mode="plan", policy="read-only", denials=Denials(("a", "b"), ("c",)))
    assert read(one, two) == (both, [])
    assert read(two)[0].mode == "build" and read(one)[0].policy == "allow-all"
    assert read(str(tmp_path)) == read() == (ProjectSettings(), [])


@pytest.mark.parametrize("kind", ["link", "pipe", "folder", "large", "binary", "latin"])
def test_what_is_no_honest_file_is_a_warning(kind: str, tmp_path: Path) -> None:
    folder = tmp_path.resolve() / "repo"
    (folder / ".zidane").mkdir(parents=True)
    file, outside = folder / ".zidane" / "config.toml", tmp_path.resolve() / "outside.toml"
    outside.write_text('mode = "plan"')
    make = {
        "link": lambda: file.symlink_to(outside),
        "pipe": lambda: os.mkfifo(file),
        "folder": file.mkdir,
        "large": lambda: file.write_bytes(b'mode = "plan"\n' * (LONGEST // 14 + 1)),
        "binary": lambda: file.write_bytes(b'mode = "plan"\0'),
        "latin": lambda: file.write_bytes(b'mode = "\xff"'),
    }
    make[kind]()
    settings, warnings = read(str(folder))
    assert settings == ProjectSettings() and len(warnings) == 1, warnings
    assert warnings[0].startswith(str(file)) and warnings[0].endswith("used.")


def test_a_link_to_a_device_is_not_opened(tmp_path: Path) -> None:
    (tmp_path / ".zidane").mkdir()
    (tmp_path / ".zidane" / "config.toml").symlink_to("/dev/zero")
    assert read(str(tmp_path.resolve()))[0] == ProjectSettings()


def test_it_is_among_what_a_folder_brings_along_with_its_warnings(tmp_path: Path) -> None:
    folder = tmp_path.resolve() / "repo"
    written(folder, 'thinking = "low"\n[mcp.x]\ncommand = "evil"\n')
    project = read_project((str(folder),), None, None)
    assert project.settings == ProjectSettings(thinking="low")
    assert any("a project cannot set mcp" in warning for warning in project.warnings)


def test_a_session_begins_as_its_project_chooses_but_for_flags(tmp_path: Path) -> None:
    written(tmp_path / "repo", 'thinking = "high"\ndefault_model = "gpt-6-luna"\n')
    env = {"OPENAI_API_KEY": "sk-none"}
    for flags, level in (((), "high"), (("--thinking", "low"), "low")):
        with Process("--home", str(tmp_path / "home"), *flags, env=env) as agent:
            agent.call("initialize", protocolVersion=1)
            result = agent.call("session/new", cwd=str(tmp_path / "repo"), mcpServers=[])["result"]
            options = {option["id"]: option["currentValue"] for option in result["configOptions"]}
            assert (options["thought_level"], options["model"]) == (level, "gpt-6-luna")
