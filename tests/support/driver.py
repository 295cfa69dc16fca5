"""Drives the pure core without a loop: a client, a model and tools as plain data, and the rules of a turn checked.

Every step is taken twice and compared, every frame is looked at, and every rule that must hold at all times is
checked after every event.
"""

import json
from collections.abc import Callable, Iterable
from itertools import pairwise
from typing import Any

import msgspec
from msgspec.structs import replace
from support.disk import Disk
from support.folding import fold
from support.sent import as_shown, matches

from zidane_core.acp.connection import Connection, ConnectionEvent, Opened, Received, Server
from zidane_core.acp.speak import speak
from zidane_core.acp.step import begin, step
from zidane_core.acp.wire import Implementation
from zidane_core.agent import pages
from zidane_core.agent.budget import size_of
from zidane_core.agent.editor_files import digest
from zidane_core.agent.effects import Exit, Journal, Release, Reply, Save, Send, Start, Stop
from zidane_core.agent.events import (
    Asked,
    Attachment,
    AttachmentsRead,
    CheckedPaths,
    Closed,
    Conflict,
    Ended,
    Failed,
    FileSeen,
    JobOutcome,
    LookedAround,
    ModelDone,
    Ok,
    Progressed,
    PromptGot,
    ProviderMade,
    RuleKept,
    Saved,
    SaveFailed,
    Stopped,
    WaitDone,
)
from zidane_core.agent.log import view_of
from zidane_core.agent.presets import ACP_DEFAULT
from zidane_core.agent.records import entry_of, text_of
from zidane_core.agent.repairing import repairs
from zidane_core.agent.replaying import replay, whole
from zidane_core.agent.state import Options, Thread
from zidane_core.agent.work import (
    CheckPaths,
    DeleteThread,
    FindThread,
    GetMcpPrompt,
    KeepGrant,
    KeepTrust,
    ListThreads,
    LoadThread,
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
)
from zidane_core.convert.visible import output as visible_output
from zidane_core.data import history, models
from zidane_core.data.content import Document, Text
from zidane_core.data.mcp import McpOffer, McpPrompt, McpPromptArgument, McpTool
from zidane_core.data.project import Instructions, Project, Surroundings, UserCommand
from zidane_core.data.tools import Diff, Preview, ResolvedPath, ToolResult

MODEL = models.ModelChoice(value="test-model", name="Test model", provider="test", id="test-model")
OPTIONS = Options(models=(MODEL,), default_model="test-model", tools=ACP_DEFAULT, system="Work in {cwd}.")
SERVER = Server(info=Implementation(name="zidane-acp", version="0"))
TURN_UPDATES = {
    "agent_message_chunk",
    "agent_thought_chunk",
    "tool_call",
    "tool_call_update",
    "plan",
    "compaction_update",
}
DONE = {"completed", "failed"}
SETUPS = CheckPaths | FindThread | LoadThread | ListThreads | DeleteThread
HANDS = {
    "fs": {"readTextFile": True, "writeTextFile": True},
    "terminal": True,
    "elicitation": {"form": {}, "url": {}},
}
"""What a client has that can do everything."""

OFFER = McpOffer(
    tools=(
        McpTool(name="look", schema={"type": "object"}, read_only=True),
        McpTool(name="change", schema={"type": "object"}, destructive=True),
    ),
    prompts=(McpPrompt(name="greet", arguments=(McpPromptArgument(name="who", required=True),)),),
)
PROJECT = Project(
    folders=("/project",),
    untrusted=("/project",),
    instructions=(
        Instructions(path="/home/AGENTS.md", text="Be kind.\n", size=9),
        Instructions(path="/project/AGENTS.md", text="Use tabs.\n", size=2048, folder="/project"),
    ),
    commands=(
        UserCommand(
            name="fix",
            template="Fix $1.",
            source="project",
            path="/project/.zidane/commands/fix.md",
            folder="/project",
        ),
    ),
)
"""What a folder brings along that nobody has trusted yet."""

MAY_END = {"terminal/kill", "terminal/release"}
"""Requests that take something back."""


def said(text: str) -> tuple[models.ModelEvent, ...]:
    """A round that says something and stops."""
    return (models.TextDelta(text), models.Finished("stop"))


def calls(*made: tuple[str, dict[str, object]], text: str = "") -> tuple[models.ModelEvent, ...]:
    """A round that calls tools."""
    lead = (models.TextDelta(text),) if text else ()
    called = tuple(models.Called("id", name, json.dumps(arguments)) for name, arguments in made)
    return (*lead, *called, models.Finished("tool-calls"))


