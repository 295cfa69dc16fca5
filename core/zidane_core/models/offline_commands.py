"""The commands of the offline model: their names, how a line is read, which tool call it becomes (ring 1)."""

import re
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final, TypeAlias

import msgspec

from zidane_core.models.offline_quoting import Malformed, quoted, unquoted, words

COUNT_LIMIT: Final = 100_000
DELAY_LIMIT: Final = 60_000


class OfflineCommand(msgspec.Struct, frozen=True, gc=False):
    """A command as it is shown: name without slash, what it does, what to type after it, a whole example."""

    name: str
    description: str
    hint: str
    example: str


OFFLINE_COMMANDS: Final = (
    OfflineCommand("help", "List what works without a language model", "", "/help"),
    OfflineCommand("list", "List the files of the workspace or of a folder", "[FOLDER]", "/list src"),
    OfflineCommand("find", "Find files by name", "GLOB", "/find **/*.py"),
    OfflineCommand("search", "Search the text of files", "REGEX", "/search def \\w+_total"),
    OfflineCommand("read", "Show a file or some of its lines", "PATH[:FROM-TO]", "/read README.md:1-20"),
    OfflineCommand(
        "outline", "Show the classes, functions or headings of a file", "PATH", "/outline src/app.py"
    ),
    OfflineCommand(
        "replace", "Replace one piece of text in a file", 'PATH "OLD" "NEW"', '/replace notes.md "teh" "the"'
    ),
    OfflineCommand("write", "Write a whole file", "PATH TEXT", '/write notes.md "# Notes\\n"'),
    OfflineCommand("run", "Run a shell command", "COMMAND", "/run git status"),
    OfflineCommand("fetch", "Fetch a web page as Markdown", "URL", "/fetch https://example.com"),
    OfflineCommand("plan", "Show a plan", "A; B; C", "/plan read the code; write a test; fix it"),
    OfflineCommand(
        "count", "Count to N, waiting MS milliseconds before each number", "N [MS]", "/count 10 200"
    ),
    OfflineCommand("setup", "Explain keys, models and editors on this machine", "", "/setup"),
)

COMMANDS: Final[tuple[tuple[str, str, str], ...]] = tuple(
    (command.name, command.description, command.hint) for command in OFFLINE_COMMANDS
)
"""The commands as slash commands: (name, description, hint or empty)."""

BY_NAME: Final[Mapping[str, OfflineCommand]] = MappingProxyType({c.name: c for c in OFFLINE_COMMANDS})


class ToolWanted(msgspec.Struct, frozen=True, gc=False):
    """The command is one tool call, announced by one sentence."""

    sentence: str
    tool: str
    arguments: dict[str, object]


class CountWanted(msgspec.Struct, frozen=True, gc=False):
    """Count to `upto`, waiting `delay` seconds before each number."""

    upto: int
    delay: float


class WordsWanted(msgspec.Struct, frozen=True, gc=False):
    """The command is answered by words alone."""

    topic: str


Wanted: TypeAlias = ToolWanted | CountWanted | WordsWanted | Malformed
Parse: TypeAlias = Callable[[str], Wanted]
"""From what stands after the command to what is wanted."""


def _exactly(rest: str, names: tuple[str, ...], make: Callable[[tuple[str, ...]], Wanted]) -> Wanted:
    """What `make` wants of the words, when there are as many as `names` and the first is not empty."""
    found = words(rest)
    if isinstance(found, Malformed):
        return found
    if len(found) < len(names):
        return Malformed(f"{names[len(found)]} is missing")
    if len(found) > len(names):
        return Malformed(f"there is more than {' and '.join(names)}; put quotes around text with spaces")
    return make(found) if found[0] else Malformed(f"{names[0]} is empty")


# The commands --------------------------------------------------------------------------------------


def _words_only(topic: str) -> Parse:
    def parse(rest: str) -> Wanted:
        return WordsWanted(topic)

    return parse


def _one_text(argument: str, sentence: str, tool: str, name: str) -> Parse:
    """A command whose whole rest is one argument of the tool."""

    def parse(rest: str) -> Wanted:
        text = unquoted(rest)
        if not text:
            return Malformed(f"{name} is missing")
        return ToolWanted(sentence.format(text=quoted(text)), tool, {argument: text})

    return parse


def _list(rest: str) -> Wanted:
    if not rest.strip():
        return ToolWanted("Listing the workspace.", "list_files", {})
    return _exactly(
        rest, ("FOLDER",), lambda w: ToolWanted(f"Listing {quoted(w[0])}.", "list_files", {"path": w[0]})
    )


_RANGE: Final = re.compile(r"(?P<path>.+?)(?::(?P<first>\d+)(?:-(?P<last>\d+))?)?", re.DOTALL)


def _read(rest: str) -> Wanted:
    return _exactly(rest, ("PATH",), lambda w: _read_range(w[0]))


