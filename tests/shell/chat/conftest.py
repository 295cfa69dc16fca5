"""A chat on a pseudo terminal, with a state folder and a working folder of its own."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.terminal import Start, Terminal

PROGRAM = (sys.executable, "-P", "-m", "zidane_acp.main", "chat")


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    opened: list[Terminal] = []
    home, cwd = tmp_path / "home", tmp_path / "work"
    cwd.mkdir()

    def run(*words: str) -> Terminal:
        opened.append(Terminal((*PROGRAM, *words), home, cwd))
        return opened[-1]

    yield run
    for terminal in opened:
        terminal.close()
