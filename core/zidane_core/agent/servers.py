"""The MCP servers of a thread (ring 2): started behind the answer of its setup, named when they fail, tried again.

A server never holds up a setup. The first prompt waits a little for those that are still starting; one that failed is
tried again when a prompt comes and its pause is over.
"""

from msgspec.structs import replace

from zidane_core.agent import inquiries, moves, offering, server_tools
from zidane_core.agent.effects import Effect, Start, Stop
from zidane_core.agent.events import Failed, JobOutcome, Key, Progress
from zidane_core.agent.moves import Moved
from zidane_core.agent.server_state import Server
from zidane_core.agent.state import Options, Setup, Thread
from zidane_core.agent.work import RunMcpServer
from zidane_core.data.mcp import McpOffer, McpPageDone
from zidane_core.data.tools import ToolSpec


def set_up(options: Options, thread: Thread, setup: Setup) -> Moved:
    """The servers that a setup asks for and those of the user, of one name the setup's. One that runs already stays."""
    wanted = {config.name: config for config in (*options.servers, *setup.servers)}
    kept = tuple(
        server
        for server in thread.servers
        if wanted.get(server.config.name) == server.config and server.roots == thread.roots
    )
    gone = tuple(server for server in thread.servers if server not in kept)
    effects: tuple[Effect, ...] = ()
    for server in gone:
        thread, dropped = inquiries.drop(thread, server.job)
        effects = (*effects, *dropped, *_stop(server))
    thread = _named_anew(options, replace(thread, servers=kept))
    for config in wanted.values():
        if config.name not in {server.config.name for server in kept}:
            thread, started = _start(options, thread, Server(config=config))
            effects = (*effects, *started)
    return thread, effects


def _named_anew(options: Options, thread: Thread) -> Thread:
    """The tools of all servers under names that none of the client's tools has."""
    servers, thread = thread.servers, replace(thread, servers=())
    for server in servers:
        thread = _with(
            thread, replace(server, tools=_tools(options, thread, server.config.name, server.offer))
        )
    return thread


def _tools(options: Options, others: Thread, name: str, offer: McpOffer) -> tuple[ToolSpec, ...]:
    """The tools that a server offers, beside those of the thread without it."""
    taken = frozenset(tool.name for tool in offering.all_of(options, others))
    return server_tools.tools_of_server(name, offer.tools, taken, trust=options.trust_read_only)


def _start(options: Options, thread: Thread, server: Server) -> Moved:
    thread, job = moves.key(thread)
    server = replace(server, state="starting", job=job, roots=thread.roots)
    what = RunMcpServer(
        session=thread.id,
        config=server.config,
        cwd=thread.cwd,
        roots=thread.roots,
        within=options.limits.connect_within,
    )
    return _with(thread, server), (Start(job, what),)


def _stop(server: Server) -> tuple[Effect, ...]:
    return (Stop(server.job),) if server.state != "failed" else ()


def _with(thread: Thread, server: Server) -> Thread:
    """The thread with this state of a server, which keeps its place."""
    if all(known.config.name != server.config.name for known in thread.servers):
        return replace(thread, servers=(*thread.servers, server))
    servers = (server if known.config.name == server.config.name else known for known in thread.servers)
    return replace(thread, servers=tuple(servers))


def stop_all(thread: Thread) -> tuple[Effect, ...]:
    """End every server of a thread that is over."""
    return tuple(effect for server in thread.servers for effect in _stop(server))


def of_job(thread: Thread, job: Key) -> Server | None:
    """The server that a job keeps."""
    return next((known for known in thread.servers if known.job == job and known.state != "failed"), None)


# What comes of a server ----------------------------------------------------------------------------


def progress(options: Options, thread: Thread, server: Server, batch: tuple[Progress, ...]) -> Moved:
    """A server offers something, or a page of its is done."""
    effects: tuple[Effect, ...] = ()
    for event in batch:
        if isinstance(event, McpOffer):
            thread, more = _offered(options, thread, server, event)
            effects = (*effects, *more)
        elif isinstance(event, McpPageDone):
            thread, more = inquiries.page_done(thread, server.job, event.id)
            effects = (*effects, *more)
    return thread, effects


def _offered(options: Options, thread: Thread, before: Server, offer: McpOffer) -> Moved:
    name = before.config.name
    others = replace(thread, servers=tuple(one for one in thread.servers if one.config.name != name))
    tools = _tools(options, others, name, offer)
    known = of_job(thread, before.job) or before
    server = replace(known, state="ready", offer=offer, tools=tools, tries=0, told=False)
    remarks = tuple(remark for remark in offer.remarks if remark not in thread.warned)
    thread = replace(
        _with(thread, server), notices=(*thread.notices, *remarks), warned=(*thread.warned, *remarks)
    )
    return thread, ()


def ended(options: Options, thread: Thread, server: Server, outcome: JobOutcome, now: float) -> Moved:
    """A server could not be started, or is lost: its tools are gone, and the user is told once."""
    thread, dropped = inquiries.drop(thread, server.job)
    failed = replace(
        server,
        state="failed",
        job="",
        offer=McpOffer(),
        tools=(),
        tries=server.tries + 1,
        failed_at=now,
        told=True,
    )
    thread = _with(thread, failed)
    if not server.told:
        thread = replace(thread, notices=(*thread.notices, f"{_reason(server, outcome)} {AGAIN}"))
    return thread, dropped


AGAIN = "The work goes on without its tools; it is tried again with a later message."


def _reason(server: Server, outcome: JobOutcome) -> str:
    if isinstance(outcome, Failed):
        return outcome.fault.message
    return f"The MCP server {server.config.name} has ended."


# Prompts that come ---------------------------------------------------------------------------------


def retry(options: Options, thread: Thread) -> Moved:
    """Start the failed servers whose pause is over. It doubles with every failure in a row."""
    effects: tuple[Effect, ...] = ()
    for server in thread.servers:
        if server.state == "failed" and thread.updated >= server.failed_at + _pause(options, server):
            thread, started = _start(options, thread, replace(server, waited=False))
            effects = (*effects, *started)
    return thread, effects


def _pause(options: Options, server: Server) -> float:
    limits = options.limits
    # The exponent is bounded, since a server may fail for days.
    doubled = limits.server_retry_first * 2.0 ** min(server.tries - 1, 16)
    return min(doubled, limits.server_retry_most)


def awaited(thread: Thread) -> tuple[Server, ...]:
    """The servers that are starting, as far as no prompt has waited for them yet."""
    return tuple(server for server in thread.servers if server.state == "starting" and not server.waited)


def patience(options: Options, thread: Thread) -> float:
    """Seconds that a prompt waits for them: little where they have failed before."""
    new = any(not server.tries for server in awaited(thread))
    return options.limits.servers_within if new else options.limits.retried_within


def waited(thread: Thread) -> Thread:
    """A prompt has waited long enough: it goes on, and the user is told without whom. Of one that has failed they know."""
    slow = awaited(thread)
    for server in slow:
        thread = _with(thread, replace(server, waited=True))
    names = tuple(server.config.name for server in slow if not server.told)
    return replace(thread, notices=(*thread.notices, _still_starting(names))) if names else thread


def _still_starting(names: tuple[str, ...]) -> str:
    if len(names) == 1:
        return f"The MCP server {names[0]} is still starting; {WITHOUT}"
    return f"The MCP servers {', '.join(names)} are still starting; {WITHOUT}"


WITHOUT = "the answer begins without, and uses what comes once it is there."
