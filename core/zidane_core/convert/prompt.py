"""The blocks of a prompt -> the parts a model is given."""

from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Any, Final

import msgspec

from zidane_core.acp.wire.content import (
    AudioContent,
    BlobResourceContents,
    EmbeddedResource,
    ImageContent,
    PromptBlock,
    ResourceLink,
    TextContent,
    TextResourceContents,
    UnknownBlock,
)
from zidane_core.convert.hints import hints_of
from zidane_core.convert.names import name_of
from zidane_core.data.content import Audio, Document, Image, Link, Part, Text

_LONGEST: Final = 4000


class AcpPromptParts(msgspec.Struct, frozen=True, gc=False):
    """What a prompt became. Each warning is one sentence for the user."""

    parts: tuple[Part, ...]
    warnings: tuple[str, ...] = ()


def acp_prompt_to_prompt_parts(prompt: Iterable[PromptBlock]) -> AcpPromptParts:
    """Media without data and blocks of unknown types become text, with a warning.

    Annotations and `_meta` stay with the part, so that it can be shown again as it came.
    """
    made = tuple(_made(block) for block in prompt)
    return AcpPromptParts(
        tuple(part for part, _ in made), tuple(warning for _, warning in made if warning is not None)
    )


_Made = tuple[Part, str | None]


def _made(block: PromptBlock) -> _Made:
    part, warning = _CONVERT[type(block)](block)
    hints = hints_of(block)
    return (part if hints is None else msgspec.structs.replace(part, hints=hints)), warning


def _text(block: TextContent) -> _Made:
    return Text(block.text), None


def _image(block: ImageContent) -> _Made:
    if block.data:
        return Image(block.mime_type, block.data, block.uri), None
    return _without_data("image", block.mime_type, block.uri)


def _audio(block: AudioContent) -> _Made:
    if block.data:
        return Audio(block.mime_type, block.data), None
    return _without_data("audio", block.mime_type, None)


def _link(block: ResourceLink) -> _Made:
    link = Link(block.uri, block.name, block.title, block.description, block.mime_type, block.size)
    return link, None


def _resource(block: EmbeddedResource) -> _Made:
    if isinstance(block.resource, TextResourceContents):
        given = block.resource
        return Document(given.uri, name_of(given.uri), given.mime_type, given.text), None
    return _blob(block.resource)


def _blob(given: BlobResourceContents) -> _Made:
    media_type = given.mime_type or ""
    if not given.blob:
        return _without_data("resource", media_type, given.uri)
    if media_type.startswith("image/"):
        return Image(media_type, given.blob, given.uri), None
    if media_type.startswith("audio/"):
        return Audio(media_type, given.blob, given.uri), None
    return Document(given.uri, name_of(given.uri), given.mime_type, None, given.blob), None


def _unknown(block: UnknownBlock) -> _Made:
    kind = block.type[:80]
    cut = len(block.data) - _LONGEST
    data = block.data if cut <= 0 else f"{block.data[:_LONGEST]} [{cut} characters left out]"
    warning = f'A part of your message of the unknown type "{kind}" was passed on as text.'
    return Text(f'[content of the unknown type "{kind}": {data}]'), warning


def _without_data(kind: str, media_type: str, uri: str | None) -> _Made:
    known = ", ".join(word for word in (uri, media_type) if word)
    text = f"[{kind} without data: {known}]" if known else f"[{kind} without data]"
    name = f' "{name_of(uri)}"' if uri else ""
    warning = f"The {kind}{name} in your message came without data, so the model only gets its description."
    return Text(text), warning


# Each function takes exactly the type of its key, which a mapping cannot say.
_CONVERT: Final[Mapping[type[PromptBlock], Callable[[Any], _Made]]] = MappingProxyType(
    {
        TextContent: _text,
        ImageContent: _image,
        AudioContent: _audio,
        ResourceLink: _link,
        EmbeddedResource: _resource,
        UnknownBlock: _unknown,
    }
)
