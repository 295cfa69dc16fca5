"""A client of the library's server, over a pipe in memory."""

from typing import Any

import anyio

from zidane_acp import (
    AcpBridge,
    AcpServerOptions,
    JsonRpcConnection,
    create_acp_server,
    create_json_rpc_connection,
)
from zidane_acp.transports.memory import memory_pair


class client:
    """A host's own connection on one end, the agent behind a bridge on the other."""

    def __init__(self, options: AcpServerOptions) -> None:
        self.options = options
        self.updates: list[Any] = []
        self.permission: Any = {"outcome": {"outcome": "selected", "optionId": "allow_once"}}

    async def __aenter__(self) -> "tuple[JsonRpcConnection, client]":
        near, far = memory_pair()
        bridge = AcpBridge(create_acp_server(self.options), lambda: served)
        served = create_json_rpc_connection(
            far, far, on_request=bridge.on_request, on_notification=bridge.on_notification
        )
        connection = create_json_rpc_connection(near, near, on_request=self.asked, on_notification=self.told)
        self.ends = (near, far)
        self.tasks = anyio.create_task_group()
        await self.tasks.__aenter__()
        for run in (bridge.run, served.run, connection.run):
            self.tasks.start_soon(run)
        self.scope = anyio.fail_after(20)
        self.scope.__enter__()
        return connection, self

    async def __aexit__(self, *error: Any) -> None:
        self.scope.__exit__(*error)
        self.tasks.cancel_scope.cancel()
        await self.tasks.__aexit__(None, None, None)
        for end in self.ends:
            await end.aclose()

    async def asked(self, method: str, params: Any) -> Any:
        if isinstance(self.permission, Exception):
            raise self.permission
        return self.permission

    async def told(self, method: str, params: Any) -> None:
        self.updates.append(params["update"])


async def opened(connection: JsonRpcConnection) -> str:
    await connection.request("initialize", {"protocolVersion": 1})
    answer: Any = await connection.request("session/new", {"cwd": "/", "mcpServers": []})
    session: str = answer["sessionId"]
    return session


async def prompt(connection: JsonRpcConnection, session: str) -> Any:
    return await connection.request("session/prompt", {"sessionId": session, "prompt": "go"})
