"""The ACP agent side as a library: `create_acp_server` and `run_acp_stdio_server` (seed items 3 and 7)."""

from collections.abc import Callable

import anyio
import anyio.to_thread
from msgspec import structs

from zidane_acp.beginning import Beginning, Watch, fresh
from zidane_acp.clock import Clock
from zidane_acp.ending import Ending
from zidane_acp.inbox import Inbox
from zidane_acp.mcp.on_demand import McpOnDemand
from zidane_acp.options import (
    AcpServerOptions,
    StdioOptions,
    choices_of,
    core_options,
    opened_of,
    providers_of,
    server_of,
)
from zidane_acp.ports import Rules, Store, Tools, Transport
from zidane_acp.providers import Providers
from zidane_acp.rules import MemoryRules
from zidane_acp.serve import serve
from zidane_acp.store import MemoryStore
from zidane_core.acp.connection import ConnectionEvent, ServerChanged
from zidane_core.acp.frames import MAX_FRAME, Framing
from zidane_core.agent.events import ModelsChanged
from zidane_core.agent.work import RunTool
from zidane_core.data.tools import Preview, ToolOutput, ToolResult


class AcpServer:
    """An agent that answers ACP clients. It does no I/O of its own: `serve` connects it to a transport.

    Several connections may be served at once; they share the providers, the store of sessions and the kept rules, and nothing else.
    """

    def __init__(self, options: AcpServerOptions) -> None:
        self._options = options
        self._models = Providers(providers_of(options))
        self._refreshed = False
        self._connections: list[Callable[[], None]] = []
        store = options.store or MemoryStore
        self._store: Store = store() if callable(store) else store
        rules = options.rules or MemoryRules
        self._rules: Rules = rules() if callable(rules) else rules

    async def serve(
        self,
        transport: Transport,
        *,
        framing: Framing = "ndjson",
        max_frame: int = MAX_FRAME,
        watch: Watch | None = None,
    ) -> int:
        """Serve one client until it is gone; gives the exit code that a program would end with.

        `watch` sees every frame.
        """
        clock = Clock()
        beginning = fresh(opened_of(self._options, clock()), framing, max_frame)
        return await self.carry_on(beginning, transport, Inbox(), clock, watch)

    async def carry_on(
        self,
        beginning: Beginning,
        transport: Transport,
        inbox: Inbox[ConnectionEvent],
        now: Callable[[], float],
        watch: Watch | None = None,
        ending: Ending | None = None,
    ) -> int:
        """Serve a connection that has begun. `inbox` lets the caller put events of its own, such as `Closed`;
        `now` is the clock that began it, `ending` bounds what comes after the end."""
        mcp = McpOnDemand(self._options.hidden_variables, self._options.environment)
        local = LocalOnDemand(self._options)
        # A host's own tools may be used for more than this connection, and are its to close.
        tools = local if self._options.tools is None else self._options.tools

        async def release() -> None:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(mcp.aclose)
                tasks.start_soon(local.aclose)

        def changed() -> None:
            options = core_options(self._options)
            inbox.put(ModelsChanged(now(), options.models, options.default_model))
            inbox.put(ServerChanged(now(), server_of(self._options)))

        self._connections.append(changed)
        if self._refreshed:
            changed()  # since this connection began
        try:
            return await serve(
                beginning,
                transport,
                self._models,
                tools,
                self._store,
                mcp=mcp,
                rules=self._rules,
                user_folder=self._options.user_folder,
                auth=self._options.auth,
                changed=self.refresh,
                inbox=inbox,
                now=now,
                watch=watch,
                ending=ending,
                release=release,
            )
        finally:
            self._connections.remove(changed)
            # Once more, for what jobs have left after the end of the connection, and when it was cancelled.
            with anyio.CancelScope(shield=True):
                await release()

    def refresh(self) -> None:
        """Look again which models there are and how logging in stands, and tell every connection.

        Done by itself after a login or logout of a client; for a host it is of use when a key was found otherwise. To be called in the
        thread of the loop.
        """
        renewed = None if self._options.renewed is None else self._options.renewed()
        if renewed is not None:
            self._options = structs.replace(
                self._options,
                provider=renewed.provider,
                models=renewed.models,
                default_model=renewed.default_model,
                source=renewed.source,
            )
            self._models.become(providers_of(self._options))
        self._refreshed = True
        for changed in self._connections:
            changed()

    async def aclose(self) -> None:
        """Close the providers and the store."""
        await self._models.aclose()
        await anyio.to_thread.run_sync(self._store.close, abandon_on_cancel=True)


class LocalOnDemand:
    """The local executors (`ports.Tools`), loaded by the first call: the start of the agent is waited for."""

    def __init__(self, options: AcpServerOptions) -> None:
        self._options = options
        self._made: Tools | None = None

    async def run(self, call: RunTool, report: Callable[[ToolOutput], None]) -> ToolResult | Preview:
        """One stage of one call."""
        if self._made is None:
            from zidane_acp.tools.local import LocalTools
            from zidane_core.models.providers import HIDDEN_VARIABLES

            self._made = LocalTools(
                hidden_variables=(*HIDDEN_VARIABLES, *self._options.hidden_variables),
                allow_private=self._options.allow_private_fetch,
                environment=self._options.environment,
            )
        return await self._made.run(call, report)

    async def aclose(self) -> None:
        """Ends everything that calls have started."""
        if self._made is not None:
            await self._made.aclose()


def create_acp_server(options: AcpServerOptions) -> AcpServer:
    """Make an agent server. Raises ValueError when there is no model, or the default is not among the models."""
    choices_of(options)
    return AcpServer(options)


def run_acp_stdio_server(options: AcpServerOptions | StdioOptions) -> int:
    """Serve ACP on standard input and output until the client is gone; gives the exit code.

    Takes `StdioOptions` for other descriptors, framing, bound and trace. Raises ValueError as
    `create_acp_server` does, and OSError when the trace cannot be opened. The real stdout belongs to the protocol
    from here on: prints go to stderr. When a thread or a model still hangs two seconds after the client is gone,
    the process is ended with that code.
    """
    from zidane_acp.stdio import serve_stdio

    return serve_stdio(options if isinstance(options, StdioOptions) else StdioOptions(server=options))
