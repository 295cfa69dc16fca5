"""Content blocks (spec: content). `data` and `blob` are base64 text."""

from typing import TypeAlias

import msgspec

from zidane_core.acp.wire.record import Role, Wire


class Annotations(Wire, frozen=True, kw_only=True, gc=False):
    """Hints about how a block is to be used: for whom, how fresh (ISO 8601), how important (0 to 1)."""

    audience: tuple[Role, ...] | None = None
    last_modified: str | None = None
    priority: float | None = None


class TextContent(Wire, frozen=True, kw_only=True, gc=False, tag="text", tag_field="type"):
    """Text, plain or Markdown."""

    text: str
    annotations: Annotations | None = None


class ImageContent(Wire, frozen=True, kw_only=True, gc=False, tag="image", tag_field="type"):
    """A picture."""

    data: str
    mime_type: str
    uri: str | None = None
    annotations: Annotations | None = None


class AudioContent(Wire, frozen=True, kw_only=True, gc=False, tag="audio", tag_field="type"):
    """Sound."""

    data: str
    mime_type: str
    annotations: Annotations | None = None


class ResourceLink(Wire, frozen=True, kw_only=True, gc=False, tag="resource_link", tag_field="type"):
    """A resource that is named but not embedded; `size` is in bytes."""

    uri: str
    name: str
    title: str | None = None
    description: str | None = None
    mime_type: str | None = None
    size: int | None = None
    annotations: Annotations | None = None


class TextResourceContents(Wire, frozen=True, kw_only=True, gc=False):
    """The text of an embedded resource."""

    uri: str
    text: str
    mime_type: str | None = None


class BlobResourceContents(Wire, frozen=True, kw_only=True, gc=False):
    """The bytes of an embedded resource."""

    uri: str
    blob: str
    mime_type: str | None = None


EmbeddedResourceResource: TypeAlias = TextResourceContents | BlobResourceContents
"""Told apart by `text` or `blob`; no tag, hence decoded by hand in `decode.py`."""


class EmbeddedResource(Wire, frozen=True, kw_only=True, gc=False, tag="resource", tag_field="type"):
    """A resource carried inline."""

    resource: EmbeddedResourceResource
    annotations: Annotations | None = None


ContentBlock: TypeAlias = TextContent | ImageContent | AudioContent | ResourceLink | EmbeddedResource
"""A block of a prompt or a message. The union is closed in v1."""


class UnknownBlock(msgspec.Struct, frozen=True, gc=False):
    """A prompt block of a type that this agent does not know: its type and its JSON text. Never sent."""

    type: str
    data: str


PromptBlock: TypeAlias = ContentBlock | UnknownBlock
"""What a prompt consists of after decoding."""
