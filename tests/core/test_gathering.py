"""What a prompt needs before the model sees it: files that links name, the editor's text of them, large pictures."""

import base64
from typing import Any

import pytest
from support.driver import HANDS, OPTIONS, Driver, calls, said, with_

from zidane_core.agent.events import Attachment, AttachmentsRead, Failed, Ok
from zidane_core.agent.gathering import EDITOR_WITHIN
from zidane_core.agent.work import ReadAttachments
from zidane_core.data import content, models
from zidane_core.faults import Fault

LINK = {"type": "resource_link", "uri": "file:///project/a", "name": "a"}
WEB = {"type": "resource_link", "uri": "https://example.com/a", "name": "page"}
ASK = {"type": "text", "text": "look"}


def prompted(*blocks: Any, capabilities: Any = None, options: Any = OPTIONS) -> tuple[Driver, str]:
    driver = Driver(options, capabilities)
    driver.initialize()
    session = driver.session()
    driver.files["/project/a"] = "on disk\n"
    driver.request("session/prompt", sessionId=session, prompt=list(blocks))
    return driver, session


def job(driver: Driver) -> tuple[str, ReadAttachments]:
    key = driver.only(lambda what: isinstance(what, ReadAttachments))
    return key, driver.jobs[key]


def seen(driver: Driver) -> tuple[content.Part, ...]:
    """The prompt as the model gets it."""
    (key,) = driver.model_jobs()
    final = driver.jobs[key].request.messages[-1]
    assert isinstance(final, models.UserMessage)
    return final.parts


def document(text: str) -> content.Document:
    return content.Document("file:///project/a", "a", None, text)


def test_a_link_to_a_file_is_read_and_the_log_keeps_the_link() -> None:
    driver, _ = prompted(ASK, LINK)
    key, what = job(driver)
    assert [at for at, _ in what.links] == [1] and what.roots == ("/project",)
    driver.finish(key)
    assert seen(driver) == (content.Text("look"), document("on disk\n"))
    driver.round(said("ok"))
    driver.check_replay()
    shown = [u["content"] for u in driver.updates() if u["sessionUpdate"] == "user_message_chunk"]
    assert shown == []


def test_other_links_stay_as_they_are_and_cost_nothing() -> None:
    driver, _ = prompted(ASK, WEB)
    assert [type(part) for part in seen(driver)] == [content.Text, content.Link]


def test_the_editor_knows_the_text_better() -> None:
    driver, session = prompted(LINK, capabilities=HANDS)
    driver.finish(job(driver)[0])
    number = driver.only_asked("fs/read_text_file")
    assert driver.open[number]["params"] == {"sessionId": session, "path": "/project/a"}
    driver.reply(number, result={"content": "unsaved\n"})
    (part,) = seen(driver)
    assert isinstance(part, content.Document) and str(part.text).startswith("unsaved\n\n[This is the text in")


def test_only_the_lines_that_were_asked_for() -> None:
    driver, _ = prompted(LINK, capabilities=HANDS)
    key, _ = job(driver)
    one = Attachment(position=0, part=document("2\n3\n"), path="/project/a", first=2, last=3)
    driver.end(key, Ok(AttachmentsRead((one,))))
    driver.reply(driver.only_asked("fs/read_text_file"), result={"content": "1\ntwo\nthree\n4\n"})
    (part,) = seen(driver)
    assert isinstance(part, content.Document) and str(part.text).startswith(
        "two\nthree\n\n[This is the text in"
    )


@pytest.mark.parametrize("answer", [{"error": {"code": -32603, "message": "no"}}, {"result": {}}, None])
def test_an_editor_that_fails_leaves_the_text_of_the_disk_and_is_not_asked_again(answer: Any) -> None:
    driver, session = prompted(LINK, capabilities=HANDS)
    driver.finish(job(driver)[0])
    if answer is None:
        driver.bound(EDITOR_WITHIN)
        assert not driver.open
    else:
        driver.reply(driver.only_asked("fs/read_text_file"), **answer)
    assert seen(driver) == (document("on disk\n"),)
    assert driver.notices()[0].startswith("Files are now read and written on disk")
    driver.round(said("ok"))
    driver.request("session/prompt", sessionId=session, prompt=[LINK])
    driver.finish(job(driver)[0])
    assert not driver.open and driver.model_jobs()


