"""The documents tell the truth: their programs run, their links lead somewhere, their tables are complete."""

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple, get_args

import pytest
from support.process import COMMAND

from zidane_acp.settings import FLAGS
from zidane_core.acp import requests
from zidane_core.acp.connection import Opened, Received, ServerChanged
from zidane_core.agent import effects, events, guarded, state, turns, work
from zidane_core.agent.permission import AskUser
from zidane_core.agent.presets import ACP_DEFAULT
from zidane_core.agent.question import choices
from zidane_core.agent.readers import GIT, READERS
from zidane_core.data.rules import Grant
from zidane_core.faults import PROVIDER_KINDS, ErrorCode

ROOT = Path(__file__).parents[2]
PAGES = sorted([ROOT / "README.md", ROOT / "CHANGELOG.md", *(ROOT / "docs").glob("*.md")])
PATIENCE = 60
"""Seconds that a program of a document gets."""

BLOCK = re.compile(r"^<!-- runnable: (agent|program) -->\n```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
OUTPUT = re.compile(r"^```text\n(.*?)^```$", re.MULTILINE | re.DOTALL)
FENCED = re.compile(r"^(`{3,}).*?^\1$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")


class Program(NamedTuple):
    """A complete program in a document; `output` is what it prints, for those that are no agents."""

    where: str
    kind: str
    source: str
    output: str


def text(page: str) -> str:
    return (ROOT / page).read_text("utf-8")


WITH_PROGRAMS = ("README.md", "docs/embedding.md", "docs/client-tools.md")


def programs() -> Iterator[Program]:
    for page in WITH_PROGRAMS:
        whole = text(page)
        for match in BLOCK.finditer(whole):
            shown = OUTPUT.search(whole, match.end())
            output = "" if shown is None else shown.group(1)
            line = whole.count("\n", 0, match.start()) + 1
            yield Program(f"{page}:{line}", match.group(1), match.group(2), output)


PROGRAMS = tuple(programs())
AGENTS = [program for program in PROGRAMS if program.kind == "agent"]
OTHERS = [program for program in PROGRAMS if program.kind == "program"]


def table(page: str, heading: str) -> list[list[str]]:
    """The rows of the first table under a heading, without its head."""
    section = re.split(r"^#+ ", text(page).split(f" {heading}\n", 1)[1], maxsplit=1, flags=re.MULTILINE)[0]
    rows = [line for line in section.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in row.strip("|").split("|")] for row in rows[2:]]


def named(cell: str) -> list[str]:
    """The words in code style of a cell, without what stands in brackets behind them."""
    return [re.match(r"[\w./$-]*", word).group() for word in re.findall(r"`([^`]+)`", cell)]  # type: ignore[union-attr]


# Programs ------------------------------------------------------------------------------------------


def test_the_pages_hold_programs() -> None:
    assert {program.where.split(":")[0] for program in AGENTS} == {"README.md", "docs/embedding.md"}
    assert len(OTHERS) >= 3
    blocks = sum(text(page).count("<!-- runnable") for page in WITH_PROGRAMS)
    assert blocks == len(PROGRAMS), "a marked block is not of the form that is run"


class Talk:
    """A client of an agent that a document shows: one line out, lines in until the answer is there."""

    def __init__(self, process: "subprocess.Popen[bytes]") -> None:
        self.process = process
        self.frames: list[dict[str, Any]] = []
        self.last_id = 0

    def call(self, method: str, **params: Any) -> dict[str, Any]:
        assert self.process.stdin is not None and self.process.stdout is not None
        self.last_id += 1
        frame = {"jsonrpc": "2.0", "id": self.last_id, "method": method, "params": params}
        self.process.stdin.write(json.dumps(frame).encode() + b"\n")
        self.process.stdin.flush()
        while line := self.process.stdout.readline():
            frame = json.loads(line)
            self.frames.append(frame)
            if frame.get("id") == self.last_id and "method" not in frame:
                return frame["result"]
        raise AssertionError(f"{method} was not answered")

    def updates(self) -> list[dict[str, Any]]:
        return [frame["params"]["update"] for frame in self.frames if frame.get("method") == "session/update"]

    def said(self) -> str:
        chunks = [update for update in self.updates() if update["sessionUpdate"] == "agent_message_chunk"]
        return "".join(chunk["content"]["text"] for chunk in chunks)


