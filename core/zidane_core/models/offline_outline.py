"""The outline of a file, line by line with tables of patterns: a rough map, not a parser (ring 1)."""

import posixpath
import re
from collections.abc import Mapping
from itertools import accumulate
from types import MappingProxyType
from typing import Final

import msgspec


class OutlineEntry(msgspec.Struct, frozen=True, gc=False):
    """A line that names something: its 1-based number, its depth (0 is outermost), its text."""

    line: int
    depth: int
    text: str


class Language(msgspec.Struct, frozen=True, gc=False):
    """How a language is fenced and outlined. `named` matches lines worth showing; group 1 is the indent or marks."""

    fence: str
    named: re.Pattern[str] | None = None
    fenced_code: bool = False


_PYTHON: Final = re.compile(r"([ \t]*)(?:class|(?:async[ \t]+)?def)[ \t]+\w+")
_SCRIPT: Final = re.compile(
    r"([ \t]*)(?:export[ \t]+)?(?:default[ \t]+)?(?:declare[ \t]+)?(?:abstract[ \t]+)?"
    r"(?:class[ \t]+\w+|interface[ \t]+\w+|enum[ \t]+\w+|namespace[ \t]+\w+|type[ \t]+\w+[^=\n]*=|"
    r"(?:async[ \t]+)?function\b[ \t]*\*?[ \t]*\w*[ \t]*[(<]|"
    r"(?:const|let|var)[ \t]+\w+[^=\n]*=[ \t]*(?:async[ \t]*)?(?:function\b|\([^()]*\)[^=\n]*=>|\w+[ \t]*=>)|"
    r"(?:(?:public|private|protected|static|async|get|set|readonly)[ \t]+)*\*?"
    r"(?!(?:if|for|while|switch|catch|return|function|new|await|super|with)\b)[#\w]+[ \t]*(?:<[^>\n]*>)?\([^\n]*\)[^;=\n]*\{[ \t]*$)"
)
_GO: Final = re.compile(r"()(?:func[ \t]+(?:\([^)\n]*\)[ \t]*)?\w+|type[ \t]+\w+)")
_RUST: Final = re.compile(
    r"([ \t]*)(?:pub(?:\([^)]*\))?[ \t]+)?(?:default[ \t]+)?(?:const[ \t]+)?(?:async[ \t]+)?(?:unsafe[ \t]+)?"
    r"(?:extern[ \t]+\"[^\"]*\"[ \t]+)?(?:fn|struct|enum|trait|impl|mod|union|macro_rules!)(?:[ \t<].*|$)"
)
_C: Final = re.compile(
    r"()(?:(?:typedef[ \t]+)?(?:struct|union|enum)[ \t]+\w+[ \t]*\{?[ \t]*$|(?:class|namespace)[ \t]+\w+|#[ \t]*define[ \t]+\w+\(|"
    r"(?!(?:return|else|if|for|while|switch|typedef|goto|case)\b)[A-Za-z_][\w \t*:&<>,~]*?[*& \t:~]\w+[ \t]*\([^;]*$)"
)
_MARKDOWN: Final = re.compile(r"(#{1,6})[ \t]+\S")

LANGUAGES: Final[Mapping[str, Language]] = MappingProxyType(
    {
        **dict.fromkeys(("py", "pyi", "pyw"), Language("python", _PYTHON)),
        **dict.fromkeys(("js", "mjs", "cjs", "jsx"), Language("javascript", _SCRIPT)),
        **dict.fromkeys(("ts", "mts", "cts", "tsx"), Language("typescript", _SCRIPT)),
        "go": Language("go", _GO),
        "rs": Language("rust", _RUST),
        **dict.fromkeys(("c", "h"), Language("c", _C)),
        **dict.fromkeys(("cc", "cpp", "cxx", "hpp", "hh", "hxx"), Language("cpp", _C)),
        **dict.fromkeys(("md", "markdown"), Language("markdown", _MARKDOWN, fenced_code=True)),
        **{
            extension: Language(fence)
            for extension, fence in (
                ("bash", "bash"),
                ("cs", "csharp"),
                ("css", "css"),
                ("diff", "diff"),
                ("html", "html"),
                ("ini", "ini"),
                ("java", "java"),
                ("json", "json"),
                ("kt", "kotlin"),
                ("lua", "lua"),
                ("php", "php"),
                ("rb", "ruby"),
                ("sh", "bash"),
                ("sql", "sql"),
                ("swift", "swift"),
                ("toml", "toml"),
                ("xml", "xml"),
                ("yaml", "yaml"),
                ("yml", "yaml"),
            )
        },
    }
)
"""By file extension in lower case, without its dot."""

_NO_LANGUAGE: Final = Language("")
OUTLINED: Final = "Python, JavaScript, TypeScript, Go, Rust, C, C++ and Markdown"


def language_of(path: str) -> Language:
    """The language of a path by its extension; one without name or patterns when it is unknown."""
    extension = posixpath.splitext(path.replace("\\", "/"))[1][1:].lower()
    return LANGUAGES.get(extension, _NO_LANGUAGE)


_CODE_FENCE: Final = re.compile(r"\s{0,3}(```+|~~~+)")


def _outside_code(lines: tuple[str, ...]) -> tuple[bool, ...]:
    """For Markdown: which lines stand outside fenced code."""

    def follow(open_fence: str, line: str) -> str:
        match = _CODE_FENCE.match(line)
        if match is None:
            return open_fence
        if not open_fence:
            return match[1]
        return "" if match[1].startswith(open_fence) else open_fence

    return tuple(not fence for fence in accumulate(lines, follow, initial=""))[: len(lines)]


def outline(path: str, lines: tuple[tuple[int, str], ...]) -> tuple[OutlineEntry, ...] | None:
    """The lines of (number, text) that name a class, a function or a heading; None for an unknown language."""
    language = language_of(path)
    pattern = language.named
    if pattern is None:
        return None
    texts = tuple(text for _, text in lines)
    shown = _outside_code(texts) if language.fenced_code else (True,) * len(texts)
    found = tuple(
        (number, len(match[1].expandtabs(4)), text.strip().rstrip("{:").rstrip())
        for (number, text), visible in zip(lines, shown, strict=True)
        if visible and (match := pattern.match(text)) is not None
    )
    depths = {width: depth for depth, width in enumerate(sorted({width for _, width, _ in found}))}
    return tuple(OutlineEntry(number, depths[width], text) for number, width, text in found)
