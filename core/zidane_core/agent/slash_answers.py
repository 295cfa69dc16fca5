"""What the built-in slash commands do (ring 2): each answers by itself, without the model, and the turn ends.

The one exception is `/init`, which stands for a prompt to the model.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

from msgspec.structs import replace

from zidane_core.agent import blocks, compacting, model_names, moves, settings, slash
from zidane_core.agent.effects import Start
from zidane_core.agent.events import Failed, JobOutcome, Ok
from zidane_core.agent.moves import Moved
from zidane_core.agent.server_state import Server
from zidane_core.agent.state import Options, Thread, Turn
from zidane_core.agent.work import RunFactory
from zidane_core.data import history
from zidane_core.data.outcome import Usage
from zidane_core.faults import Fault

INIT: Final = (
    "Look at this project and write a file AGENTS.md in its root for agents who will work on it: what it is, how it "
    "is laid out, how to build, test and check it (commands that you have seen to exist), and the conventions that "
    "a newcomer would get wrong. At most a page, only what is true here. If the file exists, improve it."
)


def answer(options: Options, thread: Thread, turn: Turn, name: str, rest: str) -> Moved:
    """Do a built-in command; its turn is about to end, or waits for a job."""
    turn = replace(turn, gathering=None, aside=True)
    return _ANSWERS[name](options, replace(thread, turn=turn), turn, rest)


def say(thread: Thread, turn: Turn, text: str) -> Moved:
    """The agent says this, and the turn is over."""
    thread, effects = blocks.say(thread, turn, "agent", (text,))
    thread, turn = blocks.close(thread, thread.turn or turn)
    return replace(thread, turn=replace(turn, phase="answer", stop="end_turn")), effects


# Settings ------------------------------------------------------------------------------------------


def _model(options: Options, thread: Thread, turn: Turn, rest: str) -> Moved:
    if not rest:
        return say(thread, turn, _choices(options, thread, settings.MODEL, "model"))
    found = model_names.looked_up(options, rest)
    if len(found) != 1:
        what = "Several models fit" if found else "There is no model like"
        listed = "".join(f"\n- `{model.value}` {model.name}" for model in found or options.models)
        return say(thread, turn, f"{what} `{rest[:80]}`:\n{listed}")
    model = found[0]
    if not model.made_late:
        return _set(options, thread, turn, settings.MODEL, model.value)
    thread, job = moves.key(thread)
    turn = replace(turn, phase="command", job=job, picked=model.value)
    return replace(thread, turn=turn), (Start(job, RunFactory(model)),)


def provider_made(options: Options, thread: Thread, turn: Turn, outcome: JobOutcome) -> Moved:
    """The provider of the model that `/model` picked is made, or could not be."""
    turn = replace(turn, job="")
    thread = replace(thread, turn=turn)
    if turn.stopping:
        return thread, ()
    if isinstance(outcome, Ok):
        return _set(options, thread, turn, settings.MODEL, turn.picked)
    why = outcome.fault.message if isinstance(outcome, Failed) else "It was stopped."
    return say(thread, turn, f"The model stays {model_names.chosen(options, thread).name}. {why}")


def _set(options: Options, thread: Thread, turn: Turn, option: str, value: str) -> Moved:
    valid = settings.valid(options, thread, option, value)
    if isinstance(valid, Fault):
        return say(thread, turn, _choices(options, thread, option, option))
    thread, told = settings.changed(options, thread, option, valid)
    setting = _setting(options, thread, option)
    name = valid if setting is None else _name(setting, valid)
    thread, said = say(thread, thread.turn or turn, f"{_title(setting, option)}: {name}.")
    return thread, (*told, *said)


def _mode(options: Options, thread: Thread, turn: Turn, rest: str) -> Moved:
    return _one_of(options, thread, turn, settings.MODE, "mode", rest)


def _thinking(options: Options, thread: Thread, turn: Turn, rest: str) -> Moved:
    return _one_of(options, thread, turn, settings.THINKING, "thinking", rest)


def _one_of(options: Options, thread: Thread, turn: Turn, option: str, command: str, rest: str) -> Moved:
    setting = _setting(options, thread, option)
    if setting is None:
        return say(thread, turn, f"There is nothing to choose with /{command} here.")
    wanted = rest.lower()
    found = next((one.value for one in setting.choices if wanted in (one.value, one.name.lower())), None)
    if found is None:
        return say(thread, turn, _choices(options, thread, option, command))
    return _set(options, thread, turn, option, found)


def _setting(options: Options, thread: Thread, option: str) -> settings.Setting | None:
    return next((one for one in settings.offered(options, thread) if one.id == option), None)


def _title(setting: settings.Setting | None, option: str) -> str:
    return option if setting is None else setting.name


def _name(setting: settings.Setting, value: str) -> str:
    return next((one.name for one in setting.choices if one.value == value), value)


def _choices(options: Options, thread: Thread, option: str, command: str) -> str:
    setting = _setting(options, thread, option)
    if setting is None:
        return f"There is nothing to choose with /{command} here."
    lines = (
        f"- `{one.value}` {one.name}{' (in force)' if one.value == setting.current else ''}"
        for one in setting.choices
    )
    return f"{setting.name}; `/{command} VALUE` chooses another one:\n\n" + "\n".join(lines)


# What is known -------------------------------------------------------------------------------------


def _usage(options: Options, thread: Thread, turn: Turn, rest: str) -> Moved:
    size = model_names.chosen(options, thread).context_window
    of = "" if size is None else f" of {size:,} ({thread.context / size:.0%})"
    total = _total(thread)
    uncounted = "nothing was sent yet" if total == Usage() else "known after the next answer"
    context = f"{thread.context:,}{of} tokens" if thread.context else uncounted
    cached = f", {total.cached_read:,} of them from the cache" if total.cached_read else ""
    cost = "not known" if thread.cost is None else f"${thread.cost:.4f}"
    lines = (
        f"- Context: {context}",
        f"- Input of all requests: {total.input:,} tokens{cached}",
        f"- Output: {total.output:,} tokens",
        f"- Cost: {cost}",
    )
    return say(thread, turn, "\n".join(lines))


def _total(thread: Thread) -> Usage:
    ended = tuple(entry.usage for entry in thread.log if isinstance(entry, history.TurnEnded))
    return Usage(
        input=sum(usage.input for usage in ended),
        output=sum(usage.output for usage in ended),
        cached_read=sum(usage.cached_read for usage in ended),
    )


def _servers(options: Options, thread: Thread, turn: Turn, rest: str) -> Moved:
    if not thread.servers:
        return say(thread, turn, "No MCP server is configured for this session.")
    return say(thread, turn, "\n".join(f"- {_server(server)}" for server in thread.servers))


def _server(server: Server) -> str:
    name = server.config.name
    if server.state != "ready":
        return f"{name}: {_STATES[server.state]}"
    return f"{name}: ready, {len(server.tools)} tools, {len(server.offer.prompts)} prompts"


_STATES: Final[Mapping[str, str]] = MappingProxyType(
    {"starting": "is starting", "failed": "failed; it is tried again with a later message"}
)


def _help(options: Options, thread: Thread, turn: Turn, rest: str) -> Moved:
    lines = (
        f"- `/{one.name}{f' {one.hint}' if one.hint else ''}` {one.description}"
        for one in slash.listed(options, thread)
    )
    return say(thread, turn, "\n".join(lines))


_ANSWERS: Final[Mapping[str, Callable[[Options, Thread, Turn, str], Moved]]] = MappingProxyType(
    {
        "model": _model,
        "mode": _mode,
        "thinking": _thinking,
        "compact": compacting.by_hand,
        "usage": _usage,
        "mcp": _servers,
        "help": _help,
    }
)
