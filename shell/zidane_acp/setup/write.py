"""Writing an editor's settings: a diff first, a backup, then one atomic replacement."""

import difflib
import os
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import msgspec
from returns.result import Failure, Result, Success

from zidane_acp.setup.editors import Editor, Entry, settings_file
from zidane_acp.setup.jsonc import insert, load
from zidane_core.text import is_object

OURS: Final = frozenset({"type", "command", "args", "argv"})


class Change(msgspec.Struct, frozen=True, gc=False):
    """A planned change of a settings file; `old` is None when the file is new. Texts keep their line ends."""

    path: Path
    old: str | None
    new: str

    @property
    def needed(self) -> bool:
        return self.old != self.new

    def diff(self) -> str:
        """The change as a unified diff."""
        name = str(self.path)
        before, after = (self.old or "").splitlines(keepends=True), self.new.splitlines(keepends=True)
        lines = difflib.unified_diff(before, after, name, name)
        return "".join(
            line if line.endswith("\n") else line + "\n\\ No newline at end of file\n" for line in lines
        )


def plan(editor: Editor, command: Sequence[str], home: Path) -> Result[Change, str]:
    """What would be written; the failure is a sentence for the user."""
    path = settings_file(editor, home)
    if editor.file is None or path is None:
        return Failure(
            f"{editor.title} keeps no JSON settings, so nothing is written; put the snippet into {editor.place}."
        )
    # A linked settings file (dotfiles) is written at its target, so that the link stays.
    path = path.resolve()
    try:
        old = path.read_bytes().decode("utf-8") if path.exists() else None
    except (OSError, UnicodeDecodeError) as problem:
        return Failure(f"{path} cannot be read ({problem}); paste the snippet by hand.")
    entry = _keep_own_fields(old or "", editor.file.keys, editor.file.entry(command))
    return (
        insert(old or "", editor.file.keys, entry)
        .map(lambda new: Change(path, old, new))
        .alt(lambda problem: f"{path} was left alone: {problem}; paste the snippet by hand.")
    )


def _keep_own_fields(text: str, keys: Sequence[str], entry: Entry) -> Entry:
    """The entry with what the user added to an older one, such as variables in `env`."""
    found: object = load(text).value_or({})
    for key in keys:
        found = found.get(key) if is_object(found) else None
    if not is_object(found):
        return entry
    return {**entry, **{key: value for key, value in found.items() if key not in OURS}}


def apply(change: Change) -> Result[Path | None, str]:
    """Write the change and give the backup's path (None for a new file); the failure is a sentence."""
    path = change.path
    backup: Path | None = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if change.old is not None:
            backup = _free_name(path)
            shutil.copy2(path, backup)
        descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=path.name + ".")
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(change.new.encode("utf-8"))
            if change.old is not None:
                shutil.copymode(path, temporary)
            os.replace(temporary, path)
        except BaseException:
            os.unlink(temporary)
            raise
    except OSError as problem:
        return Failure(f"{path} could not be written ({problem.strerror}); paste the snippet by hand.")
    return Success(backup)


def _free_name(path: Path) -> Path:
    first = path.with_name(path.name + ".backup")
    candidates = (path.with_name(f"{path.name}.backup-{n}") for n in range(2, 10_000))
    return first if not first.exists() else next(name for name in candidates if not name.exists())
