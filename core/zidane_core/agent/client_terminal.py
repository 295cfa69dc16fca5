"""The machine of `shell` in a terminal of the client (ring 2): create, wait, output, release; on a timeout kill first.

A terminal that was made is released, however the call ends. A client that cannot make one is not asked again, and the
local tool runs the command; once it has begun to run in a terminal it is never run a second time.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

import msgspec
from msgspec.structs import replace

from zidane_core.agent import titles
from zidane_core.agent.events import Ok
from zidane_core.agent.local_machine import failed, result_of, run_tool
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
    Ready,
    Signal,
    State,
    StopJob,
    Turned,
    Work,
    problem_of,
)
from zidane_core.agent.peer import (
    CreateTerminal,
    Dismissed,
    Exited,
    KillTerminal,
    ReadTerminal,
    ReleaseTerminal,
    TerminalMade,
    TerminalText,
    WaitForExit,
)
from zidane_core.agent.work import Wait
from zidane_core.bounded import bounded
from zidane_core.convert.command_result import command_result
from zidane_core.convert.visible import output as visible_output
from zidane_core.data.tools import Preview, Terminal
from zidane_core.models.providers import HIDDEN_VARIABLES

MADE_WITHIN: Final = 20.0
"""Seconds that a client has for making a terminal."""

ANSWERED_WITHIN: Final = 5.0
"""Seconds that it has for killing a command or giving its output."""

TIMEOUT: Final = 120.0
"""Seconds that a command may run when the call does not say."""

OUTPUT_BYTES: Final = 256 * 1024
GIVEN_BYTES: Final = 48 * 1024
"""Bytes of output that the terminal keeps, and that the model is given."""

# A terminal would page, and ask for passwords; the keys of model providers are for the agent alone.
ENVIRONMENT: Final[tuple[tuple[str, str], ...]] = (
    ("PAGER", "cat"),
    ("GIT_PAGER", "cat"),
    ("GIT_TERMINAL_PROMPT", "0"),
    *((name, "") for name in HIDDEN_VARIABLES),
)


class Running(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """`terminal` is the client's name of it, '' before it is made and after it is released; `exited` how the command
    ended, `late` whether the timeout has passed, `local` that the local tool runs it."""

    terminal: str = ""
    exited: Exited | None = None
    late: bool = False
    local: bool = False


def _begin(work: Work) -> Turned:
    return Running(), (Job("prepare", run_tool(work, "prepare")),)


def _go(state: State, work: Work) -> Turned:
    if not isinstance(state, Running) or not work.abilities.terminals:
        return Running(local=True), (Job("run", run_tool(work, "run")),)
    if work.granted:
        return state, _create(work, ())
    # Nobody was asked, since the command is harmless here: looked at once more, right before it runs.
    return state, (Job("again", run_tool(work, "prepare")),)


def _create(work: Work, environment: tuple[tuple[str, str], ...]) -> tuple[Signal, ...]:
    line = str(work.arguments.get("command"))
    windows = titles.is_windows(work.cwd)
    create = CreateTerminal(
        command="cmd.exe" if windows else "/bin/sh",
        arguments=("/d", "/s", "/c", line) if windows else ("-c", line),
        environment=(*ENVIRONMENT, *environment),
        cwd=_folder(work),
        output_bytes=OUTPUT_BYTES,
    )
    return Ask("create", create), Job("made bound", Wait(MADE_WITHIN))


def _folder(work: Work) -> str:
    """The session's folder as the client named it, any other one by its real path."""
    given = work.arguments.get("cwd")
    paths = () if work.preview is None else work.preview.paths
    return paths[0].real if isinstance(given, str) and given and paths else work.cwd


def _seconds(work: Work) -> float:
    value = work.arguments.get("timeout")
    return float(value) if isinstance(value, int | float) else TIMEOUT


def _got(state: State, work: Work, tag: str, got: Got) -> Turned:
    if not isinstance(state, Running):
        return state, ()
    if tag in _BOUNDS:
        return _BOUNDS[tag](state, work) if isinstance(got, Ok) else (state, ())
    return _GOT[tag](state, work, got)


def _prepared(state: Running, work: Work, got: Got) -> Turned:
    if isinstance(got, Ok) and isinstance(got.value, Preview):
        return state, (Ready(got.value),)
    return state, (Done(result_of(work, got)),)


def _looked_again(state: Running, work: Work, got: Got) -> Turned:
    if not (isinstance(got, Ok) and isinstance(got.value, Preview)):
        return state, (Done(result_of(work, got)),)
    found = got.value
    if not found.harmless or not all(path.inside for path in found.paths):
        changed = "What this command would do here has changed since it was looked at; try again."
        return state, (Done(failed(changed)),)
    return state, _create(work, found.environment)


