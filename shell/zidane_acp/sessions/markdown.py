"""Markdown of others: as HTML that loads nothing and leads only to the web and to mail; and whether it is tame."""

from collections.abc import Sequence
from typing import Final, TypeAlias

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markdown_it.utils import EnvType, OptionsDict

from zidane_core.convert.html_parts import escaped, linked
from zidane_core.convert.wording import WEB

Tokens: TypeAlias = Sequence[Token]


class _Renderer(RendererHTML):
    """Pictures are links, and no link tells where it was clicked. The names of the methods are those of the tokens."""

    def image(self, tokens: Tokens, idx: int, options: OptionsDict, env: EnvType) -> str:
        token = tokens[idx]
        words = self.renderInlineAsText(token.children, options, env) or "image"
        return linked(str(token.attrGet("src") or ""), words)

    def link_open(self, tokens: Tokens, idx: int, options: OptionsDict, env: EnvType) -> str:
        token = tokens[idx]
        title = token.attrGet("title")
        shown = f' title="{escaped(str(title))}"' if title else ""
        return f'<a href="{escaped(str(token.attrGet("href") or ""))}"{shown} rel="noreferrer">'


class _Parser(MarkdownIt):
    def validateLink(self, url: str) -> bool:
        """What is no link of the web or of mail stays as it was written."""
        return WEB.match(url) is not None


class _Reader(MarkdownIt):
    """Reads what a careless viewer would: HTML, pictures, any link."""

    def validateLink(self, url: str) -> bool:
        return True


EXTRAS: Final = ["table", "strikethrough"]
DEPTH: Final = 60
"""What is nested deeper than this is not looked at."""
END: Final = "end of the text"
WILD: Final = frozenset({"html_block", "html_inline", "image"})

_PARSER: Final = _Parser("commonmark", {"html": False}, renderer_cls=_Renderer).enable(EXTRAS)
_READER: Final = _Reader("commonmark", {"html": True, "maxNesting": DEPTH}).enable(EXTRAS)


def render(text: str) -> str:
    """Safe HTML of a Markdown text."""
    html: str = _PARSER.render(text)
    return html


def stands_alone(text: str) -> bool:
    """Whether Markdown holds no HTML, no picture, only links of the web, and nothing that is open at its end."""
    tokens = _READER.parse(f"{text}\n\n{END}")
    last = tokens[-3:]
    closed = [token.type for token in last] == ["paragraph_open", "inline", "paragraph_close"] and last[
        0
    ].level == 0
    return closed and last[1].content == END and all(map(_is_tame, tokens))


def _is_tame(token: Token) -> bool:
    address = str(token.attrs.get("href", "")) if token.type == "link_open" else ""
    known = (
        token.type not in WILD and token.level < DEPTH - 2 and (not address or WEB.match(address) is not None)
    )
    return known and all(map(_is_tame, token.children or ()))
