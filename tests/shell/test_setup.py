"""Adding the agent to editors: only our entry changes, and the old file is kept."""

import json
import os
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zidane_acp.setup import program
from zidane_acp.setup.command import run_setup
from zidane_acp.setup.editors import EDITORS, Editor, acpx_entry, find
from zidane_acp.setup.jsonc import insert, load

ENTRY: dict[str, object] = {"command": "/bin/z", "args": ["serve"]}
KEYS = ("agent_servers", "Zidane")

COMMENTED = """\
// My settings
{
    /* looks */
    "theme": "One Dark", // "agent_servers": no
    "agent_servers": {
        "Other": { "command": "x" }, // mine
    },
    "url": "http://example.com/*not a comment*/",
}
"""


def test_comments_and_trailing_commas_stay() -> None:
    new = insert(COMMENTED, KEYS, ENTRY).unwrap()
    assert load(new).unwrap()["agent_servers"] == {"Other": {"command": "x"}, "Zidane": ENTRY}
    added = [line for line in new.splitlines() if line not in COMMENTED.splitlines()]
    assert "".join(added).startswith('        "Zidane": {')
    kept = [line for line in COMMENTED.splitlines() if line not in new.splitlines()]
    assert kept == []


@pytest.mark.parametrize(
    "text",
    [
        "",
        "  \n",
        "{}",
        "{ // nothing yet\n}",
        '{"a": 1}',
        '{"a": [1, 2,], /* b */ }',
        '{"agent_servers": {}}',
        '{"agent_servers": {"Zidane": {"command": "old"}}, "b": 1}',
        '{"agent_servers": 1, "agent_servers": {"A": {}}}',
        "// only a comment",
        '\ufeff{"a": 1}',
    ],
)
def test_what_was_there_is_there_afterwards(text: str) -> None:
    before = load(text).unwrap()
    new = insert(text, KEYS, ENTRY).unwrap()
    after = load(new).unwrap()
    servers = before.get("agent_servers", {})
    assert isinstance(servers, dict)
    assert after == {**before, "agent_servers": {**servers, "Zidane": ENTRY}}
    assert insert(new, KEYS, ENTRY).unwrap() == new


def test_windows_line_ends_and_tabs_are_kept() -> None:
    new = insert('{\r\n\t"a": 1\r\n}\r\n', KEYS, ENTRY).unwrap()
    assert "\n" not in new.replace("\r\n", "")
    assert '\r\n\t"agent_servers": {\r\n\t\t"Zidane": {\r\n\t\t\t"command"' in new


@pytest.mark.parametrize(
    "text", ["[1]", '{"a"', '{"a": 1', "{a: 1}", '{"agent_servers": 4}', '{"agent_servers": [1]}']
)
def test_what_cannot_be_edited_is_left_alone(text: str) -> None:
    assert insert(text, KEYS, ENTRY).failure()


values = st.recursive(
    st.none() | st.booleans() | st.integers(-99, 99) | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)


@given(
    st.dictionaries(st.text(max_size=5), values, max_size=4),
    st.sampled_from([None, 1, "\t"]),
    st.booleans(),
)
def test_any_document_keeps_its_meaning(
    document: dict[str, object], indent: int | str | None, comment: bool
) -> None:
    document.pop("agent_servers", None)
    text = json.dumps(document, indent=indent, ensure_ascii=False)
    if comment:
        text = "/* one */ " + re.sub(r"^\{", "{ // two\n", text) + " // three"
    new = insert(text, KEYS, ENTRY).unwrap()
    assert load(new).unwrap() == {**document, "agent_servers": {"Zidane": ENTRY}}


def answers(word: str) -> Callable[[str], str]:
    return lambda question: word


