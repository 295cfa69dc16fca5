"""Files through the editor: unsaved text is read and written, stale text is found out, failures fall back to the disk."""

from typing import Any

import pytest
from support.driver import HANDS, OPTIONS, Driver, calls, ready, said, with_

from zidane_core.agent.editor_files import FILE_WITHIN, WRITE_WITHIN
from zidane_core.agent.events import FileSeen, Ok, Stopped, WaitDone
from zidane_core.agent.work import LookAtFile, RunTool
from zidane_core.data.content import Text
from zidane_core.data.tools import ResolvedPath, ToolResult

READ = ("read_file", {"path": "a"})
EDIT = ("edit", {"path": "a", "old_string": "one", "new_string": "two"})
PATH = "/project/a"
ALLOW = with_(OPTIONS, policy="allow-all")
MISSING = {"error": {"code": -32002, "message": "Resource not found"}}
BROKEN = {"error": {"code": -32603, "message": "the editor is confused"}}


def begun(
    *made: tuple[str, dict[str, object]],
    capabilities: Any = HANDS,
    disk: str | None = "one\n",
    options: Any = ALLOW,
) -> tuple[Driver, str]:
    driver, session = ready(options, capabilities)
    if disk is not None:
        driver.files[PATH] = disk
    driver.prompt(session)
    driver.round(calls(*made))
    driver.work()
    return driver, session


def again(driver: Driver, *made: tuple[str, dict[str, object]]) -> None:
    """The model goes on with these calls."""
    driver.round(calls(*made))
    driver.work()


def editor(driver: Driver, text: str) -> None:
    """The editor answers the one open question with this text."""
    driver.reply(driver.only_asked("fs/read_text_file"), result={"content": text})
    driver.work()


def written(driver: Driver) -> list[dict[str, Any]]:
    return [f["params"] for f in driver.frames if f.get("method") == "fs/write_text_file"]


def reads(driver: Driver) -> int:
    return sum(frame.get("method") == "fs/read_text_file" for frame in driver.frames)


# Reading -------------------------------------------------------------------------------------------


def test_unsaved_text_is_read_whole_and_cut_here() -> None:
    driver, session = begun(("read_file", {"path": "a", "line": 2, "limit": 1}))
    request = driver.open[driver.only_asked("fs/read_text_file")]["params"]
    assert request == {"sessionId": session, "path": PATH}
    editor(driver, "one\nnew\nthree\n")
    assert driver.result().startswith("new\n\n[This is the text in the editor, with changes")
    assert driver.card()["locations"] == [{"path": PATH, "line": 2}]
    assert driver.card()["rawOutput"] == {"line": 2, "lines": 1, "truncated": False, "editor": "unsaved"}


def test_text_that_is_on_the_disk_too_has_no_note() -> None:
    driver, _ = begun(READ, disk="one\r\n")
    editor(driver, "one\n")
    assert driver.result() == "one\n"


def test_a_new_file_that_was_never_saved_is_read() -> None:
    driver, _ = begun(READ, disk=None)
    editor(driver, "draft")
    assert driver.result().startswith("draft")


@pytest.mark.parametrize("answer", [MISSING, BROKEN])
def test_a_file_that_neither_has_is_a_tool_error_and_no_failure_of_the_client(answer: Any) -> None:
    driver, _ = begun(READ, disk=None)
    driver.reply(driver.only_asked("fs/read_text_file"), **answer)
    assert driver.result() == "There is no file or folder a."
    assert driver.card()["status"] == "failed"
    again(driver, READ)
    driver.only_asked("fs/read_text_file")


def test_a_line_that_is_not_there_and_an_empty_file() -> None:
    driver, _ = begun(("read_file", {"path": "a", "line": 9}))
    editor(driver, "one\n")
    assert driver.result() == "a has only 1 line."
    again(driver, READ)
    editor(driver, "")
    assert driver.result().startswith("[The file is empty.]")


@pytest.mark.parametrize("kind", ["folder", "image", "binary", "large", "unreadable"])
def test_what_is_no_text_is_for_the_local_tool(kind: Any) -> None:
    driver, session = ready(ALLOW, HANDS)
    driver.prompt(session)
    driver.round(calls(READ))
    found = FileSeen(path=ResolvedPath("a", PATH, True), shown=PATH, kind=kind)
    for _ in range(2):
        (look,) = [key for key, what in driver.jobs.items() if isinstance(what, LookAtFile)]
        driver.end(look, Ok(found))
    (run,) = driver.tool_jobs("run")
    driver.end(run, Ok(ToolResult(content=(Text("local"),))))
    assert not reads(driver) and driver.result() == "local"


