"""Whether a save may be done, from what is stored: the one rule that all stores share."""

from collections.abc import Iterable
from typing import Literal, TypeAlias

from zidane_core.agent.effects import Save
from zidane_core.data.stored import JournalRow, Refusal

Verdict: TypeAlias = Refusal | Literal["do", "behind"]


def verdict(save: Save, stored: int | None, taken: bool, journal: Iterable[JournalRow]) -> Verdict:
    """`stored` is the number of entries or None, `taken` whether another living owner has the lease.

    The journal is looked at for a save that takes the lease only.
    """
    if taken:
        return Refusal("in_use")
    if (stored or 0) < save.expected_seq:
        return Refusal("gone")
    if (stored or 0) > save.expected_seq:
        return "behind"
    if save.lease == "take" and sum(len(row.body) for row in journal) != save.journal:
        return "behind"
    return "do"