class Driver:
    """One connection with everything around it in the test's hands."""

    def __init__(
        self,
        options: Options = OPTIONS,
        capabilities: dict[str, Any] | None = None,
        disk: Disk | None = None,
        seed: str = "seed",
        project: Project | None = None,
        server: Server = SERVER,
    ) -> None:
        self.project = project
        self.now = 0.0
        self.connection: Connection = begin(Opened(now=0.0, seed=seed, options=options, server=server))
        self.capabilities = capabilities or {}
        self.jobs: dict[str, Any] = {}
        self.stopped: set[str] = set()
        self.saves: dict[str, Save] = {}
        self.shown: dict[str, list[dict[str, Any]]] = {}
        self.read: dict[str, int] = {}
        self.loads: dict[Any, str] = {}
        self.heard: dict[str, set[str]] = {}
        self.tickets: dict[int, Any] = {}
        self.conflicts: set[str] = set()
        self.disk = disk or Disk()
        self.leases: set[str] = set()
        self.keys: set[str] = set()
        self.frames: list[dict[str, Any]] = []
        self.open: dict[int, dict[str, Any]] = {}
        self.waiting: dict[tuple[str, Any], str] = {}
        self.answers: dict[tuple[str, Any], dict[str, Any]] = {}
        self.prompts: dict[str, int] = {}
        self.order: dict[str, list[Any]] = {}
        self.said: dict[str, list[list[dict[str, Any]]]] = {}
        self.cards: dict[str, dict[str, str]] = {}
        self.compactions: dict[str, dict[str, str]] = {}
        self.stopping: set[str] = set()
        self.refused: Any = None
        self.files: dict[str, str] = {}
        self.buffers: dict[str, str] = {}
        self.terminals: dict[str, str] = {}
        self.made: set[str] = set()
        self.offered: set[str] = set()
        self.replies: dict[tuple[str, int], dict[str, Any]] = {}
        self.inquired: dict[str, int] = {}
        self.notifications: list[dict[str, Any]] = []
        self.exit: int | None = None
        self.last_id = 0
        self.events = 0
        self.replays_every = 1

    # In ------------------------------------------------------------------------------------------

    def feed(self, event: ConnectionEvent) -> None:
        """Take one step, check that it is deterministic, and do what it says."""
        assert self.exit is None, "an event after the exit"
        self.events += 1
        before = self.connection
        after, effects = step(before, event)
        assert step(before, event) == (after, effects), "the same input gave another output"
        self.connection = after
        self.tickets.update(after.tickets.items())
        frames = len(self.frames)
        for effect in effects:
            self._perform(effect)
        self._note(before, self.frames[frames:])
        self._check()

    def _note(self, before: Connection, frames: list[dict[str, Any]]) -> None:
        """Keep what was shown live, with each prompt's blocks where its turn starts.

        A turn starts right behind the answer of the one before it, or where nothing ran.
        """
        for thread in self.connection.agent.threads.values():
            known = before.agent.threads.get(thread.id)
            stored = {e.message for e in self._stored(thread.id) if isinstance(e, history.UserSaid)}
            heard = self.heard.setdefault(thread.id, set())
            said = [
                e for e in thread.log if isinstance(e, history.UserSaid) and e.message not in heard | stored
            ]
            heard.update(entry.message for entry in said)
            for entry in said:
                self._check_said(thread.id, entry)
            if self._is_replay(known, thread, frames):
                self.shown[thread.id] = []
            elif self._is_resumed(known, thread):
                # Its client has kept what was shown.
                self.shown[thread.id] = self._spoken(whole(replace(thread, turn=None)))
            self.shown.setdefault(thread.id, [])
            loaded = self._load_answer(known)
            if known is not None and known.turn is None and said and loaded not in frames:
                self.shown[thread.id] += self._as_updates(thread.id, said.pop(0))
            for frame in frames:
                if said and loaded == frame and known is not None and known.turn is None:
                    # A turn that begins in the same moment begins behind the replay.
                    self.shown[thread.id] += self._as_updates(thread.id, said.pop(0))
                refused = frame.get("error", {}).get("data") == {"kind": "in_use"}
                if refused and self.waiting.get(id_of(frame)) == thread.id:
                    self._forget(thread)
                if frame.get("method") == "session/update" and frame["params"]["sessionId"] == thread.id:
                    self.shown[thread.id].append(frame["params"]["update"])
                elif said and "method" not in frame and self.waiting.get(id_of(frame)) == thread.id:
                    self.shown[thread.id] += self._as_updates(thread.id, *_next_turn(thread, said))
            for entry in said:
                self.shown[thread.id] += self._as_updates(thread.id, entry)

    def _is_replay(self, known: Thread | None, thread: Thread, frames: list[dict[str, Any]]) -> bool:
        """Whether everything is shown again from here on: a load reads the history, or an open one is replayed."""
        if known is None or known.setup is None or known.setup.kind != "load":
            return False
        answer = self._load_answer(known)
        answered = answer in frames and answer is not None and "result" in answer
        if known.phase != "open":
            return not len(known.log) and (answered or bool(len(thread.log)))
        return answered

    def _load_answer(self, known: Thread | None) -> dict[str, Any] | None:
        setup = None if known is None else known.setup
        return (
            None if setup is None or setup.kind == "new" else self.answer_of(self.tickets.get(setup.ticket))
        )

    @staticmethod
    def _is_resumed(known: Thread | None, thread: Thread) -> bool:
        setup = None if known is None or known.phase != "opening" or thread.phase != "open" else known.setup
        return setup is not None and setup.kind == "resume"

    def _read_again(self, thread: Thread) -> Thread:
        """A thread whose history was given back, as it will be when that is read again."""
        log: pages.Pages[history.Entry] = pages.Pages()
        for entry in self._stored(thread.id):
            log = pages.append(log, entry)
        return replace(
            thread, log=log, cut=True, store=replace(thread.store, journal=self.disk.journal(thread.id))
        )

    def _stored(self, session: str) -> list[history.Entry]:
        return [entry_of(text) for text in self.disk.entries.get(session, ())]

    def _check_said(self, session: str, entry: history.UserSaid) -> None:
        """What is shown of a prompt is what its client sent, with the hints of its blocks."""
        shown = [update["content"] for update in self._as_updates(session, entry)]
        sent = self.said.get(session, [])
        assert any(matches(shown, blocks) for blocks in sent), f"shown otherwise than sent:\n{shown}\n{sent}"

    def _forget(self, thread: Thread) -> None:
        """A prompt was refused: its turn never started."""
        known = {entry.message for entry in thread.log if isinstance(entry, history.UserSaid)}
        self.shown[thread.id] = [
            update
            for update in self.shown[thread.id]
            if update["sessionUpdate"] != "user_message_chunk" or update["messageId"] in known
        ]

    def _as_updates(self, session: str, *entries: history.Entry) -> list[dict[str, Any]]:
        return self._spoken(replay(session, entries))

    def _spoken(self, told: tuple[Any, ...]) -> list[dict[str, Any]]:
        _, effects = speak(self.connection, told)
        frames = [json.loads(effect.frame) for effect in effects if isinstance(effect, Send)]
        return [frame["params"]["update"] for frame in frames]

    def check_replay(self) -> None:
        """The replay law, for every session whose log holds no entries of another program."""
        for thread in self.connection.agent.threads.values():
            is_shown = thread.phase == "open" or (thread.phase == "cold" and thread.setup is None)
            if thread.outlet and thread.id not in self.conflicts and is_shown:
                read = thread if thread.phase == "open" else self._read_again(thread)
                replayed = self._spoken(whole(read))
                shown = fold(self.shown.get(thread.id, []), self.terminals)
                again = fold(replayed, self.terminals)
                assert again == shown, f"a replay would show something else:\n{again}\n{shown}"

    def bytes(self, data: bytes) -> None:
        self.feed(Received(self.now, data))

    def send(self, frame: dict[str, Any]) -> None:
        self.bytes(json.dumps({"jsonrpc": "2.0", **frame}).encode())

    def request(self, method: str, request_id: Any = None, **params: Any) -> Any:
        self.last_id += 1
        request_id = self.last_id if request_id is None else request_id
        prompt_of = params["sessionId"] if method == "session/prompt" else ""
        self.waiting[type(request_id).__name__, request_id] = prompt_of
        if method == "session/load":
            self.loads[request_id] = params["sessionId"]
        if method == "session/prompt":
            self.prompts[prompt_of] = self.prompts.get(prompt_of, 0) + 1
            self.order.setdefault(prompt_of, []).append(request_id)
            self.said.setdefault(prompt_of, []).append([as_shown(block) for block in params["prompt"]])
        self.send({"id": request_id, "method": method, "params": params})
        return request_id

    def expect_refusal(self, request_id: Any) -> None:
        """A request under an id that is in use: refused at once, and the first one stays as it was."""
        self.refused = request_id
        self.send({"id": request_id, "method": "authenticate", "params": {"methodId": "x"}})
        assert self.refused is None

    def answer_of(self, request_id: Any) -> dict[str, Any] | None:
        return self.answers.get((type(request_id).__name__, request_id))

    def initialize(self) -> None:
        self.request("initialize", protocolVersion=1, clientCapabilities=self.capabilities)

    def session(self, cwd: str = "/project", settled: bool = True, **more: Any) -> str:
        """A new session, its folder looked at; `settled` when it has its row in the store, too."""
        asked = self.request("session/new", cwd=cwd, **{"mcpServers": [], **more})
        newest = [key for key, what in self.jobs.items() if isinstance(what, CheckPaths)][-1]
        self.finish(newest)
        answer = self.answer_of(asked)
        assert answer is not None
        session: str = answer["result"]["sessionId"]
        for key in [key for key, save in self.saves.items() if settled and save.session == session]:
            self.store_one(key)
        return session

    def prompt(self, session: str, text: str = "hello") -> Any:
        return self.request("session/prompt", sessionId=session, prompt=[{"type": "text", "text": text}])

    def cancel(self, session: str) -> None:
        self.stopping.add(session)
        self.send({"method": "session/cancel", "params": {"sessionId": session}})

    def only(self, wanted: Callable[[Any], bool]) -> str:
        """The key of the one running job of this kind."""
        found = [key for key, what in self.jobs.items() if wanted(what)]
        assert len(found) == 1, self.jobs
        return found[0]

    def model_jobs(self) -> list[str]:
        return [key for key, what in self.jobs.items() if isinstance(what, RunModel)]

    def tool_jobs(self, stage: str = "run") -> list[str]:
        return [key for key, what in self.jobs.items() if isinstance(what, RunTool) and what.stage == stage]

    def progress(self, key: str, *batch: Any) -> None:
        self.feed(Progressed(self.now, key, batch))

    def end(self, key: str, outcome: JobOutcome) -> None:
        self.jobs.pop(key, None)
        self.feed(Ended(self.now, key, outcome))

    def round(self, events: Iterable[models.ModelEvent], key: str | None = None) -> None:
        """The running model says all this and ends."""
        key = self.model_jobs()[0] if key is None else key
        self.progress(key, *events)
        self.end(key, Ok(ModelDone()))

    def store(self) -> None:
        """The store does what it was asked for, until nothing is left."""
        while self.saves:
            self.store_one()

    def store_one(self, key: str | None = None) -> None:
        key = key or next(reversed(self.saves))
        save = self.saves.pop(key)
        if not (self.disk.has_all_before(save) and self.disk.knows_the_journal(save)):
            theirs = tuple(self.disk.entries.get(save.session, ())[save.expected_seq :])
            self.conflicts.add(save.session)
            self.feed(Conflict(self.now, key, theirs, self.disk.journal(save.session)))
            return
        self._append(save)
        self.feed(Saved(self.now, key))

    def _store_late(self, session: str) -> None:
        """A save of a thread that is gone is done, or not; its event finds nobody."""
        key, save = next((key, save) for key, save in self.saves.items() if save.session == session)
        del self.saves[key]
        if self.disk.has_all_before(save) and self.disk.knows_the_journal(save):
            self._append(save)

    def _append(self, save: Save) -> None:
        self.disk.append(save)
        if save.lease == "take":
            self.leases.add(save.session)
        elif save.lease == "drop":
            self.leases.discard(save.session)

    def conflict(self) -> None:
        """Another program appended a whole turn first."""
        key, save = self.saves.popitem()
        self.conflicts.add(save.session)
        thread = self.connection.agent.threads.get(save.session)
        if thread is None:  # the last try for one that is gone
            self.feed(Conflict(self.now, key, ()))
            return
        rows = self.disk.entries.setdefault(save.session, [])
        known = len(rows)
        assert known == save.expected_seq
        theirs = (
            *repairs(self._read_again(thread).log, self.disk.journal(save.session)),
            history.UserSaid(f"msg_other_{known}", (Text("theirs"),), 99),
            history.CallMade(call=f"call_other_{known}", name="f", arguments="{}", title="f", kind="other"),
            history.ResultMade(call=f"call_other_{known}", name="f", content=(Text("r"),), failed=False),
            history.TurnEnded(99, "end_turn"),
        )
        rows.extend(text_of(entry) for entry in theirs)
        self.feed(Conflict(self.now, key, tuple(rows[known:]), self.disk.journal(save.session)))

    def fail_save(self, reason: Any) -> None:
        key, save = self.saves.popitem()
        if reason == "in_use":
            self.leases.discard(save.session)  # another program has it
        self.feed(SaveFailed(self.now, key, reason))

    def fail(self, fault: models.Broke) -> None:
        self.end(self.model_jobs()[0], Failed(fault.fault, fault.retryable, fault.retry_after))

    def close(self, reason: Any = "eof") -> None:
        self.feed(Closed(self.now, reason))

    def reply(self, request_id: int, **body: Any) -> None:
        """The client answers a request of ours."""
        request = self.open.pop(request_id, {"method": "", "params": {}})
        result = body.get("result")
        if request["method"] == "terminal/create" and isinstance(result, dict) and "terminalId" in result:
            self.made.add(result["terminalId"])
        if request["method"] == "terminal/output" and isinstance(result, dict) and "output" in result:
            self.terminals[request["params"]["terminalId"]] = visible_output(result["output"])
        self.send({"id": request_id, **body})

    def choose(self, request_id: int, option: str) -> None:
        self.reply(request_id, result={"outcome": {"outcome": "selected", "optionId": option}})

    def answer(self, request_id: int) -> None:
        """The client answers as a well-behaved one would; the user says no to everything."""
        request = self.open[request_id]
        path = request["params"].get("path", "")
        known = self.buffers.get(path, self.files.get(path))
        missing = {"error": {"code": -32002, "message": "Resource not found"}}
        if request["method"] == "fs/write_text_file":
            self.buffers[path] = self.files[path] = request["params"]["content"]
        body: dict[str, Any] = {
            "session/request_permission": {
                "result": {"outcome": {"outcome": "selected", "optionId": "reject_once"}}
            },
            "fs/read_text_file": missing if known is None else {"result": {"content": known}},
            "fs/write_text_file": {"result": None},
            "terminal/create": {"result": {"terminalId": f"term {request_id}"}},
            "terminal/wait_for_exit": {"result": {"exitCode": 0}},
            "terminal/output": {"result": {"output": "out", "truncated": False}},
            "terminal/kill": {"result": {}},
            "terminal/release": {"result": None},
            "_zidane/client_tool/call": {"result": {"content": "picked"}},
            "elicitation/create": {"result": {"action": "decline"}},
        }[request["method"]]
        self.reply(request_id, **body)

    def ask(self, key: str, question: dict[str, Any]) -> int:
        """A server asks the user; gives the number of its question."""
        self.inquired[key] = self.inquired.get(key, 0) + 1
        self.feed(Asked(self.now, key, self.inquired[key], json.dumps(question), "elicit"))
        return self.inquired[key]

    def waits(self) -> list[str]:
        """The jobs that end by themselves: a connected server does not."""
        return [key for key in self.jobs if key in self.stopped or key not in self.offered]

    def server_jobs(self) -> list[str]:
        return [key for key, what in self.jobs.items() if isinstance(what, RunMcpServer)]

    def offer(self, key: str, offer: McpOffer = OFFER) -> None:
        self.offered.add(key)
        self.progress(key, offer)

    def finish(self, key: str) -> None:
        """A job ends as a well-behaved outsider would end it; a server is connected and stays."""
        what = self.jobs[key]
        if key in self.stopped:
            self.end(key, Stopped())
        elif isinstance(what, RunMcpServer):
            self.offer(key)
        elif isinstance(what, RunMcpCall):
            self.end(key, Ok(ToolResult(content=(Text("called"),))))
        elif isinstance(what, GetMcpPrompt):
            self.end(key, Ok(PromptGot((Text(f"prompt {what.prompt}"),))))
        elif isinstance(what, LookAtFile):
            self.end(key, Ok(self.look(what)))
        elif isinstance(what, ReadAttachments):
            self.end(key, Ok(self.attachments(what)))
        elif isinstance(what, Wait):
            self.now += what.seconds
            self.end(key, Ok(WaitDone()))
        elif isinstance(what, RunTool):
            self.end(
                key, Ok(preview(what) if what.stage == "prepare" else ToolResult(content=(Text("done"),)))
            )
        elif isinstance(what, RunModel):
            self.round(said("ok"), key)
        elif isinstance(what, Rest):
            self.end(key, Ok(WaitDone()))
        elif isinstance(what, CheckPaths):
            self.end(key, Ok(CheckedPaths(project=self.project if what.project else None)))
        elif isinstance(what, LookAround):
            self.end(key, Ok(LookedAround(Surroundings(platform="Linux", date="2026-12-01"))))
        elif isinstance(what, KeepGrant | KeepTrust):
            self.end(key, Ok(RuleKept()))
        elif isinstance(what, RunFactory):
            self.end(key, Ok(ProviderMade()))
        else:
            self.store()
            if isinstance(what, LoadThread):
                while self.read_some(key, what):
                    pass
            self.end(key, Ok(self.disk.value(what)))

    def look(self, what: LookAtFile) -> FileSeen:
        """What the disk has at the path of a call."""
        given = str(what.call.arguments["path"])
        path = given if given.startswith("/") else f"{what.call.cwd}/{given}"
        within = inside(path, what.call.roots)
        kind: Any = "outside" if not within else "text" if path in self.files else "missing"
        found = ResolvedPath(given, path, within)
        return FileSeen(path=found, shown=path, kind=kind, text=self.files.get(path, "") if within else "")

    def attachments(self, what: ReadAttachments) -> AttachmentsRead:
        """The files of links that are there, and a note for every picture."""
        links = [(at, link.uri.removeprefix("file://"), link) for at, link in what.links]
        found = [
            Attachment(
                position=at,
                part=Document(link.uri, link.name, None, self.files[path]),
                path=path,
                digest=digest(self.files[path]),
            )
            for at, path, link in links
            if path in self.files and inside(path, what.roots)
        ]
        notes = [Attachment(position=at, part=Text("[small]"), notice="Too large.") for at, _ in what.images]
        return AttachmentsRead((*found, *notes))

    def work(self) -> None:
        """Every job but models, waits and servers ends well, until none is left."""
        while found := [
            key
            for key, what in self.jobs.items()
            if key in self.stopped or not isinstance(what, RunModel | Wait | Rest | RunMcpServer)
        ]:
            self.finish(found[0])

    def only_asked(self, method: str) -> int:
        """The one open request to the client, which is of this method."""
        (number,) = self.open
        assert self.open[number]["method"] == method, self.open[number]
        return number

    def bound(self, seconds: float) -> None:
        """A wait of so many seconds is over."""
        waits = [
            key
            for key, what in self.jobs.items()
            if isinstance(what, Wait) and what.seconds == seconds and key not in self.stopped
        ]
        self.finish(waits[-1])

    def card(self) -> dict[str, Any]:
        """The last card as it stands."""
        cards = [update for update in self.updates() if update["sessionUpdate"].startswith("tool_call")]
        last = cards[-1]["toolCallId"]
        whole: dict[str, Any] = {}
        for update in cards:
            whole |= update if update["toolCallId"] == last else {}
        return whole

    def result(self) -> str:
        """What the model was given for the last call."""
        (thread,) = [thread for thread in self.connection.agent.threads.values() if thread.turn]
        final = pages.last(thread.view.messages)
        assert isinstance(final, models.ResultsMessage)
        return "\n".join(part.text for part in final.results[-1].content if isinstance(part, Text))

    def notices(self) -> list[str]:
        """What the user was told."""
        return [
            update["content"]["text"].strip()
            for update in self.updates()
            if "notice" in update.get("_meta", {}).get("zidane", {})
        ]

    def read_some(self, key: str, what: LoadThread) -> bool:
        """One more piece of a history is read; gives whether there was one."""
        pieces = self.disk.pieces(what)[self.read.get(key, 0) :]
        if pieces:
            self.read[key] = self.read.get(key, 0) + 1
            self.progress(key, pieces[0])
        return bool(pieces)

    def set_up(self) -> None:
        """Every job of the store and of the file system ends well, until none is left."""
        while found := [key for key, what in self.jobs.items() if isinstance(what, SETUPS)]:
            self.finish(found[0])

    def gather(self) -> None:
        """What a prompt needs of the folders is there: the place was looked at, and nothing of it is used."""
        for key in [key for key, what in self.jobs.items() if isinstance(what, LookAround)]:
            self.finish(key)
        for number in self.asked():
            self.answer(number)

    def load(self, session: str, cwd: str = "/project", method: str = "session/load", **more: Any) -> Any:
        """Ask for a stored session, and let the store do its part."""
        asked = self.request(method, sessionId=session, cwd=cwd, mcpServers=[], **more)
        self.set_up()
        return asked

    # Out -----------------------------------------------------------------------------------------

    def _perform(self, effect: Any) -> None:
        if isinstance(effect, Start):
            assert effect.key not in self.keys, "a key was used twice"
            self.keys.add(effect.key)
            self.jobs[effect.key] = effect.what
            session = effect.key.rpartition("/")[0]
            assert (
                isinstance(effect.what, Wait | SETUPS | RunMcpServer | RunFactory)
                or session not in self.stopping
            ), "work began after the cancel"
            if isinstance(effect.what, RunModel):
                check_history(effect.what.request.messages)
        elif isinstance(effect, Stop):
            self.stopped.add(effect.key)
        elif isinstance(effect, Save):
            assert not any(save.session == effect.session for save in self.saves.values()), (
                "two saves in flight"
            )
            assert effect.key not in self.keys
            assert effect.entries or not effect.expected_seq or effect.lease == "drop"
            self.keys.add(effect.key)
            self.saves[effect.key] = effect
        elif isinstance(effect, Journal):
            self.disk.note(effect)
        elif isinstance(effect, Reply):
            assert (effect.key, effect.ask) not in self.replies, "a server's question was answered twice"
            self.replies[effect.key, effect.ask] = json.loads(effect.answer)
        elif isinstance(effect, Release):
            # In order: what is on its way to the store comes first.
            while any(save.session == effect.session for save in self.saves.values()):
                self._store_late(effect.session)
            self.leases.discard(effect.session)
        elif isinstance(effect, Send):
            self._sent(json.loads(effect.frame))
        elif isinstance(effect, Exit):
            self.exit = effect.code

    def _sent(self, frame: dict[str, Any]) -> None:
        self.frames.append(frame)
        if "method" not in frame:
            key = (type(frame["id"]).__name__, frame["id"])
            if self.refused is not None and self.refused == frame["id"]:
                assert frame["error"]["code"] == -32600
                self.refused = None
                return
            if frame["id"] is None and key not in self.waiting:
                return
            assert key in self.waiting, f"an answer to nothing: {frame}"
            assert key not in self.answers, f"answered twice: {frame}"
            self.answers[key] = frame
            if self.waiting[key]:
                self._turn_over(self.waiting[key], frame["id"])
        elif frame["method"] == "session/update":
            self._update(frame["params"]["sessionId"], frame["params"]["update"])
        elif frame["method"] == "$/cancel_request":
            assert self.open.pop(frame["params"]["requestId"], None), "withdrew a question that was not open"
        elif "id" not in frame:
            assert frame["method"] in {"_zidane/client_tool/cancel", "elicitation/complete"}, frame
            self.notifications.append(frame)
        else:
            self.open[frame["id"]] = frame
            self.made.discard(
                frame["params"].get("terminalId") if frame["method"] == "terminal/release" else ""
            )
            assert frame["params"].get("sessionId") not in self.stopping or frame["method"] in MAY_END, (
                f"asked after the cancel: {frame}"
            )
            assert self.may_ask(frame), f"asked for what the client has not: {frame}"
            if frame["method"] == "session/request_permission":
                call = frame["params"]["toolCall"]["toolCallId"]
                assert self.cards[frame["params"]["sessionId"]][call] == "pending", "asked before its card"
                assert {"allow_once", "reject_once"} <= {o["kind"] for o in frame["params"]["options"]}

    def may_ask(self, frame: dict[str, Any]) -> bool:
        """Whether the client has advertised what it is asked for."""
        able = self.capabilities
        files = able.get("fs", {})
        elicitation = able.get("elicitation", {})
        return bool(
            {
                "session/request_permission": True,
                "_zidane/client_tool/call": True,
                "fs/read_text_file": files.get("readTextFile"),
                "fs/write_text_file": files.get("writeTextFile"),
                "elicitation/create": frame["params"].get("mode") in elicitation,
            }.get(frame["method"], able.get("terminal") and frame["method"].startswith("terminal/"))
        )

    def _turn_over(self, session: str, request_id: Any) -> None:
        self.prompts[session] -= 1
        waiting = self.order[session]
        running = waiting[0] == request_id
        waiting.remove(request_id)
        if not running:
            return  # a queued prompt was dropped; the running turn goes on
        self.stopping.discard(session)
        assert not self.made, f"terminals were not released: {self.made}"
        open_cards = [call for call, status in self.cards.get(session, {}).items() if status not in DONE]
        assert not open_cards, f"cards still open at the answer: {open_cards}"
        assert "in_progress" not in self.compactions.get(session, {}).values(), "a compaction is still open"

    def _update(self, session: str, update: dict[str, Any]) -> None:
        kind = update["sessionUpdate"]
        if kind in TURN_UPDATES and not self._is_replayed(session):
            assert self.prompts.get(session, 0) > 0, f"an update after the answer: {update}"
        if kind == "compaction_update":
            self._compaction(session, update)
        cards = self.cards.setdefault(session, {})
        if self._is_replayed(session):
            if kind == "tool_call":
                cards[update["toolCallId"]] = update["status"]
            elif kind == "tool_call_update":
                cards[update["toolCallId"]] = update.get("status", cards[update["toolCallId"]])
        elif kind == "tool_call":
            assert update["toolCallId"] not in cards, "a call id was used twice"
            cards[update["toolCallId"]] = update["status"]
        elif kind == "tool_call_update":
            status = cards[update["toolCallId"]]
            assert status not in DONE, f"an update of a finished card: {update}"
            cards[update["toolCallId"]] = update.get("status", status)
            if update.get("status") in DONE:
                assert "rawOutput" in update and "content" in update, update

    def _compaction(self, session: str, update: dict[str, Any]) -> None:
        """In progress, then one end; a replay may show the end alone."""
        known = self.compactions.setdefault(session, {})
        name, status = update["compactionId"], update["status"]
        assert ("summary" in update) == (status == "completed"), update
        assert ("error" in update) == (status == "failed"), update
        if not self._is_replayed(session):
            expected = None if status == "in_progress" else "in_progress"
            assert known.get(name) == expected, (known, update)
        known[name] = status

    def _is_replayed(self, session: str) -> bool:
        """Whether a load of this session waits for its answer."""
        waiting = self.waiting.keys() - self.answers.keys()
        return any(self.loads.get(number) == session for _, number in waiting)

    def _check(self) -> None:
        open_table = self.connection.open
        wanted = {number for number, known in open_table.items() if known.key}
        undoing = {number for number in self.open if not open_table[number].key}
        assert wanted == self.open.keys() - undoing, (
            "the open table is not the questions that are still wanted"
        )
        assert {open_table[number].key for number in wanted} == set(self.connection.ids)
        for thread in self.connection.agent.threads.values():
            again = view_of(thread.log)
            assert (again.messages, again.mark, again.size) == (
                thread.view.messages,
                thread.view.mark,
                thread.view.size,
            ), "the view is not the log's"
            assert thread.view.size == sum(map(size_of, thread.view.messages)), (
                "the size is not the messages'"
            )
            if not (thread.turn or thread.prompts or thread.store.saving or thread.store.pause):
                assert thread.id not in self.leases, "an idle session keeps its lease"
        for session in self.leases:
            known = self.connection.agent.threads.get(session)
            on_its_way = any(save.session == session for save in self.saves.values())
            assert known is not None or on_its_way, "a session that is gone keeps its lease"
        if self.events % self.replays_every == 0:
            self.check_replay()

    # Looking -------------------------------------------------------------------------------------

    def updates(self, session: str | None = None) -> list[dict[str, Any]]:
        return [
            frame["params"]["update"]
            for frame in self.frames
            if frame.get("method") == "session/update" and session in (None, frame["params"]["sessionId"])
        ]

    def text(self, kind: str = "agent_message_chunk") -> str:
        return "".join(u["content"]["text"] for u in self.updates() if u["sessionUpdate"] == kind)

    def asked(self) -> list[int]:
        return list(self.open)