def test_a_path_outside_of_the_roots_is_asked_for_and_read_from_the_disk() -> None:
    driver, _ = begun(("read_file", {"path": "/etc/x"}), options=OPTIONS)
    driver.choose(driver.only_asked("session/request_permission"), "allow_once")
    (look,) = [key for key, what in driver.jobs.items() if isinstance(what, LookAtFile)]
    driver.finish(look)
    (run,) = driver.tool_jobs("run")
    what = driver.jobs[run]
    assert isinstance(what, RunTool) and what.outside and not reads(driver)


@pytest.mark.parametrize("answer", [BROKEN, {"result": None}, {"result": {"content": 7}}, {"result": "x"}])
def test_after_a_failure_the_disk_is_used_for_good_and_the_user_is_told_once(answer: Any) -> None:
    driver, _ = begun(READ)
    driver.reply(driver.only_asked("fs/read_text_file"), **answer)
    driver.work()
    assert driver.result() == "done"
    again(driver, READ, EDIT)
    assert reads(driver) == 1 and not written(driver)
    driver.round(said("ok"))
    (notice,) = driver.notices()
    assert notice.startswith("Files are now read and written on disk, not through the editor, which failed")


def test_a_client_that_does_not_answer_has_failed() -> None:
    driver, _ = begun(READ)
    number = driver.only_asked("fs/read_text_file")
    driver.bound(FILE_WITHIN)
    driver.work()
    assert driver.frames[-1]["method"] != "fs/read_text_file" and not driver.open
    cancelled = [f["params"] for f in driver.frames if f.get("method") == "$/cancel_request"]
    assert cancelled == [{"requestId": number}]
    assert driver.result() == "done"
    driver.round(said("ok"))
    assert "did not answer within 20 s" in driver.notices()[0]


def test_on_cancel_the_request_is_withdrawn_and_the_answer_does_not_wait() -> None:
    driver, session = begun(READ)
    number = driver.only_asked("fs/read_text_file")
    driver.cancel(session)
    for key in [key for key in driver.jobs if key in driver.stopped]:
        driver.end(key, Stopped())
    assert {"requestId": number} in [frame.get("params") for frame in driver.frames]
    answer = next(iter(reversed(driver.answers.values())))
    assert answer["result"]["stopReason"] == "cancelled"
    driver.send({"id": number, "result": {"content": "late"}})


# Stale text ----------------------------------------------------------------------------------------


def test_a_text_that_a_command_changed_on_disk_is_read_from_the_disk() -> None:
    driver, _ = begun(READ)
    editor(driver, "one\n")
    driver.files[PATH] = "changed\n"
    again(driver, READ)
    editor(driver, "one\n")
    assert driver.result().startswith("changed\n\n[The file was changed on disk")


def test_an_edit_of_it_does_not_undo_the_change() -> None:
    driver, _ = begun(READ)
    editor(driver, "one\n")
    driver.files[PATH] = "one\nmore\n"
    again(driver, EDIT)
    editor(driver, "one\n")
    editor(driver, "one\n")
    driver.answer(driver.only_asked("fs/write_text_file"))
    driver.work()
    assert [params["content"] for params in written(driver)] == ["two\nmore\n"]


def test_unsaved_text_beside_a_changed_file_is_told_and_edited_only_once_it_was_read() -> None:
    driver, _ = begun(READ)
    editor(driver, "one\nmine\n")
    driver.files[PATH] = "one\ntheirs\n"
    again(driver, EDIT)
    editor(driver, "one\nmine\n")
    assert "differs between the editor and the disk" in driver.result() and not written(driver)
    again(driver, READ)
    editor(driver, "one\nmine\n")
    assert "differs from the file on disk" in driver.result()
    again(driver, EDIT)
    editor(driver, "one\nmine\n")
    editor(driver, "one\nmine\n")
    driver.answer(driver.only_asked("fs/write_text_file"))
    assert [params["content"] for params in written(driver)] == ["two\nmine\n"]


def test_after_a_command_nothing_is_taken_for_unsaved_that_was_never_seen() -> None:
    driver, _ = begun(("shell", {"command": "sed -i s/a/b/ a"}), capabilities={"fs": HANDS["fs"]})
    again(driver, EDIT)
    editor(driver, "one, as it was\n")
    assert "differs between the editor and the disk" in driver.result()


def test_without_a_command_a_text_that_was_never_seen_is_the_users() -> None:
    driver, _ = begun(EDIT)
    editor(driver, "one, unsaved\n")
    editor(driver, "one, unsaved\n")
    driver.answer(driver.only_asked("fs/write_text_file"))
    assert [params["content"] for params in written(driver)] == ["two, unsaved\n"]


