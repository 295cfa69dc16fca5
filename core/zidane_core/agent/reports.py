"""The reports of a call, made from its log entries (ring 2): live and in a replay the same."""

from zidane_core.agent.effects import CardChanged, CardOpened
from zidane_core.data import history


def opened(entry: history.CallMade) -> CardOpened:
    """The first report of a call."""
    return CardOpened(
        call=entry.call,
        name=entry.name,
        title=entry.title,
        kind=entry.kind,
        raw_input=entry.raw,
        locations=entry.locations,
    )


def closed(entry: history.ResultMade) -> CardChanged:
    """The last report of a call."""
    return CardChanged(
        call=entry.call,
        status="failed" if entry.failed else "completed",
        title=entry.title or None,
        content=(*entry.diffs, *entry.shown),
        locations=entry.locations or None,
        raw_output=entry.raw,
    )
