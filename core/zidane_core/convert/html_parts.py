"""Pieces of a page: text that cannot be markup, links that lead to the web only, pictures that hold no program."""

import base64
import binascii
import html
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final, TypeAlias

from zidane_core.convert.visible import neutral
from zidane_core.convert.wording import WEB, name_of_part, spoken, text_of
from zidane_core.data.content import Document, Image, Part, Text

Markdown: TypeAlias = Callable[[str], str]
"""Markdown of others -> HTML without raw HTML, pictures, or links to anything but the web and mail."""

SIGNATURES: Final[Mapping[bytes, str]] = MappingProxyType(
    {
        b"\x89PNG\r\n\x1a\n": "image/png",
        b"\xff\xd8\xff": "image/jpeg",
        b"GIF87a": "image/gif",
        b"GIF89a": "image/gif",
    }
)
"""How the data of a picture begins. The stored media type is not asked: SVG would be a program of others."""


def escaped(text: str) -> str:
    """Text for an element or a quoted attribute, with control characters made visible."""
    return html.escape(neutral(text), quote=True)


def folded(css: str, summary: str, body: str, *, unfolded: bool = False) -> str:
    """A part of the page that opens at a click; all three are HTML."""
    return f'<details class="{css}"{" open" if unfolded else ""}><summary>{summary}</summary>{body}</details>'


def preformatted(text: str) -> str:
    """Text as a block in which spaces count; '' for none."""
    return f"<pre>{escaped(text)}</pre>" if text.strip() else ""


def picture_uri(image: Image) -> str | None:
    """A data: URI of a picture whose data is whole base64 of PNG, JPEG, GIF or WebP; else None."""
    try:
        data = base64.b64decode(image.data, validate=True)
    except (binascii.Error, ValueError):
        return None
    kind = _kind_of(data)
    # Encoded anew, so that nothing of the stored text stands in the attribute.
    return f"data:{kind};base64,{base64.b64encode(data).decode()}" if kind else None


def _kind_of(data: bytes) -> str | None:
    if data.startswith(b"RIFF") and data[8:12] == b"WEBP":
        return "image/webp"
    return next((kind for start, kind in SIGNATURES.items() if data.startswith(start)), None)


def linked(uri: str | None, words: str) -> str:
    """The words, as a link where the address is one of the web or of mail."""
    if uri is None or not WEB.match(uri):
        return f"<span>{escaped(words)}</span>"
    return f'<a href="{escaped(uri)}" rel="noreferrer">{escaped(words)}</a>'


def said_part(part: Part, markdown: Markdown) -> str:
    """A part of a message: text as Markdown, anything else as in a result."""
    return (
        f'<div class="md">{markdown(neutral(part.text))}</div>'
        if isinstance(part, Text)
        else shown_part(part)
    )


def shown_part(part: Part) -> str:
    """A part of a result: text as it is, a picture, or the name of what cannot be shown."""
    if isinstance(part, Text):
        return preformatted(spoken(part))
    if isinstance(part, Image):
        uri = picture_uri(part)
        if uri is not None:
            return f'<p class="picture"><img src="{uri}" alt="{escaped(name_of_part(part))}"></p>'
    text = text_of(part)
    if isinstance(part, Document) and text is not None:
        return folded("file", escaped(name_of_part(part)), preformatted(text))
    return f'<p class="named">{linked(part.uri, name_of_part(part))}</p>'
