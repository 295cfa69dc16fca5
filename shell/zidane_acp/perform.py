"""Effects to port calls: a table from what is to be started to the port that does it."""

import logging
import os
from collections.abc import Awaitable, Callable, Mapping
from types import MappingProxyType
from typing import Any, Final, TypeAlias

import anyio
import anyio.to_thread

from zidane_acp.files import LocalFiles
from zidane_acp.jobs import Jobs, Report
from zidane_acp.keeping import Keeper
from zidane_acp.ports import (
    Auth,
    AuthProblem,
    Files,
    Mcp,
    McpProblem,
    Model,
    Rules,
    StoreProblem,
    Tools,
)
from zidane_acp.providers import Lazy
from zidane_core.agent.effects import Journal, Log, Release, Reply, Save, Send, Start, Stop
from zidane_core.agent.events import (
    CheckedPaths,
    Deleted,
    EntriesRead,
    Failed,
    Found,
    JobOutcome,
    JobValue,
    Listed,
    Loaded,
    LoggedIn,
    LoggedOut,
    LookedAround,
    ModelDone,
    ProviderMade,
    RuleKept,
    WaitDone,
)
from zidane_core.agent.work import (
    CheckPaths,
    DeleteThread,
    FindThread,
    GetMcpPrompt,
    KeepGrant,
    KeepTrust,
    ListThreads,
    LoadThread,
    LogIn,
    LogOut,
    LookAround,
    LookAtFile,
    ReadAttachments,
    Rest,
    RunFactory,
    RunMcpCall,
    RunMcpServer,
    RunModel,
    RunTool,
    Wait,
    What,
)
from zidane_core.data.mcp import McpOffer, McpPageDone
from zidane_core.data.models import ModelChoice
from zidane_core.data.stored import Piece
from zidane_core.data.tools import ToolOutput
from zidane_core.faults import ErrorCode, Fault

PIECE: Final = 64
"""Entries of a stored session that are read and shown at a time: a long history is never whole in memory twice."""

FILES: Final[Files] = LocalFiles()
"""Whatever runs the tools, the files of a prompt and of an edit are those of this machine."""


