"""The loop of one connection: inbox -> step -> perform. It knows no method and no meaning."""

import time
from collections.abc import Callable, Coroutine, Mapping
from typing import Any

import anyio
from anyio.lowlevel import checkpoint

from zidane_acp.beginning import Beginning, Watch
from zidane_acp.ending import Ending, flush
from zidane_acp.inbox import Inbox
from zidane_acp.jobs import Jobs
from zidane_acp.keeping import Keeper
from zidane_acp.outbox import Outbox
from zidane_acp.perform import Performer, Performers, performers
from zidane_acp.ports import Auth, Mcp, Model, Rules, Store, Tools, Transport
from zidane_acp.reading import read
from zidane_core.acp.connection import ConnectionEvent
from zidane_core.acp.frames import encode
from zidane_core.acp.step import step
from zidane_core.agent.effects import Exit, Send
from zidane_core.agent.events import Closed


async def serve(
    beginning: Beginning,
    transport: Transport,
    models: Mapping[str, Model],
    tools: Tools,
    store: Store | None,
    *,
    mcp: Mcp | None = None,
    rules: Rules | None = None,
    user_folder: str | None = None,
    auth: Auth | None = None,
    changed: Callable[[], None] = lambda: None,
    inbox: Inbox[ConnectionEvent],
    now: Callable[[], float],
    watch: Watch | None = None,
    ending: Ending | None = None,
    release: Callable[[], Coroutine[Any, Any, None]] = checkpoint,
) -> int:
    """Serve one connection until the peer is gone or `inbox` is told to close; gives the exit code.

    Without a `store` the options of the connection must not ask for one; without `mcp` no server can be used. `rules` and `user_folder`
    are those of `Performer`. `changed` is called when `auth` has logged in or out. `now` is in seconds since 1970. `ending`
    bounds what follows. `release` ends what tools left running, whatever else still hangs then.
    """
    ending = ending or Ending(time.monotonic)
    outbox = Outbox(transport, lambda: inbox.put(Closed(now(), "broken_pipe")), ending.moved)
    keeper = None if store is None else Keeper(store, inbox.put, now)
    performer = Performer(models, tools, keeper, outbox.room, mcp, rules, user_folder, auth, changed)

    def send(effect: Send) -> None:
        if watch is not None:
            watch("out", effect.frame)
        outbox.put(encode(effect.frame, beginning.framing))

    code = 0
    try:
        async with anyio.create_task_group() as tasks:
            jobs = Jobs(tasks, performer.run, now, inbox.put)
            tasks.start_soon(read, transport, beginning.splitter, inbox.put, now, outbox.heard, watch)
            tasks.start_soon(outbox.run)
            if keeper is not None:
                tasks.start_soon(keeper.run)
            if beginning.unsent:
                outbox.put(beginning.unsent)
            code = await _loop(beginning, inbox, performers(send, jobs, keeper), ending)
            async with anyio.create_task_group() as last:
                last.start_soon(release)
                if keeper is not None:
                    last.start_soon(keeper.drained)
                await flush(outbox, inbox, ending)
            tasks.cancel_scope.cancel()
    finally:
        if keeper is not None:
            await keeper.leave()
    return code


async def _loop(
    beginning: Beginning, inbox: Inbox[ConnectionEvent], perform: Performers, ending: Ending
) -> int:
    connection, effects = beginning.connection, beginning.effects
    for effect in effects:
        perform[type(effect)](effect)
    while True:
        for event in await inbox.take():
            if type(event) is Closed:
                ending.closed(event.reason)
            connection, effects = step(connection, event)
            for effect in effects:
                if type(effect) is Exit:
                    return effect.code
                perform[type(effect)](effect)
        await checkpoint()  # gives the writer and the jobs their turn even when events never stop coming
