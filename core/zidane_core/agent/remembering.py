"""Permissions that outlive their question (ring 2): for the session in its log, for the project by a job.

One for a project holds in the thread at once. Where it could not be kept it holds for this session only, and the user is
told so.
"""

from msgspec.structs import replace

from zidane_core.agent import moves, table
from zidane_core.agent.effects import Start
from zidane_core.agent.events import Ended, Failed, Key, Ok
from zidane_core.agent.moves import Moved
from zidane_core.agent.permission import CLIENT_TOOL, project_folder
from zidane_core.agent.state import Agent, Keeping, Options, Thread
from zidane_core.agent.work import KeepGrant
from zidane_core.data.history import Granted
from zidane_core.data.rules import Grant


def for_session(thread: Thread, grant: Grant) -> Moved:
    """The permission holds in this session, also in a later program."""
    if grant in thread.grants:
        return thread, ()
    thread = replace(thread, grants=(*thread.grants, grant))
    # A tool of the client is one of this connection only, so there is nothing to come back to.
    return thread if grant.value[:1] == (CLIENT_TOOL,) else moves.append_later(thread, Granted(grant)), ()


def for_project(thread: Thread, grant: Grant) -> Moved:
    """The permission holds in the thread's project; it is being kept for later sessions."""
    folder = project_folder(thread)
    thread = _held(thread, grant)
    thread, job = moves.key(thread)
    thread = replace(thread, keeping=(*thread.keeping, Keeping(job, grant)))
    return thread, (Start(job, KeepGrant(folder, grant)),)


def is_of(thread: Thread, key: Key) -> bool:
    """Whether a job keeps a permission of this thread."""
    return any(keeping.job == key for keeping in thread.keeping)


def ended(options: Options, thread: Thread, event: Ended) -> Moved:
    """A permission is kept, or it is not and holds for this session only."""
    grant = _grant_of(thread, event.key)
    thread = replace(thread, keeping=tuple(one for one in thread.keeping if one.job != event.key))
    if grant is None or isinstance(event.outcome, Ok):
        return thread, ()
    why = event.outcome.fault.message if isinstance(event.outcome, Failed) else "the work was stopped."
    notice = f"The permission holds for this session only, since it could not be kept for the project: {why}"
    thread = _let_go(replace(thread, notices=(*thread.notices, notice)), grant)
    return for_session(thread, grant)


def spread(agent: Agent, thread: Thread, event: Ended) -> Agent:
    """A permission that was kept holds in every open thread of the project: in others, and in this one if its project was
    read again meanwhile. `thread` is as it was before."""
    grant, folder = _grant_of(thread, event.key), project_folder(thread)
    if grant is None or not folder or not isinstance(event.outcome, Ok):
        return agent
    for other in tuple(table.every(agent)):
        if project_folder(other) == folder:
            agent = table.put(agent, _held(other, grant))
    return agent


def _grant_of(thread: Thread, key: Key) -> Grant | None:
    return next((keeping.grant for keeping in thread.keeping if keeping.job == key), None)


def _held(thread: Thread, grant: Grant) -> Thread:
    project = thread.project
    if project is None or grant in project.grants:
        return thread
    return replace(thread, project=replace(project, grants=(*project.grants, grant)))


def _let_go(thread: Thread, grant: Grant) -> Thread:
    project = thread.project
    if project is None:
        return thread
    grants = tuple(one for one in project.grants if one != grant)
    return replace(thread, project=replace(project, grants=grants))
