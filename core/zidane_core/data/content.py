"""Content of prompts, messages and tool results, free of any protocol (ring 0)."""

from typing import Literal, TypeAlias

import msgspec

Role: TypeAlias = Literal["assistant", "user"]
"""The author of a message, or whom a part is for."""

Extra: TypeAlias = dict[str, object]
"""What others add to a record of a protocol: kept, never interpreted."""


class Annotations(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """Whom a part is for, when what it holds was last changed (ISO 8601), and how important it is (0 to 1)."""

    audience: tuple[Role, ...] | None = None
    last_modified: str | None = None
    priority: float | None = None
    meta: Extra | None = None


class Hints(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """What came with a part, to be given back as it came. `resource_meta` is of the resource in an embedded part, and
    `embedded` tells a picture or sound that came as one from one that came by itself."""

    annotations: Annotations | None = None
    meta: Extra | None = None
    resource_meta: Extra | None = None
    embedded: bool = False


class Text(msgspec.Struct, frozen=True, gc=False, omit_defaults=True, tag="text"):
    """Plain or Markdown text."""

    text: str
    hints: Hints | None = None


class Image(msgspec.Struct, frozen=True, gc=False, omit_defaults=True, tag="image"):
    """A picture. `data` is base64; empty means that only `uri` is known."""

    media_type: str
    data: str = ""
    uri: str | None = None
    hints: Hints | None = None


class Audio(msgspec.Struct, frozen=True, gc=False, omit_defaults=True, tag="audio"):
    """Sound. `data` is base64; empty means that there is none."""

    media_type: str
    data: str = ""
    uri: str | None = None
    hints: Hints | None = None


class Document(msgspec.Struct, frozen=True, gc=False, omit_defaults=True, tag="document"):
    """A file given inline: `text` for text files, else `data` in base64 (both empty: only `uri` is known)."""

    uri: str | None = None
    name: str | None = None
    media_type: str | None = None
    text: str | None = None
    data: str = ""
    hints: Hints | None = None


class Link(msgspec.Struct, frozen=True, gc=False, omit_defaults=True, tag="link"):
    """A resource that is named but not embedded."""

    uri: str
    name: str
    title: str | None = None
    description: str | None = None
    media_type: str | None = None
    size: int | None = None
    hints: Hints | None = None


class Thinking(msgspec.Struct, frozen=True, gc=False, omit_defaults=True, tag="thinking"):
    """A stored block of the model's thinking."""

    text: str


class SystemNote(msgspec.Struct, frozen=True, gc=False, omit_defaults=True, tag="system_note"):
    """A stored note meant for the model only; never shown."""

    text: str


Part: TypeAlias = Text | Image | Audio | Document | Link
"""What a prompt or a tool result consists of."""

StoredBlock: TypeAlias = Text | Image | Audio | Document | Link | Thinking | SystemNote
"""What stored history consists of (seed item 8)."""

Severity: TypeAlias = Literal["info", "warning", "error"]
