"""The cursor of `session/list`: a place in the list, opaque to the client (ring 3)."""

import base64
import binascii
import math

import msgspec

from zidane_core.data.stored import Place
from zidane_core.faults import Fault, invalid_params
from zidane_core.text import encode_json


def cursor_of(place: Place | None) -> str | None:
    """The cursor of the page that begins behind this place."""
    if place is None:
        return None
    return base64.urlsafe_b64encode(encode_json((place.updated, place.session))).decode().rstrip("=")


def place_of(cursor: str | None) -> Place | None | Fault:
    """The place of a cursor, None without one; a fault for what this agent has not made."""
    if cursor is None:
        return None
    try:
        raw = base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True)
        updated, session = msgspec.json.decode(raw, type=tuple[float, str])
    except (binascii.Error, ValueError, msgspec.DecodeError):
        return invalid_params("cursor", "it is not one that this agent gave; list again without a cursor")
    if not math.isfinite(updated) or cursor_of(Place(updated, session)) != cursor:
        return invalid_params("cursor", "it is not one that this agent gave; list again without a cursor")
    return Place(updated, session)
