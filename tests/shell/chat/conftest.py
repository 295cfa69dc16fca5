"""A chat on a pseudo terminal, with a state folder and a working folder of its own."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.terminal import Start, Terminal

PROGRAM = (sys.executable, "-P", "-m", "zidane_acp.main", "chat")


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """No test stores a session where the user's are."""
    monkeypatch.setenv("ZIDANE_ACP_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


@pytest.fixture
def start(home: Path, tmp_path: Path) -> Iterator[Start]:
    opened: list[Terminal] = []
    cwd = tmp_path / "work"
    cwd.mkdir()

    def run(*words: str, columns: int = 100) -> Terminal:
        opened.append(Terminal((*PROGRAM, *words), home, cwd, columns))
        return opened[-1]

    yield run
    for terminal in opened:
        terminal.close()
