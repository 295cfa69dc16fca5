"""What is never written without a question, whatever allows it (ring 2): files that hold keys, files that decide what
other programs run, and the agent's own."""

from collections.abc import Iterable
from fnmatch import fnmatchcase
from typing import Final

from zidane_core.agent.line_paths import Segments, fits, named_in, segments
from zidane_core.agent.shell_lines import simple_commands
from zidane_core.agent.wildcards import coincide, is_fixed, is_open

NAMES: Final = (
    ".git", ".zidane", ".ssh", ".gnupg", ".aws", ".azure", ".gcloud", ".kube", ".docker",
    ".env", ".netrc", "_netrc", ".pgpass", ".my.cnf", ".npmrc", ".yarnrc", ".pypirc", ".htpasswd", ".git-credentials",
    ".envrc",
)  # fmt: skip
"""Files and folders by name, at any depth; a folder stands for all that is in it."""

PATTERNS: Final = (
    ".env.*", "id_rsa*", "id_dsa*", "id_ecdsa*", "id_ed25519*", "*.pem", "*.key", "*.p12", "*.pfx", "*.jks", "*.keystore",
    "*.kdbx", "*.ppk",
)  # fmt: skip
"""The same by pattern."""

EXCEPTIONS: Final = (".env.example", ".env.sample", ".env.template", ".env.dist")
"""Names that fit a pattern and hold nothing."""


def is_guarded(path: str, protected: tuple[str, ...]) -> bool:
    """Whether a real absolute path is one of those; `protected` are absolute folders."""
    return _any((segments(path, "/"),), protected)


def names_guarded(line: str, cwd: str, protected: tuple[str, ...]) -> bool:
    """Whether a shell line that would run in `cwd` names one of them."""
    return _any(named_in(simple_commands(line), (cwd,)), protected)


def _any(paths: Iterable[Segments], protected: tuple[str, ...]) -> bool:
    folders = tuple(segments(folder, "/") for folder in protected)
    return any(any(map(_is_known, path)) or any(fits(folder, path) for folder in folders) for path in paths)


def _is_known(segment: str) -> bool:
    name = segment.lower()
    if is_fixed(name):
        fits_one = name in NAMES or any(fnmatchcase(name, pattern) for pattern in PATTERNS)
        return fits_one and name not in EXCEPTIONS
    return not is_open(name) and any(coincide(known, name) for known in (*NAMES, *PATTERNS))
