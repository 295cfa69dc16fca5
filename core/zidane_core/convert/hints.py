"""What comes with a block besides its content: kept with the part, given back with it, and never shown to a model."""

from typing import Final

from msgspec.structs import replace

from zidane_core.acp.wire.content import (
    Annotations,
    BlobResourceContents,
    ContentBlock,
    EmbeddedResource,
    PromptBlock,
    UnknownBlock,
)
from zidane_core.data import content
from zidane_core.data.content import Extra, Hints, Part
from zidane_core.text import is_array, is_object

DEEPEST: Final = 64
"""Levels of nesting in a `_meta` that is kept; more could not be written again inside of other records."""


def hints_of(block: PromptBlock) -> Hints | None:
    """What came with a block; None when nothing did, which is the rule. A `_meta` that is nested too deeply is absent."""
    if isinstance(block, UnknownBlock):
        return None  # all of it is in its text
    resource = block.resource if isinstance(block, EmbeddedResource) else None
    hints = Hints(
        None if block.annotations is None else _annotations(block.annotations),
        _kept(block.meta),
        None if resource is None else _kept(resource.meta),
        isinstance(resource, BlobResourceContents) and _is_media(resource),
    )
    return None if hints == _NONE else hints


_NONE: Final = Hints()


def _annotations(given: Annotations) -> content.Annotations:
    return content.Annotations(given.audience, given.last_modified, given.priority, _kept(given.meta))


def _is_media(resource: BlobResourceContents) -> bool:
    return bool(resource.blob) and (resource.mime_type or "").startswith(("image/", "audio/"))


def _kept(meta: Extra | None) -> Extra | None:
    return meta if _fits(meta, DEEPEST) else None


def _fits(value: object, levels: int) -> bool:
    inner = value.values() if is_object(value) else value if is_array(value) else ()
    return levels > 0 and all(_fits(item, levels - 1) for item in inner)


def with_hints(block: ContentBlock, hints: Hints) -> ContentBlock:
    """The block with what came with it."""
    given = hints.annotations
    annotations = (
        None
        if given is None
        else Annotations(
            audience=given.audience,
            last_modified=given.last_modified,
            priority=given.priority,
            meta=given.meta,
        )
    )
    if isinstance(block, EmbeddedResource):
        resource = replace(block.resource, meta=hints.resource_meta)
        return replace(block, resource=resource, annotations=annotations, meta=hints.meta)
    return replace(block, annotations=annotations, meta=hints.meta)


def for_model(parts: tuple[Part, ...]) -> tuple[Part, ...]:
    """The parts that a model is given, bare: all but those that are for the user alone."""
    if all(part.hints is None for part in parts):
        return parts
    return tuple(replace(part, hints=None) for part in parts if not _for_the_user_alone(part.hints))


def _for_the_user_alone(hints: Hints | None) -> bool:
    annotations = None if hints is None else hints.annotations
    return annotations is not None and set(annotations.audience or ()) == {"user"}
