"""What a machine says is done here (ring 2): jobs start, questions go out, cards change, the call ends.

While the turn is stopping nothing starts any more; what ends or withdraws something still counts.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final, Literal

from msgspec.structs import replace

from zidane_core.agent import calls, moves, permission, registry, settings
from zidane_core.agent.editor_files import remembered
from zidane_core.agent.effects import AskPeer, CardChanged, DropPeer, Effect, PlanShown, Start, Stop, Tell
from zidane_core.agent.machines import (
    Ask,
    Card,
    Detach,
    Done,
    DropAsk,
    GiveUp,
    Got,
    Job,
    Machine,
    Plan,
    Pose,
    Ready,
    Remember,
    State,
    Stateless,
    StopJob,
    SwitchMode,
    Turned,
    Work,
)
from zidane_core.agent.modes import mode_of
from zidane_core.agent.moves import Moved
from zidane_core.agent.peer import Abilities
from zidane_core.agent.state import Call, Link, Options, Thread, Turn
from zidane_core.data import history


def begin(options: Options, thread: Thread, call: Call) -> Moved:
    """Start the preparation of a call."""
    machine, work = _machine(call), _work(options, thread, call)
    return (thread, ()) if work is None else _obey(options, thread, call, machine.begin(work))


def go(options: Options, thread: Thread, call: Call, *, granted: bool) -> Moved:
    """Start the work of a call that may run. `granted` is as in `RunTool`."""
    call = replace(call, cleared=granted)
    machine, work = _machine(call), _work(options, thread, call)
    return (thread, ()) if work is None else _obey(options, thread, call, machine.go(_state(call), work))


def got(options: Options, thread: Thread, call: Call, tag: str, value: Got) -> Moved:
    """Give a machine what one of its jobs or asks ended with."""
    machine, work = _machine(call), _work(options, thread, call)
    if work is None:
        return thread, ()
    return _obey(options, thread, call, machine.got(_state(call), work, tag, value))


def halt(options: Options, thread: Thread, call: Call) -> Moved:
    """Stop a running call: its machine may still send something away, its jobs stop, its asks are withdrawn."""
    machine, work = _machine(call), _work(options, thread, call)
    if work is None:
        return thread, ()
    thread, effects = _obey(options, thread, call, machine.halt(_state(call), work))
    turn = thread.turn
    known = None if turn is None else next((other for other in turn.calls if other.id == call.id), None)
    if turn is None or known is None or known.phase == "done":
        return thread, effects
    ends = calls.ended(known)
    thread = moves.with_call(thread, turn, replace(known, asks=(), ask="", live_due=""))
    return thread, (*effects, *ends)


def _machine(call: Call) -> Machine:
    # A call whose tool names no row has a problem and never gets here.
    return registry.MACHINES["local" if call.spec is None else call.spec.machine]


def _state(call: Call) -> State:
    return Stateless() if call.machine is None else call.machine


def _work(options: Options, thread: Thread, call: Call) -> Work | None:
    if call.spec is None:
        return None
    resolved = () if call.preview is None else call.preview.paths
    return Work(
        session=thread.id,
        call=call.id,
        name=call.name,
        arguments=call.arguments,
        spec=call.spec,
        cwd=thread.cwd,
        roots=thread.roots,
        paths=call.paths,
        preview=call.preview,
        granted=call.cleared,
        denied=permission.denials_of(options, thread).paths,
        outside=call.cleared and not all(path.inside for path in resolved),
        abilities=thread.abilities,
        seen=thread.seen,
        commanded=thread.commanded,
    )


def _obey(options: Options, thread: Thread, call: Call, turned: Turned) -> Moved:
    state, signals = turned
    effects: list[Effect] = []
    if thread.turn is not None:
        thread = moves.with_call(thread, thread.turn, replace(call, machine=state))
    for signal in signals:
        turn = thread.turn
        known = None if turn is None else next((other for other in turn.calls if other.id == call.id), None)
        if turn is None or known is None or known.phase == "done":
            break
        if turn.stopping and isinstance(signal, Job | Ask | Ready):
            continue
        thread, more = _OBEY[type(signal)](options, thread, turn, known, signal)
        effects.extend(more)
    return thread, tuple(effects)


# One function a signal -----------------------------------------------------------------------------


def _job(options: Options, thread: Thread, turn: Turn, call: Call, signal: Job) -> Moved:
    thread, key = moves.key(thread)
    call = replace(call, jobs=(*call.jobs, Link(signal.tag, key)))
    return moves.with_call(thread, turn, call), (Start(key, signal.what),)


def _ask(options: Options, thread: Thread, turn: Turn, call: Call, signal: Ask) -> Moved:
    thread, key = moves.key(thread)
    call = replace(call, asks=(*call.asks, Link(signal.tag, key)))
    asked = AskPeer(key, thread.id, signal.request, turn.trace)
    return moves.with_call(thread, turn, call), (asked,)


def _stop(options: Options, thread: Thread, turn: Turn, call: Call, signal: StopJob) -> Moved:
    # Forgotten at once: it may have ended a moment before, and must not count any more.
    stopped = tuple(link for link in call.jobs if link.tag == signal.tag)
    call = replace(call, jobs=tuple(link for link in call.jobs if link not in stopped))
    return moves.with_call(thread, turn, call), tuple(Stop(link.key) for link in stopped)


def _drop(options: Options, thread: Thread, turn: Turn, call: Call, signal: DropAsk) -> Moved:
    dropped = tuple(link for link in call.asks if link.tag == signal.tag)
    call = replace(call, asks=tuple(link for link in call.asks if link not in dropped))
    return moves.with_call(thread, turn, call), tuple(DropPeer(link.key) for link in dropped)


def _detach(options: Options, thread: Thread, turn: Turn, call: Call, signal: Detach) -> Moved:
    thread, key = moves.key(thread)
    return thread, (AskPeer(key, thread.id, signal.request, trace=turn.trace),)


def _card(options: Options, thread: Thread, turn: Turn, call: Call, signal: Card) -> Moved:
    card = CardChanged(call=call.id, content=signal.content, locations=signal.locations)
    return calls.show(thread, turn, call, card)


def _plan(options: Options, thread: Thread, turn: Turn, call: Call, signal: Plan) -> Moved:
    thread = replace(moves.append(thread, history.PlanSet(signal.entries)), plan=signal.entries)
    return thread, (Tell(thread.id, PlanShown(signal.entries)),)


def _switch_mode(options: Options, thread: Thread, turn: Turn, call: Call, signal: SwitchMode) -> Moved:
    wanted = mode_of(options, thread).leads_to
    if wanted not in {mode.id for mode in options.modes}:
        return thread, ()
    return settings.changed(options, thread, settings.MODE, wanted)


def _give_up(options: Options, thread: Thread, turn: Turn, call: Call, signal: GiveUp) -> Moved:
    return give_up(thread, signal.what, signal.reason), ()


def give_up(thread: Thread, what: Literal["files", "terminals"], reason: str) -> Thread:
    """The thread whose client is not asked for this any more; the user is told once."""
    abilities, words = _GIVEN_UP[what]
    lowered = abilities(thread.abilities)
    if lowered == thread.abilities:
        return thread
    return replace(thread, abilities=lowered, notices=(*thread.notices, f"{words} ({reason})."))


_GIVEN_UP: Final[Mapping[str, tuple[Callable[[Abilities], Abilities], str]]] = MappingProxyType(
    {
        "files": (
            lambda able: replace(able, reads=False, writes=False),
            "Files are now read and written on disk, not through the editor, which failed to do it",
        ),
        "terminals": (
            lambda able: replace(able, terminals=False),
            "Commands now run without a terminal of the editor, which failed to give one",
        ),
    }
)


def _remember(options: Options, thread: Thread, turn: Turn, call: Call, signal: Remember) -> Moved:
    return replace(thread, seen=remembered(thread.seen, signal.path, signal.seen)), ()


def _pose(options: Options, thread: Thread, turn: Turn, call: Call, signal: Pose) -> Moved:
    posed = f"{turn.posed}\n\n{signal.text}" if turn.posed else signal.text
    return replace(thread, turn=replace(turn, posed=posed)), ()


def _ready(options: Options, thread: Thread, turn: Turn, call: Call, signal: Ready) -> Moved:
    preview = signal.preview
    if preview is not None:
        call = replace(
            call,
            preview=preview,
            locations=preview.locations or call.locations,
            title=preview.title or call.title,
        )
    call = replace(call, ready=True)
    if preview is None or not preview.title:
        return moves.with_call(thread, turn, call), ()
    card = CardChanged(call=call.id, title=preview.title, locations=call.locations)
    return calls.show(thread, turn, call, card)


def _done(options: Options, thread: Thread, turn: Turn, call: Call, signal: Done) -> Moved:
    return calls.finish(options, thread, turn, call, signal.result)


# Any: each function takes the signal type of its key, which a dict type cannot say.
_OBEY: Final[Mapping[type, Callable[[Options, Thread, Turn, Call, Any], Moved]]] = MappingProxyType(
    {
        Job: _job,
        Ask: _ask,
        StopJob: _stop,
        DropAsk: _drop,
        Detach: _detach,
        Card: _card,
        Plan: _plan,
        SwitchMode: _switch_mode,
        GiveUp: _give_up,
        Remember: _remember,
        Pose: _pose,
        Ready: _ready,
        Done: _done,
    }
)
