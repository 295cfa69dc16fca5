"""Tool calls as small machines (ring 2): one step for a local tool, more for tools that ask the client.

A machine is four pure functions. `begin` starts the preparation, `go` the work once it is allowed, `got` takes what
a job or an ask of the machine ended with, `halt` says what is still to be done when the call is stopped. Each gives
the machine's next state and signals; the pump obeys them, and it alone starts, stops and withdraws.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Literal, NamedTuple, TypeAlias

import msgspec

from zidane_core.agent.editor_files import Seen
from zidane_core.agent.events import JobOutcome
from zidane_core.agent.peer import Abilities, PeerAnswer, PeerRequest, Unanswerable
from zidane_core.agent.work import What
from zidane_core.data.content import Part
from zidane_core.data.tools import Diff, Location, PlanEntry, Preview, Terminal, ToolResult, ToolSpec


class Work(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The call that a machine works on. `granted`, `outside` and `denied` are as in `RunTool`.

    `abilities` is what the client can be asked for now, `seen` what was last seen of files by the path they are shown
    under, `commanded` whether commands have run in the session.
    """

    session: str
    call: str
    name: str
    arguments: dict[str, object]
    spec: ToolSpec
    cwd: str
    roots: tuple[str, ...]
    paths: tuple[str, ...] = ()
    preview: Preview | None = None
    granted: bool = False
    outside: bool = False
    denied: tuple[str, ...] = ()
    abilities: Abilities = Abilities()
    seen: Mapping[str, Seen] = MappingProxyType({})
    commanded: bool = False


# Signals -------------------------------------------------------------------------------------------


class Job(msgspec.Struct, frozen=True, gc=False, tag="job"):
    """Start a job; what it ends with comes back under `tag`."""

    tag: str
    what: What


class Ask(msgspec.Struct, frozen=True, gc=False, tag="ask"):
    """Ask the client; its answer comes back under `tag`."""

    tag: str
    request: PeerRequest


class StopJob(msgspec.Struct, frozen=True, gc=False, tag="stop"):
    """Stop a job; nothing of it comes back."""

    tag: str


class DropAsk(msgspec.Struct, frozen=True, gc=False, tag="drop"):
    """Withdraw a question."""

    tag: str


class Detach(msgspec.Struct, frozen=True, gc=False, tag="detach"):
    """Tell the client to do something whose answer nobody waits for."""

    request: PeerRequest


class Card(msgspec.Struct, frozen=True, gc=False, tag="card"):
    """Show something on the call's card."""

    content: tuple[Part | Diff | Terminal, ...] | None = None
    locations: tuple[Location, ...] | None = None


class Plan(msgspec.Struct, frozen=True, gc=False, tag="plan"):
    """Set the plan."""

    entries: tuple[PlanEntry, ...]


class GiveUp(msgspec.Struct, frozen=True, gc=False, tag="give_up"):
    """The client failed at something that it had offered: it is not asked for that again in this thread."""

    what: Literal["files", "terminals"]
    reason: str


class Remember(msgspec.Struct, frozen=True, gc=False, tag="remember"):
    """What was seen of a file, in the editor and on the disk."""

    path: str
    seen: Seen


class SwitchMode(msgspec.Struct, frozen=True, gc=False, tag="switch_mode"):
    """The thread goes on in the mode that its present one leads to."""


class Pose(msgspec.Struct, frozen=True, gc=False, tag="pose"):
    """Ask the user in plain text: said as the agent's message when the round is over, and the turn ends there."""

    text: str


class Ready(msgspec.Struct, frozen=True, gc=False, tag="ready"):
    """The preparation is done; the call can be judged."""

    preview: Preview | None = None


class Done(msgspec.Struct, frozen=True, gc=False, tag="done"):
    """The call is over."""

    result: ToolResult


Signal: TypeAlias = (
    Job
    | Ask
    | StopJob
    | DropAsk
    | Detach
    | Card
    | Plan
    | SwitchMode
    | GiveUp
    | Remember
    | Pose
    | Ready
    | Done
)

Got: TypeAlias = JobOutcome | PeerAnswer


State: TypeAlias = msgspec.Struct
"""The state of a machine: a frozen record of its own, which nobody else looks into."""


class Stateless(msgspec.Struct, frozen=True, gc=False):
    """The state of a machine that has nothing to remember."""


Turned: TypeAlias = tuple[State, tuple[Signal, ...]]


class Machine(NamedTuple):
    """The four functions of a machine."""

    begin: Callable[[Work], Turned]
    go: Callable[[State, Work], Turned]
    got: Callable[[State, Work, str, Got], Turned]
    halt: Callable[[State, Work], Turned]


# What several machines do in the same way ----------------------------------------------------------


def ready_at_once(work: Work) -> Turned:
    """The `begin` of a machine that has nothing to prepare."""
    return Stateless(), (Ready(),)


def nothing_to_halt(state: State, work: Work) -> Turned:
    """The `halt` of a machine that leaves nothing behind but its jobs and asks, which the pump ends."""
    return state, ()


def problem_of(got: Got) -> str:
    """Why a client's answer is of no use."""
    return got.reason if isinstance(got, Unanswerable) else "its answer could not be read"
