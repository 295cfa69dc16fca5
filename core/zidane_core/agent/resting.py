"""Idle threads give back the memory of their history, and read it again when it is wanted (ring 2)."""

from msgspec.structs import replace

from zidane_core.agent import moves, opening, saving
from zidane_core.agent.effects import Effect, Start, Stop
from zidane_core.agent.moves import Moved
from zidane_core.agent.state import Options, Setup, Thread
from zidane_core.agent.work import Rest


def watch(options: Options, thread: Thread) -> Moved:
    """Begin to wait when nothing is left to do, stop when something is."""
    if not _is_idle(thread):
        stops: tuple[Effect, ...] = (Stop(thread.idle),) if thread.idle else ()
        return (replace(thread, idle=""), stops) if thread.idle else (thread, ())
    if thread.idle:
        return thread, ()
    thread, idle = moves.key(thread)
    return replace(thread, idle=idle), (Start(idle, Rest(options.limits.idle_after)),)


def _is_idle(thread: Thread) -> bool:
    return saving.is_all_stored(thread) and not (thread.lane or thread.job or thread.title.job)


def rest(thread: Thread) -> Thread:
    """The wait is over: the history is given back."""
    thread = replace(thread, idle="")
    return saving.without_history(thread) if _is_idle(thread) else thread


def wake(options: Options, thread: Thread) -> Moved:
    """Read the history again when something waits for it."""
    if thread.job or not (thread.prompts or thread.owed):
        return thread, ()
    return opening.begin(options, thread, Setup(kind="warm", cwd=thread.cwd))