def test_an_editor_that_does_not_save_keeps_what_was_written() -> None:
    driver, _ = begun(EDIT)
    editor(driver, "one\n")
    editor(driver, "one\n")
    driver.reply(driver.only_asked("fs/write_text_file"), result=None)
    driver.work()
    again(driver, READ)
    editor(driver, "two\n")
    assert driver.result().startswith("two\n\n[This is the text in the editor, with changes")


# Writing -------------------------------------------------------------------------------------------


def test_a_change_is_shown_before_the_question_and_written_exactly_once() -> None:
    driver, session = begun(EDIT, options=OPTIONS)
    editor(driver, "one\n")
    number = driver.only_asked("session/request_permission")
    diff = {"type": "diff", "path": PATH, "oldText": "one\n", "newText": "two\n"}
    assert driver.open[number]["params"]["toolCall"]["content"] == [diff]
    driver.choose(number, "allow_once")
    driver.work()
    editor(driver, "one\n")
    write = driver.only_asked("fs/write_text_file")
    assert driver.open[write]["params"] == {"sessionId": session, "path": PATH, "content": "two\n"}
    driver.answer(write)
    driver.work()
    assert len(written(driver)) == 1
    assert driver.card()["content"][0] == diff
    assert driver.result() == "Changed a (4 bytes)."


def test_a_text_that_changed_while_the_user_was_asked_is_not_written_over() -> None:
    driver, _ = begun(EDIT, options=OPTIONS)
    editor(driver, "one\n")
    driver.choose(driver.only_asked("session/request_permission"), "allow_once")
    driver.work()
    editor(driver, "one\nand more\n")
    assert not written(driver)
    assert driver.result() == "a has changed since this edit was prepared; read it again and retry."


@pytest.mark.parametrize("result", [None, {}, {"anything": 1}])
def test_any_result_of_a_write_will_do(result: Any) -> None:
    driver, _ = begun(EDIT)
    editor(driver, "one\n")
    editor(driver, "one\n")
    driver.reply(driver.only_asked("fs/write_text_file"), result=result)
    driver.work()
    assert driver.card()["status"] == "completed"


def test_a_new_file_is_written_through_the_client() -> None:
    driver, _ = begun(("write_file", {"path": "a", "content": "new\n"}), disk=None)
    for _ in range(2):
        driver.reply(driver.only_asked("fs/read_text_file"), **MISSING)
        driver.work()
    driver.answer(driver.only_asked("fs/write_text_file"))
    driver.work()
    assert driver.result() == "Made a (4 bytes)."
    assert driver.card()["content"][0] == {"type": "diff", "path": PATH, "oldText": None, "newText": "new\n"}


def test_several_edits_are_made_or_none() -> None:
    edits = [{"old_string": "one", "new_string": "two"}, {"old_string": "nope", "new_string": "x"}]
    driver, _ = begun(("multi_edit", {"path": "a", "edits": edits}))
    editor(driver, "one\n")
    assert driver.result().startswith("Edit 2: old_string was not found") and not written(driver)
    again(driver, ("multi_edit", {"path": "a", "edits": edits[:1]}))
    editor(driver, "one\r\n")
    editor(driver, "one\r\n")
    assert driver.open[driver.only_asked("fs/write_text_file")]["params"]["content"] == "two\n"


@pytest.mark.parametrize(
    ("on_disk", "in_editor", "written_as"),
    [
        ("one\r\nb\r\n", "one\nb\n", "two\r\nb\r\n"),
        ("one\r\nb\n", "one\nb\n", "two\r\nb\n"),
        ("one\r\n", "one\nunsaved\n", "two\r\nunsaved\r\n"),
        ("one\n", "one\r\nunsaved\r\n", "two\r\nunsaved\r\n"),
    ],
)
def test_the_line_endings_of_the_file_stay_whatever_the_editor_shows(
    on_disk: str, in_editor: str, written_as: str
) -> None:
    driver, _ = begun(EDIT, disk=on_disk)
    editor(driver, in_editor)
    editor(driver, in_editor)
    driver.answer(driver.only_asked("fs/write_text_file"))
    driver.work()
    assert [params["content"] for params in written(driver)] == [written_as]
    diff = driver.card()["content"][0]
    assert ("\r" in diff["oldText"]) == ("\r" in diff["newText"])