def _read_range(word: str) -> Wanted:
    match = _RANGE.fullmatch(word)
    if match is None:
        return Malformed("PATH is missing")
    path = match["path"]
    if match["first"] is None:
        return ToolWanted(f"Reading {quoted(path)}.", "read_file", {"path": path})
    if len(match["first"]) > 9 or len(match["last"] or "") > 9:
        return Malformed("FROM and TO are line numbers")
    first = int(match["first"])
    if first < 1:
        return Malformed("FROM counts from 1")
    if match["last"] is None:
        return ToolWanted(
            f"Reading {quoted(path)} from line {first}.", "read_file", {"path": path, "line": first}
        )
    last = int(match["last"])
    if last < first:
        return Malformed("TO is before FROM")
    return ToolWanted(
        f"Reading lines {first} to {last} of {quoted(path)}.",
        "read_file",
        {"path": path, "line": first, "limit": last - first + 1},
    )


def _outline(rest: str) -> Wanted:
    return _exactly(
        rest,
        ("PATH",),
        lambda w: ToolWanted(f"Reading {quoted(w[0])} for its outline.", "read_file", {"path": w[0]}),
    )


def _replace(rest: str) -> Wanted:
    def wanted(found: tuple[str, ...]) -> Wanted:
        path, old, new = found
        if not old:
            return Malformed("OLD is empty")
        arguments: dict[str, object] = {"path": path, "old_string": old, "new_string": new}
        return ToolWanted(f"Replacing text in {quoted(path)}.", "edit", arguments)

    return _exactly(rest, ("PATH", "OLD", "NEW"), wanted)


_PATH: Final = re.compile(r"(?:\"(?:[^\"\\]|\\.)*\"|'[^']*'|\S+)(?=\s|$)", re.DOTALL)


def _write(rest: str) -> Wanted:
    """TEXT is one quoted word, or all that follows PATH as it stands (so a pasted file needs no quotes)."""
    opening = _PATH.match(rest)
    if opening is None:
        return Malformed("PATH is missing")
    text = rest[opening.end() :].lstrip(" \t")
    body = text.removeprefix("\n")
    if not body:
        return Malformed("TEXT is missing")
    one = words(body) if body[0] in "\"'" else ()
    content = one[0] if not isinstance(one, Malformed) and len(one) == 1 else body

    def wanted(path: tuple[str, ...]) -> Wanted:
        arguments: dict[str, object] = {"path": path[0], "content": content}
        return ToolWanted(f"Writing {quoted(path[0])}.", "write_file", arguments)

    return _exactly(opening[0], ("PATH",), wanted)


def _fetch(rest: str) -> Wanted:
    def wanted(found: tuple[str, ...]) -> Wanted:
        url = found[0] if re.match(r"[A-Za-z][A-Za-z0-9+.-]*://", found[0]) else f"https://{found[0]}"
        if not re.match(r"https?://[^/\s]", url, re.IGNORECASE):
            return Malformed("URL begins with http:// or https://")
        return ToolWanted(f"Fetching {quoted(url)}.", "fetch", {"url": url})

    return _exactly(rest, ("URL",), wanted)


def _plan(rest: str) -> Wanted:
    steps = tuple(step.strip() for step in unquoted(rest).split(";") if step.strip())
    if not steps:
        return Malformed("the steps are missing")
    entries = [{"content": step, "status": "pending", "priority": "medium"} for step in steps]
    return ToolWanted("Showing the plan.", "update_plan", {"entries": entries})


def _count(rest: str) -> Wanted:
    match = re.fullmatch(r"(\d{1,9})(?:\s+(\d{1,9}))?\s*", rest, re.ASCII)
    if match is None:
        return Malformed("N and MS are whole numbers")
    upto, milliseconds = int(match[1]), int(match[2] or 0)
    if not 1 <= upto <= COUNT_LIMIT:
        return Malformed(f"N is from 1 to {COUNT_LIMIT}")
    if milliseconds > DELAY_LIMIT:
        return Malformed(f"MS is at most {DELAY_LIMIT}")
    return CountWanted(upto, milliseconds / 1000)


PARSERS: Final[Mapping[str, Parse]] = MappingProxyType(
    {
        "help": _words_only("help"),
        "list": _list,
        "find": _one_text("pattern", "Looking for files named {text}.", "glob", "GLOB"),
        "search": _one_text("pattern", "Searching for {text}.", "search", "REGEX"),
        "read": _read,
        "outline": _outline,
        "replace": _replace,
        "write": _write,
        "run": _one_text("command", "Running {text}.", "shell", "COMMAND"),
        "fetch": _fetch,
        "plan": _plan,
        "count": _count,
        "setup": _words_only("setup"),
    }
)

_LINE: Final = re.compile(r"\s*/(?P<name>[A-Za-z][\w-]*)(?:\s+(?P<rest>.*)|\s*)", re.DOTALL)


def command_of(text: str) -> tuple[str, str] | None:
    """The command's name in lower case and what follows it, or None for any other text."""
    match = _LINE.fullmatch(text)
    return None if match is None else (match["name"].lower(), match["rest"] or "")
