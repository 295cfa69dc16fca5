"""The life of one tool call on the wire and in the log: announced, redrawn, finished (ring 2).

`finish` is the one place that closes a card, and it always writes the result that history needs.
"""

from msgspec.structs import replace

from zidane_core.agent import commands, moves, offering, registry, reports, schema, titles
from zidane_core.agent.effects import CardChanged, DropPeer, Effect, Start, Stop, Tell
from zidane_core.agent.moves import Moved
from zidane_core.agent.state import Call, Options, Thread, Turn
from zidane_core.agent.work import Wait
from zidane_core.bounded import bounded
from zidane_core.data import history, models
from zidane_core.data.content import Part, Text
from zidane_core.data.tools import Diff, Terminal, ToolResult, ToolSpec
from zidane_core.fp import fold
from zidane_core.text import clean, decode_json, is_object


def announce(options: Options, thread: Thread, turn: Turn, called: models.Called) -> Moved:
    """A complete call came from the model: give it an id of our own, log it and show its card."""
    called = replace(called, name=clean(called.name), arguments=clean(called.arguments))
    tools = offering.all_of(options, thread)
    spec = next((tool for tool in tools if tool.name == called.name), None)
    thread, call_id = fresh_id(thread)
    call = _read(thread, spec, called, call_id)
    entry = history.CallMade(
        call=call.id,
        name=call.name,
        arguments=call.text,
        title=call.title,
        kind="other" if spec is None else spec.kind,
        locations=call.locations,
        raw=call.arguments,
        opaque=call.opaque,
    )
    turn = replace(turn, calls=(*turn.calls, call), said=True)
    return open_card(replace(thread, turn=turn), entry)


def fresh_id(thread: Thread) -> tuple[Thread, str]:
    """A call id that is unique in the session, in every program that opens it."""
    number = thread.calls + 1
    return replace(thread, calls=number), f"call_{thread.tag}_{number}"


def open_card(thread: Thread, entry: history.CallMade) -> Moved:
    """Log a call and show its card."""
    return moves.append(thread, entry), (Tell(thread.id, reports.opened(entry)),)


def close_card(thread: Thread, entry: history.ResultMade) -> Moved:
    """Log how a call ended and show that on its card."""
    return moves.append(thread, entry), (Tell(thread.id, reports.closed(entry)),)


def _read(thread: Thread, spec: ToolSpec | None, called: models.Called, call_id: str) -> Call:
    call = Call(
        id=call_id,
        name=called.name,
        text=called.arguments or "{}",
        arguments=_as_given(called.arguments),
        spec=spec,
        opaque=called.opaque,
        title=called.name or "Unnamed tool",
    )
    if spec is None:
        return replace(call, problem=f"There is no tool named {called.name!r}.")
    if spec.machine not in registry.MACHINES:
        return replace(
            call, problem=f"The tool {spec.name} cannot be run here: nothing runs {spec.machine!r}."
        )
    return fold(
        schema.parse_arguments(called.arguments, spec.schema),
        lambda arguments: replace(
            call,
            arguments=arguments,
            title=titles.title(spec, arguments, thread.cwd),
            locations=titles.locations(spec, arguments, thread.cwd),
            paths=_paths(thread, spec, arguments),
        ),
        lambda problem: replace(call, problem=problem),
    )


def _as_given(arguments: str) -> dict[str, object]:
    """What the card shows of arguments that were not checked: the object that they are, or else their text."""
    given = fold(decode_json(arguments or "{}"), lambda value: value, lambda _: None)
    return dict(given) if is_object(given) else {"arguments": arguments}


def _paths(thread: Thread, spec: ToolSpec, arguments: dict[str, object]) -> tuple[str, ...]:
    named = titles.argument_paths(spec, arguments, thread.cwd)
    line = arguments.get(spec.subject or "")
    if spec.access != "run" or not isinstance(line, str):
        return named
    base = named[0] if named else thread.cwd
    touched = commands.read_only_paths(line) or ()
    return (*(named or (thread.cwd,)), *(titles.joined(path, base) for path in touched))


