"""Stored content blocks -> ACP content blocks, for replay and for what is shown."""

from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Any, Final

from zidane_core.acp.wire.content import (
    AudioContent,
    BlobResourceContents,
    ContentBlock,
    EmbeddedResource,
    ImageContent,
    ResourceLink,
    TextContent,
    TextResourceContents,
)
from zidane_core.convert.hints import with_hints
from zidane_core.convert.names import name_of, uri_of
from zidane_core.data.content import Audio, Document, Image, Link, StoredBlock, SystemNote, Text, Thinking


def session_content_to_acp_content(blocks: Iterable[StoredBlock]) -> tuple[ContentBlock, ...]:
    """Thinking becomes text; images and documents without data become resource links.

    Audio without data and system notes are dropped. Annotations and `_meta` come back as they came.
    """
    return tuple(_hinted(block, made) for block in blocks for made in _CONVERT[type(block)](block))


def _hinted(block: StoredBlock, made: ContentBlock) -> ContentBlock:
    hints = None if isinstance(block, Thinking | SystemNote) else block.hints
    return made if hints is None else with_hints(made, hints)


def _text(block: Text | Thinking) -> tuple[ContentBlock, ...]:
    return (TextContent(text=block.text),)


def _image(block: Image) -> tuple[ContentBlock, ...]:
    if block.data and _embedded(block):
        return (_blob(block.uri or uri_of("image"), block.data, block.media_type),)
    if block.data:
        return (ImageContent(data=block.data, mime_type=block.media_type, uri=block.uri),)
    return (_link_to(block.uri, None, block.media_type, "image"),)


def _audio(block: Audio) -> tuple[ContentBlock, ...]:
    if block.data and _embedded(block):
        return (_blob(block.uri or uri_of("audio"), block.data, block.media_type),)
    return (AudioContent(data=block.data, mime_type=block.media_type),) if block.data else ()


def _document(block: Document) -> tuple[ContentBlock, ...]:
    uri = block.uri or uri_of(block.name or "document")
    if block.text is not None:
        text = TextResourceContents(uri=uri, text=block.text, mime_type=block.media_type)
        return (EmbeddedResource(resource=text),)
    if block.data:
        return (_blob(uri, block.data, block.media_type),)
    return (_link_to(block.uri, block.name, block.media_type, "document"),)


def _link(block: Link) -> tuple[ContentBlock, ...]:
    link = ResourceLink(
        uri=block.uri,
        name=block.name,
        title=block.title,
        description=block.description,
        mime_type=block.media_type,
        size=block.size,
    )
    return (link,)


def _embedded(block: Image | Audio) -> bool:
    return block.hints is not None and block.hints.embedded


def _blob(uri: str, data: str, media_type: str | None) -> EmbeddedResource:
    return EmbeddedResource(resource=BlobResourceContents(uri=uri, blob=data, mime_type=media_type))


def _nothing(_block: SystemNote) -> tuple[ContentBlock, ...]:
    return ()


def _link_to(uri: str | None, name: str | None, media_type: str | None, kind: str) -> ResourceLink:
    # A link needs both a URI and a name, so the one is made of the other.
    known = name or (name_of(uri) if uri else kind)
    return ResourceLink(uri=uri or uri_of(known), name=known, mime_type=media_type or None)


# Each function takes exactly the type of its key, which a mapping cannot say.
_CONVERT: Final[Mapping[type[StoredBlock], Callable[[Any], tuple[ContentBlock, ...]]]] = MappingProxyType(
    {
        Text: _text,
        Thinking: _text,
        Image: _image,
        Audio: _audio,
        Document: _document,
        Link: _link,
        SystemNote: _nothing,
    }
)
