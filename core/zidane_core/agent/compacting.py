"""A conversation that the model has no room for is made shorter (ring 2): first results of tools, then by a summary.

`rounds` finds that room is wanted, `make_room` decides how it is made, and the round goes on then. The log keeps
everything; what the model sees is shortened by two entries. There is one try for a model request, and one request for
the summary, whose failure ends the turn with an error that says what to do.
"""

from typing import Final

import msgspec
from msgspec.structs import replace

from zidane_core.agent import blocks, budget, condensing, log, moves, pages, retry, rounds
from zidane_core.agent.effects import CompactionShown, Effect, Start, Tell
from zidane_core.agent.events import Failed, JobOutcome, Progress
from zidane_core.agent.model_names import chosen
from zidane_core.agent.moves import Moved
from zidane_core.agent.shortening import cut_of
from zidane_core.agent.state import Compaction, Options, Thread, Turn
from zidane_core.agent.work import RunModel, Wait
from zidane_core.convert.hints import for_model
from zidane_core.data import history, models
from zidane_core.data.content import Part
from zidane_core.data.outcome import Usage
from zidane_core.faults import Fault, provider_fault
from zidane_core.models.pricing import added
from zidane_core.text import Growing, grow, whole

LONGEST: Final = 8192
"""Tokens that a summary may have, with what a model thinks first."""

_LEAST_GOAL: Final = 256
"""Tokens for the messages below which there is no use in making them shorter: system prompt and tools fill the window."""

_MOST_WORDS: Final = 1500
"""Words that a model is asked for at most."""

_LEAST_SUMMARY: Final = 3000
"""Bytes that a summary may have in any case."""

_LEAST_PROMPT: Final = 1000
"""Bytes of the running prompt that are repeated in any case."""

TOO_LITTLE: Final = "There is too little in this conversation to shorten it."


class _Room(msgspec.Struct, frozen=True, gc=False):
    """What there is room for: `limit` tokens for a request (None: not known), of which `around` are the system prompt and the
    tools; `goal` is what all messages may have, in estimated tokens."""

    limit: int | None
    around: int
    goal: int


