"""How a thread is opened (ring 2): a new one, a stored one, one whose history was given back.

What is to be done first, a job each: a stored one is looked for, the folders are looked at, the history is read. A
thread that is open and idle is read again, too, since another program may have gone on with it; of one that is not, only
the folders are looked at, and its turn goes on meanwhile.
"""

from collections.abc import Callable, Mapping
from hashlib import sha256
from types import MappingProxyType
from typing import Any, Final

from msgspec.structs import replace

from zidane_core.agent import (
    log,
    model_names,
    moves,
    pages,
    records,
    repairing,
    replaying,
    restoring,
    saving,
    servers,
    settings,
    titles,
    trusting,
)
from zidane_core.agent.effects import (
    Answer,
    Effect,
    ReopenAnswer,
    Start,
    Tell,
    ThreadAnswer,
    TitleShown,
    UsageShown,
)
from zidane_core.agent.events import (
    CheckedPaths,
    EntriesRead,
    Failed,
    Found,
    JobOutcome,
    Loaded,
    Ok,
    Progress,
)
from zidane_core.agent.moves import Moved
from zidane_core.agent.state import Agent, Options, Settings, Setup, Store, Thread
from zidane_core.agent.work import CheckPaths, FindThread, LoadThread, What
from zidane_core.data.history import Unread
from zidane_core.faults import ErrorCode, Fault, invalid_params, session_not_found


def make(agent: Agent, session: str | None, setup: Setup, now: float) -> tuple[Agent, Thread]:
    """A thread that is to be opened by this request; without a session it gets a fresh id."""
    number = agent.opened + 1
    digest = sha256(f"{agent.seed}:{number}".encode()).hexdigest()[:16]
    options = agent.options
    thread = Thread(
        id=f"sess_{digest}_{number}" if session is None else session,
        epoch=number,
        tag=digest[:6],
        cwd=setup.cwd,
        roots=(setup.cwd, *setup.roots),
        settings=_settings(options),
        created=now,
        updated=now,
        lane=(setup,),
        abilities=agent.abilities,
        commanded=agent.commanded,
        store=Store(state="open" if options.store else "none"),
    )
    return replace(agent, opened=number), thread


def _settings(options: Options) -> Settings:
    mode = options.mode or (options.modes[0].id if options.modes else "")
    return Settings(options.default_model, options.thinking, options.policy, mode)


def begin(options: Options, thread: Thread, setup: Setup) -> Moved:
    """Begin with a setup request; nothing else of the lane goes on before it has ended."""
    thread = replace(thread, setup=setup)
    if setup.kind == "new":
        return _start(thread, _looked_at(options, setup))
    if thread.phase != "open":
        return _start(thread, FindThread(thread.id))
    fault = _other_folder(thread.cwd, setup)
    if fault is not None:
        return _fail(thread, setup, fault)
    if saving.is_all_stored(thread):
        return _start(replace(thread, setup=replace(setup, again=True)), FindThread(thread.id))
    return _start(thread, _looked_at(options, setup))


def _read(thread: Thread) -> Moved:
    """Read the history from its beginning; a try before this one may have ended in the middle."""
    return _start(replace(thread, log=pages.Pages(), view=log.View()), LoadThread(thread.id))


def _start(thread: Thread, what: What) -> Moved:
    thread, job = moves.key(thread)
    return replace(thread, job=job), (Start(job, what),)


def _looked_at(options: Options, setup: Setup) -> CheckPaths:
    return CheckPaths((setup.cwd, *setup.roots), project=options.project or options.remembers)


def _other_folder(cwd: str, setup: Setup) -> Fault | None:
    if setup.kind == "warm" or titles.absolute(setup.cwd, setup.cwd) == titles.absolute(cwd, cwd):
        return None
    problem = f"this session belongs to the folder {cwd}; open it there, or start a new session"
    return invalid_params("cwd", problem, cwd=setup.cwd, expected=cwd)


# Steps ---------------------------------------------------------------------------------------------


def job_ended(options: Options, thread: Thread, outcome: JobOutcome) -> Moved:
    """A job of the setup ended: the next one, or the answer."""
    setup = thread.setup
    if setup is None:
        return thread, ()
    thread = replace(thread, job="")
    step = _STEPS.get(type(outcome.value)) if isinstance(outcome, Ok) else None
    if step is not None and isinstance(outcome, Ok):
        return step(options, thread, setup, outcome.value)
    if setup.again and thread.phase == "open":
        # The store cannot be asked: what is in memory is all there is.
        thread = replace(thread, setup=replace(setup, again=False))
        return _start(thread, _looked_at(options, setup))
    return _fail(thread, setup, outcome.fault if isinstance(outcome, Failed) else STOPPED)


STOPPED: Final = Fault(ErrorCode.REQUEST_CANCELLED, "The session was closed before it could be opened")


def _found(options: Options, thread: Thread, setup: Setup, found: Found) -> Moved:
    row = found.row
    if row is None and thread.phase == "open":
        # Deleted by another program: the same.
        thread = replace(thread, setup=replace(setup, again=False))
        return _start(thread, _looked_at(options, setup))
    if row is None:
        return _fail(thread, setup, session_not_found(thread.id))
    fault = _other_folder(row.cwd, setup) if row.cwd else None
    if fault is not None:
        return _fail(thread, setup, fault)
    head = records.head_of(row.head)
    if thread.phase == "open":
        thread = saving.without_history(thread)
    thread = replace(thread, cwd=row.cwd or thread.cwd, head=row.head, created=head.created)
    if setup.kind == "warm":
        return _read(thread)
    return _start(thread, _looked_at(options, setup))


