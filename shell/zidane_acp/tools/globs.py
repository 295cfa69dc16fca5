"""File name patterns: `*`, `?`, `[...]`, `{a,b}`, and `**` for any number of folders."""

import re
from typing import Final

from zidane_acp.tools.results import Refused

_TOKEN: Final = re.compile(r"\*\*/|\*\*|\*|\?|\[[!^]?\]?[^\]/]*\]|\{[^{}]*\}|\\.|.", re.DOTALL)


def _piece(token: str) -> str:
    if token == "**/":
        return r"(?:[^/]+/)*"
    if token in ("**", "*", "?"):
        return {"**": ".*", "*": "[^/]*", "?": "[^/]"}[token]
    if len(token) > 2 and token.startswith("["):
        inner = token[1:-1].replace("\\", r"\\").replace("[", r"\[")
        negated = inner[0] in "!^"
        body = inner[1:] if negated else inner
        first = "\\]" if body.startswith("]") else body[:1]
        return f"(?!/)[{'^' if negated else ''}{first}{body[1:]}]"
    if len(token) > 2 and token.startswith("{"):
        return "(?:" + "|".join(_translate(choice) for choice in token[1:-1].split(",")) + ")"
    return re.escape(token[1:] if len(token) == 2 and token.startswith("\\") else token)


def _translate(pattern: str) -> str:
    return "".join(map(_piece, _TOKEN.findall(pattern)))


def compiled(pattern: str) -> re.Pattern[str]:
    """The pattern as a regular expression over a relative path with slashes.

    A pattern without a slash fits the last name at any depth, as in .gitignore; a leading slash or `./`
    means the folder itself.
    """
    plain = pattern.removeprefix("./").lstrip("/")
    plain = plain + "**" if plain.endswith("/") else plain
    if ".." in plain.split("/"):
        raise Refused("A pattern cannot contain `..`; give the folder as path.")
    deep = plain if "/" in pattern else f"**/{plain}"
    try:
        return re.compile(_translate(deep), re.DOTALL)
    except re.error as error:
        raise Refused(f"The pattern {pattern!r} cannot be used: {error}.") from None
