"""What comes with a block besides its content: kept, shown again as it came, and never given to the model."""

import json
from typing import Any

import pytest
from support.driver import OPTIONS, Driver, calls, ready, said, with_

from zidane_core.agent.records import entry_of, text_of
from zidane_core.convert.hints import DEEPEST
from zidane_core.data import models
from zidane_core.data.content import Annotations, Hints, Image, Text
from zidane_core.data.history import UserSaid

STORED = with_(OPTIONS, store=True, policy="allow-all")
FULL = {"audience": ["user", "assistant"], "lastModified": "2026-01-01T00:00:00Z", "priority": 0.25}


def text(of: str, **annotations: Any) -> dict[str, Any]:
    return {"type": "text", "text": of, "annotations": annotations}


def prompted(*blocks: Any, options: Any = STORED) -> tuple[Driver, str]:
    driver, session = ready(options)
    driver.request("session/prompt", sessionId=session, prompt=list(blocks))
    driver.store()
    return driver, session


def given(driver: Driver) -> tuple[Any, ...]:
    """The prompt as the model gets it."""
    (key,) = driver.model_jobs()
    final = driver.jobs[key].request.messages[-1]
    assert isinstance(final, models.UserMessage)
    return final.parts


def shown_again(driver: Driver, session: str) -> list[Any]:
    """The user's blocks as another program shows them."""
    if driver.model_jobs():
        driver.round(said("ok"))
    driver.store()
    second = Driver(STORED, disk=driver.disk, seed="another")
    second.initialize()
    second.load(session)
    return [u["content"] for u in second.updates() if u["sessionUpdate"] == "user_message_chunk"]


@pytest.mark.parametrize(
    "block",
    [
        {"type": "text", "text": "a", "annotations": FULL, "_meta": {"example.com/x": {"deep": [1, None]}}},
        {"type": "text", "text": "a", "_meta": {"zidane": {"unheard": "of"}}},
        {"type": "text", "text": "a", "annotations": {}},
        text("a", audience=[]),
        text("a", priority=1, _meta={"of": "the annotations"}),
        {"type": "image", "data": "aGk=", "mimeType": "image/png", "uri": "file:///a", "annotations": FULL},
        {"type": "audio", "data": "aGk=", "mimeType": "audio/wav", "annotations": FULL, "_meta": {"a": 1}},
        {"type": "resource_link", "uri": "https://a", "name": "a", "annotations": FULL, "_meta": {"a": 1}},
        {
            "type": "resource",
            "resource": {"uri": "file:///a", "text": "b", "mimeType": "text/x", "_meta": {"inner": True}},
            "annotations": FULL,
            "_meta": {"outer": True},
        },
        {"type": "resource", "resource": {"uri": "file:///a", "blob": "aGk="}, "annotations": FULL},
        {"type": "resource", "resource": {"uri": "file:///a", "blob": "aGk=", "mimeType": "image/png"}},
        {
            "type": "resource",
            "resource": {"uri": "u", "blob": "aGk=", "mimeType": "audio/wav", "_meta": {"inner": 1}},
        },
    ],
)
def test_another_program_shows_a_block_as_it_came(block: dict[str, Any]) -> None:
    driver, session = prompted(block)
    assert all(part.hints is None for part in given(driver))
    assert shown_again(driver, session) == [block]


@pytest.mark.parametrize(
    ("audience", "gets_it"),
    [
        (None, True),
        ([], True),
        (["assistant"], True),
        (["user", "assistant"], True),
        (["user"], False),
        (["user", "user"], False),
        (["user", "from the future"], False),
        (["from the future"], True),
        ("user", True),
    ],
)
def test_what_is_for_the_user_alone_is_not_given_to_the_model(audience: Any, gets_it: bool) -> None:
    driver, session = prompted(text("first"), text("marked", audience=audience), text("last"))
    marked = (Text("marked"),) if gets_it else ()
    assert given(driver) == (Text("first"), *marked, Text("last"))
    assert [block["text"] for block in shown_again(driver, session)] == ["first", "marked", "last"]