class Performer:
    """The ports of one connection. `models` maps a model's value to its port; `room` is the back-pressure. Without
    `rules` nothing is trusted beforehand and nothing is remembered; `user_folder` has the user's own instructions and commands, None: nowhere.
    `changed` is called when a login or logout may have changed the models."""

    def __init__(
        self,
        models: Mapping[str, Model],
        tools: Tools,
        keeper: Keeper | None,
        room: Callable[[], Awaitable[None]],
        mcp: Mcp | None = None,
        rules: Rules | None = None,
        user_folder: str | None = None,
        auth: Auth | None = None,
        changed: Callable[[], None] = lambda: None,
    ) -> None:
        self._models = models
        self._tools = tools
        self._keeper = keeper
        self._room = room
        self._mcp = mcp
        self._rules = rules
        self._user_folder = user_folder
        self._auth = auth
        self._changed = changed

    async def run(self, what: What, report: Report) -> JobValue | JobOutcome:
        """Do what was started, to its end."""
        performed = _PERFORM.get(type(what))
        if performed is None:
            return Failed(
                Fault(ErrorCode.INTERNAL_ERROR, f"This program cannot do {type(what).__name__} yet.")
            )
        try:
            return await performed(self, what, report)
        except StoreProblem as problem:
            return Failed(Fault(ErrorCode.INTERNAL_ERROR, str(problem), {"kind": "store"}))
        except AuthProblem as problem:
            return Failed(Fault(_AUTH[type(what)], str(problem), problem.data))
        except McpProblem as problem:
            data: dict[str, object] = {"kind": "mcp", "server": problem.server}
            return Failed(Fault(ErrorCode.INTERNAL_ERROR, str(problem), data))

    async def _model(self, what: RunModel, report: Report) -> JobValue | JobOutcome:
        model = self._models.get(what.request.model.value)
        if model is None:
            return Failed(_no_model(what.request.model))
        async for batch in model.stream(what.request, what.session):
            report(batch)
            await self._room()
        return ModelDone()

    async def _factory(self, what: RunFactory, report: Report) -> JobValue | JobOutcome:
        model = self._models.get(what.model.value)
        if model is None:
            return Failed(_no_model(what.model))
        fault = await model.make(what.model) if isinstance(model, Lazy) else None
        return ProviderMade() if fault is None else Failed(fault)

    async def _log_in(self, what: LogIn, report: Report) -> JobValue | JobOutcome:
        if self._auth is not None:
            await self._auth.authenticate(what.method, report.ask if what.pages else None)
            # Before the answer, since what the client does next counts on it.
            self._changed()
        return LoggedIn()

    async def _log_out(self, what: LogOut, report: Report) -> JobValue | JobOutcome:
        if self._auth is not None:
            try:
                await self._auth.logout()
            finally:
                self._changed()
        return LoggedOut()

    async def _tool(self, what: RunTool, report: Report) -> JobValue | JobOutcome:
        def output(piece: ToolOutput) -> None:
            report((piece,))

        return await self._tools.run(what, output)

    async def _look(self, what: LookAtFile, report: Report) -> JobValue | JobOutcome:
        return await FILES.look(what)

    async def _attach(self, what: ReadAttachments, report: Report) -> JobValue | JobOutcome:
        return await FILES.attach(what)

    async def _mcp_server(self, what: RunMcpServer, report: Report) -> JobValue | JobOutcome:
        def tell(told: McpOffer | McpPageDone) -> None:
            report((told,))

        await self._servers(what.config.name).serve(what, tell, report.ask)

    async def _mcp_call(self, what: RunMcpCall, report: Report) -> JobValue | JobOutcome:
        def output(piece: ToolOutput) -> None:
            report((piece,))

        return await self._servers(what.server).call(what, output)

    async def _mcp_prompt(self, what: GetMcpPrompt, report: Report) -> JobValue | JobOutcome:
        return await self._servers(what.server).prompt(what)

    def _servers(self, name: str) -> Mcp:
        if self._mcp is None:
            raise McpProblem(name, f"The MCP server {name} cannot be used: this agent connects to none.")
        return self._mcp

    async def _check_paths(self, what: CheckPaths, report: Report) -> JobValue | JobOutcome:
        # In a thread, since a folder on a dead network drive would hold up everything else.
        return await anyio.to_thread.run_sync(self._checked, what, abandon_on_cancel=True)

    def _checked(self, what: CheckPaths) -> CheckedPaths:
        checked = _look_at(what.paths)
        if checked.problem is not None or not what.project:
            return checked
        from zidane_acp.project.reading import read_project

        return CheckedPaths(project=read_project(what.paths, self._user_folder, self._rules))

    async def _look_around(self, what: LookAround, report: Report) -> JobValue | JobOutcome:
        from zidane_acp.project.surroundings import look_around

        return LookedAround(await look_around(what.cwd))

    async def _find(self, what: FindThread, report: Report) -> JobValue | JobOutcome:
        return Found(await self._store.ask(lambda store, _: store.find(what.session)))

    async def _load(self, what: LoadThread, report: Report) -> JobValue | JobOutcome:
        after = 0
        while True:
            piece = await self._piece(what.session, after)
            after += len(piece.entries)
            report((EntriesRead(piece.entries),))
            await self._room()
            if piece.last or not piece.entries:
                return Loaded(piece.journal)

    async def _piece(self, session: str, after: int) -> Piece:
        return await self._store.ask(lambda store, _: store.read(session, after, PIECE))

    async def _list(self, what: ListThreads, report: Report) -> JobValue | JobOutcome:
        return Listed(await self._store.ask(lambda store, _: store.page(what.cwd, what.after, what.limit)))

    async def _delete(self, what: DeleteThread, report: Report) -> JobValue | JobOutcome:
        await self._store.ask(lambda store, _: store.remove(what.session))
        return Deleted()

    async def _keep_grant(self, what: KeepGrant, report: Report) -> JobValue | JobOutcome:
        await anyio.to_thread.run_sync(self._remembering.keep_grant, what.folder, what.grant)
        return RuleKept()

    async def _keep_trust(self, what: KeepTrust, report: Report) -> JobValue | JobOutcome:
        await anyio.to_thread.run_sync(self._remembering.keep_trust, what.folders)
        return RuleKept()

    @property
    def _remembering(self) -> Rules:
        if self._rules is None:
            raise StoreProblem("This agent keeps no permissions.")
        return self._rules

    @property
    def _store(self) -> Keeper:
        if self._keeper is None:
            raise StoreProblem("This agent keeps no sessions.")
        return self._keeper

    async def _wait(self, what: Wait | Rest, report: Report) -> JobValue | JobOutcome:
        await anyio.sleep(what.seconds)
        return WaitDone()