@pytest.mark.timeout(PATIENCE)
@pytest.mark.parametrize("program", AGENTS, ids=lambda program: program.where)
def test_an_agent_in_a_document_answers(program: Program, tmp_path: Path) -> None:
    script = tmp_path / "agent.py"
    script.write_text(program.source, "utf-8")
    with subprocess.Popen(
        [sys.executable, "-P", str(script)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=tmp_path
    ) as process:
        try:
            talk = Talk(process)
            assert talk.call("initialize", protocolVersion=1)["protocolVersion"] == 1
            session = talk.call("session/new", cwd=str(tmp_path), mcpServers=[])["sessionId"]
            prompt = [{"type": "text", "text": "Hi"}]
            assert talk.call("session/prompt", sessionId=session, prompt=prompt)["stopReason"] == "end_turn"
            assert talk.said(), "the agent said nothing"
            assert not [update for update in talk.updates() if update.get("status") == "failed"]
            assert process.stdin is not None
            process.stdin.close()
            assert process.wait(PATIENCE) == 0
        finally:
            process.kill()


@pytest.mark.parametrize("program", OTHERS, ids=lambda program: program.where)
def test_a_program_in_a_document_prints_what_is_shown(program: Program, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-P", "-c", program.source],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        cwd=tmp_path,
    )
    assert (done.stdout, done.stderr, done.returncode) == (program.output, "", 0)


# Links ---------------------------------------------------------------------------------------------


def anchors(page: Path) -> set[str]:
    heads = re.findall(r"^#+ (.+)$", FENCED.sub("", page.read_text("utf-8")), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", head.lower()).replace(" ", "-") for head in heads}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    for target in LINK.findall(FENCED.sub("", page.read_text("utf-8"))):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = target.partition("#")
        found = page if not path else page.parent / path
        assert found.exists(), f"{target} leads nowhere"
        assert not anchor or anchor in anchors(found), f"{target} has no such heading"


def test_the_index_names_every_page() -> None:
    linked = set(LINK.findall(text("docs/index.md")))
    assert {page.name for page in (ROOT / "docs").glob("*.md")} - {"index.md"} <= linked


# Tables --------------------------------------------------------------------------------------------


def test_every_flag_is_described() -> None:
    page = text("docs/command-line.md")
    for flag in FLAGS:
        assert f"`{flag.option}" in page and f"`{flag.variable}`" in page, flag.name


def test_every_error_code_and_kind_is_described() -> None:
    codes = {(named(row[1])[0], int(named(row[0])[0])) for row in table("docs/errors.md", "Codes")}
    assert codes == {(name, code.value) for name, code in ErrorCode.__members__.items()}
    assert {named(row[0])[0] for row in table("docs/errors.md", "Provider kinds")} == PROVIDER_KINDS


def test_the_vocabulary_is_that_of_the_code() -> None:
    page = "docs/architecture.md"
    told = {name for row in table(page, "Events") for name in named(row[0])}
    assert told == {kind.__name__ for kind in (*get_args(events.Event), Opened, Received, ServerChanged)}
    told = {name for row in table(page, "Effects") for name in named(row[0])}
    assert told == {kind.__name__ for kind in get_args(effects.Effect)}
    told = {name for row in table(page, "Jobs") for name in named(row[0])}
    assert told == {kind.__name__ for kind in get_args(work.What)}


def test_the_state_is_that_of_the_code() -> None:
    page = text("docs/architecture.md")
    for phase in (*get_args(state.CallPhase), *get_args(state.TurnPhase), *get_args(state.ThreadPhase)):
        assert f"`{phase}`" in page, f"the phase {phase} is not told of"
    assert f"{turns.stop.__module__.rsplit('.', 1)[1]}.py" in page


def test_the_coverage_is_that_of_the_code() -> None:
    page = "docs/protocol.md"
    done = {named(row[0])[0] for row in table(page, "Requests of the client") if row[1].startswith("done")}
    assert done == set(requests.METHODS)
    done = {
        named(row[0])[0] for row in table(page, "Notifications of the client") if row[1].startswith("done")
    }
    assert done == set(requests.NOTIFICATIONS)
    told = {name for row in table(page, "Updates") for name in named(row[0])}
    schema = json.loads(text("tests/data/acp-v1.json"))
    kinds = {
        option["properties"]["sessionUpdate"]["const"] for option in schema["$defs"]["SessionUpdate"]["oneOf"]
    }
    assert told == kinds
    shown = {named(row[2])[0] for row in table(page, "Updates") if row[1].startswith("done")}
    sources = [path for path in (ROOT / "core/zidane_core/agent").glob("*.py") if path.name != "effects.py"]
    code = "".join(path.read_text("utf-8") for path in sources)
    records = {kind.__name__ for kind in get_args(effects.Shown)} | {"Chunk"}
    assert shown == {name for name in records if f"{name}(" in code}


def test_every_policy_and_read_only_command_is_described() -> None:
    page = text("docs/permissions.md")
    assert {named(row[0])[0] for row in table("docs/permissions.md", "Policies")} == set(
        get_args(state.Policy)
    )
    told = {name for row in table("docs/permissions.md", "Commands that only read") for name in named(row[1])}
    assert told == set(READERS) | {"find", "sed", "git"}
    for subcommand in GIT:
        assert f"`{subcommand}`" in page, f"git {subcommand} is not told of"


def test_every_guarded_name_is_described() -> None:
    rows = table("docs/permissions.md", "Guarded files")
    told = [tuple(re.findall(r"`([^`]+)`", row[1])) for row in rows]
    assert told == [guarded.NAMES, guarded.PATTERNS, guarded.EXCEPTIONS]


def test_every_answer_is_described() -> None:
    rows = [row for row in table("docs/permissions.md", "The question") if len(row) == 4]
    told = {named(row[0])[0]: (named(row[1])[0], row[2]) for row in rows}
    offered = choices(AskUser(Grant("edits"), "SCOPE", lasting=True))
    assert told == {choice.id: (choice.kind, choice.name) for choice in offered}


def test_every_tool_is_described() -> None:
    told = {named(row[0])[0] for row in table("docs/tools.md", "Tools")}
    assert told == {spec.name for spec in ACP_DEFAULT}


def test_the_readme_names_the_command_that_is_run() -> None:
    assert COMMAND[-1] == "serve"
    page = text("README.md")
    assert page.index("scripts/run") < page.index("scripts/test") < page.index("\n## "), (
        "not in the first screen"
    )
