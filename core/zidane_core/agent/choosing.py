"""Requests to set something for a thread (ring 2): answered once it is stored, or when a model's provider is made."""

from typing import Final

from msgspec.structs import replace

from zidane_core.agent import moves, owing, settings
from zidane_core.agent.effects import Answer, AnswerValue, EmptyAnswer, OptionsAnswer, Start, Stop
from zidane_core.agent.events import Failed, JobOutcome, Ok
from zidane_core.agent.moves import Moved
from zidane_core.agent.state import Choosing, Options, Thread
from zidane_core.agent.work import RunFactory
from zidane_core.data.models import ModelChoice
from zidane_core.faults import ErrorCode, Fault


def choose(options: Options, thread: Thread, asked: Choosing) -> Moved:
    """Set an option. A model whose provider is made late is there first; what waits in the lane waits for that."""
    value = settings.valid(options, thread, asked.option, asked.value)
    if isinstance(value, Fault):
        return thread, (Answer(asked.ticket, _named(asked, value)),)
    model = made_late(options, value) if asked.option == settings.MODEL else None
    if model is not None:
        thread, job = moves.key(thread)
        return replace(thread, job=job, choosing=asked), (Start(job, RunFactory(model)),)
    return _chosen(options, thread, asked, value)


def made_late(options: Options, value: str) -> ModelChoice | None:
    """The model of a value, if its provider may have to be made first."""
    return next((model for model in options.models if model.value == value and model.made_late), None)


def _named(asked: Choosing, fault: Fault) -> Fault:
    """A mode that is set as such has a field of its own."""
    if asked.via == "option" or fault.data is None:
        return fault
    message = fault.message.replace(": value:", ": modeId:", 1)
    return Fault(fault.code, message, {**fault.data, "field": "modeId"})


def _chosen(options: Options, thread: Thread, asked: Choosing, value: str) -> Moved:
    after = settings.put(options, thread, asked.option, value)
    by_option = asked.via == "option"
    told = () if after is thread else settings.told(after, asked.option, by_option=by_option)
    answer: AnswerValue = OptionsAnswer(thread.id) if by_option else EmptyAnswer()
    after, owed = owing.owe(options, after, asked.ticket, answer)
    return after, (*told, *owed)


def ended(options: Options, thread: Thread, asked: Choosing, outcome: JobOutcome) -> Moved:
    """The provider is made, or could not be: then the model stays as it was."""
    thread = replace(thread, job="", choosing=None)
    if isinstance(outcome, Ok):
        # Once more, since the models may have changed meanwhile.
        value = settings.valid(options, thread, asked.option, asked.value)
        if not isinstance(value, Fault):
            return _chosen(options, thread, asked, value)
        return thread, (Answer(asked.ticket, value),)
    return thread, (Answer(asked.ticket, outcome.fault if isinstance(outcome, Failed) else STOPPED),)


STOPPED: Final = Fault(ErrorCode.REQUEST_CANCELLED, "The request was cancelled before the model was there")


def drop(thread: Thread, ticket: int | None = None) -> Moved:
    """The request that waits for a provider (or the one of a ticket) is not wanted any more."""
    asked = thread.choosing
    if asked is None or ticket not in (None, asked.ticket):
        return thread, ()
    stop = Stop(thread.job)
    return replace(thread, job="", choosing=None), (stop, Answer(asked.ticket, STOPPED))
