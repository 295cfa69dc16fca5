"""A file in two places, the editor and the disk: which of the two texts is true (ring 2).

An editor shows unsaved changes, and it may still show what a command has since changed on the disk. What tells these
apart is what was seen of both the last time.
"""

from collections.abc import Mapping
from hashlib import sha256
from types import MappingProxyType
from typing import Final, Literal, TypeAlias

import msgspec

from zidane_core.agent.events import FileSeen
from zidane_core.edits import plain

FILE_WITHIN: Final = 20.0
"""Seconds that a client has for reading a file."""

WRITE_WITHIN: Final = 120.0
"""Seconds that it has for writing one: the user may have to look at the change first."""

LARGEST: Final = 8 * 2**20
"""Characters of a text that can be changed."""

MOST_SEEN: Final = 500
"""Files of which it is remembered what was seen of them."""

Standing: TypeAlias = Literal["same", "unsaved", "stale", "torn", "gone"]


class Seen(msgspec.Struct, frozen=True, gc=False):
    """Digests of the texts that the editor and the disk had when they were last looked at; '' for no file."""

    editor: str
    disk: str


class Judged(msgspec.Struct, frozen=True, gc=False):
    """The text to go by, and how the two places stand.

    `unsaved`: the editor has changes that are not on the disk. `stale`: the disk was changed and the editor does not know.
    `torn`: both may have changed; the text is the editor's. `gone`: the file was deleted and the editor does not know.
    """

    text: str
    standing: Standing
    seen: Seen


def digest(text: str) -> str:
    """What a text is remembered by; line endings do not count."""
    return sha256(plain(text).encode("utf-8", "surrogatepass")).hexdigest()


def judge(editor: str, disk: FileSeen, before: Seen | None, commanded: bool) -> Judged:
    """Which text is true. `commanded`: commands ran in the session, so that the disk may have changed unseen."""
    seen = Seen(digest(editor), digest(disk.text) if disk.kind == "text" else "")
    standing = compare(seen, before, commanded)
    return Judged(disk.text if standing == "stale" else editor, standing, seen)


def compare(now: Seen, before: Seen | None, commanded: bool) -> Standing:
    """How editor and disk stand, by what both had before."""
    if now.editor == now.disk:
        return "same"
    if before is None:
        return "torn" if commanded and now.disk else "unsaved"
    if now.disk == before.disk:
        return "unsaved"
    if now.editor == before.editor == before.disk:
        return "stale" if now.disk else "gone"
    return "torn"


def remembered(known: Mapping[str, Seen], path: str, seen: Seen) -> dict[str, Seen]:
    """What is known of files, with this one looked at last; the oldest are forgotten."""
    kept = {name: old for name, old in known.items() if name != path}
    while len(kept) >= MOST_SEEN:
        kept.pop(next(iter(kept)))
    return {**kept, path: seen}


NOTES: Final[Mapping[Standing, str]] = MappingProxyType(
    {
        "same": "",
        "unsaved": "[This is the text in the editor, with changes that are not saved yet.]",
        "stale": (
            "[The file was changed on disk, and the editor still shows the text from before. This is the text on disk.]"
        ),
        "gone": "",
        "torn": (
            "[This is the text in the editor, which differs from the file on disk: it has unsaved changes, or the file "
            "was changed on disk meanwhile. An edit now goes by this text.]"
        ),
    }
)
"""What the model is told of how the two places stand."""


def torn(path: str) -> str:
    """Why a file is not edited whose two texts differ in a way that nobody has looked at."""
    return (
        f"{path} differs between the editor and the disk: it has unsaved changes, or a command has changed it. "
        "Read it first; an edit then goes by what you were shown."
    )


def gone(path: str) -> str:
    """What is said of a file that was deleted behind the editor's back."""
    return (
        f"There is no file {path} any more: it was deleted on disk, and the editor still shows its old text."
    )
