"""Random walks over the whole core. Safety is checked by the driver after each event, liveness at the end."""

from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule
from msgspec.structs import replace
from support.driver import HANDS, MODEL, OPTIONS, PROJECT, SETUPS, Driver, preview, with_
from support.folding import fold

from zidane_core.agent.events import (
    Ended,
    Failed,
    JobOutcome,
    ModelDone,
    ModelsChanged,
    Ok,
    Progressed,
    Stopped,
    WaitDone,
)
from zidane_core.agent.modes import MODES
from zidane_core.agent.work import (
    GetMcpPrompt,
    KeepTrust,
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
from zidane_core.data import models
from zidane_core.data.content import Text
from zidane_core.data.mcp import McpOffer, McpPageDone
from zidane_core.data.outcome import Usage
from zidane_core.data.project import ProjectSettings, UserCommand
from zidane_core.data.rules import Denials
from zidane_core.data.tools import ToolOutput, ToolResult
from zidane_core.faults import provider_fault

CALLS = st.sampled_from(
    [
        models.Called("x", "shell", '{"command": "touch a"}'),
        models.Called("x", "shell", '{"command": "git commit -m a"}'),
        models.Called("x", "shell", '{"command": "sh -c \'git push\'"}'),
        models.Called("x", "read_file", '{"path": "denied/a"}'),
        models.Called("", "read_file", '{"path": "a"}'),
        models.Called("x", "read_file", '{"path": "/outside"}'),
        models.Called("y", "write_file", '{"path": "a", "content": "b"}'),
        models.Called("y", "fetch", '{"url": "https://example.com/a"}'),
        models.Called(
            "z", "update_plan", '{"entries": [{"content": "a", "status": "pending", "priority": "low"}]}'
        ),
        models.Called("z", "edit", '{"path": "b", "old_string": "a", "new_string": "b"}'),
        models.Called("z", "edit", "{"),
        models.Called("z", "shell", '{"command": "ls"}'),
        models.Called("z", "pick", '{"of": "a"}'),
        models.Called("z", "one__look", "{}"),
        models.Called("z", "one__change", "{}"),
        models.Called("z", "ask_user", '{"message": "Which?"}'),
        models.Called("z", "exit_plan", '{"plan": "1. Do it."}'),
        models.Called("z", "nope", "{}"),
    ]
)
BROKEN = st.one_of(
    st.builds(
        models.Broke,
        st.just(provider_fault("server", "Down.", provider="test")),
        st.booleans(),
        st.sampled_from([None, 0.0, 5.0, 100.0]),
    ),
    st.just(models.Broke(provider_fault("context_overflow", "Too long.", provider="test"))),
)
SAID = st.sampled_from(
    [
        models.TextDelta("a"),
        models.TextDelta(""),
        models.TextDelta("long " * 200),
        models.TextDelta("\udc97é"),
        models.ThoughtDelta("hm"),
        models.BlockEnded(models.Opaque("test", "{}")),
        models.ForeignBlock(models.Opaque("test", "[]")),
        models.Used(Usage(3, 4)),
        models.Used(Usage(2700, 4)),
        models.Warned("No audio."),
    ]
)
ENDS = st.builds(
    models.Finished, st.sampled_from(["stop", "length", "content-filter", "tool-calls", "error", "other"])
)
BATCH = st.lists(st.one_of(SAID, SAID, CALLS), max_size=4).map(tuple)
BLOCKS = st.sampled_from(
    [
        {"type": "text", "text": "look"},
        {"type": "image", "data": "aGk=", "mimeType": "image/png"},
        {"type": "image", "data": "", "mimeType": "image/png", "uri": "file:///a.png"},
        {"type": "audio", "data": "aGk=", "mimeType": "audio/wav"},
        {"type": "resource_link", "uri": "file:///a", "name": "a"},
        {"type": "resource", "resource": {"uri": "file:///a", "text": "b"}},
        {"type": "resource", "resource": {"uri": "file:///a", "blob": "aGk="}},
        {"type": "from the future"},
        {"type": "resource_link", "uri": "file:///project/b", "name": "b"},
        {"type": "text", "text": "/one__greet you"},
        {"type": "text", "text": "/fix it"},
        {"type": "text", "text": "/model other"},
        {"type": "text", "text": "/model late"},
        {"type": "text", "text": "/mode plan"},
        {"type": "text", "text": "/usage"},
        {"type": "text", "text": "/init"},
        {"type": "text", "text": "/compact the rest"},
        {"type": "text", "text": "/mine a"},
        {"type": "text", "text": "seen", "annotations": {"audience": ["user"], "priority": 0.5}},
        {"type": "text", "text": "/mode plan", "annotations": {"audience": ["user"]}},
        {
            "type": "text",
            "text": "both",
            "annotations": {"audience": ["user", "assistant"]},
            "_meta": {"a": 1},
        },
        {"type": "text", "text": "none", "annotations": 7, "_meta": []},
        {
            "type": "resource",
            "resource": {"uri": "file:///a", "blob": "aGk=", "mimeType": "image/png", "_meta": {"b": [2]}},
            "annotations": {"lastModified": "2026-01-01T00:00:00Z", "_meta": {"c": None}},
        },
        {"type": "resource_link", "uri": "file:///project/b", "name": "b", "annotations": {"priority": 1}},
    ]
)
ANSWERS = st.sampled_from(
    [
        {"result": {"outcome": {"outcome": "selected", "optionId": "allow_once"}}},
        {"result": {"outcome": {"outcome": "selected", "optionId": "allow_always"}}},
        {"result": {"outcome": {"outcome": "selected", "optionId": "allow_project"}}},
        {"result": {"outcome": {"outcome": "selected", "optionId": "reject_once"}}},
        {"result": {"outcome": {"outcome": "selected", "optionId": "other"}}},
        {"result": {"outcome": {"outcome": "cancelled"}}},
        {"result": 7},
        {"result": None},
        {"result": {"content": "a\nb\n"}},
        {
            "result": {
                "content": [{"type": "image", "data": "aGk=", "mimeType": "image/png"}],
                "isError": True,
            }
        },
        {
            "result": {
                "content": [{"type": "text", "text": "seen", "annotations": {"audience": ["user"]}}],
            }
        },
        {"result": {"output": "out", "truncated": True, "exitStatus": {"exitCode": 1}}},
        {"result": {"exitCode": 1, "signal": None}},
        {"result": {"action": "accept", "content": {"answer": "x"}}},
        {"result": {"action": "accept", "content": {"answer": 7}}},
        {"result": {"action": "from the future"}},
        {"error": {"code": -32601, "message": "no"}},
        {"error": {"code": -32800, "message": "cancelled"}},
    ]
)
CAPABILITIES = st.sampled_from(
    [
        {},
        HANDS,
        HANDS,
        {"fs": {"readTextFile": True}, "elicitation": {}},
        {"fs": {"writeTextFile": True}, "elicitation": {"form": {}}},
        {"terminal": True, "session": {"notices": {}}},
        {"session": {"compaction": {}}},
    ]
)
OTHER = models.ModelChoice(value="other", name="Other", provider="second", id="o", thinking=False)
LATE = models.ModelChoice(
    value="late",
    name="Late",
    provider="second",
    id="l",
    made_late=True,
    price=models.Price(input=1.0, output=2.0),
    context_window=1000,
    options=(
        models.ModelOption(
            id="fast",
            name="Fast",
            values=(models.OptionValue("on", "On"), models.OptionValue("off", "Off")),
            default="off",
            switch=True,
        ),
    ),
)
BROUGHT = replace(
    PROJECT,
    settings=ProjectSettings(thinking="low", default_model="nope"),
    commands=(UserCommand(name="mine", template="Mine $1"), *PROJECT.commands),
    warnings=("A file was left out.",),
)
SERVER = {"name": "one", "command": "/bin/one", "args": [], "env": []}
TOOLS = {"zidane": {"clientTools": [{"name": "pick", "inputSchema": {"type": "object"}}]}}
QUESTIONS = st.sampled_from(
    [
        {"mode": "form", "message": "Which?", "requestedSchema": {"type": "object", "properties": {}}},
        {"mode": "url", "message": "Log in", "url": "https://example.com", "elicitationId": "e"},
        {"mode": "from the future"},
    ]
)


class Walk(RuleBasedStateMachine):
    @initialize(
        policy=st.sampled_from(["ask", "allow-edits", "allow-all", "read-only"]),
        sequential=st.booleans(),
        store=st.booleans(),
        titles=st.booleans(),
        project=st.booleans(),
        remembers=st.booleans(),
        capabilities=CAPABILITIES,
        slash=st.booleans(),
        mode=st.sampled_from(["", "build", "plan"]),
        window=st.sampled_from([None, 3800]),
        ending=st.sampled_from(["quiet", "quiet", "eof", "terminated"]),
    )
    def begin(
        self,
        policy: Any,
        sequential: bool,
        store: bool,
        titles: bool,
        project: bool,
        remembers: bool,
        capabilities: Any,
        slash: bool,
        mode: str,
        window: int | None,
        ending: Any,
    ) -> None:
        self.options = with_(
            OPTIONS,
            models=(with_(MODEL, context_window=window), OTHER, LATE),
            policy=policy,
            sequential=sequential,
            store=store,
            titles=titles,
            project=project,
            remembers=remembers,
            denials=Denials(("denied/**",), ("git push",)),
            slash=slash,
            mode=mode,
            modes=MODES if mode else (),
        )
        self.driver = Driver(self.options, capabilities)
        self.driver.project = BROUGHT
        self.driver.initialize()
        self.driver.files["/project/b"] = "a\n"
        self.kills = 0
        brought = {"mcpServers": [SERVER], "_meta": TOOLS}
        self.sessions = [
            self.driver.session(settled=False, **brought),
            self.driver.session("/other", settled=False),
        ]
        self.asked: list[Any] = []
        self.ending = ending

    def teardown(self) -> None:
        """Liveness: when every job ends and every question is answered, every request has its answer."""
        if not hasattr(self, "sessions"):
            return
        driver = self.driver
        if self.ending != "quiet":
            self.end_in_the_middle()
            return
        for _ in range(2000):
            if driver.saves:
                driver.store()
            elif driver.open:
                driver.answer(next(iter(driver.open)))
            elif driver.waits():
                driver.finish(driver.waits()[0])
            else:
                break
        assert not driver.waits() and not driver.open and not driver.saves and not driver.made
        asked = [(key, number) for key, last in driver.inquired.items() for number in range(1, last + 1)]
        assert not [one for one in asked if one not in driver.replies and one[0] in driver.jobs]
        assert not [key for key in driver.waiting if key not in driver.answers]
        driver.close()
        assert driver.exit == 0

    def end_in_the_middle(self) -> None:
        """The end of the connection at any moment: nothing new is taken, all is answered, the process ends."""
        driver = self.driver
        driver.request("session/new", cwd="/third", mcpServers=[])
        driver.close(self.ending)
        if driver.exit is None:
            driver.prompt(self.sessions[0], "too late")
            driver.close("hung_up")
        while driver.exit is None:
            # Only the clock goes on: whatever else there is hangs.
            driver.finish(next(key for key, what in driver.jobs.items() if isinstance(what, Wait)))
        assert driver.exit == (143 if self.ending == "terminated" else 0)
        prompts = [key for key, session in driver.waiting.items() if session]
        assert not [key for key in prompts if key not in driver.answers]

    @rule(which=st.integers(0, 1), text=st.sampled_from(["hi", "", "\udc80"]))
    def prompt(self, which: int, text: str) -> None:
        if len(self.asked) < 12:
            self.asked.append(self.driver.prompt(self.sessions[which], text))

    @rule(which=st.integers(0, 1), blocks=st.lists(BLOCKS, min_size=1, max_size=3))
    def prompt_with_more_than_text(self, which: int, blocks: list[dict[str, Any]]) -> None:
        if len(self.asked) < 12:
            asked = self.driver.request("session/prompt", sessionId=self.sessions[which], prompt=blocks)
            self.asked.append(asked)

    @rule(which=st.integers(0, 1))
    def cancel(self, which: int) -> None:
        session = self.sessions[which]
        running = self.driver.prompts.get(session, 0) > 0
        self.driver.cancel(session)
        if not running or self.driver.prompts[session] == 0:
            self.driver.stopping.discard(session)

    @rule(which=st.integers(0, 1))
    def close_session(self, which: int) -> None:
        if len(self.driver.waiting) > 60:
            return
        session = self.sessions[which]
        self.driver.stopping.add(session)
        self.driver.request("session/close", sessionId=session)
        self.sessions[which] = self.driver.session("/again", settled=False)

    @rule(
        which=st.integers(0, 1), method=st.sampled_from(["load", "resume"]), cwd=st.sampled_from(["", "/x"])
    )
    def open_again(self, which: int, method: str, cwd: str) -> None:
        if len(self.driver.waiting) > 60:
            return
        session = self.sessions[which]
        self.driver.request(
            f"session/{method}",
            sessionId=session,
            cwd=cwd or self.folder(session),
            mcpServers=[SERVER] if which else [],
            **({"_meta": TOOLS} if which else {}),
        )

    @rule(cwd=st.sampled_from([None, "/project"]))
    def list_sessions(self, cwd: str | None) -> None:
        if len(self.driver.waiting) < 60 and self.options.store:
            self.driver.request("session/list", **({"cwd": cwd} if cwd else {}))

    @rule(which=st.integers(0, 1))
    def delete_session(self, which: int) -> None:
        if len(self.driver.waiting) > 60 or not self.options.store:
            return
        session = self.sessions[which]
        self.driver.stopping.add(session)
        self.driver.request("session/delete", sessionId=session)
        self.sessions[which] = self.driver.session("/again", settled=False)

    @precondition(lambda self: self.options.store and self.kills < 3)
    @rule(method=st.sampled_from(["load", "resume"]))
    def kill(self, method: str) -> None:
        """The program is killed and another one opens what it has stored."""
        self.kills += 1
        disk, folders = self.driver.disk, [self.folder(session) for session in self.sessions]
        stored = {session: self.shown_and_stored(session) for session in self.sessions}
        self.driver = Driver(self.options, self.driver.capabilities, disk=disk, seed=f"seed {self.kills}")
        self.driver.project = BROUGHT
        self.driver.initialize()
        self.asked = []
        for which, (session, cwd) in enumerate(zip(self.sessions, folders, strict=True)):
            asked = self.driver.load(session, cwd, f"session/{method}")
            answer = self.driver.answer_of(asked)
            assert answer is not None
            if session not in disk.rows:
                assert answer["error"]["code"] == -32002
                self.sessions[which] = self.driver.session("/again", settled=False)
                continue
            assert "result" in answer
            live = stored[session]
            if live is not None and method == "load":
                replayed = fold(self.driver.updates(session))
                assert [one for one in replayed if one in live] == live, (replayed, live)

    def shown_and_stored(self, session: str) -> list[tuple[str, Any]] | None:
        """What the client saw of a session and a replay has to show again: everything, but for a card that is still
        open, a message that is still being streamed and a compaction that goes on. None where not all of it can be on the disk."""
        thread = self.driver.connection.agent.threads.get(session)
        if thread is None or session in self.driver.conflicts or thread.phase not in {"open", "cold"}:
            return None
        if thread.setup is not None or thread.later or thread.store.state != "open":
            return None
        if thread.phase == "open" and (thread.store.seq < len(thread.log) or thread.cut):
            return None
        block = None if thread.turn is None else thread.turn.open
        return [
            (name, state)
            for name, state in fold(self.driver.shown.get(session, []), self.driver.terminals)
            if not (block is not None and name.endswith(f" {block.message}"))
            and not (name.startswith("tool ") and state["status"] not in {"completed", "failed"})
            and not (name.startswith("compaction ") and state["status"] == "in_progress")
        ]

    def folder(self, session: str) -> str:
        thread = self.driver.connection.agent.threads.get(session)
        return "/x" if thread is None else thread.cwd

    @precondition(lambda self: self.asked)
    @rule(data=st.data())
    def cancel_request(self, data: st.DataObject) -> None:
        asked = data.draw(st.sampled_from(self.asked))
        self.driver.send({"method": "$/cancel_request", "params": {"requestId": asked}})

    @rule(which=st.integers(0, 1), value=st.sampled_from(["other", "test-model", "late", "nope"]))
    def choose_model(self, which: int, value: str) -> None:
        session = self.sessions[which]
        chosen = self.driver.request(
            "session/set_config_option", sessionId=session, configId="model", value=value
        )
        self.asked = [*self.asked, chosen] if len(self.asked) < 12 else self.asked

    @rule(which=st.integers(0, 1), value=st.sampled_from(["build", "plan", "nope"]))
    def set_mode(self, which: int, value: str) -> None:
        if len(self.driver.waiting) < 60:
            self.driver.request("session/set_mode", sessionId=self.sessions[which], modeId=value)

    @rule(which=st.integers(0, 1), option=st.sampled_from(["model.fast", "mode", "thought_level"]))
    def choose(self, which: int, option: str) -> None:
        value = {"model.fast": "on", "mode": "build", "thought_level": "high"}[option]
        if len(self.driver.waiting) < 60:
            self.driver.request(
                "session/set_config_option", sessionId=self.sessions[which], configId=option, value=value
            )

    @rule(found=st.sampled_from([(OTHER,), (MODEL, OTHER, LATE), (LATE, MODEL)]))
    def models_come_and_go(self, found: tuple[models.ModelChoice, ...]) -> None:
        self.driver.feed(ModelsChanged(self.driver.now, found, found[0].value))

    @precondition(lambda self: self.driver.model_jobs())
    @rule(data=st.data(), batch=BATCH)
    def model_says(self, data: st.DataObject, batch: tuple[Any, ...]) -> None:
        self.driver.progress(data.draw(st.sampled_from(self.driver.model_jobs())), *batch)

    @precondition(lambda self: self.driver.model_jobs())
    @rule(data=st.data(), last=st.one_of(ENDS, ENDS, BROKEN, st.none()))
    def model_ends(self, data: st.DataObject, last: Any) -> None:
        key = data.draw(st.sampled_from(self.driver.model_jobs()))
        if last is not None:
            self.driver.progress(key, last)
        self.driver.end(key, Ok(ModelDone()))

    @precondition(lambda self: self.driver.jobs)
    @rule(data=st.data(), how=st.sampled_from(["well", "stopped", "failed", "bad"]))
    def job_ends(self, data: st.DataObject, how: str) -> None:
        key = data.draw(st.sampled_from(list(self.driver.jobs)))
        what = self.driver.jobs[key]
        if isinstance(what, Wait | Rest | RunModel) and key not in self.driver.stopped and how == "stopped":
            return
        if isinstance(what, RunMcpServer):
            self.server_ends(key, how)
            return
        well = LookAtFile | ReadAttachments | RunMcpCall | GetMcpPrompt | RunFactory | LookAround | KeepTrust
        if isinstance(what, well) and how == "well":
            self.driver.finish(key)
            return
        if isinstance(what, LoadThread) and how == "bad":
            self.driver.store()
            self.driver.read_some(key, what)
            return
        if isinstance(what, SETUPS) and (how != "failed" or isinstance(what, LoadThread)):
            self.driver.finish(key)  # what a history that cannot be read means is in `test_opening`
            return
        self.driver.end(key, self.outcome(what, how))

    def server_ends(self, key: str, how: str) -> None:
        """A server offers something, or is lost, or cannot be reached."""
        if how == "well" or (how == "stopped" and key not in self.driver.stopped):
            self.driver.offer(key)
        elif how == "bad":
            self.driver.offer(key, McpOffer(remarks=("It talks too much.",)))
        else:
            self.driver.offered.discard(key)
            self.driver.end(key, self.outcome(None, how))

    @precondition(lambda self: self.driver.server_jobs())
    @rule(data=st.data(), question=QUESTIONS)
    def server_asks(self, data: st.DataObject, question: dict[str, Any]) -> None:
        if len(self.driver.inquired) < 9:
            self.driver.ask(data.draw(st.sampled_from(self.driver.server_jobs())), question)

    @precondition(lambda self: self.driver.server_jobs())
    @rule(data=st.data())
    def a_page_is_done(self, data: st.DataObject) -> None:
        self.driver.progress(data.draw(st.sampled_from(self.driver.server_jobs())), McpPageDone("e"))

    @staticmethod
    def outcome(what: Any, how: str) -> JobOutcome:
        if how == "stopped":
            return Stopped()
        if how == "failed":
            return Failed(provider_fault("server", "It broke.", provider="test"))
        if isinstance(what, Wait | Rest):
            return Ok(WaitDone())
        if isinstance(what, RunModel):
            return Ok(ModelDone())
        if not isinstance(what, RunTool) or how == "bad":
            return Ok(ToolResult(content=(Text("no"),), failed=True))
        return Ok(preview(what) if what.stage == "prepare" else ToolResult(content=(Text("ok"),)))

    @precondition(lambda self: self.driver.saves)
    @rule(how=st.sampled_from(["well", "well", "disk", "locked", "in_use", "conflict"]))
    def save_ends(self, how: str) -> None:
        if how == "well":
            self.driver.store_one()
        elif how == "conflict":
            self.driver.conflict()
        else:
            self.driver.fail_save(how)

    @precondition(lambda self: self.driver.tool_jobs())
    @rule(data=st.data())
    def tool_says(self, data: st.DataObject) -> None:
        self.driver.now += data.draw(st.sampled_from([0.0, 0.05, 0.2]))
        self.driver.progress(data.draw(st.sampled_from(self.driver.tool_jobs())), ToolOutput("out"))

    @precondition(lambda self: self.driver.open)
    @rule(data=st.data(), answer=ANSWERS)
    def answer(self, data: st.DataObject, answer: dict[str, Any]) -> None:
        self.driver.reply(data.draw(st.sampled_from(list(self.driver.open))), **answer)

    @precondition(lambda self: self.driver.open)
    @rule(data=st.data())
    def answer_well(self, data: st.DataObject) -> None:
        self.driver.answer(data.draw(st.sampled_from(list(self.driver.open))))

    @rule(number=st.integers(0, 40), answer=ANSWERS)
    def stray_answer(self, number: int, answer: dict[str, Any]) -> None:
        if number not in self.driver.open:
            before = self.driver.connection
            self.driver.send({"id": number, **answer})
            assert self.driver.connection is before

    @rule(which=st.integers(0, 1), request_id=st.sampled_from([1, "1", "x", None]))
    def prompt_with_an_id_of_its_own(self, which: int, request_id: Any) -> None:
        key = (type(request_id).__name__, request_id)
        if key in self.driver.waiting or len(self.asked) >= 12:
            return
        session = self.sessions[which]
        asked = (
            self.driver.request(
                "session/prompt", request_id, sessionId=session, prompt=[{"type": "text", "text": "x"}]
            )
            if request_id is not None
            else None
        )
        if asked is not None:
            self.asked.append(asked)

    @precondition(lambda self: self.asked)
    @rule(data=st.data())
    def an_id_that_is_in_use_is_refused(self, data: st.DataObject) -> None:
        asked = data.draw(st.sampled_from(self.asked))
        if self.driver.answer_of(asked) is not None:
            return
        before, frames = self.driver.connection, len(self.driver.frames)
        self.driver.expect_refusal(asked)
        assert self.driver.connection is before
        assert len(self.driver.frames) == frames + 1

    @rule(number=st.integers(0, 60), which=st.integers(0, 1))
    def stray_events(self, number: int, which: int) -> None:
        key = f"{self.sessions[which]}/{which + 1}.{number}"
        if key in self.driver.jobs:
            return
        before = self.driver.connection
        for event in (
            Ended(self.driver.now, key, Ok(ModelDone())),
            Progressed(self.driver.now, key, (models.TextDelta("old"),)),
            Ended(self.driver.now, "nobody", Stopped()),
        ):
            self.driver.feed(event)
        assert self.driver.connection is before


TestWalk = Walk.TestCase
TestWalk.settings = settings(
    max_examples=300, stateful_step_count=40, deadline=None, suppress_health_check=list(HealthCheck)
)
