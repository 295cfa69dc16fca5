"""The pure parts of the chat: text made safe, Markdown in blocks, updates read leniently, keys, policy, words."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from prompt_toolkit.completion import CompleteEvent
from prompt_toolkit.document import Document

from zidane_acp.chat.connection import RpcError
from zidane_acp.chat.markdown_stream import blocks, split
from zidane_acp.chat.opening import Opened
from zidane_acp.chat.policy import decider
from zidane_acp.chat.prompt_line import SlashCompleter
from zidane_acp.chat.question_keys import keys, pick
from zidane_acp.chat.safe_text import clip, line, neutral, output
from zidane_acp.chat.updates import (
    Card,
    Command,
    Commands,
    FileDiff,
    Notice,
    Option,
    Output,
    Plan,
    Question,
    Said,
    Step,
    read_question,
    read_update,
)
from zidane_acp.chat.words import ended_text, error_text, first_line, usage_problem
from zidane_acp.settings import PermissionPolicy

# Text ----------------------------------------------------------------------------------------------


@given(st.text())
def test_no_control_character_survives(text: str) -> None:
    for safe in (neutral(text), output(text), line(text)):
        assert not [c for c in safe if (ord(c) < 32 and c not in "\n\t") or 0x7F <= ord(c) <= 0x9F]
        assert not any(c in safe for c in "\u202e\u2066\u2069")


def test_escapes_become_visible_and_colours_of_programs_go() -> None:
    assert neutral("a\x1b[2Jb\x07\r\nc") == "a␛[2Jb␇\nc"
    assert output("\x1b[31mred\x1b[0m \x1b]0;title\x07ok\r\nnext") == "red ok\nnext"
    assert output("10%\r50%\r100%\ndone") == "100%\ndone"
    assert line("a\n  b\tc") == "a b c"
    assert clip("abcdef", 4) == "abc…"


# Markdown ------------------------------------------------------------------------------------------

MARKDOWN = "# Title\n\nSome *text*\nmore\n\n- a\n- b\n\n  c\n\n```py\nx = 1\n\ny\n```\nend\n\n| a | b |\n| - | - |\n| 1 | 2 |\n"


@given(st.text(alphabet="ab#*-`>|\n \u2028\r1.", max_size=60))
def test_blocks_joined_are_the_text(text: str) -> None:
    text = neutral(text)
    assert "".join(blocks(text)) == text
    done, tail = split(text)
    assert "".join(done) + tail == text


def test_finished_blocks_stay_as_they_are_while_text_grows() -> None:
    whole = blocks(MARKDOWN)
    assert len(whole) == 6
    for end in range(len(MARKDOWN) + 1):
        done, _ = split(MARKDOWN[:end])
        assert done == whole[: len(done)], MARKDOWN[:end]


# Updates -------------------------------------------------------------------------------------------


def test_updates_are_read() -> None:
    chunk = {
        "sessionUpdate": "agent_message_chunk",
        "content": {"type": "text", "text": "hi"},
        "messageId": "m",
    }
    assert read_update(chunk) == Said("agent", "hi", "m")
    plan = {
        "sessionUpdate": "plan",
        "entries": [{"content": "a", "status": "completed", "priority": "low"}, 4],
    }
    assert read_update(plan) == Plan((Step("a", "completed"),))
    notice = {"sessionUpdate": "notice", "severity": "warning", "title": "Slow", "description": "very"}
    assert read_update(notice) == Notice("warning", "Slow: very")
    commands = read_update(
        {"sessionUpdate": "available_commands_update", "availableCommands": [{"name": "x"}, {}]}
    )
    assert isinstance(commands, Commands) and [command.name for command in commands.commands] == ["x"]
    assert read_update({"sessionUpdate": "usage_update", "used": 1, "size": 2}) is None


@given(
    st.dictionaries(
        st.sampled_from(["content", "title", "entries", "toolCallId", "rawInput", "status"]),
        st.none() | st.integers() | st.text(max_size=3) | st.lists(st.integers(), max_size=2),
    ),
    st.sampled_from(["tool_call", "plan", "agent_message_chunk", "notice", "available_commands_update", "x"]),
)
def test_malformed_updates_never_raise(update: dict[str, object], tag: str) -> None:
    read_update({**update, "sessionUpdate": tag})


def test_a_card_keeps_what_an_update_leaves_out() -> None:
    first = read_update(
        {
            "sessionUpdate": "tool_call",
            "toolCallId": "c",
            "title": "Edit a",
            "kind": "edit",
            "status": "pending",
            "rawInput": {"path": "a"},
            "content": [{"type": "diff", "path": "/a", "newText": "x"}],
        }
    )
    second = read_update(
        {"sessionUpdate": "tool_call_update", "toolCallId": "c", "status": "failed", "title": None}
    )
    assert isinstance(first, Card) and isinstance(second, Card)
    card = first.changed(second)
    assert (card.title, card.kind, card.status, card.raw_input) == ("Edit a", "edit", "failed", {"path": "a"})
    assert card.content == (FileDiff("/a", None, "x"),)
    third = read_update(
        {
            "sessionUpdate": "tool_call_update",
            "toolCallId": "c",
            "content": [{"type": "content", "content": {"type": "text", "text": "no"}}],
        }
    )
    assert isinstance(third, Card) and card.changed(third).content == (Output("no"),)


# Questions -----------------------------------------------------------------------------------------

ONCE, ALWAYS = Option("1", "Once", "allow_once"), Option("2", "Always", "allow_always")
NO, NEVER = Option("3", "No", "reject_once"), Option("4", "Never", "reject_always")


def test_keys_follow_the_kind_of_option() -> None:
    chosen = keys((ONCE, ALWAYS, NO, NEVER))
    assert chosen == {"a": ONCE, "A": ALWAYS, "r": NO, "R": NEVER}
    assert [pick(chosen, key) for key in "aAyYrRnN"] == [ONCE, ALWAYS, ONCE, ONCE, NO, NEVER, NO, NO]
    assert [pick(chosen, key) for key in "x1\r\n "] == [None] * 5


def test_options_of_one_kind_get_digits() -> None:
    project = Option("5", "In this project", "allow_always")
    odd = Option("6", "Odd", "from_the_future")
    assert keys((ONCE, ALWAYS, project, odd)) == {"a": ONCE, "A": ALWAYS, "3": project, "4": odd}


def question(kind: str) -> Question:
    return Question(Card(id="c", title="T", kind=kind), (ONCE, NO))


def test_a_question_is_read() -> None:
    params = {
        "toolCall": {"toolCallId": "c", "title": "T"},
        "options": [{"optionId": "1", "name": "Once", "kind": "x"}, {}],
    }
    assert read_question(params) == Question(Card(id="c", title="T"), (Option("1", "Once", "x"),))


@pytest.mark.parametrize(
    ("policy", "kind", "decision"),
    [
        ("ask", "read", "reject"),
        ("ask", "edit", "reject"),
        ("read-only", "read", "allow"),
        ("read-only", "edit", "reject"),
        ("allow-edits", "edit", "allow"),
        ("allow-edits", "execute", "reject"),
        ("allow-edits", "delete", "reject"),
        ("allow-all", "execute", "allow"),
        ("allow-all", "from_the_future", "allow"),
    ],
)
def test_the_policy_answers_other_agents_when_nobody_can_be_asked(
    policy: PermissionPolicy, kind: str, decision: str
) -> None:
    assert decider(policy, own=False, can_ask=False)(question(kind)) == decision


@pytest.mark.parametrize("policy", ["ask", "allow-all"])
def test_our_own_agent_has_the_policy_itself(policy: PermissionPolicy) -> None:
    assert decider(policy, own=True, can_ask=False)(question("edit")) == "reject"
    assert decider(policy, own=True, can_ask=True)(question("edit")) == "ask"


def test_the_user_is_asked_where_there_is_one() -> None:
    assert decider("ask", own=False, can_ask=True)(question("edit")) == "ask"
    assert decider("read-only", own=False, can_ask=True)(question("edit")) == "reject"
    assert decider("allow-edits", own=False, can_ask=True)(question("execute")) == "ask"


# Words ---------------------------------------------------------------------------------------------


def test_the_first_line_names_what_is_there() -> None:
    agent: dict[str, object] = {"agentInfo": {"name": "zidane-acp", "version": "1"}}
    provider = {"name": "openai", "model": "gpt", "source": "OPENAI_API_KEY"}
    opened = Opened(agent=agent, session={"_meta": {"zidane": {"provider": provider}}})
    assert first_line(opened) == "zidane-acp 1 · openai · gpt · key from OPENAI_API_KEY"
    assert (
        first_line(Opened(agent={}, session={"configOptions": [{"category": "model", "currentValue": "m"}]}))
        == "agent · m"
    )
    offline = {"name": "offline", "model": "offline", "source": "no key"}
    assert (
        first_line(Opened(agent=agent, session={"_meta": {"zidane": {"provider": offline}}}))
        == "zidane-acp 1 · offline · no key"
    )


def test_errors_are_a_sentence_with_a_next_step() -> None:
    assert error_text(RpcError(-32603, "No net.", {"kind": "network"})).endswith("shows what can be reached.")
    assert (
        error_text(RpcError(-32603, "Internal error", {"details": "disk full"}))
        == "Internal error: disk full"
    )
    assert error_text(RpcError(-5, "")) == "The agent reported error -5 without a message."
    assert ended_text(-9, ()) == "The agent has ended by signal 9. Run it with --log-level debug to see more."
    assert (
        ended_text(1, ("a", "", "b\x1b[2J"))
        == "The agent has ended with exit code 1. Its last words:\n  a\n  b␛[2J"
    )
    assert usage_problem(True, 2, ("x", "zidane-acp: wrong")) == "wrong"
    assert usage_problem(False, 2, ("x",)) is None


# Completion ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("/re", [("/read ", "/read PATH", "Read a file"), ("/rest", "/rest", "Take a rest")]),
        ("/rest", [("/rest", "/rest", "Take a rest")]),
        ("/read x", []),
        ("re", []),
    ],
)
def test_what_a_command_takes_is_shown_where_it_is_completed(
    typed: str, offered: list[tuple[str, str, str]]
) -> None:
    commands = (Command("read", "Read a file", "PATH"), Command("rest", "Take a rest", ""))
    completer = SlashCompleter(lambda: commands)
    found = completer.get_completions(Document(typed), CompleteEvent())
    assert [(one.text, one.display_text, one.display_meta_text) for one in found] == offered