def _next_turn(thread: Thread, said: list[history.UserSaid]) -> list[history.UserSaid]:
    """The prompt of the turn that begins now, behind those that were cancelled while they waited: they have no turn."""
    cancelled = {
        entry.turn
        for before, entry in pairwise(thread.log)
        if isinstance(entry, history.TurnEnded) and isinstance(before, history.UserSaid)
    }
    count = next((at for at, entry in enumerate(said) if entry.turn not in cancelled), len(said) - 1) + 1
    taken, said[:] = said[:count], said[count:]
    return taken


def id_of(frame: dict[str, Any]) -> tuple[str, Any]:
    return type(frame["id"]).__name__, frame["id"]


def preview(what: RunTool) -> Preview:
    """What a preparation finds in an ordinary folder."""
    resolved = tuple(ResolvedPath(path, path, inside(path, what.roots)) for path in what.paths)
    diffs = (
        (Diff(what.paths[0], "old\n", "new\n"),) if what.name in {"edit", "write_file", "multi_edit"} else ()
    )
    outside = [path.real for path in resolved if not path.inside]
    title = f"{what.name} (outside of the workspace: {outside[0]})" if outside else ""
    return Preview(paths=resolved, diffs=diffs, digest="digest" if diffs else "", title=title)


def inside(path: str, roots: tuple[str, ...]) -> bool:
    return any(path == root or path.startswith(root + "/") for root in roots)


def check_history(messages: tuple[models.Message, ...]) -> None:
    """Every call has exactly one result right behind its message, and no result is without a call."""
    for position, message in enumerate(messages):
        called = (
            [b.id for b in message.blocks if isinstance(b, models.Call)]
            if isinstance(message, models.AssistantMessage)
            else []
        )
        after = messages[position + 1] if position + 1 < len(messages) else None
        results = [r.id for r in after.results] if isinstance(after, models.ResultsMessage) else []
        if called or results:
            assert called == results, (called, results)
        if isinstance(message, models.ResultsMessage):
            assert position and isinstance(messages[position - 1], models.AssistantMessage)
    assert messages and not isinstance(messages[-1], models.AssistantMessage)


def ready(
    options: Options = OPTIONS, capabilities: dict[str, Any] | None = None, project: Project | None = None
) -> tuple[Driver, str]:
    """A driver with one open session."""
    driver = Driver(options, capabilities, project=project)
    driver.initialize()
    return driver, driver.session()


def with_(options: Options, **changes: Any) -> Options:
    return msgspec.structs.replace(options, **changes)
