"""Markdown of others -> HTML that loads nothing and leads only to the web and to mail."""

from collections.abc import Sequence
from typing import TypeAlias

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


_PARSER = _Parser("commonmark", {"html": False}, renderer_cls=_Renderer).enable(["table", "strikethrough"])


def render(text: str) -> str:
    """Safe HTML of a Markdown text."""
    html: str = _PARSER.render(text)
    return html
