"""The lane of a thread (ring 2): its requests in the order of their arrival, while a setup is being worked on.

A setup request holds everything behind it until it has its answer. Prompts leave the lane for the queue of prompts,
where they wait for the running turn only. Cancelling and closing do not wait here.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final

from msgspec.structs import replace

from zidane_core.agent import choosing, opening
from zidane_core.agent.effects import Answer, Effect
from zidane_core.agent.events import Prompt
from zidane_core.agent.moves import Moved
from zidane_core.agent.state import Choosing, Held, Options, QueuedPrompt, Setup, Thread
from zidane_core.faults import ErrorCode, Fault

CANCELLED: Final = Fault(ErrorCode.REQUEST_CANCELLED, "The request was cancelled before it was begun")


def enter(thread: Thread, held: Held) -> Thread:
    """The thread with one more request to do, in order."""
    return replace(thread, lane=(*thread.lane, held))


def is_free(thread: Thread) -> bool:
    """Whether a request waits in the lane, and no setup holds it; what comes behind a close waits for its end."""
    return bool(thread.lane) and not thread.job and thread.closing is None and thread.phase != "gone"


def next_of(options: Options, thread: Thread) -> Moved:
    """Do the first request of a lane that is free."""
    first, rest = thread.lane[0], thread.lane[1:]
    return _DO[type(first)](options, replace(thread, lane=rest), first)


def cancel_prompts(thread: Thread, ticket: int | None = None) -> Thread:
    """The prompts in the lane (or the one of a ticket) go to the queue at once: they are to be cancelled there."""
    gone = tuple(held for held in thread.lane if isinstance(held, Prompt) and ticket in (None, held.ticket))
    if not gone:
        return thread
    lane = tuple(held for held in thread.lane if held not in gone)
    prompts = tuple(QueuedPrompt(prompt) for prompt in gone)
    return replace(thread, lane=lane, prompts=(*thread.prompts, *prompts))


def withdraw(thread: Thread, ticket: int) -> Moved:
    """A request in the lane is not wanted any more."""
    held = next((one for one in thread.lane if one.ticket == ticket), None)
    if held is None:
        return choosing.drop(thread, ticket)
    thread = replace(thread, lane=tuple(one for one in thread.lane if one is not held))
    return thread, (Answer(ticket, CANCELLED),)


def drop(thread: Thread) -> Moved:
    """Answer all requests of the lane as cancelled."""
    thread, dropped = choosing.drop(thread)
    answers: tuple[Effect, ...] = tuple(Answer(held.ticket, CANCELLED) for held in thread.lane)
    return (replace(thread, lane=()) if answers else thread), (*dropped, *answers)


def _queue(options: Options, thread: Thread, prompt: Prompt) -> Moved:
    return replace(thread, prompts=(*thread.prompts, QueuedPrompt(prompt))), ()


def _setup(options: Options, thread: Thread, setup: Setup) -> Moved:
    return opening.begin(options, thread, setup)


def _choose(options: Options, thread: Thread, asked: Choosing) -> Moved:
    return choosing.choose(options, thread, asked)


# Any: each function takes the request type of its key, which a dict type cannot say.
_DO: Final[Mapping[type, Callable[[Options, Thread, Any], Moved]]] = MappingProxyType(
    {Prompt: _queue, Setup: _setup, Choosing: _choose}
)
