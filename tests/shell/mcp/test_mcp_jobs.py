"""Servers as jobs: what the core starts, hears, is asked, and answers."""

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import anyio
import pytest
from support.mcp_bench import PATIENCE, command, text_of

from zidane_acp.inbox import Inbox
from zidane_acp.jobs import Jobs, Report
from zidane_acp.mcp.on_demand import McpOnDemand
from zidane_acp.perform import Performer, performers
from zidane_core.agent.effects import Reply, Start, Stop
from zidane_core.agent.events import Asked, Ended, Failed, Ok, Progressed, PromptGot, Stopped, WaitDone
from zidane_core.agent.work import GetMcpPrompt, RunMcpCall, RunMcpServer, Wait
from zidane_core.data.mcp import McpOffer
from zidane_core.data.tools import ToolOutput, ToolResult

pytestmark = pytest.mark.anyio
Event = Progressed | Asked | Ended
E = TypeVar("E", bound=Event)


class Loop:
    """The jobs of a connection and what they say."""

    def __init__(self, tasks: Any, mcp: McpOnDemand) -> None:
        self.inbox: Inbox[Event] = Inbox()
        self.seen: list[Event] = []
        performer = Performer({}, None, None, anyio.lowlevel.checkpoint, mcp)  # type: ignore[arg-type]
        self.jobs = Jobs(tasks, performer.run, time.time, self.inbox.put)
        self.table = performers(lambda _: None, self.jobs, None)

    def do(self, effect: Start | Stop | Reply) -> None:
        self.table[type(effect)](effect)

    async def until(self, kind: type[E], key: str, fits: Callable[[E], object] = lambda _: True) -> E:
        """The next event of this kind for a job."""
        with anyio.fail_after(PATIENCE):
            while True:
                for at, event in enumerate(self.seen):
                    if isinstance(event, kind) and event.key == key and fits(event):
                        del self.seen[at]
                        return event
                self.seen += await self.inbox.take()


def server(root: Path, **changes: Any) -> RunMcpServer:
    return RunMcpServer(
        session="s", config=command("stdio", **changes), cwd=str(root), roots=(str(root),), within=PATIENCE
    )


def call(tool: str, **arguments: object) -> RunMcpCall:
    return RunMcpCall(session="s", server="tests", tool=tool, arguments=arguments)


async def test_a_server_from_its_start_to_its_stop(tmp_path: Path) -> None:
    async with anyio.create_task_group() as tasks:
        mcp = McpOnDemand()
        loop = Loop(tasks, mcp)
        loop.do(Start("server", server(tmp_path)))
        offered = await loop.until(Progressed, "server")
        assert isinstance(offered.batch[0], McpOffer)

        loop.do(Start("call", call("progress")))
        shown = await loop.until(Progressed, "call")
        assert isinstance(shown.batch[0], ToolOutput)
        ended = await loop.until(Ended, "call")
        assert isinstance(ended.outcome, Ok) and isinstance(ended.outcome.value, ToolResult)

        loop.do(Start("ask", call("ask")))
        asked = await loop.until(Asked, "server")
        assert (asked.ask, asked.kind) == (1, "elicit")
        assert json.loads(asked.question)["message"] == "Who are you?"
        loop.do(Reply("server", 2, '{"action":"decline"}'))  # there is no such question
        loop.do(Reply("server", 1, '{"action":"accept","content":{"name":"Ada"}}'))
        loop.do(Reply("server", 1, '{"action":"decline"}'))  # too late
        ended = await loop.until(Ended, "ask")
        assert isinstance(ended.outcome, Ok) and isinstance(ended.outcome.value, ToolResult)
        assert text_of(ended.outcome.value) == "accept Ada"

        prompt = GetMcpPrompt(session="s", server="tests", prompt="review", arguments={"path": "a"})
        loop.do(Start("prompt", prompt))
        ended = await loop.until(Ended, "prompt")
        assert isinstance(ended.outcome, Ok) and isinstance(ended.outcome.value, PromptGot)

        loop.do(Start("slow", call("slow", file=str(tmp_path / "told"))))
        await loop.until(Progressed, "slow")
        loop.do(Stop("slow"))
        assert (await loop.until(Ended, "slow")).outcome == Stopped()

        loop.do(Stop("server"))
        assert (await loop.until(Ended, "server")).outcome == Stopped()
        loop.do(Reply("server", 1, "dropped"))

        loop.do(Start("late", call("echo", text="x")))
        ended = await loop.until(Ended, "late")
        assert isinstance(ended.outcome, Ok) and isinstance(ended.outcome.value, ToolResult)
        assert ended.outcome.value.failed
        loop.do(Start("late prompt", prompt))
        outcome = (await loop.until(Ended, "late prompt")).outcome
        assert isinstance(outcome, Failed) and outcome.fault.data == {"kind": "mcp", "server": "tests"}
        await mcp.aclose()


async def test_a_server_that_fails(tmp_path: Path) -> None:
    async with anyio.create_task_group() as tasks:
        loop = Loop(tasks, McpOnDemand())
        loop.do(Start("server", server(tmp_path, name="files", command="no-such-program")))
        outcome = (await loop.until(Ended, "server")).outcome
        assert isinstance(outcome, Failed)
        assert outcome.fault.message == (
            "The MCP server files could not be started: there is no command no-such-program."
        )
        assert outcome.fault.data == {"kind": "mcp", "server": "files"}


async def test_a_question_of_a_stopped_job_is_forgotten() -> None:
    events: list[Event] = []
    answers: list[str] = []

    async def ask_twice(what: object, report: Report) -> WaitDone:
        for _ in range(2):
            answers.append(await report.ask("permission", "{}"))
        return WaitDone()

    async with anyio.create_task_group() as tasks:
        jobs = Jobs(tasks, ask_twice, lambda: 1.0, events.append)
        jobs.start("k", Wait(1.0))
        await anyio.wait_all_tasks_blocked()
        jobs.reply(Reply("k", 1, "first"))
        await anyio.wait_all_tasks_blocked()
        jobs.stop("k")
        jobs.reply(Reply("k", 2, "too late"))
    assert events == [
        Asked(1.0, "k", 1, "{}", "permission"),
        Asked(1.0, "k", 2, "{}", "permission"),
        Ended(1.0, "k", Stopped()),
    ]
    assert answers == ["first"]
    jobs.reply(Reply("k", 2, "much too late"))