def test_unknown_roles_are_dropped_and_the_known_ones_stay() -> None:
    driver, session = prompted(text("a", audience=["from the future", "assistant", 7]))
    assert shown_again(driver, session) == [text("a", audience=["assistant"])]


@pytest.mark.parametrize("annotations", [7, None, "x", []])
def test_malformed_annotations_and_meta_count_as_absent(annotations: Any) -> None:
    block = {"type": "text", "text": "a", "annotations": annotations, "_meta": annotations}
    driver, session = prompted(block)
    assert shown_again(driver, session) == [{"type": "text", "text": "a"}]


def test_a_malformed_field_of_annotations_costs_only_itself() -> None:
    driver, session = prompted(text("a", audience=7, priority="high", lastModified="2026"))
    assert shown_again(driver, session) == [text("a", lastModified="2026")]


def test_a_meta_that_is_nested_too_deeply_counts_as_absent() -> None:
    def nested(levels: int) -> Any:
        return {"a": nested(levels - 1)} if levels > 1 else {}

    blocks = [{"type": "text", "text": "a", "_meta": nested(levels)} for levels in (DEEPEST, DEEPEST + 1)]
    driver, session = prompted(*blocks)
    assert shown_again(driver, session) == [blocks[0], {"type": "text", "text": "a"}]


def test_a_command_for_the_user_alone_calls_nothing_and_one_behind_it_does() -> None:
    driver, session = prompted(
        text("/usage", audience=["user"]), text("hello"), options=with_(STORED, slash=True)
    )
    assert given(driver) == (Text("hello"),)
    driver.round(said("ok"))
    driver.store()
    asked = driver.request(
        "session/prompt",
        sessionId=session,
        prompt=[text("see", audience=["user"]), text("/usage")],
    )
    driver.store()
    assert not driver.model_jobs() and driver.answer_of(asked) is not None


def test_the_model_that_names_a_session_sees_only_what_is_for_it() -> None:
    driver, _ = prompted(
        text("my secret", audience=["user"]), text("fix it"), options=with_(STORED, titles=True)
    )
    driver.round(said("Fixed."))
    driver.store()
    (key,) = driver.model_jobs()
    request = json.dumps(str(driver.jobs[key].request.messages))
    assert "fix it" in request and "my secret" not in request


def test_of_a_clients_tool_too_the_model_gets_only_what_is_for_it() -> None:
    pick = {"name": "pick", "inputSchema": {"type": "object"}}
    driver = Driver(STORED)
    driver.initialize()
    session = driver.session(_meta={"zidane": {"clientTools": [pick]}})
    for blocks, told in (
        ([text("seen", audience=["user"]), text("told", audience=["assistant"])], "told"),
        ([text("seen", audience=["user"])], "[All of the output was for the user.]"),
    ):
        driver.prompt(session)
        driver.store()
        driver.round(calls(("pick", {})))
        driver.store()
        driver.reply(driver.only_asked("_zidane/client_tool/call"), result={"content": blocks})
        assert [item["content"] for item in driver.card()["content"]] == blocks
        driver.store()
        assert driver.result() == told
        driver.round(said("ok"))
        driver.store()


def test_an_entry_without_hints_is_stored_as_before_and_one_of_before_is_read() -> None:
    old = '{"v":1,"type":"user","message":"m","parts":[{"type":"text","text":"a"},{"type":"image","media_type":"i"}],"turn":1}'
    entry = UserSaid("m", (Text("a"), Image("i")), 1)
    assert text_of(entry) == old and entry_of(old) == entry


def test_an_entry_with_hints_comes_back() -> None:
    hints = Hints(Annotations(("user",), "2026", 0.5, {"a": [1]}), {"b": None}, {"c": 2}, embedded=True)
    entry = UserSaid("m", (Image("image/png", "aGk=", "u", hints),), 1)
    assert entry_of(text_of(entry)) == entry