_AUTH: Final[Mapping[type, ErrorCode]] = MappingProxyType(
    {LogIn: ErrorCode.AUTH_REQUIRED, LogOut: ErrorCode.INTERNAL_ERROR}
)
"""The code of what cannot be done around logging in."""


def _no_model(model: ModelChoice) -> Fault:
    told = f"The model {model.name} is not there any more; choose another one."
    return Fault(ErrorCode.INVALID_PARAMS, told)


def _look_at(paths: tuple[str, ...]) -> CheckedPaths:
    """The first path that is no folder that this process may read."""
    problems = ((position, _problem(path)) for position, path in enumerate(paths))
    return next(
        (CheckedPaths(problem, position) for position, problem in problems if problem), CheckedPaths()
    )


def _problem(path: str) -> str:
    if not os.path.isdir(path):
        return "is not a folder" if os.path.lexists(path) else "does not exist"
    return "" if os.access(path, os.R_OK | os.X_OK) else "cannot be read"


# Any: each method takes the record type of its key, which a dict type cannot say.
_PERFORM: Final[Mapping[type, Callable[[Performer, Any, Report], Awaitable[JobValue | JobOutcome]]]] = (
    MappingProxyType(
        {
            RunModel: Performer._model,
            RunFactory: Performer._factory,
            RunTool: Performer._tool,
            LogIn: Performer._log_in,
            LogOut: Performer._log_out,
            LookAtFile: Performer._look,
            ReadAttachments: Performer._attach,
            RunMcpServer: Performer._mcp_server,
            RunMcpCall: Performer._mcp_call,
            GetMcpPrompt: Performer._mcp_prompt,
            CheckPaths: Performer._check_paths,
            LookAround: Performer._look_around,
            FindThread: Performer._find,
            LoadThread: Performer._load,
            ListThreads: Performer._list,
            DeleteThread: Performer._delete,
            KeepGrant: Performer._keep_grant,
            KeepTrust: Performer._keep_trust,
            Wait: Performer._wait,
            Rest: Performer._wait,
        }
    )
)


# Effects -------------------------------------------------------------------------------------------

LOGGER: Final = logging.getLogger("zidane_acp")
LEVELS: Final[Mapping[str, int]] = MappingProxyType(
    {"debug": logging.DEBUG, "info": logging.INFO, "warning": logging.WARNING, "error": logging.ERROR}
)
Performers: TypeAlias = Mapping[type, Callable[[Any], None]]
# Any: each function takes the effect type of its key, which a dict type cannot say.


def performers(send: Callable[[Send], None], jobs: Jobs, keeper: Keeper | None) -> Performers:
    """What is done for each type of effect, but for `Exit`."""
    kept: Performers = (
        {} if keeper is None else {Save: keeper.save, Journal: keeper.note, Release: keeper.release}
    )
    return MappingProxyType(
        {
            **kept,
            Send: send,
            Start: lambda effect: jobs.start(effect.key, effect.what),
            Stop: lambda effect: jobs.stop(effect.key),
            Reply: jobs.reply,
            Log: lambda effect: LOGGER.log(LEVELS[effect.level], effect.text),
        }
    )
