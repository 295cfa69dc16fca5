"""The state of one ACP connection around the agent (ring 3). Records only."""

from typing import TypeAlias

import msgspec

from zidane_core.acp.frames import Item
from zidane_core.acp.wire import ClientCapabilities, Implementation, RequestId
from zidane_core.agent.events import Event, Key
from zidane_core.agent.peer import PeerRequest
from zidane_core.agent.state import Agent, Options
from zidane_core.buckets import Buckets
from zidane_core.data.auth import AuthStanding


class ModelSource(msgspec.Struct, frozen=True, gc=False):
    """Where the default model comes from, for the first line that a user sees."""

    provider: str
    model: str
    source: str = ""


class Server(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """What the agent says of itself, and how logging in stands."""

    info: Implementation
    source: ModelSource | None = None
    auth: AuthStanding = AuthStanding()


class OpenRequest(msgspec.Struct, frozen=True, gc=False):
    """A request of ours that the client has not answered: whose it is and what was asked.

    A withdrawn one that may have made something stays, so that this can be taken back; it
    has no key any more.
    """

    key: Key
    thread: str
    request: PeerRequest


TicketKey: TypeAlias = tuple[str, str | int | None]


class Connection(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One client. `capabilities` is None before `initialize`.

    A request of the client is known to the agent by a ticket: `tickets` holds its id, `by_id` finds it by
    (type, id), since 1, "1" and 1.0 are different ids. `open` and `ids` are our own open requests. `logs_out`: the client
    was told that there is a logout.
    """

    agent: Agent
    server: Server
    capabilities: ClientCapabilities | None = None
    last_ticket: int = 0
    tickets: Buckets[int, RequestId]
    by_id: Buckets[TicketKey, int]
    last_id: int = 0
    open: dict[int, OpenRequest] = {}
    ids: dict[Key, int] = {}
    logs_out: bool = False


class Opened(msgspec.Struct, frozen=True, kw_only=True, gc=False, tag="opened"):
    """The connection begins. `seed` is random and the only source of chance."""

    now: float
    seed: str
    options: Options
    server: Server


class Received(msgspec.Struct, frozen=True, gc=False, tag="received"):
    """A frame came in, or something that should have been one."""

    now: float
    item: Item


class ServerChanged(msgspec.Struct, frozen=True, gc=False, tag="server_changed"):
    """The agent says something else of itself now: a key was found, or is gone."""

    now: float
    server: Server


ConnectionEvent: TypeAlias = Received | ServerChanged | Event
"""What the root reducer of ring 3 takes once the connection is opened."""
