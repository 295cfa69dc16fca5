"""What is remembered for a project on its way from the machine to the rules."""

from pathlib import Path

import pytest

from zidane_acp.jobs import Report
from zidane_acp.options import AcpModelChoice, AcpServerOptions, StdioOptions, core_options
from zidane_acp.perform import Performer
from zidane_acp.ports import AskKind, Rules
from zidane_acp.rules import MemoryRules, SqliteRules
from zidane_acp.settings import Settings
from zidane_acp.tools.local import LocalTools
from zidane_acp.wiring import options_of
from zidane_core.agent.events import Failed, RuleKept
from zidane_core.agent.work import KeepGrant, KeepTrust
from zidane_core.data.rules import Grant

EDITS = Grant("edits")


def performer(rules: Rules | None) -> Performer:
    async def room() -> None:
        """There is always room."""

    return Performer({}, LocalTools(), None, room, None, rules)


async def kept(rules: Rules | None, what: KeepGrant | KeepTrust) -> object:
    async def ask(kind: AskKind, question: str) -> str:
        return pytest.fail("nobody is asked here")

    return await performer(rules).run(what, Report(lambda _: None, ask))


@pytest.mark.anyio
async def test_a_permission_and_trust_are_kept() -> None:
    rules = MemoryRules()
    assert await kept(rules, KeepGrant("/a", EDITS)) == RuleKept()
    assert await kept(rules, KeepTrust(("/a", "/b"))) == RuleKept()
    assert (rules.grants("/a"), rules.trusted(("/b", "/c"))) == ((EDITS,), {"/b"})


@pytest.mark.anyio
async def test_what_cannot_be_kept_is_a_failure_in_words(tmp_path: Path) -> None:
    (tmp_path / "rules.db").write_text("x" * 200)
    failed = await kept(SqliteRules(tmp_path / "rules.db"), KeepGrant("/a", EDITS))
    assert isinstance(failed, Failed) and "move it away" in failed.fault.message
    assert failed.fault.data == {"kind": "store"}
    nothing = await kept(None, KeepTrust(("/a",)))
    assert isinstance(nothing, Failed) and nothing.fault.message == "This agent keeps no permissions."


def test_a_permission_for_the_project_is_offered_only_where_it_is_kept() -> None:
    model = AcpModelChoice(id="m", provider=lambda: pytest.fail("no model is made here"))
    assert not core_options(AcpServerOptions(models=(model,))).remembers
    assert core_options(AcpServerOptions(models=(model,), rules=MemoryRules)).remembers


def test_the_program_keeps_them_with_its_state(tmp_path: Path) -> None:
    wired = options_of(Settings(home=str(tmp_path), provider="offline"), {})
    assert isinstance(wired, StdioOptions) and callable(wired.server.rules)
    made = wired.server.rules()
    assert isinstance(made, SqliteRules)
    made.keep_grant("/a", EDITS)
    assert [found.name for found in tmp_path.iterdir()] == ["rules.db"]
