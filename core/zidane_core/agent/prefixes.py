"""The table of commands whose first words make a good standing permission (ring 2), used by `commands`.

A command that can run any program or script by its arguments is not here: for it only the exact line may be
remembered.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

import msgspec


class Offer(msgspec.Struct, frozen=True, gc=False):
    """A prefix that may be offered: how many words it has, and which second words are allowed (none: any).

    A further word that starts with one of `refused` makes a line more than the prefix says; so does one with a
    `=` in it when that is listed. Words after `--` go to the tested or built program and do not count.
    """

    depth: int
    second: frozenset[str] = frozenset()
    refused: tuple[str, ...] = ()


def _set(names: str) -> frozenset[str]:
    return frozenset(names.split())


# A package manager takes its own flags (another folder, another shell) anywhere before `--`.
_SCRIPTS: Final = (Offer(2, _set("test start"), ("-",)), Offer(3, _set("run run-script"), ("-",)))
_GIT: Final = _set(
    "add blame branch checkout commit describe diff log ls-files mv reset restore rev-parse rm show stash status "
    "switch tag"
)
_GO_FLAGS: Final = tuple(
    dashes + name
    for dashes in ("-", "--")
    for name in ("exec", "toolexec", "vettool", "overlay", "modfile", "ldflags", "o", "C")
)

OFFERS: Final[Mapping[str, tuple[Offer, ...]]] = MappingProxyType(
    {
        "git": (Offer(2, _GIT, ("--ou", "--ext", "--textc", "--exec", "--no-index", "-O")),),
        "npm": _SCRIPTS,
        "pnpm": _SCRIPTS,
        "yarn": _SCRIPTS,
        "bun": (Offer(2, _set("test"), ("-",)), Offer(3, _set("run"), ("-",))),
        "cargo": (
            Offer(
                2,
                _set("build test check clippy fmt doc tree bench"),
                ("--config", "-Z", "-C", "--manifest-path", "--target-dir"),
            ),
        ),
        "go": (Offer(2, _set("build test vet fmt list doc version"), _GO_FLAGS),),
        "make": (Offer(2, refused=("-", "=")),),
        "just": (Offer(2, refused=("-", "=")),),
        "pytest": (
            Offer(
                1, refused=("-c", "-p", "-o", "--config", "--override", "--rootdir", "--confcut", "--pyargs")
            ),
        ),
        "ruff": (Offer(2, _set("check format"), ("--config",)),),
        "mypy": (Offer(1, refused=("--co", "--py", "--inst", "-c")),),
        "pyright": (Offer(1, refused=("--pythonpath", "--verifytypes")),),
        "basedpyright": (Offer(1, refused=("--pythonpath", "--verifytypes")),),
        "tsc": (Offer(1),),
    }
)
"""Command -> the prefixes that may be offered for it; the first that fits wins."""