@pytest.mark.parametrize("name", ["zed", "jetbrains", "acpx"])
def test_writing_makes_a_backup_and_is_idempotent(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    editor = find(name)
    assert editor is not None and editor.file is not None
    path = tmp_path / editor.file.path
    path.parent.mkdir(parents=True)
    path.write_text('{\n  "mine": true\n}\n')
    os.chmod(path, 0o600)

    assert run_setup(name, write=True, yes=False, home=tmp_path, ask=answers("y")) == 0
    shown = capsys.readouterr().out
    assert '+  "' + editor.file.keys[0] in shown
    written = json.loads(path.read_text())
    assert written["mine"] is True
    assert written[editor.file.keys[0]][editor.file.keys[1]] == editor.file.entry(program.command())
    assert path.with_name(path.name + ".backup").read_text() == '{\n  "mine": true\n}\n'
    assert path.stat().st_mode & 0o777 == 0o600

    before = sorted(item.name for item in path.parent.iterdir())
    assert run_setup(name, write=True, yes=False, home=tmp_path, ask=answers("n")) == 0
    assert "already has this entry" in capsys.readouterr().out
    assert sorted(item.name for item in path.parent.iterdir()) == before


def test_a_no_writes_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_setup("zed", write=True, yes=False, home=tmp_path, ask=answers("")) == 1
    assert list(tmp_path.iterdir()) == []
    assert '+    "Zidane": {' in capsys.readouterr().out


def test_a_second_backup_does_not_replace_the_first(tmp_path: Path) -> None:
    path = tmp_path / ".acpx/config.json"
    path.parent.mkdir()
    for text in ('{"n": 1}', '{"n": 2}'):
        path.write_text(text)
        assert run_setup("acpx", write=True, yes=True, home=tmp_path) == 0
    assert path.with_name("config.json.backup").read_text() == '{"n": 1}'
    assert path.with_name("config.json.backup-2").read_text() == '{"n": 2}'


def test_variables_that_the_user_added_stay(tmp_path: Path) -> None:
    path = tmp_path / ".jetbrains/acp.json"
    path.parent.mkdir()
    old = {
        "agent_servers": {"Zidane": {"command": "old", "args": ["x"], "env": {"OPENAI_BASE_URL": "http://h"}}}
    }
    path.write_text(json.dumps(old))
    assert run_setup("jetbrains", write=True, yes=True, home=tmp_path) == 0
    entry = json.loads(path.read_text())["agent_servers"]["Zidane"]
    assert entry["env"] == {"OPENAI_BASE_URL": "http://h"}
    assert [entry["command"], *entry["args"]] == list(program.command())


def test_a_linked_settings_file_stays_a_link(tmp_path: Path) -> None:
    real = tmp_path / "dotfiles.json"
    real.write_text("{}")
    link = tmp_path / ".config/zed/settings.json"
    link.parent.mkdir(parents=True)
    link.symlink_to(real)
    assert run_setup("zed", write=True, yes=True, home=tmp_path) == 0
    assert link.is_symlink()
    assert "Zidane" in json.loads(real.read_text())["agent_servers"]


def test_a_broken_file_is_left_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / ".acpx/config.json"
    path.parent.mkdir()
    path.write_text("{broken")
    assert run_setup("acpx", write=True, yes=True, home=tmp_path) == 1
    assert path.read_text() == "{broken"
    assert "paste the snippet by hand" in capsys.readouterr().err


@pytest.mark.parametrize("editor", EDITORS, ids=lambda editor: editor.name)
def test_every_snippet_starts_this_program(editor: Editor, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_setup(editor.name, write=False, yes=False) == 0
    captured = capsys.readouterr()
    for word in program.command():
        assert word in captured.out
    assert "Put this into" in captured.err


@pytest.mark.parametrize("name", ["neovim", "emacs"])
def test_editors_without_json_only_print(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_setup(name, write=True, yes=True, home=tmp_path) == 1
    assert "put the snippet into" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_an_unknown_editor_is_wrong_usage(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_setup("ed", write=False, yes=False) == 2
    assert "zed, jetbrains, neovim, emacs, acpx" in capsys.readouterr().err


def test_the_program_is_absolute_or_the_safe_interpreter(tmp_path: Path) -> None:
    script = tmp_path / "zidane-acp"
    nowhere = str(tmp_path / "bin/python")
    assert program.command("x", nowhere, lambda name: None) == (
        nowhere,
        "-P",
        "-m",
        "zidane_acp.main",
        "serve",
    )
    script.write_text("")
    assert program.command(str(script), nowhere, lambda name: None) == (str(script),)
    assert program.command("x", str(tmp_path / "python"), lambda name: None) == (str(script),)


def test_acpx_gets_a_path_with_blanks_as_argv() -> None:
    assert acpx_entry(["/a b/z", "serve"]) == {"argv": ["/a b/z", "serve"]}
    assert acpx_entry(["/a/z", "serve"]) == {"command": "/a/z serve"}
