"""A stored text as an entry of a log."""

import msgspec

from zidane_core.data.history import Entry, Unread


# To be replaced by zidane_core.agent.records.entry_of once that is there.
def entry_of(text: str) -> Entry:
    """The entry; one that this version cannot read is `Unread`."""
    try:
        return msgspec.json.decode(text, type=Entry)
    except (msgspec.DecodeError, RecursionError):
        return Unread(text)
