"""What the model sees, as a fold over the log (ring 2).

`extend` is the only place where an entry changes the view, so that a view kept step by step and a view
made from a stored log are the same. Only what a provider has counted meanwhile is known better step by step.
"""

from collections.abc import Callable
from types import MappingProxyType
from typing import Any, Final

import msgspec
from msgspec.structs import replace

from zidane_core.agent import budget, condensing, pages, shortening
from zidane_core.agent.budget import Counted
from zidane_core.agent.pages import Pages
from zidane_core.agent.repairing import INTERRUPTED
from zidane_core.convert.hints import for_model
from zidane_core.data import history, models
from zidane_core.data.content import Text
from zidane_core.data.outcome import Usage

_FOR_THE_USER: Final = "[All of the output was for the user.]"


class View(msgspec.Struct, frozen=True, gc=False):
    """The messages for the model, how many there were when the last turn began, their size in estimated tokens, and what a
    provider has counted of them."""

    messages: Pages[models.Message] = Pages()
    mark: int = 0
    size: int = 0
    counted: Counted | None = None


def _user(view: View, entry: history.UserSaid) -> View:
    view = _answered(view)
    return replace(_more(view, models.UserMessage(for_model(entry.parts))), mark=len(view.messages))


def _more(view: View, message: models.Message) -> View:
    """The view with one more message."""
    return replace(
        view, messages=pages.append(view.messages, message), size=view.size + budget.size_of(message)
    )


def _grown(view: View, message: models.Message, size: int) -> View:
    """The view with another last message, which is so much larger."""
    return replace(view, messages=pages.replace_last(view.messages, message), size=view.size + size)


def _attached(view: View, entry: history.Attached) -> View:
    final = pages.last(view.messages)
    if not isinstance(final, models.UserMessage):
        return view  # of a prompt that could not be read
    given = {one.position: for_model(one.parts) for one in entry.given}
    parts = tuple(part for at, own in enumerate(final.parts) for part in given.get(at, (own,)))
    more = budget.size_of_parts(parts) - budget.size_of_parts(final.parts)
    return _grown(view, models.UserMessage(parts), more)


def _answered(view: View) -> View:
    """Every call has its result before the user speaks again, also where another program did not see to that."""
    for call in _open_calls(view):
        content = (Text(INTERRUPTED),)
        view = _result(view, history.ResultMade(call=call.id, name=call.name, content=content, failed=True))
    return view


def _open_calls(view: View) -> tuple[models.Call, ...]:
    """The calls of the last answer that have no result yet."""
    final, done = pages.last(view.messages), frozenset[str]()
    if isinstance(final, models.ResultsMessage):
        done = frozenset(result.id for result in final.results)
        final = pages.last(pages.truncate(view.messages, len(view.messages) - 1))
    blocks = final.blocks if isinstance(final, models.AssistantMessage) else ()
    return tuple(block for block in blocks if isinstance(block, models.Call) and block.id not in done)


def _assistant(view: View, block: models.AssistantBlock) -> View:
    final = pages.last(view.messages)
    if isinstance(final, models.AssistantMessage):
        return _grown(view, models.AssistantMessage((*final.blocks, block)), budget.size_of_block(block))
    return _more(view, models.AssistantMessage((block,)))


def _text(view: View, entry: history.TextSaid) -> View:
    return _assistant(view, models.Said(entry.text, entry.opaque))


def _thought(view: View, entry: history.Thinking) -> View:
    return _assistant(view, models.Thought(entry.text, entry.opaque))


def _foreign(view: View, entry: history.ForeignKept) -> View:
    return _assistant(view, models.Foreign(entry.opaque))


def _call(view: View, entry: history.CallMade) -> View:
    if entry.aside:
        return view
    return _assistant(view, models.Call(entry.call, entry.name, entry.arguments, entry.opaque))


def _result(view: View, entry: history.ResultMade) -> View:
    if entry.call not in {call.id for call in _open_calls(view)}:
        return view  # of a call that could not be read
    content = for_model(entry.content) or ((Text(_FOR_THE_USER),) if entry.content else ())
    result = models.CallResult(entry.call, entry.name, content, entry.failed)
    final = pages.last(view.messages)
    if isinstance(final, models.ResultsMessage):
        earlier = pages.truncate(view.messages, len(view.messages) - 1)
        order = _call_order(pages.last(earlier))
        results = sorted((*final.results, result), key=lambda made: order.get(made.id, len(order)))
        return _grown(view, models.ResultsMessage(tuple(results)), budget.size_of_result(result))
    return _more(view, models.ResultsMessage((result,)))


def _call_order(message: models.Message | None) -> dict[str, int]:
    if not isinstance(message, models.AssistantMessage):
        return {}
    calls = [block.id for block in message.blocks if isinstance(block, models.Call)]
    return {call: position for position, call in enumerate(calls)}


def _excluded(view: View, entry: history.Excluded) -> View:
    return _measured(replace(view, messages=pages.truncate(view.messages, view.mark)))


def _measured(view: View) -> View:
    """The view whose messages are others now, with their size."""
    return replace(view, size=sum(map(budget.size_of, view.messages)))


def _shortened(view: View, entry: history.Shortened) -> View:
    return _measured(replace(view, messages=pages.of(shortening.shortened(view.messages, entry.upto))))


def _compacted(view: View, entry: history.Compacted) -> View:
    upto = min(entry.upto, len(view.messages))
    messages = pages.of((condensing.message(entry.summary), *pages.after(view.messages, upto)))
    # Of a turn that is summarised itself, what came before it stands in the same message and stays.
    mark = view.mark - upto + 1 if upto <= view.mark else min(view.mark, 1)
    return _measured(replace(view, messages=messages, mark=mark))


def _ended(view: View, entry: history.TurnEnded) -> View:
    """Only a turn that ended with an answer ended with what was counted."""
    answered = entry.stop in {"end_turn", "max_tokens"} and entry.usage != Usage()
    return counted(view, entry.context) if answered and entry.context else view


def counted(view: View, tokens: int) -> View:
    """A provider has counted the tokens of a request and of its answer, with which the view ends."""
    return replace(view, counted=Counted(tokens, view.size))


# Any: each function takes the entry type of its key, which a dict type cannot say.
_EXTEND: Final[MappingProxyType[type, Callable[[View, Any], View]]] = MappingProxyType(
    {
        history.UserSaid: _user,
        history.Attached: _attached,
        history.TextSaid: _text,
        history.Thinking: _thought,
        history.ForeignKept: _foreign,
        history.CallMade: _call,
        history.ResultMade: _result,
        history.Excluded: _excluded,
        history.Shortened: _shortened,
        history.Compacted: _compacted,
        history.TurnEnded: _ended,
    }
)


def extend(view: View, entry: history.Entry) -> View:
    """The view after one more entry; entries that the model does not see leave it as it is."""
    change = _EXTEND.get(type(entry))
    return view if change is None else change(view, entry)


def view_of(entries: Pages[history.Entry]) -> View:
    """The view of a whole log."""
    view = View()
    for entry in entries:
        view = extend(view, entry)
    return view
