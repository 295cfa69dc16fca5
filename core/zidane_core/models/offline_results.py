"""What the offline model says about the results of its calls: plain Markdown (ring 1)."""

import re
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final, TypeAlias

import msgspec

from zidane_core.data.content import Audio, Document, Image, Link, Part, Text
from zidane_core.data.models import Call, CallResult
from zidane_core.models.offline_outline import OUTLINED, language_of, outline
from zidane_core.models.offline_quoting import quoted

Arguments: TypeAlias = Mapping[str, object]
Wording: TypeAlias = Callable[[str, Arguments, str], str]
"""(command, arguments of the call, text of the result) -> Markdown."""


def fenced(text: str, language: str = "") -> str:
    """The text in a code fence longer than any fence inside it."""
    longest = max((len(run) for run in re.findall(r"`{3,}", text)), default=2)
    fence = "`" * (longest + 1)
    end = "" if text.endswith("\n") or not text else "\n"
    return f"{fence}{language}\n{text}{end}{fence}\n"


def _part_text(part: Part) -> str:
    match part:
        case Text(text=text):
            return text
        case Image(media_type=kind) | Audio(media_type=kind):
            return f"({kind} content)"
        case Document(text=str() as text):
            return text
        case Document(uri=uri, name=name):
            return f"({name or uri or 'a document'})"
        case Link(uri=uri):
            return uri


def result_text(result: CallResult) -> str:
    """The result's content as text; what is no text is named in parentheses."""
    return "\n".join(_part_text(part) for part in result.content)


def _argument(arguments: Arguments, name: str) -> str:
    value = arguments.get(name)
    return value if isinstance(value, str) else ""


def _counted(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}s"


def _listed(what: str) -> Wording:
    def wording(_command: str, _arguments: Arguments, text: str) -> str:
        if not text.strip():
            return f"There is no {what}.\n"
        return fenced(text)

    return wording


def _numbered(text: str, first: int) -> tuple[tuple[int, str], ...]:
    """The lines with their numbers."""
    lines = text.split("\n")[: -1 if text.endswith("\n") else None]
    return tuple((number, line.removesuffix("\r")) for number, line in enumerate(lines, first))


def _read(command: str, arguments: Arguments, text: str) -> str:
    path = _argument(arguments, "path")
    line = arguments.get("line")
    first = line if isinstance(line, int) else 1
    if command == "outline":
        return _outlined(path, _numbered(text, first))
    if not text:
        return f"{quoted(path)} is empty.\n"
    return f"{quoted(path)}:\n\n{fenced(text, language_of(path).fence)}"


_NOTE: Final = re.compile(r"\[[A-Z].*\]")


def _outlined(path: str, lines: tuple[tuple[int, str], ...]) -> str:
    entries = outline(path, lines)
    if entries is None:
        return f"I know no outline for {quoted(path)}; I can read {OUTLINED}.\n"
    # The tool says in its last line what it left out, and then the outline lacks it too.
    last = lines[-1][1] if lines else ""
    note = f"\n{last}\n" if _NOTE.fullmatch(last) else ""
    if not entries:
        return f"I see no classes, functions or headings in {quoted(path)}.\n{note}"
    shown = "\n".join(
        f"{'  ' * entry.depth}- {quoted(entry.text, 120)} line {entry.line}" for entry in entries
    )
    return f"The outline of {quoted(path)}:\n\n{shown}\n{note}"


def _changed(_command: str, arguments: Arguments, text: str) -> str:
    return text.strip() + "\n" if text.strip() else f"{quoted(_argument(arguments, 'path'))} is changed.\n"


def _ran(_command: str, arguments: Arguments, text: str) -> str:
    command = _argument(arguments, "command")
    if not text.strip():
        return f"{quoted(command)} ended without output.\n"
    return f"{quoted(command)} printed:\n\n{fenced(text, 'text')}"


def _fetched(_command: str, arguments: Arguments, text: str) -> str:
    return f"{quoted(_argument(arguments, 'url'), 200)} says:\n\n{fenced(text, 'markdown')}"


def _planned(_command: str, arguments: Arguments, _text: str) -> str:
    entries = arguments.get("entries")
    count = len(msgspec.convert(entries, list[object])) if isinstance(entries, list) else 0
    return (
        f"The plan has {_counted(count, 'step')}. I only show it: a language model would also work on it.\n"
    )


def _plain(_command: str, _arguments: Arguments, text: str) -> str:
    return fenced(text) if text.strip() else "Done.\n"


WORDINGS: Final[Mapping[str, Wording]] = MappingProxyType(
    {
        "list_files": _listed("file here"),
        "glob": _listed("file with such a name"),
        "search": _listed("such text here"),
        "read_file": _read,
        "edit": _changed,
        "write_file": _changed,
        "shell": _ran,
        "fetch": _fetched,
        "update_plan": _planned,
    }
)


def _arguments_of(call: Call | None) -> Arguments:
    """The call's arguments; none where they are no JSON object (another model's broken call)."""
    try:
        decoded: object = msgspec.json.decode(call.arguments) if call is not None else None
    except msgspec.DecodeError:
        return {}
    return msgspec.convert(decoded, dict[str, object]) if isinstance(decoded, dict) else {}


def worded(command: str, call: Call | None, result: CallResult) -> str:
    """One result in words: failures are quoted plainly, all else as its tool's results are best read."""
    text = result_text(result)
    if result.failed:
        body = text.strip() or "no reason was given"
        quote = "\n".join(f"> {line}" for line in body.split("\n"))
        return f"`{result.name}` did not succeed:\n\n{quote}\n"
    return WORDINGS.get(result.name, _plain)(command, _arguments_of(call), text)
