"""A started agent with its connection, and the signals of the terminal."""

import os
import signal
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Final

import anyio
import msgspec

from zidane_acp.chat.client import Client
from zidane_acp.chat.connection import Connection
from zidane_acp.chat.process import AgentProcess, started
from zidane_acp.chat.wanted import Wanted

PROGRAM: Final = "zidane-acp"


class Launch(msgspec.Struct, frozen=True, gc=False):
    """How to start the agent: its command, whether it is ours, the session's folder, stderr passed on or not.

    `wanted` is a stored session to go on with, None a new one; `typed` are the flags as they were typed.
    `kept` is whether the sessions outlive the chat.
    """

    command: tuple[str, ...]
    own: bool
    cwd: str
    pass_stderr: bool = False
    wanted: Wanted | None = None
    typed: tuple[str, ...] = ()
    kept: bool = True

    @property
    def shown(self) -> tuple[str, ...]:
        """The agent's command as a user would type it."""
        return (PROGRAM,) if self.own else self.command


@asynccontextmanager
async def linked(launch: Launch, client: Client) -> AsyncGenerator[tuple[AgentProcess, Connection], None]:
    """Start the agent and serve its connection while the block runs. Raises NoSuchProgram."""
    async with started(launch.command, os.getcwd(), launch.pass_stderr) as process:
        connection = Connection(process.lines(), process.write, client.notified, client.requested)
        client.attach(connection)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(connection.serve)
            try:
                yield process, connection
            finally:
                tasks.cancel_scope.cancel()


async def watch_signals(on_signal: Callable[[int], Awaitable[None]]) -> None:
    """Call on every Ctrl-C, SIGTERM and SIGHUP. Where signals cannot be received, nothing happens."""
    wanted = [signal.SIGINT, signal.SIGTERM]
    if hasattr(signal, "SIGHUP"):
        wanted.append(signal.SIGHUP)
    try:
        with anyio.open_signal_receiver(*wanted) as signals:
            async for number in signals:
                await on_signal(number)
    except NotImplementedError:  # Windows: Ctrl-C ends the program as everywhere else in Python
        return
