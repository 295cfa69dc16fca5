"""Lengths of time as people write them, and times as people read them."""

import re
from datetime import UTC, datetime
from typing import Final

UNITS: Final = {"h": 3600, "d": 86400, "w": 604800}
AGE: Final = re.compile(r"([1-9]\d{0,5})([hdw])")


def seconds_of(age: str) -> int | None:
    """Seconds of a length such as 12h, 30d or 8w; None for anything else."""
    found = AGE.fullmatch(age.strip().lower())
    return None if found is None else int(found.group(1)) * UNITS[found.group(2)]


def local(seconds: float) -> str:
    """A time since 1970 in the local zone, to the minute."""
    moment = _moment(seconds)
    return "unknown" if moment is None else moment.astimezone().strftime("%Y-%m-%d %H:%M")


def universal(seconds: float) -> str:
    """A time since 1970 in ISO 8601, to the second."""
    moment = _moment(seconds)
    return "unknown" if moment is None else moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def _moment(seconds: float) -> datetime | None:
    # Texts of others hold the number: it may lie beyond every calendar.
    try:
        return datetime.fromtimestamp(seconds, tz=UTC)
    except (OverflowError, ValueError, OSError):
        return None
