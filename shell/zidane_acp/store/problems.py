"""What can go wrong with the file of the sessions, as sentences with the next step."""

from pathlib import Path
from typing import Final, Literal, TypeAlias

from zidane_acp.ports import StoreProblem

Reason: TypeAlias = Literal["disk", "locked"]

ELSEWHERE: Final = "give another folder with ZIDANE_ACP_HOME"

_BUSY: Final = frozenset({5, 6})  # SQLITE_BUSY, SQLITE_LOCKED
_READONLY: Final = 8
_IOERR: Final = 10
_CORRUPT: Final = 11
_FULL: Final = 13
_CANTOPEN: Final = 14
_NOTADB: Final = 26


class StoreFailure(StoreProblem):
    """A store's problem, which is for good (`disk`) or for now (`locked`)."""

    def __init__(self, reason: Reason, sentence: str) -> None:
        super().__init__(sentence)
        self.reason: Final = reason


def newer(path: Path) -> str:
    return f"{path} was written by a newer zidane-acp; update zidane-acp, or {ELSEWHERE}."


def foreign(path: Path) -> str:
    return f"{path} is not a file of sessions of zidane-acp; move it away, or {ELSEWHERE}."


def damaged(path: Path) -> str:
    return f"{path} is damaged; keep a copy and move it away, so that a new one is made, or {ELSEWHERE}."


def locked(path: Path) -> str:
    return f"{path} is locked by another program; try again, or end that program."


def no_file(path: Path) -> str:
    return f"{path} is not a file; move it away, or {ELSEWHERE}."


def unusable(path: Path, error: Exception) -> str:
    said = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return f"{path} cannot be used ({said}); check that you may write there, or {ELSEWHERE}."


def code_of(error: Exception) -> int:
    """The primary result code of SQLite, or -1 for an error of Python's own."""
    code: object = getattr(error, "sqlite_errorcode", None)
    return code & 0xFF if isinstance(code, int) else -1


def failure_of(path: Path, error: Exception) -> StoreFailure:
    """The failure behind an error of SQLite, of the system, or of a value that cannot be."""
    if isinstance(error, OSError | UnicodeError):
        return StoreFailure("disk", unusable(path, error))
    if isinstance(error, ValueError):
        return StoreFailure("disk", damaged(path))
    code = code_of(error)
    if code in _BUSY:
        return StoreFailure("locked", locked(path))
    said = {
        _FULL: f"The disk is full, so that {path} cannot grow; free some space.",
        _IOERR: f"Reading or writing {path} failed ({error}); check the disk and the space on it.",
        _CORRUPT: damaged(path),
        _NOTADB: foreign(path),
    }
    return StoreFailure("disk", said.get(code) or unusable(path, error))


def is_busy(error: Exception) -> bool:
    return code_of(error) in _BUSY


def spoils(error: Exception) -> bool:
    """Whether the connection is better opened anew after this error."""
    return code_of(error) in (_READONLY, _IOERR, _CORRUPT, _CANTOPEN, _NOTADB)


def is_damage(error: Exception) -> bool:
    return code_of(error) in (_CORRUPT, _NOTADB)


def is_closed_off(error: Exception) -> bool:
    return code_of(error) == _CANTOPEN
