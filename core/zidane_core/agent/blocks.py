"""The block that is being streamed: opened by the first piece, grown, closed into the log (ring 2).

The text is kept as closed pieces and a short tail, so that a piece costs the same in an answer of any length.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, Literal

from msgspec.structs import replace

from zidane_core.agent import moves
from zidane_core.agent.effects import Chunk
from zidane_core.agent.moves import Moved
from zidane_core.agent.state import OpenBlock, Thread, Turn
from zidane_core.data import history
from zidane_core.data.models import Opaque
from zidane_core.text import clean, grow, whole


def say(thread: Thread, turn: Turn, kind: Literal["agent", "thought"], texts: tuple[str, ...]) -> Moved:
    """Stream these pieces; a block of another kind is closed first."""
    block = turn.open
    if block is None or block.kind != kind:
        thread, turn = flush(*close(thread, turn))
        thread, message = moves.message(thread)
        block = OpenBlock(kind, message)
    thread = replace(
        thread, turn=replace(turn, open=replace(block, text=grow(block.text, "".join(texts))), said=True)
    )
    return thread, tuple(Chunk(thread.id, kind, block.message, text, thread.outlet) for text in texts)


def close(thread: Thread, turn: Turn, opaque: Opaque | None = None) -> tuple[Thread, Turn]:
    """End the open block and write it to the log; `opaque` is kept even where nothing was shown."""
    block = turn.open
    if block is None:
        return (thread, turn) if opaque is None else keep(thread, turn, opaque)
    # Cleaned here, where a whole block is seen: half of a pair may stand at the end of a piece.
    text = clean(whole(block.text))
    turn = replace(turn, open=None)
    thread = moves.append(thread, _ENTRIES[block.kind](block.message, text, opaque))
    return replace(moves.append_waiting(thread), turn=turn), turn


def keep(thread: Thread, turn: Turn, opaque: Opaque) -> tuple[Thread, Turn]:
    """A block for the provider alone: to the log, or held while nothing was shown, since a retry drops it."""
    if turn.said:
        return moves.append(thread, history.ForeignKept(opaque)), turn
    return thread, replace(turn, held=(*turn.held, opaque))


def flush(thread: Thread, turn: Turn) -> tuple[Thread, Turn]:
    """What was held goes to the log: the round will not be tried again."""
    for opaque in turn.held:
        thread = moves.append(thread, history.ForeignKept(opaque))
    return thread, replace(turn, held=()) if turn.held else turn


_ENTRIES: Final[Mapping[str, type[history.TextSaid] | type[history.Thinking]]] = MappingProxyType(
    {"agent": history.TextSaid, "thought": history.Thinking}
)
