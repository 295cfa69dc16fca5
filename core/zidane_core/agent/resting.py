"""Idle threads give back the memory of their history, and read it again when it is wanted (ring 2)."""

from msgspec.structs import replace

from zidane_core.agent import log, moves, opening, pages, saving
from zidane_core.agent.effects import Effect, Start, Stop
from zidane_core.agent.moves import Moved
from zidane_core.agent.state import Options, Setup, Thread
from zidane_core.agent.work import Rest


def watch(options: Options, thread: Thread) -> Moved:
    """Begin to wait when nothing is left to do, stop when something is."""
    if not _is_idle(thread):
        stops: tuple[Effect, ...] = (Stop(thread.idle),) if thread.idle else ()
        return (replace(thread, idle=""), stops) if thread.idle else (thread, ())
    if thread.idle or not len(thread.log):
        return thread, ()
    thread, idle = moves.key(thread)
    return replace(thread, idle=idle), (Start(idle, Rest(options.limits.idle_after)),)


def _is_idle(thread: Thread) -> bool:
    busy = thread.turn or thread.prompts or thread.lane or thread.owed or thread.later or thread.closing
    return (
        thread.phase == "open"
        and not busy
        and not thread.job
        and not thread.title.job
        and thread.store.state == "open"
        and not thread.store.saving
        and saving.is_saved(thread)
    )


def rest(thread: Thread) -> Thread:
    """The wait is over: the history is given back."""
    if not _is_idle(thread):
        return replace(thread, idle="")
    return replace(thread, phase="cold", idle="", log=pages.Pages(), view=log.View())


def wake(options: Options, thread: Thread) -> Moved:
    """Read the history again when something waits for it."""
    if thread.job or not (thread.prompts or thread.later):
        return thread, ()
    return opening.begin(options, thread, Setup(kind="warm", cwd=thread.cwd))
