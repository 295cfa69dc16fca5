"""How model rounds and turns end (ring 0)."""

from typing import Literal, TypeAlias

import msgspec

FinishReason: TypeAlias = Literal["stop", "length", "content-filter", "tool-calls", "error", "other"]
"""Why one model round ended."""

StopReason: TypeAlias = Literal["end_turn", "max_tokens", "max_turn_requests", "refusal", "cancelled"]
"""Why a turn ended (spec: StopReason; a closed set in v1)."""


class Usage(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """Tokens. `input` counts all input, `cached_read` and `cached_write` are parts of it; `thought` of `output`."""

    input: int = 0
    output: int = 0
    cached_read: int = 0
    cached_write: int = 0
    thought: int = 0


class Outcome(msgspec.Struct, frozen=True, gc=False):
    """The outcome of an agent run, the input of the stop reason (seed item 9)."""

    aborted: bool = False
    turn_limit: bool = False
    finish: FinishReason | None = None
