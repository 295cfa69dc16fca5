"""Where a setting stands in a file: the keys that lead to it."""

from typing import TypeAlias

Path: TypeAlias = tuple[str | int, ...]
"""Keys from the outside to the inside; an entry of an array of tables is its number, from 0."""


def dotted(path: Path) -> str:
    """A path as a user reads it: `mcp.files.args[1]`, with quotes where a key needs them."""
    said = ""
    for key in path:
        if isinstance(key, int):
            said += f"[{key}]"
            continue
        plain = key if _is_bare(key) else '"' + key.replace("\\", "\\\\").replace('"', '\\"') + '"'
        said += f".{plain}" if said else plain
    return said


def _is_bare(key: str) -> bool:
    return key.isascii() and key.replace("_", "a").replace("-", "a").isalnum()
