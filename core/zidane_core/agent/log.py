"""What the model sees, as a fold over the log (ring 2).

`extend` is the only place where an entry changes the view, so that a view kept step by step and a view
made from a stored log are the same.
"""

from collections.abc import Callable
from types import MappingProxyType
from typing import Any, Final

import msgspec

from zidane_core.agent import pages
from zidane_core.agent.pages import Pages
from zidane_core.agent.repairing import INTERRUPTED
from zidane_core.convert.hints import for_model
from zidane_core.data import history, models
from zidane_core.data.content import Text

_FOR_THE_USER: Final = "[All of the output was for the user.]"


class View(msgspec.Struct, frozen=True, gc=False):
    """The messages for the model, and how many there were when each turn began (last turn only)."""

    messages: Pages[models.Message] = Pages()
    mark: int = 0


def _user(view: View, entry: history.UserSaid) -> View:
    view = _answered(view)
    message = models.UserMessage(for_model(entry.parts))
    return View(pages.append(view.messages, message), len(view.messages))


def _attached(view: View, entry: history.Attached) -> View:
    final = pages.last(view.messages)
    if not isinstance(final, models.UserMessage):
        return view  # of a prompt that could not be read
    given = {one.position: for_model(one.parts) for one in entry.given}
    parts = tuple(part for at, own in enumerate(final.parts) for part in given.get(at, (own,)))
    return View(pages.replace_last(view.messages, models.UserMessage(parts)), view.mark)


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
        grown = models.AssistantMessage((*final.blocks, block))
        return View(pages.replace_last(view.messages, grown), view.mark)
    return View(pages.append(view.messages, models.AssistantMessage((block,))), view.mark)


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
        return View(pages.replace_last(view.messages, models.ResultsMessage(tuple(results))), view.mark)
    return View(pages.append(view.messages, models.ResultsMessage((result,))), view.mark)


def _call_order(message: models.Message | None) -> dict[str, int]:
    if not isinstance(message, models.AssistantMessage):
        return {}
    calls = [block.id for block in message.blocks if isinstance(block, models.Call)]
    return {call: position for position, call in enumerate(calls)}


def _excluded(view: View, entry: history.Excluded) -> View:
    return View(pages.truncate(view.messages, view.mark), view.mark)


def _compacted(view: View, entry: history.Compacted) -> View:
    return View(pages.append(Pages(), models.UserMessage((Text(entry.summary),))), 0)


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
        history.Compacted: _compacted,
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
