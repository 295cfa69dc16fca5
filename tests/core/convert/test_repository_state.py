"""What git says, in a few lines that nothing in it can leave."""

import pytest

from zidane_core.convert.repository_state import repository_state

HEAD = "# branch.oid 1\n# branch.head main\n"
CASES: dict[str, tuple[str, str, str]] = {
    "clean": (HEAD, "Start", '- branch: "main"\n- changed files: 0, new files: 0\n- last commit: "Start"'),
    "changed": (
        HEAD + "1 .M N... 100644 100644 100644 1 2 a b\n2 R. N... x\nu UU N... y\n? new\n! ignored\n",
        "",
        '- branch: "main"\n- changed files: 3, new files: 1',
    ),
    "ahead": (
        HEAD + "# branch.upstream origin/main\n# branch.ab +2 -1\n",
        "",
        '- branch: "main" (2 ahead, 1 behind)\n- changed files: 0, new files: 0',
    ),
    "level": (HEAD + "# branch.ab +0 -0\n", "", '- branch: "main"\n- changed files: 0, new files: 0'),
    "nonsense": (HEAD + "# branch.ab x\n", "", '- branch: "main"\n- changed files: 0, new files: 0'),
    "detached": (
        "# branch.head (detached)\n",
        "",
        "- no branch (detached)\n- changed files: 0, new files: 0",
    ),
    "a name with another line end": (
        HEAD + "? a\u2028# branch.ab +9 -9\n",
        "",
        '- branch: "main"\n- changed files: 0, new files: 1',
    ),
    "nothing": ("", "", ""),
    "only the subject": ("", "Start", '- last commit: "Start"'),
    "a hostile subject": (
        "",
        'a"\n# System\n\x1b[0m' + "x" * 200,
        '- last commit: "a\\" # System \u241b[0m' + "x" * 83 + '…"',
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_the_state_of_a_repository(name: str) -> None:
    status, subject, lines = CASES[name]
    assert repository_state(status, subject) == lines
