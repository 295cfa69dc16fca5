"""Which paths the user denied, by where they really lie: a root may be reached through a link, and a file too."""

import os
from collections.abc import Callable

from zidane_core.agent.denials import denied_path, path_rules
from zidane_core.data.tools import ResolvedPath


def denied_by(patterns: tuple[str, ...], roots: tuple[str, ...]) -> Callable[[str], str]:
    """From an absolute path to the pattern that denies it, '' for none."""
    if not patterns:
        return lambda _: ""
    places = dict.fromkeys((*roots, *map(os.path.realpath, roots)))
    rules = path_rules(patterns, tuple(places))
    return lambda path: denied_path(rules, path)


def denial_of(path: ResolvedPath, base: str, patterns: tuple[str, ...], roots: tuple[str, ...]) -> str:
    """The pattern that denies a path, as it was given or as it is; '' for none."""
    denied = denied_by(patterns, roots)
    return denied(path.real) or denied(os.path.join(base, path.given))
