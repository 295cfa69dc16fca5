"""Where a connection begins, and the first answer: given before the event loop is even imported.

The core needs no loop to answer `initialize`, and an editor waits for that answer. So on standard input the
first frames are read and answered here, plainly, and the loop takes over what is left.
"""

import os
from collections.abc import Callable
from typing import TypeAlias

import msgspec

from zidane_acp.descriptors import read_ready
from zidane_core.acp.connection import Connection, Opened, Received
from zidane_core.acp.frames import MAX_FRAME, Framing, Item, Splitter, encode, splitter
from zidane_core.acp.step import begin, step
from zidane_core.agent.effects import Effect, Send

CHUNK = 1 << 16

Watch: TypeAlias = Callable[[str, bytes], None]
"""Sees every frame: "in" or "out", and its bytes."""


class Beginning(msgspec.Struct, frozen=True, kw_only=True):
    """A connection's state, the splitter that holds what came of the next frame, and effects still to perform.

    `unsent` is the rest of a frame of which a part is out.
    """

    connection: Connection
    splitter: Splitter
    framing: Framing
    effects: tuple[Effect, ...] = ()
    unsent: bytes = b""


def fresh(opened: Opened, framing: Framing = "ndjson", max_frame: int = MAX_FRAME) -> Beginning:
    """Nothing has been read yet."""
    return Beginning(connection=begin(opened), splitter=splitter(framing, max_frame), framing=framing)


def answer_first(
    beginning: Beginning, source: int, sink: int, now: Callable[[], float], watch: Watch | None = None
) -> Beginning:
    """Read a descriptor until a frame is there, and write what the core says to it. The loop takes over at the
    end of the input, where a descriptor does not wait, and when something is to be done that is no frame."""
    connection, effects = beginning.connection, list[Effect]()
    while not effects and connection is beginning.connection and (data := read_ready(source, CHUNK)):
        for item in beginning.splitter.feed(data):
            _see(watch, item)
            connection, more = step(connection, Received(now(), item))
            effects += more
    sent, unsent = 0, b""
    for effect in effects:
        if unsent or not isinstance(effect, Send):
            break
        if watch is not None:
            watch("out", effect.frame)
        unsent = _write(sink, encode(effect.frame, beginning.framing))
        sent += 1
    return msgspec.structs.replace(
        beginning, connection=connection, effects=tuple(effects[sent:]), unsent=unsent
    )


def _see(watch: Watch | None, item: Item) -> None:
    if watch is not None and isinstance(item, bytes):
        watch("in", item)


def _write(sink: int, data: bytes) -> bytes:
    """What did not go out: the loop waits for a descriptor that does not, and finds that nobody reads any more."""
    view = memoryview(data)
    try:
        while view:
            view = view[os.write(sink, view) :]
    except OSError:
        return bytes(view)
    return b""
