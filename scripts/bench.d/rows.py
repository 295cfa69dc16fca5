"""The lines of the table, and what makes them."""

from collections.abc import Sequence
from typing import NamedTuple


class Row(NamedTuple):
    """One line of the table: a measure of one agent, its value, the goal it has (as text) and whether it holds."""

    measure: str
    agent: str
    value: float
    unit: str
    goal: str = ""
    holds: bool | None = None


def at_most(limit: float, value: float, ours: bool = True) -> tuple[str, bool | None]:
    """The goal of a row and whether it holds; none for a peer."""
    return (f"at most {limit:g}", value <= limit) if ours else ("", None)


def percentile(values: Sequence[float], share: float) -> float:
    """The value below which this share of them lies."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))]


def table(rows: Sequence[Row]) -> str:
    """The rows as text in columns."""
    marks = {True: "yes", False: "NO", None: ""}
    cells = [("measure", "agent", "value", "unit", "holds", "goal")] + [
        (
            r.measure,
            r.agent,
            f"{r.value:,.2f}" if r.value < 1000 else f"{r.value:,.0f}",
            r.unit,
            marks[r.holds],
            r.goal,
        )
        for r in rows
    ]
    widths = [max(len(row[column]) for row in cells) for column in range(6)]
    return "\n".join(
        "  ".join(
            cell.rjust(width) if column == 2 else cell.ljust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in cells
    )
