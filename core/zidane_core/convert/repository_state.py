"""What git says of a repository (`status --porcelain=v2 --branch`, and a subject) -> a few lines for the system prompt.

Branch names and subjects are words of others: each stays on its line, quoted and short.
"""

import re
from typing import Final

import msgspec

from zidane_core.convert.visible import clip, line

WIDTH: Final = 100
"""Characters of a branch name or a subject."""

_HEAD: Final = "# branch.head "
_AHEAD: Final = "# branch.ab "
_CHANGED: Final = ("1 ", "2 ", "u ")
_NEW: Final = "? "
_COUNTS: Final = re.compile(r"\+(\d+) -(\d+)", re.ASCII)


def repository_state(status: str, subject: str) -> str:
    """The lines; '' for what says nothing. `subject` is that of the last commit, '' if there is none."""
    lines = status.split("\n")
    branch = next((one.removeprefix(_HEAD) for one in lines if one.startswith(_HEAD)), "")
    tracked = sum(one.startswith(_CHANGED) for one in lines)
    new = sum(one.startswith(_NEW) for one in lines)
    facts = (
        _branch(branch, _distance(lines)) if branch else "",
        f"- changed files: {tracked}, new files: {new}" if branch else "",
        f"- last commit: {_quoted(subject)}" if subject.strip() else "",
    )
    return "\n".join(fact for fact in facts if fact)


def _branch(name: str, distance: str) -> str:
    return "- no branch (detached)" if name == "(detached)" else f"- branch: {_quoted(name)}{distance}"


def _distance(lines: list[str]) -> str:
    """How far the branch is from the one that it follows."""
    counts = next((one.removeprefix(_AHEAD) for one in lines if one.startswith(_AHEAD)), "")
    found = _COUNTS.fullmatch(counts)
    if found is None or counts == "+0 -0":
        return ""
    return f" ({found[1]} ahead, {found[2]} behind)"


def _quoted(text: str) -> str:
    return msgspec.json.encode(clip(line(text), WIDTH)).decode()
