"""The root of all ACP wire records: camelCase names, absent optional fields are not sent, `_meta`."""

from typing import Final, Literal, TypeAlias

import msgspec

Meta: TypeAlias = dict[str, object]
"""What `_meta` holds: keys we own are under "zidane"; others are kept and never interpreted."""

SessionId: TypeAlias = str
"""Names a session; made by the agent."""

RequestId: TypeAlias = int | str | None
"""Names a JSON-RPC request: a 64 bit integer, a string, or null. Compare it with its type: 1 is not "1"."""

INT64: Final = range(-(2**63), 2**63)
"""The integers that a request id may be."""

Role: TypeAlias = Literal["assistant", "user"]
"""The author of a message, or whom a block is meant for."""


class Wire(msgspec.Struct, rename="camel", omit_defaults=True, frozen=True, kw_only=True, gc=False):
    """A record as it travels. A field that equals its default is left out of the JSON text."""

    meta: Meta | None = msgspec.field(name="_meta", default=None)