def _checked(options: Options, thread: Thread, setup: Setup, checked: CheckedPaths) -> Moved:
    if checked.problem is not None:
        return _fail(thread, setup, _bad_folder(setup, checked.problem, checked.position))
    if checked.project is not None:
        thread = trusting.brought(options, thread, checked.project)
        if thread.phase == "opening" and thread.project is not None:
            thread = settings.first(options, thread, thread.project.settings)
    if setup.kind == "new" or thread.phase == "open":
        return _opened(options, thread, setup)
    return _read(thread)


def _bad_folder(setup: Setup, problem: str, position: int) -> Fault:
    path = (setup.cwd, *setup.roots)[position]
    field = f"additionalDirectories[{position - 1}]" if position else "cwd"
    return Fault(
        ErrorCode.INVALID_PARAMS, f"Invalid params: {field} {problem}: {path}", {"field": field, "path": path}
    )


def progress(options: Options, thread: Thread, batch: tuple[Progress, ...]) -> Moved:
    """A piece of the history was read: into the log, and to the client where it is replayed."""
    effects: list[Effect] = []
    for event in batch:
        if isinstance(event, EntriesRead) and thread.setup is not None:
            entries = tuple(records.entry_of(text) for text in event.entries)
            # What is known already was in force before the history was given back; it may have changed since.
            new = entries[max(thread.store.seq - len(thread.log), 0) :]
            kept, view = thread.log, thread.view
            for entry in entries:
                kept, view = pages.append(kept, entry), log.extend(view, entry)
            if thread.setup.kind == "load":
                effects.extend(replaying.replay(thread.id, entries))
            thread = restoring.restored(options, replace(thread, log=kept, view=view), new)
    return thread, tuple(effects)


def _loaded(options: Options, thread: Thread, setup: Setup, loaded: Loaded) -> Moved:
    missing = repairing.repairs(thread.log, loaded.journal)
    store = replace(thread.store, made=True, seq=len(thread.log), journal=loaded.journal)
    thread = replace(thread, store=store, cut=bool(missing))
    unread = sum(isinstance(entry, Unread) for entry in thread.log)
    if unread and thread.phase == "opening":
        thread = replace(thread, notices=(*thread.notices, _unread(unread)))
    thread, effects = _opened(options, thread, setup)
    replayed = replaying.replay(thread.id, missing) if setup.kind == "load" else ()
    return thread, (*replayed, *effects)


def _unread(count: int) -> str:
    what = "One entry" if count == 1 else f"{count} entries"
    return (
        f"{what} of this session could not be read, damaged or written by a newer program; the rest is here."
    )


# Any: each function takes the value type of its key, which a dict type cannot say.
_STEPS: Final[Mapping[type, Callable[[Options, Thread, Setup, Any], Moved]]] = MappingProxyType(
    {Found: _found, CheckedPaths: _checked, Loaded: _loaded}
)


# The end of a setup --------------------------------------------------------------------------------


def _opened(options: Options, thread: Thread, setup: Setup) -> Moved:
    before, later = thread.phase, thread.later
    thread = replace(thread, phase="open", setup=None, notices=(*thread.notices, *setup.notices))
    if before == "cold":
        thread = restoring.restored(options, moves.append_waiting(thread), later)
        owed = tuple(one if one.upto is None else replace(one, upto=len(thread.log)) for one in thread.owed)
        thread = replace(thread, owed=owed)
    if setup.kind == "warm":
        return thread, ()
    # The request says which folders are in force; stored ones never come back by themselves.
    thread = replace(thread, roots=(thread.cwd, *setup.roots))
    if setup.client_tools is not None and setup.client_tools != thread.client_tools:
        # What was granted to a tool of the client does not hold for another one of its name.
        grants = tuple(grant for grant in thread.grants if grant.value[:1] != ("client_tool",))
        thread = replace(thread, client_tools=setup.client_tools, grants=grants)
    shown = replaying.whole(thread) if before == "open" else replaying.replay(thread.id, later)
    replayed = shown if setup.kind == "load" else ()
    answer = ThreadAnswer(thread.id) if setup.kind == "new" else ReopenAnswer(thread.id)
    # After the answer, since the client does not know a new session before it.
    thread = replace(thread, advertised=None) if thread.advertised else thread
    titled: tuple[Effect, ...] = ()
    if setup.kind == "resume" and thread.title.text:
        titled = (Tell(thread.id, TitleShown(thread.title.text)),)
    thread, started = servers.set_up(options, thread, setup)
    return thread, (*replayed, Answer(setup.ticket, answer), *titled, *_told(options, thread), *started)


def _told(options: Options, thread: Thread) -> tuple[Effect, ...]:
    """What a client is told of an open thread beside its history."""
    size = model_names.chosen(options, thread).context_window
    if not thread.context or size is None:
        return ()
    return (Tell(thread.id, UsageShown(thread.context, size, thread.cost)),)


def _fail(thread: Thread, setup: Setup, fault: Fault) -> Moved:
    """The request failed. A thread that was to be opened by it is gone, one that is open stays as it was; one whose
    history cannot be read again has no answer for the prompts that wait for it."""
    answer: tuple[Effect, ...] = (Answer(setup.ticket, fault),) if setup.ticket else ()
    if thread.phase == "opening":
        return replace(saving.without_history(thread, "gone"), setup=None), answer
    thread = replace(thread, setup=None)
    if setup.kind != "warm":
        return thread, answer
    failed = tuple(Answer(queued.prompt.ticket, fault) for queued in thread.prompts if not queued.cancelled)
    # What was cancelled or chosen meanwhile has no place in the log yet, and no reason to wait for one.
    owed = tuple(replace(one, expired=True) for one in thread.owed)
    return replace(thread, prompts=(), owed=owed), (*answer, *failed)
