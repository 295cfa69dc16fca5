"""What can go wrong with the file of the rules, as sentences with the next step."""

from pathlib import Path
from typing import Final

from zidane_acp.ports import StoreProblem
from zidane_acp.store import problems
from zidane_acp.store.problems import ELSEWHERE

_NOTADB: Final = 26


def foreign(path: Path) -> StoreProblem:
    """The file has other things in it."""
    return StoreProblem(
        f"{path} is damaged, or no file of permissions of zidane-acp; move it away, or {ELSEWHERE}."
    )


def newer(path: Path) -> StoreProblem:
    """The file has a version that this program does not know."""
    return StoreProblem(problems.newer(path))


def problem_of(path: Path, error: Exception) -> StoreProblem:
    """The problem behind an error of SQLite or of the system."""
    return foreign(path) if problems.code_of(error) == _NOTADB else problems.failure_of(path, error)