def test_a_failed_write_goes_to_the_disk_where_that_has_the_text_it_was_made_from() -> None:
    driver, _ = begun(EDIT)
    editor(driver, "one\n")
    editor(driver, "one\n")
    driver.reply(driver.only_asked("fs/write_text_file"), **BROKEN)
    (look,) = [key for key, what in driver.jobs.items() if isinstance(what, LookAtFile)]
    driver.finish(look)
    (run,) = driver.tool_jobs("run")
    what = driver.jobs[run]
    assert isinstance(what, RunTool)
    assert (what.name, what.arguments, what.preview) == (
        "write_file",
        {"path": "a", "content": "two\n"},
        None,
    )
    driver.work()
    driver.round(said("ok"))
    assert "the editor is confused" in driver.notices()[0]


@pytest.mark.parametrize(("shown", "on_disk"), [("one\nmy draft\n", "one\n"), ("one\n", "one\ntheirs\n")])
def test_a_failed_write_saves_no_draft_and_undoes_no_change_on_disk(shown: str, on_disk: str) -> None:
    driver, _ = begun(EDIT)
    editor(driver, shown)
    editor(driver, shown)
    driver.files[PATH] = on_disk
    driver.reply(driver.only_asked("fs/write_text_file"), **BROKEN)
    driver.work()
    assert driver.result().startswith("a was not written: the editor failed to do it")
    assert driver.files[PATH] == on_disk


def test_a_write_that_is_not_answered_has_an_unknown_outcome_and_is_not_made_twice() -> None:
    driver, _ = begun(EDIT)
    editor(driver, "one\n")
    editor(driver, "one\n")
    driver.bound(WRITE_WITHIN)
    driver.work()
    assert not driver.open and not driver.tool_jobs("run")
    assert "whether it did is not known" in driver.result()


def test_a_bound_that_ends_in_the_same_moment_as_the_answer_does_not_count() -> None:
    driver, _ = begun(EDIT)
    for _ in range(2):
        bound = next(key for key, what in driver.jobs.items() if getattr(what, "seconds", 0) == FILE_WITHIN)
        driver.reply(driver.only_asked("fs/read_text_file"), result={"content": "one\n"})
        driver.end(bound, Ok(WaitDone()))
        driver.work()
    bound = next(key for key, what in driver.jobs.items() if getattr(what, "seconds", 0) == WRITE_WITHIN)
    driver.answer(driver.only_asked("fs/write_text_file"))
    driver.end(bound, Ok(WaitDone()))
    driver.work()
    assert driver.result() == "Changed a (4 bytes)." and not driver.notices()
    assert len(written(driver)) == 1


def test_a_file_that_was_deleted_behind_the_editor_is_not_there_any_more() -> None:
    driver, _ = begun(READ)
    editor(driver, "one\n")
    del driver.files[PATH]
    again(driver, READ)
    editor(driver, "one\n")
    assert driver.result().startswith("There is no file a any more: it was deleted on disk")
    again(driver, EDIT)
    editor(driver, "one\n")
    assert driver.result().startswith("There is no file a any more") and not written(driver)
    again(driver, ("write_file", {"path": "a", "content": "new\n"}))
    editor(driver, "one\n")
    editor(driver, "one\n")
    driver.answer(driver.only_asked("fs/write_text_file"))
    driver.work()
    assert driver.result() == "Made a (4 bytes)."


def test_a_text_that_the_user_keeps_back_is_a_tool_error_and_no_failure() -> None:
    rejected = {"error": {"code": -32800, "message": "cancelled"}}
    for call in (READ, EDIT):
        driver, _ = begun(call)
        driver.reply(driver.only_asked("fs/read_text_file"), **rejected)
        driver.work()
        assert driver.result() == "The editor did not give the text of a."
        again(driver, READ)
        driver.only_asked("fs/read_text_file")


def test_a_path_that_leads_elsewhere_by_then_is_not_written() -> None:
    driver, session = ready(with_(OPTIONS, policy="allow-edits"), HANDS)
    driver.prompt(session)
    driver.round(calls(("write_file", {"path": "a", "content": "x"})))
    for real in (PATH, "/project/.git/hooks/pre-commit"):
        (look,) = [key for key, what in driver.jobs.items() if isinstance(what, LookAtFile)]
        driver.end(look, Ok(FileSeen(path=ResolvedPath("a", real, True), shown=PATH, kind="missing")))
        if real == PATH:
            driver.reply(driver.only_asked("fs/read_text_file"), **MISSING)
    assert not driver.open and "has changed since" in driver.result()


