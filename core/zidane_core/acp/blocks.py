"""The blocks of a prompt, read by hand: unknown types are kept, and `resource` has no tag inside."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final, TypeVar

import msgspec
from returns.result import Failure, Result, Success

from zidane_core.acp.fields import MEMBERS, gathered, named, read
from zidane_core.acp.lenient import lenient
from zidane_core.acp.wire.content import (
    Annotations,
    AudioContent,
    BlobResourceContents,
    EmbeddedResource,
    EmbeddedResourceResource,
    ImageContent,
    PromptBlock,
    ResourceLink,
    TextContent,
    TextResourceContents,
    UnknownBlock,
)
from zidane_core.acp.wire.record import Meta
from zidane_core.faults import Fault, invalid_params
from zidane_core.fp import fold, then

T = TypeVar("T")

Read = Callable[[msgspec.Raw], Result[PromptBlock, str]]


class _Tag(msgspec.Struct, frozen=True, gc=False):
    type: str


class _Resource(msgspec.Struct, frozen=True, gc=False):
    resource: msgspec.Raw
    annotations: msgspec.Raw = msgspec.Raw(b"null")
    meta: msgspec.Raw = msgspec.field(name="_meta", default=msgspec.Raw(b"null"))


_TAG: Final = msgspec.json.Decoder(_Tag)
_RESOURCE: Final = msgspec.json.Decoder(_Resource)
_LIST: Final = msgspec.json.Decoder(tuple[msgspec.Raw, ...])
_STRING: Final = msgspec.json.Decoder(str)
_META: Final = msgspec.json.Decoder(Meta | None)
_ANNOTATIONS: Final = lenient(Annotations)
_TEXT_RESOURCE: Final = lenient(TextResourceContents)
_BLOB_RESOURCE: Final = lenient(BlobResourceContents)


def decode_prompt_blocks(raw: msgspec.Raw) -> Result[tuple[PromptBlock, ...], Fault]:
    """An array of blocks; a string stands for one text block. A malformed block of a known type is a fault."""
    first = memoryview(raw)[:1].tobytes()
    if first == b'"':
        return read(_STRING, raw, "prompt").map(lambda text: (TextContent(text=text),))
    if first != b"[":
        return Failure(invalid_params("prompt", "expected an array of content blocks or a string"))
    return then(
        read(_LIST, raw, "prompt"),
        lambda items: gathered(_block(item, f"prompt[{index}]") for index, item in enumerate(items)),
    )


def _block(raw: msgspec.Raw, place: str) -> Result[PromptBlock, Fault]:
    return then(read(_TAG, raw, place), lambda tag: _of_type(tag.type, raw, place))


def _of_type(kind: str, raw: msgspec.Raw, place: str) -> Result[PromptBlock, Fault]:
    if kind == "resource":
        return _embedded(raw, place)
    reader = _READERS.get(kind)
    if reader is None:
        return Success(UnknownBlock(kind, bytes(raw).decode("utf-8", "replace")))
    return reader(raw).alt(lambda problem: named(problem, place))


def _embedded(raw: msgspec.Raw, place: str) -> Result[PromptBlock, Fault]:
    inner = f"{place}.resource"
    return then(
        read(_RESOURCE, raw, place),
        lambda found: _contents(found.resource, inner).map(
            lambda contents: EmbeddedResource(
                resource=contents,
                annotations=_or_none(_ANNOTATIONS(found.annotations)),
                meta=_meta(found.meta),
            )
        ),
    )


def _contents(raw: msgspec.Raw, place: str) -> Result[EmbeddedResourceResource, Fault]:
    return then(read(MEMBERS, raw, place), lambda members: _text_or_blob(members, raw, place))


def _text_or_blob(
    members: Mapping[str, msgspec.Raw], raw: msgspec.Raw, place: str
) -> Result[EmbeddedResourceResource, Fault]:
    as_blob = "blob" in members and memoryview(members.get("text", msgspec.Raw(b"")))[:1].tobytes() != b'"'
    if as_blob:
        return _BLOB_RESOURCE(raw).alt(lambda problem: named(problem, place))
    if "text" in members:
        return _TEXT_RESOURCE(raw).alt(lambda problem: named(problem, place))
    return Failure(invalid_params(place, "it needs a text or a blob"))


def _meta(raw: msgspec.Raw) -> Meta | None:
    return _or_none(read(_META, raw))


def _or_none(found: Result[T, object]) -> T | None:
    def keep(value: T) -> T | None:
        return value

    return fold(found, keep, lambda _: None)


_READERS: Final[Mapping[str, Read]] = MappingProxyType(
    {
        "text": lenient(TextContent),
        "image": lenient(ImageContent),
        "audio": lenient(AudioContent),
        "resource_link": lenient(ResourceLink),
    }
)