def begin(thread: Thread, turn: Turn, call: Call) -> Moved:
    """The call runs now."""
    return show(thread, turn, replace(call, phase="run"), CardChanged(call=call.id, status="in_progress"))


def show(thread: Thread, turn: Turn, call: Call, card: CardChanged) -> Moved:
    """Change the call's card, and keep how it stands."""
    shown = card if call.shown is None else merged(call.shown, card)
    return moves.with_call(thread, turn, replace(call, shown=shown)), (Tell(thread.id, card),)


def merged(before: CardChanged, change: CardChanged) -> CardChanged:
    """A card after one more change: what it does not say stays."""
    return CardChanged(
        call=change.call,
        status=change.status or before.status,
        title=change.title or before.title,
        content=before.content if change.content is None else change.content,
        locations=before.locations if change.locations is None else change.locations,
        raw_output=before.raw_output if change.raw_output is None else change.raw_output,
    )


def finish(options: Options, thread: Thread, turn: Turn, call: Call, result: ToolResult) -> Moved:
    """The call is over, with a result for the model and a final card; all that still belongs to it ends with it."""
    if call.live and result.failed and result.raw is None:
        # Of a call that was stopped, what it had said so far stays.
        result = replace(result, content=(Text(call.live), *result.content))
    items = result.content if result.shown is None else result.shown
    shown = tuple(_fit(_logged(part), options.limits.card_bytes) for part in items)
    diffs = result.diffs or (() if call.preview is None or result.failed else call.preview.diffs)
    entry = history.ResultMade(
        call=call.id,
        name=call.name,
        content=tuple(_fit(part, options.limits.result_bytes) for part in result.content),
        failed=result.failed,
        shown=shown,
        diffs=diffs,
        locations=result.locations or call.locations,
        raw=_raw(result, shown),
        title=call.preview.title if call.preview is not None else "",
    )
    ends = ended(call)
    done = replace(call, phase="done", result=result, jobs=(), asks=(), ask="", live="", live_due="")
    thread, closed = close_card(moves.with_call(thread, turn, done), entry)
    if any(isinstance(part, Terminal) for part in items):
        # The client goes on showing its own terminal; a replay shows what it said.
        closed = (Tell(thread.id, replace(reports.closed(entry), content=(*entry.diffs, *items))),)
    return thread, (*ends, *closed)


def _logged(part: Part | Terminal) -> Part:
    return Text(part.text) if isinstance(part, Terminal) else part


def ended(call: Call) -> tuple[Effect, ...]:
    """What ends everything that a call has running or asked."""
    jobs = (*(link.key for link in call.jobs), *((call.live_due,) if call.live_due else ()))
    asks = (*((call.ask,) if call.ask else ()), *(link.key for link in call.asks))
    return (*(Stop(key) for key in jobs), *(DropPeer(key) for key in asks))


def _fit(part: Part, limit: int) -> Part:
    if not isinstance(part, Text):
        return part
    return replace(part, text=bounded(clean(part.text), limit, "both"))


def _raw(result: ToolResult, shown: tuple[Part | Diff, ...]) -> dict[str, object]:
    if result.raw is not None:
        return result.raw
    text = "\n".join(part.text for part in shown if isinstance(part, Text))
    return {"error": text} if result.failed else {"output": text}


# Output while the call runs ------------------------------------------------------------------------


def stream(options: Options, thread: Thread, turn: Turn, call: Call, text: str, now: float) -> Moved:
    """Output came: redraw the card, at most so many times a second, and never leave the last piece unshown."""
    live = (call.live + text)[-options.limits.live_bytes :]
    call = replace(call, live=live)
    if call.live_due:
        return moves.with_call(thread, turn, call), ()
    wait = call.live_shown + options.limits.live_every - now
    if wait <= 0:
        return redraw(thread, turn, call, now)
    thread, due = moves.key(thread)
    thread = moves.with_call(thread, turn, replace(call, live_due=due))
    return thread, (Start(due, Wait(wait)),)


def redraw(thread: Thread, turn: Turn, call: Call, now: float) -> Moved:
    """Show the output that came so far."""
    call = replace(call, live_shown=now, live_due="")
    return show(thread, turn, call, CardChanged(call=call.id, content=(Text(call.live),)))
