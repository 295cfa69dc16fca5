"""The state of the MCP servers of a thread (ring 2). Records only."""

from typing import Literal, TypeAlias

import msgspec

from zidane_core.agent.events import Key
from zidane_core.data.mcp import McpOffer, McpServerConfig
from zidane_core.data.tools import ToolSpec

ServerState: TypeAlias = Literal["starting", "ready", "failed"]


class Server(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """An MCP server of a thread.

    `job` is the job that keeps it connected, `roots` the folders it was told of, `tools` are its tools as the model knows them. `tries` counts failures in a row, `failed_at` is when the
    last one came (seconds since 1970). `told` says that the user knows of the failure, `waited` that a prompt has
    waited for this start.
    """

    config: McpServerConfig
    state: ServerState = "starting"
    roots: tuple[str, ...] = ()
    job: Key = ""
    offer: McpOffer = McpOffer()
    tools: tuple[ToolSpec, ...] = ()
    tries: int = 0
    failed_at: float = 0.0
    told: bool = False
    waited: bool = False


class Inquiry(msgspec.Struct, frozen=True, gc=False):
    """A question of a server to the user: the server's job, its number there, the key of the question to the client
    and the form that is shown, if it is one; for a page the server's own name of it."""

    job: Key
    ask: int
    key: Key
    form: dict[str, object] | None = None
    page: str = ""


class Page(msgspec.Struct, frozen=True, gc=False):
    """A page that the user agreed to open for a server: the server's job, its name there, and our name of it."""

    job: Key
    page: str
    id: str