def _room(options: Options, thread: Thread, compaction: Compaction) -> _Room:
    asked, view = rounds.request(options, thread), thread.view
    around = budget.size_around(asked.system, asked.tools)
    limit = budget.limit(asked.model)
    if compaction.cause == "overflow":
        # The window is smaller than we think: half of what was refused is the best guess.
        refused = budget.tokens(view.counted, view.size, around)
        limit = refused // 2 if limit is None else min(limit, refused // 2)
        return _Room(limit, around, view.size // 2)
    free = view.size if limit is None else int(limit / budget.scale(view.counted, around)) - around
    return _Room(limit, around, free if compaction.cause == "full" else max(min(free, view.size), 0))


# How room is made -----------------------------------------------------------------------------------


def make_room(options: Options, thread: Thread, turn: Turn, compaction: Compaction) -> Moved:
    """A model request does not fit. Where shorter results of tools are enough, the model is asked at once; what the newest
    ones say stays whole, unless they leave no room themselves."""
    room = _room(options, thread, compaction)
    if compaction.cause == "full" and room.goal < _LEAST_GOAL:
        return _ask(options, thread, turn)
    messages = tuple(thread.view.messages)
    cut = cut_of(messages, _kept(room, thread.view.size))
    fills = sum(map(budget.size_of, messages[cut:])) > room.goal // 2
    upto = len(messages) if fills else cut
    shorter = log.extend(thread.view, history.Shortened(upto))
    if shorter.size < thread.view.size and _is_enough(shorter, room, compaction):
        return _ask(options, _shortened(thread, upto), turn)
    cut = cut_of(tuple(shorter.messages), _kept(room, thread.view.size))
    if _is_worth_it(messages[:cut], room.goal):
        return _begin(options, thread, turn, replace(compaction, upto=cut, goal=room.goal))
    if shorter.size < thread.view.size:
        return _ask(options, _shortened(thread, upto), turn)
    if compaction.broke is None:
        return _ask(options, thread, turn)  # an estimate refuses nothing
    return _fail(thread, turn, rounds.too_long(compaction.broke.fault, chosen(options, thread)))


def by_hand(options: Options, thread: Thread, turn: Turn, instructions: str) -> Moved:
    """The user wants the conversation shortened now, and says what is to be kept; the turn ends with it. The turn is `aside`:
    it is none of the conversation."""
    model = chosen(options, thread)
    if not model.language:
        return _said(thread, turn, f"{model.name} cannot summarise; choose another model first.")
    compaction = Compaction(cause="asked", instructions=instructions)
    room = _room(options, thread, compaction)
    earlier = tuple(thread.view.messages)[: thread.view.mark]
    cut = cut_of(earlier, _kept(room, sum(map(budget.size_of, earlier))), at_least_one=False)
    if cut < 2:
        return _said(thread, turn, TOO_LITTLE)
    return _begin(options, thread, turn, replace(compaction, upto=cut, goal=room.goal))


def _said(thread: Thread, turn: Turn, text: str) -> Moved:
    thread, effects = blocks.say(thread, turn, "agent", (text,))
    thread, turn = blocks.close(thread, thread.turn or turn)
    return _answered(thread, turn), effects


def _kept(room: _Room, size: int) -> int:
    """The tokens of the newest messages that stay word for word, of messages of this size."""
    return min(room.goal, size) // 4


def _is_enough(shorter: log.View, room: _Room, compaction: Compaction) -> bool:
    """Whether there is room, and some to spare: the next round must not need more of it at once."""
    if compaction.cause == "overflow" or room.limit is None:
        return shorter.size <= room.goal
    return budget.tokens(shorter.counted, shorter.size, room.around) * 4 <= room.limit * 3


def _is_worth_it(messages: tuple[models.Message, ...], goal: int) -> bool:
    """Whether a summary can be much shorter; one of one message, which may be a summary, only where that is large."""
    return len(messages) > 1 or sum(map(budget.size_of, messages)) > goal // 2


def _shortened(thread: Thread, upto: int) -> Thread:
    return replace(moves.append(thread, history.Shortened(upto)), context=0)


def _ask(options: Options, thread: Thread, turn: Turn) -> Moved:
    return rounds.start(options, thread, replace(turn, compaction=None))


# The summary ----------------------------------------------------------------------------------------


def _begin(options: Options, thread: Thread, turn: Turn, compaction: Compaction) -> Moved:
    thread, shown = moves.message(thread)
    thread, asked = _request(options, thread, turn, replace(compaction, id=shown))
    return thread, (Tell(thread.id, CompactionShown(shown, "in_progress")), *asked)


def _request(options: Options, thread: Thread, turn: Turn, compaction: Compaction) -> Moved:
    """Ask the model for the summary, in a request that fits wherever one does."""
    model = chosen(options, thread)
    room = _room(options, thread, compaction)
    most = min(budget.reserve(model), LONGEST)
    words = min(_summary_bytes(compaction) // 8, _MOST_WORDS)
    asked = condensing.ask(words, compaction.instructions)
    messages = pages.truncate(thread.view.messages, compaction.upto)
    request = models.ModelRequest(
        model=model,
        system=condensing.SYSTEM,
        messages=condensing.question(
            condensing.transcript(tuple(messages), _transcript_size(thread, room, asked)), asked
        ),
        max_tokens=most,
    )
    thread, job = moves.key(thread)
    compaction = replace(compaction, waiting=False, said=Growing(), usage=None, finish=None, broke=None)
    turn = replace(turn, phase="compact", job=job, compaction=compaction)
    return replace(thread, turn=turn), (Start(job, RunModel(request, f"{thread.id}/summary")),)


def _transcript_size(thread: Thread, room: _Room, asked: str) -> int:
    """Estimated tokens that the transcript may have; a tenth of the room is left for what estimates get wrong."""
    if room.limit is None:
        return thread.view.size * 2  # it has fitted so far
    scale = max(budget.scale(thread.view.counted, room.around), 1.0)
    most = int(room.limit * 0.9 / scale)
    return max(most - budget.size_of_text(condensing.SYSTEM + asked) - 4 * budget.FRAME, 500)


def _summary_bytes(compaction: Compaction) -> int:
    return min(max(compaction.goal // 4 * budget.BYTES, _LEAST_SUMMARY), LONGEST * budget.BYTES)


def progress(thread: Thread, turn: Turn, batch: tuple[Progress, ...]) -> Thread:
    """The model says its summary; it is shown when it is whole."""
    compaction = turn.compaction
    if compaction is None:
        return thread
    for event in batch:
        if isinstance(event, models.TextDelta):
            compaction = replace(compaction, said=grow(compaction.said, event.text))
        elif isinstance(event, models.Used):
            compaction = replace(compaction, usage=event.usage)
        elif isinstance(event, models.Finished):
            compaction = replace(compaction, finish=event.reason)
        elif isinstance(event, models.Broke):
            compaction = replace(compaction, broke=event)
    return replace(thread, turn=replace(turn, compaction=compaction))


def ended(options: Options, thread: Thread, turn: Turn, outcome: JobOutcome) -> Moved:
    """The request for the summary is over, or the wait before another one."""
    compaction = turn.compaction
    turn = replace(turn, job="")
    if compaction is None:
        return replace(thread, turn=turn), ()
    if compaction.waiting and not turn.stopping:
        return _request(options, thread, turn, compaction)
    model, used = chosen(options, thread), compaction.usage or Usage()
    turn = replace(turn, usage=rounds.summed(turn.usage, used))
    thread = replace(thread, turn=turn, cost=added(thread.cost, model.price, used))
    if turn.stopping:
        return thread, ()
    broke = (
        models.Broke(outcome.fault, outcome.retryable, outcome.retry_after)
        if isinstance(outcome, Failed)
        else compaction.broke or rounds.unfinished(model.provider, compaction.finish)
    )
    if broke is not None:
        return _broke(options, thread, turn, compaction, broke)
    if compaction.finish == "content-filter" or not whole(compaction.said).strip():
        fault = provider_fault("bad_response", NO_SUMMARY, provider=model.provider)
        return _not_summarised(options, thread, turn, compaction, fault)
    return _summarised(options, thread, turn, compaction)


NO_SUMMARY: Final = "The model gave no summary of it."


def _broke(
    options: Options, thread: Thread, turn: Turn, compaction: Compaction, broke: models.Broke
) -> Moved:
    tries = compaction.tries + 1
    again = retry.decide(options.limits, broke, tries, f"{thread.id}.{thread.keys}")
    if again is None:
        return _not_summarised(options, thread, turn, compaction, broke.fault)
    text = retry.waiting(broke, again, tries, options.limits)
    thread, told = moves.notice(thread, "warning", text, "retry")
    thread, job = moves.key(thread)
    waiting = replace(compaction, tries=tries, waiting=True, usage=None)
    return replace(thread, turn=replace(turn, job=job, compaction=waiting)), (
        *told,
        Start(job, Wait(again.seconds)),
    )


def _summarised(options: Options, thread: Thread, turn: Turn, compaction: Compaction) -> Moved:
    most = _summary_bytes(compaction)
    newest = None if compaction.cause == "asked" else _newest(thread, compaction.upto)
    text = condensing.summary(
        whole(compaction.said), most, newest, max(compaction.goal // 8 * budget.BYTES, _LEAST_PROMPT)
    )
    thread = moves.append(thread, history.Compacted(compaction.upto, text, compaction.id))
    thread = replace(thread, context=0)
    effects: tuple[Effect, ...] = (
        Tell(thread.id, CompactionShown(compaction.id, "completed", summary=text)),
    )
    if compaction.cause == "asked":
        return _answered(thread, turn), effects
    # The newest results have stayed whole; where they leave no room, they are shortened after all.
    size = len(thread.view.messages)
    shorter = log.extend(thread.view, history.Shortened(size))
    if thread.view.size * 4 > compaction.goal * 3 and shorter.size < thread.view.size:
        thread = _shortened(thread, size)
    thread, asked = _ask(options, thread, turn)
    return thread, (*effects, *asked)


def _newest(thread: Thread, upto: int) -> tuple[Part, ...] | None:
    """The running prompt, if it is not among the messages that stay: there it would be the last one of the user."""
    if any(isinstance(message, models.UserMessage) for message in pages.after(thread.view.messages, upto)):
        return None
    said = (entry.parts for entry in pages.backwards(thread.log) if isinstance(entry, history.UserSaid))
    newest = next(said, None)
    return None if newest is None else for_model(newest)


# Ends -----------------------------------------------------------------------------------------------


def _not_summarised(
    options: Options, thread: Thread, turn: Turn, compaction: Compaction, fault: Fault
) -> Moved:
    """Without a summary shorter results of tools must do; where they do not, the turn fails."""
    effects: tuple[Effect, ...] = (
        Tell(thread.id, CompactionShown(compaction.id, "failed", error=fault.message)),
    )
    turn = replace(turn, compaction=None)
    size = len(thread.view.messages)
    shorter = log.extend(thread.view, history.Shortened(size))
    if compaction.cause != "asked" and shorter.size <= min(compaction.goal, thread.view.size - 1):
        thread, asked = _ask(options, _shortened(thread, size), turn)
        return thread, (*effects, *asked)
    thread, failed = _fail(thread, turn, _fault(chosen(options, thread), compaction, fault))
    return thread, (*effects, *failed)


def _fault(model: models.ModelChoice, compaction: Compaction, fault: Fault) -> Fault:
    if compaction.cause == "asked":
        return Fault(fault.code, f"The conversation was not shortened. {fault.message}", fault.data)
    if fault.message == NO_SUMMARY:
        fault = Fault(fault.code, fault.message, {**(fault.data or {}), "kind": rounds.OVERFLOW})
    if rounds.is_overflow(fault):
        return rounds.too_long(fault, model)
    text = f"The conversation is too long for {model.name} and could not be summarised. {fault.message}"
    return Fault(fault.code, text, fault.data)


def _fail(thread: Thread, turn: Turn, fault: Fault) -> Moved:
    return replace(thread, turn=replace(turn, phase="answer", fault=fault, compaction=None)), ()


def _answered(thread: Thread, turn: Turn) -> Thread:
    return replace(thread, turn=replace(turn, phase="answer", stop="end_turn", compaction=None))


def dropped(thread: Thread, turn: Turn) -> tuple[Effect, ...]:
    """The turn ends while a summary is being made: nothing of it is kept."""
    compaction = turn.compaction
    if compaction is None or not compaction.id:
        return ()
    return (Tell(thread.id, CompactionShown(compaction.id, "cancelled")),)