def test_an_editor_that_is_behind_the_disk_is_found_out_here_too() -> None:
    driver, session = prompted({"type": "text", "text": "x"}, capabilities=HANDS)
    path = "/project/a"
    driver.files[path] = "old\n"
    driver.round(calls(("read_file", {"path": "a"})))
    driver.work()
    driver.reply(driver.only_asked("fs/read_text_file"), result={"content": "old\n"})
    driver.work()
    driver.round(said("ok"))
    driver.files[path] = "formatted\n"
    for shown, given, note in (
        ("old\n", "formatted\n", "changed on disk"),
        ("mine\n", "mine\n", "not saved yet"),
        ("formatted\n", "formatted\n", ""),
    ):
        driver.request("session/prompt", sessionId=session, prompt=[LINK])
        driver.finish(job(driver)[0])
        driver.reply(driver.only_asked("fs/read_text_file"), result={"content": shown})
        (part,) = seen(driver)
        assert isinstance(part, content.Document) and part.text is not None
        assert part.text.startswith(given) and note in part.text
        driver.round(said("ok"))


def test_a_text_that_the_user_keeps_back_is_the_one_of_the_disk() -> None:
    driver, _ = prompted(LINK, capabilities=HANDS)
    driver.finish(job(driver)[0])
    driver.reply(driver.only_asked("fs/read_text_file"), error={"code": -32800, "message": "no"})
    assert seen(driver) == (document("on disk\n"),)
    assert not driver.notices()


def test_a_picture_that_is_too_large_goes_to_be_shrunk() -> None:
    small = models.ModelChoice(value="test-model", name="T", provider="t", id="t", image_bytes=8)
    picture = base64.b64encode(b"123456789").decode()
    driver, _ = prompted(
        {"type": "image", "data": picture, "mimeType": "image/png"},
        {"type": "image", "data": base64.b64encode(b"12").decode(), "mimeType": "image/png"},
        options=with_(OPTIONS, models=(small,)),
    )
    key, what = job(driver)
    assert [at for at, _ in what.images] == [0] and what.image_bytes == 8
    driver.finish(key)
    assert seen(driver)[0] == content.Text("[small]") and driver.notices() == ["Too large."]
    driver.round(said("ok"))
    driver.check_replay()


def test_a_picture_with_too_long_a_side_goes_to_be_shrunk_too() -> None:
    def picture(height: int) -> Any:
        data = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x09" + height.to_bytes(4, "big")
        return {"type": "image", "data": base64.b64encode(data).decode(), "mimeType": "image/png"}

    driver, _ = prompted(picture(8000), picture(8001))
    key, what = job(driver)
    assert [at for at, _ in what.images] == [1]
    driver.finish(key)
    assert seen(driver)[1] == content.Text("[small]")


def test_reading_that_fails_leaves_the_prompt_as_it_is() -> None:
    driver, _ = prompted(ASK, LINK)
    driver.end(job(driver)[0], Failed(Fault(-32603, "broken")))
    assert [type(part) for part in seen(driver)] == [content.Text, content.Link]


@pytest.mark.parametrize("late", [False, True])
def test_a_cancel_on_the_way_is_answered_and_nothing_is_left(late: bool) -> None:
    driver, session = prompted(LINK, capabilities=HANDS)
    key, _ = job(driver)
    if late:
        driver.finish(key)
    driver.cancel(session)
    answer = next(iter(reversed(driver.answers.values())))
    assert answer["result"]["stopReason"] == "cancelled" and not driver.open
    driver.work()
    driver.prompt(session)
    assert driver.model_jobs()


def test_what_the_model_was_given_is_stored_and_given_again() -> None:
    driver, session = prompted(LINK, options=with_(OPTIONS, store=True))
    driver.store()
    driver.finish(job(driver)[0])
    driver.store()
    driver.round(said("ok"))
    driver.store()
    again = Driver(with_(OPTIONS, store=True), disk=driver.disk, seed="another")
    again.initialize()
    again.load(session)
    again.prompt(session, "and now")
    again.store()
    (key,) = again.model_jobs()
    first = again.jobs[key].request.messages[0]
    assert first.parts == (document("on disk\n"),)
