"""Model rounds: started, streamed, retried, ended (ring 2)."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final, Literal

from msgspec.structs import replace

from zidane_core.agent import (
    blocks,
    budget,
    calls,
    features,
    log,
    moves,
    offering,
    pump,
    retry,
    system_prompt,
)
from zidane_core.agent.effects import Effect, Start, Tell, UsageShown
from zidane_core.agent.events import Progress
from zidane_core.agent.local_machine import failed
from zidane_core.agent.model_names import chosen
from zidane_core.agent.moves import Moved
from zidane_core.agent.state import Compaction, Options, Thread, Turn
from zidane_core.agent.work import RunModel, Wait
from zidane_core.convert.outcome import outcome_to_stop_reason
from zidane_core.data import history, models
from zidane_core.data.outcome import FinishReason, Outcome, Usage
from zidane_core.faults import Fault, provider_fault
from zidane_core.models.pricing import added


def request(options: Options, thread: Thread) -> models.ModelRequest:
    """What the model is asked next."""
    model = chosen(options, thread)
    return models.ModelRequest(
        model=model,
        system=system_prompt.text(options, thread),
        messages=tuple(thread.view.messages),
        tools=offering.tools_of(options, thread),
        thinking=thread.settings.thinking if model.thinking else "off",
        max_tokens=budget.max_tokens(model),
        options=features.of_request(thread, model),
    )


def fits(thread: Thread, asked: models.ModelRequest) -> bool:
    """Whether the model has room for a request and its answer, as far as is known."""
    limit = budget.limit(asked.model)
    if limit is None:
        return True
    around = budget.size_around(asked.system, asked.tools)
    return budget.tokens(thread.view.counted, thread.view.size, around) <= limit


def start(options: Options, thread: Thread, turn: Turn) -> Moved:
    """Ask the model: the next round, or the same one again after a failure. Where the request does not fit, room is made
    for it first; once, since an estimate must not refuse what the model may take."""
    asked = request(options, thread)
    if options.compacts and not turn.compacted and not fits(thread, asked):
        return shorten(thread, turn, "full"), ()
    thread, job = moves.key(thread)
    turn = replace(
        turn,
        phase="model",
        job=job,
        calls=(),
        held=(),
        said=False,
        finish=None,
        refusal="",
        broke=None,
        round_usage=None,
    )
    return replace(thread, turn=turn), (Start(job, RunModel(asked, thread.id)),)


def shorten(
    thread: Thread, turn: Turn, cause: Literal["full", "overflow"], broke: models.Broke | None = None
) -> Thread:
    """The conversation is to be shortened (`compacting`), and the model asked then."""
    compaction = Compaction(cause=cause, broke=broke)
    turn = replace(turn, phase="compact", job="", compaction=compaction, compacted=True)
    return replace(thread, turn=turn)


# Streaming -----------------------------------------------------------------------------------------


def progress(options: Options, thread: Thread, batch: tuple[Progress, ...]) -> Moved:
    """The model said something. Runs of one kind of delta are moved together: this is the hot path."""
    effects: list[Effect] = []
    at = 0
    while at < len(batch):
        turn, event = thread.turn, batch[at]
        if turn is None:
            break
        kind = _DELTAS.get(type(event))
        if kind is not None:
            texts, at = _run_of(batch, at)
            if texts:
                thread, more = blocks.say(thread, turn, kind, texts)
                effects.extend(more)
            continue
        at += 1
        change = _CHANGES.get(type(event))
        if change is not None:
            thread, more = change(options, thread, turn, event)
            effects.extend(more)
    return thread, tuple(effects)


def _run_of(batch: tuple[Progress, ...], at: int) -> tuple[tuple[str, ...], int]:
    """The texts of the deltas of one kind that start here, and where they end."""
    first = type(batch[at])
    texts: list[str] = []
    while at < len(batch):
        event = batch[at]
        if type(event) is not first or not isinstance(event, models.TextDelta | models.ThoughtDelta):
            break
        if event.text:
            texts.append(event.text)
        at += 1
    return tuple(texts), at


_DELTAS: Final[Mapping[type, Literal["agent", "thought"]]] = MappingProxyType(
    {models.TextDelta: "agent", models.ThoughtDelta: "thought"}
)


def _block_ended(options: Options, thread: Thread, turn: Turn, event: models.BlockEnded) -> Moved:
    thread, turn = blocks.close(thread, turn, event.opaque)
    return replace(thread, turn=turn), ()


def _foreign(options: Options, thread: Thread, turn: Turn, event: models.ForeignBlock) -> Moved:
    thread, turn = blocks.keep(*blocks.close(thread, turn), event.opaque)
    return replace(thread, turn=turn), ()


def _called(options: Options, thread: Thread, turn: Turn, event: models.Called) -> Moved:
    thread, turn = blocks.flush(*blocks.close(thread, turn))
    return calls.announce(options, thread, turn, event)


def _used(options: Options, thread: Thread, turn: Turn, event: models.Used) -> Moved:
    return replace(thread, turn=replace(turn, round_usage=event.usage)), ()


def _warned(options: Options, thread: Thread, turn: Turn, event: models.Warned) -> Moved:
    """The same warning is given once in a thread, since the history goes to the model again each round."""
    if event.text in thread.warned:
        return thread, ()
    thread, turn = blocks.close(thread, turn)
    thread = replace(thread, turn=turn, warned=(*thread.warned, event.text))
    return moves.notice(thread, "warning", event.text, "prompt")


def _finished(options: Options, thread: Thread, turn: Turn, event: models.Finished) -> Moved:
    return replace(thread, turn=replace(turn, finish=event.reason, refusal=event.refusal)), ()


def _broke(options: Options, thread: Thread, turn: Turn, event: models.Broke) -> Moved:
    return replace(thread, turn=replace(turn, broke=event)), ()


# Any: each function takes the event type of its key, which a dict type cannot say.
_CHANGES: Final[Mapping[type, Callable[[Options, Thread, Turn, Any], Moved]]] = MappingProxyType(
    {
        models.BlockEnded: _block_ended,
        models.ForeignBlock: _foreign,
        models.Called: _called,
        models.Used: _used,
        models.Warned: _warned,
        models.Finished: _finished,
        models.Broke: _broke,
    }
)


# The end of a round --------------------------------------------------------------------------------


def ended(options: Options, thread: Thread, turn: Turn, broke: models.Broke | None) -> Moved:
    """The model job is over, by itself or by a failure."""
    thread, turn = blocks.close(thread, turn)
    turn = replace(turn, job="", usage=summed(turn.usage, turn.round_usage or Usage()))
    thread = replace(thread, turn=turn)
    thread, usage = _show_usage(options, thread, turn)
    broke = broke or turn.broke or unfinished(chosen(options, thread).provider, turn.finish)
    if turn.stopping:
        return thread, usage
    thread, effects = _failed(options, thread, turn, broke) if broke else _done(options, thread, turn)
    return thread, (*usage, *effects)


def unfinished(provider: str, finish: FinishReason | None) -> models.Broke | None:
    """The fault of a round that ended without an end, or with an error that has no words."""
    if finish is None:
        text = "The model's answer stopped without an end; ask again."
    elif finish == "error":
        text = "The model ended its answer with an error; ask again, or choose another model."
    else:
        return None
    return models.Broke(provider_fault("bad_response", text, provider=provider), retryable=finish is None)


def _failed(options: Options, thread: Thread, turn: Turn, broke: models.Broke) -> Moved:
    overflows = is_overflow(broke.fault) and not turn.said
    if overflows and options.compacts and not turn.compacted:
        return shorten(thread, turn, "overflow", broke), ()
    again = (
        None
        if turn.said
        else retry.decide(options.limits, broke, turn.tries + 1, f"{thread.id}.{thread.keys}")
    )
    if again is not None:
        text = retry.waiting(broke, again, turn.tries + 1, options.limits)
        thread, told = moves.notice(thread, "warning", text, "retry")
        thread, job = moves.key(thread)
        turn = replace(turn, phase="retry", tries=turn.tries + 1, job=job)
        return replace(thread, turn=turn), (*told, Start(job, Wait(again.seconds)))
    fault = retry.cut(broke.fault) if turn.said else broke.fault
    if overflows and turn.compacted:
        fault = too_long(fault, chosen(options, thread))
    thread, effects = drop_calls(options, thread, "The call was not run: the model's answer was cut off.")
    return _answer(thread, replace(_turn(thread, turn), fault=fault)), effects


def is_overflow(fault: Fault) -> bool:
    """Whether a request was longer than the model takes."""
    return (fault.data or {}).get("kind") == OVERFLOW


OVERFLOW: Final = "context_overflow"


def too_long(fault: Fault, model: models.ModelChoice) -> Fault:
    """The fault of a conversation that cannot be made short enough."""
    text = (
        f"The conversation is too long for {model.name} and could not be shortened enough. "
        "Start a new session, or choose a model with a larger window."
    )
    return Fault(fault.code, text, fault.data)


def _done(options: Options, thread: Thread, turn: Turn) -> Moved:
    thread, turn = blocks.flush(thread, replace(turn, tries=0, compacted=False))
    if turn.finish == "content-filter":
        return _refused(options, replace(thread, turn=turn), turn)
    if turn.calls:
        return pump.pump(options, replace(thread, turn=replace(turn, phase="tools")))
    stop = outcome_to_stop_reason(Outcome(finish=turn.finish))
    effects: tuple[Effect, ...] = ()
    if not turn.said:
        thread, effects = moves.notice(thread, "warning", EMPTY, "empty")
    return _answer(thread, replace(turn, stop=stop)), effects


EMPTY = "The model gave an empty answer. Ask again, or choose another model."


def _refused(options: Options, thread: Thread, turn: Turn) -> Moved:
    effects: tuple[Effect, ...] = ()
    if turn.refusal:
        thread, effects = blocks.say(thread, turn, "agent", (turn.refusal,))
        thread, turn = blocks.close(thread, _turn(thread, turn))
        thread = replace(thread, turn=turn)
    thread, more = drop_calls(options, thread, "The call was not run: the model refused.")
    turn = _turn(thread, turn)
    thread = moves.append(thread, history.Excluded(turn.number))
    stop = outcome_to_stop_reason(Outcome(finish="content-filter"))
    return _answer(thread, replace(turn, stop=stop)), (*effects, *more)


def _answer(thread: Thread, turn: Turn) -> Thread:
    return replace(thread, turn=replace(turn, phase="answer"))


def _turn(thread: Thread, before: Turn) -> Turn:
    return before if thread.turn is None else thread.turn


def drop_calls(options: Options, thread: Thread, reason: str) -> Moved:
    """Give every call of the round that is not done this failed result."""
    effects: tuple[Effect, ...] = ()
    for call in () if thread.turn is None else thread.turn.calls:
        if call.phase != "done" and thread.turn is not None:
            thread, more = calls.finish(options, thread, thread.turn, call, failed(reason))
            effects = (*effects, *more)
    return thread, effects


def next_round(options: Options, thread: Thread, turn: Turn) -> Moved:
    """All calls of the round have results: ask again, or stop at the limit, or with a question to the user."""
    if turn.posed:
        thread, effects = blocks.say(thread, turn, "agent", (turn.posed,))
        thread, turn = blocks.close(thread, _turn(thread, turn))
        return _answer(thread, replace(turn, stop="end_turn", posed="")), effects
    if turn.round >= options.limits.rounds:
        stop = outcome_to_stop_reason(Outcome(turn_limit=True))
        return _answer(thread, replace(turn, stop=stop)), ()
    return start(options, thread, replace(turn, round=turn.round + 1))


# Usage ---------------------------------------------------------------------------------------------


def summed(a: Usage, b: Usage) -> Usage:
    """The tokens of both."""
    return Usage(
        a.input + b.input,
        a.output + b.output,
        a.cached_read + b.cached_read,
        a.cached_write + b.cached_write,
        a.thought + b.thought,
    )


def _show_usage(options: Options, thread: Thread, turn: Turn) -> Moved:
    """Tokens in context after this round; never guessed, so nothing is shown where the window is not known."""
    model, used = chosen(options, thread), turn.round_usage
    if used is None:
        return thread, ()
    context = used.input + used.output
    thread = replace(
        thread,
        context=context,
        cost=added(thread.cost, model.price, used),
        view=log.counted(thread.view, context),
    )
    if model.context_window is None:
        return thread, ()
    return thread, (Tell(thread.id, UsageShown(thread.context, model.context_window, thread.cost)),)
