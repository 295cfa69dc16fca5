"""The cursor of `session/list`: a place in the list, opaque to the client (ring 3)."""

import base64
import binascii
import math
from typing import Final

import msgspec
from returns.result import Failure, Result, Success

from zidane_core.data.stored import Place
from zidane_core.faults import Fault, invalid_params
from zidane_core.text import encode_json


def cursor_of(place: Place | None) -> str | None:
    """The cursor of the page that begins behind this place."""
    if place is None:
        return None
    return base64.urlsafe_b64encode(encode_json((place.updated, place.session))).decode().rstrip("=")


def place_of(cursor: str | None) -> Result[Place | None, Fault]:
    """The place of a cursor, None without one; a fault for what this agent has not made."""
    if cursor is None:
        return Success(None)
    try:
        raw = base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True)
        updated, session = msgspec.json.decode(raw, type=tuple[float, str])
    except (binascii.Error, ValueError, msgspec.DecodeError):
        return Failure(_UNKNOWN)
    if not math.isfinite(updated) or cursor_of(Place(updated, session)) != cursor:
        return Failure(_UNKNOWN)
    return Success(Place(updated, session))


_UNKNOWN: Final = invalid_params("cursor", "it is not one that this agent gave; list again without a cursor")
