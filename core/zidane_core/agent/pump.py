"""What each call of a round may do next (ring 2). The pump is the only place that starts work for a call.

Order: readers and writers in call order. A changing call waits for all earlier ones, a reading call for earlier
changing ones, and so does a preparation that reads. Questions overlap; they come in
the order of the calls that are prepared.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

from msgspec.structs import replace

from zidane_core.agent import calls, moves, permission, question, signals
from zidane_core.agent.effects import AskPeer, Effect
from zidane_core.agent.local_machine import failed
from zidane_core.agent.machines import Got
from zidane_core.agent.moves import Moved
from zidane_core.agent.peer import AskPermission
from zidane_core.agent.state import Call, CallPhase, Link, Options, Thread, Turn
from zidane_core.data.tools import ToolSpec


def pump(options: Options, thread: Thread) -> Moved:
    """Move every call of the running round as far as it can go now."""
    effects: tuple[Effect, ...] = ()
    moved = True
    while moved:
        moved = False
        for call in _calls(thread):
            before = thread
            thread, more = _advance(options, thread, call)
            effects = (*effects, *more)
            moved = moved or thread is not before
    return thread, effects


def got(options: Options, thread: Thread, turn: Turn, call: Call, link: Link, value: Got) -> Moved:
    """A job or ask of a call ended: its machine goes on, and then whatever waited for it."""
    known = replace(
        call,
        jobs=tuple(other for other in call.jobs if other != link),
        asks=tuple(other for other in call.asks if other != link),
    )
    thread = moves.with_call(thread, turn, known)
    thread, effects = signals.got(options, thread, known, link.tag, value)
    thread, more = pump(options, thread)
    return thread, (*effects, *more)


def _calls(thread: Thread) -> tuple[Call, ...]:
    turn = thread.turn
    return () if turn is None or turn.phase != "tools" or turn.stopping else turn.calls


def _advance(options: Options, thread: Thread, call: Call) -> Moved:
    turn = thread.turn
    move = _MOVES.get(call.phase)
    if turn is None or move is None:
        return thread, ()
    if call.problem or call.spec is None:
        return calls.finish(options, thread, turn, call, failed(call.problem))
    return move(options, thread, turn, call, call.spec)


def _new(options: Options, thread: Thread, turn: Turn, call: Call, spec: ToolSpec) -> Moved:
    denied = permission.denial(options, thread, call, spec)
    if denied:  # before the preparation, which reads files
        return calls.finish(options, thread, turn, call, failed(denied))
    if options.sequential and _earlier(turn, call):
        return thread, ()
    reads = spec.prepare == "content" or permission.may_be_harmless(options, call, spec)
    if reads and _earlier(turn, call, changing=True):
        return thread, ()
    call = replace(call, phase="prepare")
    return signals.begin(options, moves.with_call(thread, turn, call), call)


def _prepared(options: Options, thread: Thread, turn: Turn, call: Call, spec: ToolSpec) -> Moved:
    """Judged once its preparation is done, and those of earlier calls that have begun, so that questions keep order."""
    before = turn.calls[: turn.calls.index(call)]
    if not call.ready or any(known.phase == "prepare" for known in before):
        return thread, ()
    return _judge(options, thread, turn, call, spec)


def _judge(options: Options, thread: Thread, turn: Turn, call: Call, spec: ToolSpec) -> Moved:
    verdict = permission.decide(options, thread, call, spec)
    if isinstance(verdict, permission.Refuse):
        return calls.finish(options, thread, turn, call, failed(verdict.reason))
    if isinstance(verdict, permission.Allow):
        return moves.with_call(thread, turn, replace(call, phase="allowed")), ()
    thread, asked = moves.key(thread)
    asking = replace(call, phase="ask", ask=asked, offered=verdict.always, lasting=verdict.lasting)
    thread = moves.with_call(thread, turn, asking)
    request = AskPermission(
        call=call.id,
        name=call.name,
        title=call.title,
        kind=spec.kind,
        raw_input=call.arguments,
        locations=call.locations,
        diffs=() if call.preview is None else call.preview.diffs,
        choices=question.choices(verdict),
    )
    return thread, (AskPeer(asked, thread.id, request, trace=turn.trace),)


def _allowed(options: Options, thread: Thread, turn: Turn, call: Call, spec: ToolSpec) -> Moved:
    if _earlier(turn, call, changing=not (spec.changes or options.sequential)):
        return thread, ()
    # Taken again right before the run: the policy may have changed while the call waited.
    verdict = permission.decide(options, thread, call, spec)
    if isinstance(verdict, permission.Refuse):
        return calls.finish(options, thread, turn, call, failed(verdict.reason))
    if isinstance(verdict, permission.AskUser) and not call.granted:
        return _judge(options, thread, turn, call, spec)
    harmless = isinstance(verdict, permission.Allow) and verdict.harmless
    if spec.changes and spec.access in _COMMANDS and not harmless and not thread.commanded:
        thread = replace(thread, commanded=True)
    thread, begun = calls.begin(thread, turn, call)
    running = next(known for known in _calls(thread) if known.id == call.id)
    thread, effects = signals.go(options, thread, running, granted=call.granted or not harmless)
    return thread, (*begun, *effects)


_COMMANDS: Final = frozenset({"run", "other"})
"""Accesses by which files can change without anyone saying which."""


def _earlier(turn: Turn, call: Call, *, changing: bool = False) -> bool:
    """Whether an earlier call (or only a changing one) is not done yet."""
    for known in turn.calls:
        if known.id == call.id:
            return False
        if known.phase != "done" and (not changing or known.spec is None or known.spec.changes):
            return True
    return False


_MOVES: Final[Mapping[CallPhase, Callable[[Options, Thread, Turn, Call, ToolSpec], Moved]]] = (
    MappingProxyType({"new": _new, "prepare": _prepared, "allowed": _allowed})
)
