"""What a server asks of the user, and where the session's folders are, in the shapes of `Asked`."""

from collections.abc import Iterable
from pathlib import Path
from typing import Literal

import mcp_types as types
import msgspec
from pydantic import FileUrl


class Answer(msgspec.Struct, frozen=True, gc=False):
    """The answer to an `elicit` question."""

    action: Literal["accept", "decline", "cancel"]
    content: dict[str, str | int | float | bool | list[str] | None] | None = None


def question_of(params: types.ElicitRequestParams) -> str:
    """A request of a server as the JSON text of the question."""
    if isinstance(params, types.ElicitRequestURLParams):
        asked: dict[str, object] = {
            "mode": "url",
            "message": params.message,
            "url": params.url,
            "elicitationId": params.elicitation_id or "",
        }
    else:
        asked = {"mode": "form", "message": params.message, "requestedSchema": params.requested_schema}
    return msgspec.json.encode(asked).decode()


def answer_of(text: str, params: types.ElicitRequestParams) -> types.ElicitResult:
    """The answer for the server; one that is none counts as cancelled."""
    try:
        answer = msgspec.json.decode(text, type=Answer)
    except (msgspec.DecodeError, msgspec.ValidationError):
        return types.ElicitResult(action="cancel")
    if answer.action != "accept" or isinstance(params, types.ElicitRequestURLParams):
        return types.ElicitResult(action=answer.action)
    return types.ElicitResult(action="accept", content=answer.content or {})


def roots_of(folders: Iterable[str]) -> types.ListRootsResult:
    """The folders of a session for the server."""
    roots = [types.Root(uri=FileUrl(Path(folder).as_uri()), name=Path(folder).name) for folder in folders]
    return types.ListRootsResult(roots=roots)