def _made(state: Running, work: Work, got: Got) -> Turned:
    if isinstance(got, Dismissed):
        return state, (Done(failed("The client was told not to make a terminal; the command was not run.")),)
    if not isinstance(got, TerminalMade):
        signals = (StopJob("made bound"), GiveUp("terminals", problem_of(got)))
        return replace(state, local=True), (*signals, Job("run", run_tool(work, "run")))
    return replace(state, terminal=got.terminal), (
        StopJob("made bound"),
        Card(content=(Terminal(got.terminal),)),
        Ask("exit", WaitForExit(got.terminal)),
        Job("timeout", Wait(_seconds(work))),
    )


def _not_made(state: Running, work: Work) -> Turned:
    # A terminal that comes late is released by whoever withdraws the request.
    reason = f"it did not answer within {MADE_WITHIN:g} s"
    signals = (DropAsk("create"), GiveUp("terminals", reason), Job("run", run_tool(work, "run")))
    return replace(state, local=True), signals


def _exited(state: Running, work: Work, got: Got) -> Turned:
    if state.late:
        return (replace(state, exited=got) if isinstance(got, Exited) else state), ()
    if isinstance(got, Exited):
        return replace(state, exited=got), (StopJob("timeout"), *_ask_output(state))
    # Nobody knows whether it still runs: it is ended, and what it said so far is the result.
    return state, (StopJob("timeout"), GiveUp("terminals", problem_of(got)), *_ask_kill(state))


def _too_late(state: Running, work: Work) -> Turned:
    return replace(state, late=True), _ask_kill(state)


def _ask_kill(state: Running) -> tuple[Signal, ...]:
    return Ask("kill", KillTerminal(state.terminal)), Job("kill bound", Wait(ANSWERED_WITHIN))


def _killed(state: Running, work: Work, got: Got) -> Turned:
    return state, (StopJob("kill bound"), *_ask_output(state))


def _not_killed(state: Running, work: Work) -> Turned:
    return state, (DropAsk("kill"), *_ask_output(state))


def _ask_output(state: Running) -> tuple[Signal, ...]:
    return Ask("output", ReadTerminal(state.terminal)), Job("output bound", Wait(ANSWERED_WITHIN))


def _said(state: Running, work: Work, got: Got) -> Turned:
    if isinstance(got, TerminalText):
        return _over(state, work, got)
    return _no_output(state, work, problem_of(got))


def _silent(state: Running, work: Work) -> Turned:
    return _no_output(state, work, f"it did not answer within {ANSWERED_WITHIN:g} s")


def _no_output(state: Running, work: Work, reason: str) -> Turned:
    state, signals = _over(state, work, TerminalText("[The output could not be read.]"))
    return state, (GiveUp("terminals", reason), *signals)


def _over(state: Running, work: Work, said: TerminalText) -> tuple[Running, tuple[Signal, ...]]:
    known = (one for one in (state.exited, said.exited) if one is not None and one != Exited())
    exited = next(known, Exited())
    result = command_result(
        bounded(visible_output(said.text), GIVEN_BYTES, "both"),
        code=exited.code,
        signal=exited.signal,
        late_after=_seconds(work) if state.late else None,
        truncated=said.truncated,
        terminal=state.terminal,
    )
    release = Detach(ReleaseTerminal(state.terminal))
    return replace(state, terminal=""), (release, Done(result))


def _ran(state: Running, work: Work, got: Got) -> Turned:
    return state, (Done(result_of(work, got)),)


_GOT: Final[Mapping[str, Callable[[Running, Work, Got], Turned]]] = MappingProxyType(
    {
        "prepare": _prepared,
        "again": _looked_again,
        "create": _made,
        "exit": _exited,
        "kill": _killed,
        "output": _said,
        "run": _ran,
    }
)
_BOUNDS: Final[Mapping[str, Callable[[Running, Work], Turned]]] = MappingProxyType(
    {"made bound": _not_made, "timeout": _too_late, "kill bound": _not_killed, "output bound": _silent}
)


def _halt(state: State, work: Work) -> Turned:
    if not isinstance(state, Running) or not state.terminal:
        return state, ()
    ends = (Detach(KillTerminal(state.terminal)), Detach(ReleaseTerminal(state.terminal)))
    return replace(state, terminal=""), ends


CLIENT_TERMINAL: Final = Machine(_begin, _go, _got, _halt)
