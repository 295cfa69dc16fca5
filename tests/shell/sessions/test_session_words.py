"""The words of `zidane-acp sessions`: help, usage problems, exit codes, and what the start imports."""

import subprocess
import sys

import pytest

from zidane_acp.main import main


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("show",), "Missing argument 'ID'"),
        (("show", "x", "--html", "--markdown"), "--markdown and --html exclude each other"),
        (("list", "--limit", "0"), "--limit"),
        (("prune",), "Missing option '--older-than'"),
        (("prune", "--older-than", "soon"), "like 12h, 30d or 8w"),
        (("delete",), "Missing argument 'ID...'"),
        (("frob",), "No such command 'frob'"),
        (("list", "--home", ""), "--home must not be empty"),
    ],
)
def test_wrong_usage_is_a_sentence_and_2(
    words: tuple[str, ...], said: str, capfd: pytest.CaptureFixture[str]
) -> None:
    assert main(("sessions", *words)) == 2
    assert said in capfd.readouterr().err


def test_help_names_the_commands(capfd: pytest.CaptureFixture[str]) -> None:
    assert main(("sessions", "--help")) == 0
    out = capfd.readouterr().out
    for command in ("list", "show", "export", "import", "delete", "prune"):
        assert f"  {command} " in out
    assert main(("--help",)) == 0
    assert "sessions" in capfd.readouterr().out


def test_the_command_line_imports_nothing_of_the_commands() -> None:
    program = (
        "import sys, zidane_acp.cli\n"
        "print(*(name for name in ('rich', 'markdown_it', 'sqlite3', 'zidane_acp.sessions.showing',"
        " 'zidane_core.convert.html_page') if name in sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-P", "-c", program], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout == "\n"
