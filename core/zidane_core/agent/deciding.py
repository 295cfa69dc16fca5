"""What follows from the user's answer to a question about a call, or about trust (ring 2)."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

from msgspec.structs import replace

from zidane_core.agent import calls, moves, pump, remembering, trusting, turns
from zidane_core.agent.effects import DropPeer, Effect, Log
from zidane_core.agent.leaving_plan import KEEP_PLANNING
from zidane_core.agent.local_machine import failed
from zidane_core.agent.moves import Moved
from zidane_core.agent.peer import PeerAnswer
from zidane_core.agent.permission import AskUser, Verdict, decide
from zidane_core.agent.question import Decision, offered, read_answer
from zidane_core.agent.state import Asking, Call, Options, Thread, Turn
from zidane_core.data.rules import Grant


def decided(options: Options, thread: Thread, call: Call, decision: Decision) -> Moved:
    """The user has decided on a call; everything that this makes possible begins."""
    turn = thread.turn
    if turn is None:
        return thread, ()
    remark: tuple[Effect, ...] = (Log("warning", decision.remark),) if decision.remark else ()
    if decision.kind == "cancelled":
        return turns.stop(options, thread, "cancelled")
    if decision.kind == "refused":
        leaving = call.spec is not None and call.spec.access == "mode" and not decision.remark
        reason = KEEP_PLANNING if leaving else decision.reason
        thread, effects = calls.finish(options, thread, turn, call, failed(reason))
        return _then_pump(options, (thread, (*remark, *effects)))
    thread = moves.with_call(thread, turn, replace(call, phase="allowed", granted=True))
    remember = _REMEMBER.get(decision.kind)
    if remember is None or call.offered is None:
        return _then_pump(options, (thread, ()))
    thread, kept = remember(thread, call.offered)
    thread, dropped = _covered(options, thread)
    return _then_pump(options, (thread, (*kept, *dropped)))


_REMEMBER: Final[Mapping[str, Callable[[Thread, Grant], Moved]]] = MappingProxyType(
    {"always": remembering.for_session, "project": remembering.for_project}
)


def _then_pump(options: Options, moved: Moved) -> Moved:
    thread, effects = moved
    thread, more = pump.pump(options, thread)
    return thread, (*effects, *more)


def _covered(options: Options, thread: Thread) -> Moved:
    """A new grant settles the other open questions that it covers."""
    effects: tuple[Effect, ...] = ()
    for call in _turn_calls(thread):
        turn = thread.turn
        if turn is None or call.phase != "ask" or call.spec is None:
            continue
        verdict: Verdict = decide(options, thread, call, call.spec)
        if not isinstance(verdict, AskUser):
            thread = moves.with_call(thread, turn, replace(call, phase="allowed", ask=""))
            effects = (*effects, DropPeer(call.ask))
    return thread, effects


def _turn_calls(thread: Thread) -> tuple[Call, ...]:
    return () if thread.turn is None else thread.turn.calls


def trust_decided(options: Options, thread: Thread, turn: Turn, asking: Asking, answer: PeerAnswer) -> Moved:
    """The user has said whether folders are trusted. A question that they dismiss ends the turn, as of a call."""
    decision = read_answer(offered(asking.always, lasting=False), answer)
    remark: tuple[Effect, ...] = (Log("warning", decision.remark),) if decision.remark else ()
    thread = trusting.heard(thread, turn)
    if decision.kind == "cancelled":
        return turns.stop(options, thread, "cancelled")
    thread, effects = trusting.decided(options, thread, asking, decision)
    return thread, (*remark, *effects)
