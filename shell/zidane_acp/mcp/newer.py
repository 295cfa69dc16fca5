"""What is different with servers that speak only a version without `initialize` (2026-07-28 and later).

They are asked for what they are, tell of changes on a stream that is asked for, and ask the user by an answer that
wants the same request again.
"""

from collections.abc import Awaitable, Callable
from typing import Final, TypeVar

import anyio
import mcp_types as types
from mcp import ClientSession, MCPError
from mcp.client import ClientRequestContext
from mcp.client.subscriptions import ListenNotSupportedError, SubscriptionLost, listen

ROUNDS: Final = 20
"""Times that a server may ask for the same request again."""

PAUSE: Final = 0.1
"""Seconds before a request is made again for which the server wants nothing but that."""

R = TypeVar("R", bound=types.Result)
Send = Callable[[types.InputResponses | None, str | None], Awaitable[R | types.InputRequiredResult]]


async def begin(session: ClientSession) -> None:
    """Initialize a session; a server that refuses the handshake is one of the newer kind. Raises MCPError."""
    try:
        await session.initialize()
    except MCPError as error:
        if error.code != types.UNSUPPORTED_PROTOCOL_VERSION:
            raise
        await session.discover()


async def listen_for_changes(session: ClientSession, changed: Callable[[], None]) -> None:
    """Tell of changed lists for as long as the server does; the older kind does so by itself."""
    try:
        async with listen(session, tools_list_changed=True, prompts_list_changed=True) as events:
            async for _ in events:
                changed()
    except (ListenNotSupportedError, SubscriptionLost, MCPError):
        return  # what is offered stays as it is


async def answered(session: ClientSession, send: Send[R]) -> R:
    """Send a request until the server has all that it wants for it. Raises MCPError."""
    result = await send(None, None)
    for _ in range(ROUNDS):
        if not isinstance(result, types.InputRequiredResult):
            return result
        responses: types.InputResponses = {}
        for key, request in (result.input_requests or {}).items():
            context = ClientRequestContext(session=session, request_id=key)
            response = await session.dispatch_input_request(context, request)
            if isinstance(response, types.ErrorData):
                raise MCPError.from_error_data(response)
            responses[key] = response
        if not responses:
            await anyio.sleep(PAUSE)
        result = await send(responses or None, result.request_state)
    raise MCPError(types.INTERNAL_ERROR, "it wanted the same request again and again")