def test_a_change_that_the_user_turned_down_in_the_editor_is_not_made_on_disk() -> None:
    driver, _ = begun(EDIT)
    editor(driver, "one\n")
    editor(driver, "one\n")
    driver.reply(driver.only_asked("fs/write_text_file"), error={"code": -32800, "message": "rejected"})
    assert driver.result() == "The editor did not take the change of a."
    assert not driver.tool_jobs("run")


def test_a_read_that_fails_after_the_question_writes_only_what_was_allowed() -> None:
    for disk, made in (("one\n", True), ("other\n", False)):
        driver, _ = begun(EDIT, options=OPTIONS)
        editor(driver, "one\n")
        driver.choose(driver.only_asked("session/request_permission"), "allow_once")
        driver.files[PATH] = disk
        driver.work()
        driver.reply(driver.only_asked("fs/read_text_file"), **BROKEN)
        assert bool(driver.tool_jobs("run")) is made
        assert made or "was not written" in driver.result()


def test_with_reading_alone_edits_are_local() -> None:
    driver, _ = begun(EDIT, READ, capabilities={"fs": {"readTextFile": True}})
    editor(driver, "unsaved\n")
    assert not written(driver) and reads(driver) == 1


def test_with_writing_alone_the_disk_is_what_is_changed() -> None:
    driver, _ = begun(EDIT, capabilities={"fs": {"writeTextFile": True}})
    assert driver.open[driver.only_asked("fs/write_text_file")]["params"]["content"] == "two\n"
    assert not reads(driver)


def test_a_host_that_keeps_its_files_is_obeyed() -> None:
    shell: tuple[str, dict[str, object]] = ("shell", {"command": "a; b"})
    driver, _ = begun(READ, EDIT, shell, options=with_(ALLOW, through_client=False))
    assert not driver.open and driver.result() == "done"


def test_a_replay_shows_what_was_shown() -> None:
    driver, _ = begun(READ)
    editor(driver, "one\n")
    again(driver, EDIT)
    editor(driver, "one\n")
    editor(driver, "one\n")
    driver.answer(driver.only_asked("fs/write_text_file"))
    driver.work()
    driver.round(said("ok"))
    driver.check_replay()


def test_what_was_written_is_remembered_so_that_a_later_command_is_seen() -> None:
    driver, _ = begun(READ)
    editor(driver, "one\n")
    again(driver, EDIT)
    editor(driver, "one\n")
    editor(driver, "one\n")
    driver.answer(driver.only_asked("fs/write_text_file"))
    driver.work()
    driver.files[PATH] = "three\n"
    again(driver, READ)
    editor(driver, "two\n")
    assert driver.result().startswith("three\n\n[The file was changed on disk")


def test_a_call_that_waited_for_one_that_failed_does_not_ask_any_more() -> None:
    driver, _ = begun(EDIT, READ)
    driver.reply(driver.only_asked("fs/read_text_file"), **BROKEN)
    driver.work()
    assert reads(driver) == 1 and not driver.open


def test_two_failures_at_once_are_told_once() -> None:
    driver, _ = begun(READ, ("read_file", {"path": "b"}))
    driver.files["/project/b"] = "b"
    for number in list(driver.open):
        driver.reply(number, **BROKEN)
        driver.work()
    driver.round(said("ok"))
    assert len(driver.notices()) == 1


def test_a_command_in_another_session_or_an_earlier_program_counts_too() -> None:
    driver, session = ready(with_(ALLOW, store=True), {"fs": HANDS["fs"]})
    driver.store()
    other = driver.session("/project")
    driver.prompt(other)
    driver.store()
    driver.round(calls(("shell", {"command": "make; fmt"})))
    driver.store()
    driver.work()
    driver.store()
    again = Driver(with_(ALLOW, store=True), {"fs": HANDS["fs"]}, disk=driver.disk, seed="another")
    again.initialize()
    again.load(other)
    for one, which in ((driver, session), (again, other)):
        one.files[PATH] = "formatted\n"
        one.prompt(which)
        one.store()
        key = next(key for key in one.model_jobs() if key.startswith(which))
        one.round(calls(EDIT), key)
        one.store()
        one.work()
        one.reply(one.only_asked("fs/read_text_file"), result={"content": "one\n"})
        one.store()
        assert "differs between the editor and the disk" in str(one.updates(which)[-1]["content"])


def test_the_model_is_told_that_commands_run_in_a_terminal() -> None:
    for capabilities, told in ((HANDS, "in a terminal of the user"), ({}, "There is no terminal")):
        driver, session = ready(ALLOW, capabilities)
        driver.prompt(session)
        (key,) = driver.model_jobs()
        (shell,) = [tool for tool in driver.jobs[key].request.tools if tool.name == "shell"]
        assert told in shell.description
