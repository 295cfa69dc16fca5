"""The `setup` command: print the snippet, or show the diff, ask, back up and write."""

import sys
from collections.abc import Callable
from pathlib import Path

from returns.result import Failure

from zidane_acp.agreeing import agreed
from zidane_acp.setup import program
from zidane_acp.setup.editors import EDITORS, Editor, find
from zidane_acp.setup.write import Change, apply, plan

Ask = Callable[[str], str]


def run_setup(name: str, *, write: bool, yes: bool, home: Path | None = None, ask: Ask | None = None) -> int:
    """Give the exit code: 0 done or nothing to do, 1 refused or failed, 2 unknown editor."""
    editor = find(name)
    if editor is None:
        names = ", ".join(item.name for item in EDITORS)
        print(f"There is no editor {name!r} here; known are {names}.", file=sys.stderr)
        return 2
    command = program.command()
    if not write:
        print(editor.snippet(command))
        _explain(editor)
        return 0
    planned = plan(editor, command, home or Path.home())
    if isinstance(planned, Failure):
        print(planned.failure(), file=sys.stderr)
        return 1
    return _write(editor, planned.unwrap(), yes, ask)


def _write(editor: Editor, change: Change, yes: bool, ask: Ask | None) -> int:
    if not change.needed:
        print(f"{change.path} already has this entry; nothing was changed.")
        return 0
    print(change.diff(), end="")
    if not yes and not agreed(f"Write this to {change.path}? [y/N] ", ask):
        print("Nothing was written. With --yes it is written without a question.", file=sys.stderr)
        return 1
    written = apply(change)
    if isinstance(written, Failure):
        print(written.failure(), file=sys.stderr)
        return 1
    backup = written.unwrap()
    print(f"Wrote {change.path}" + (f"; the old file is kept as {backup}." if backup else "."))
    print(editor.next_step)
    return 0


def _explain(editor: Editor) -> None:
    # On stderr, so that `zidane-acp setup zed > snippet` holds the snippet alone.
    print(f"\nPut this into {editor.place}. {editor.next_step}", file=sys.stderr)
    if editor.file is not None:
        print(f"`zidane-acp setup {editor.name} --write` does it after showing the change.", file=sys.stderr)
    print(
        "The agent reads its key from the environment of the editor; "
        "`zidane-acp doctor` shows what it finds from this shell.",
        file=sys.stderr,
    )
