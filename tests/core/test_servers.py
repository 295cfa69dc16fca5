"""MCP servers of a session: started behind the answer, waited for a little, named once, tried again, asked for the user."""

import json
from typing import Any

import pytest
from support.driver import HANDS, OPTIONS, Driver, calls, said, with_

from zidane_core.agent.events import Failed, Ok, Progressed, PromptGot
from zidane_core.agent.work import GetMcpPrompt, RunMcpCall, Wait
from zidane_core.data.content import Image, Text
from zidane_core.data.mcp import McpOffer, McpPageDone, McpServerConfig, McpTool
from zidane_core.data.tools import ToolOutput, ToolResult
from zidane_core.faults import Fault

ONE = {"name": "one", "command": "/bin/one", "args": ["-x"], "env": [{"name": "A", "value": "b"}]}
TWO = {"type": "http", "name": "two", "url": "https://example.com/mcp", "headers": []}
ALLOW = with_(OPTIONS, policy="allow-all")
GONE = Failed(
    Fault(-32603, "The MCP server one could not be started: there is no command one.", {"kind": "mcp"})
)


def opened(*servers: Any, options: Any = ALLOW, capabilities: Any = None) -> tuple[Driver, str]:
    driver = Driver(options, capabilities)
    driver.initialize()
    return driver, driver.session(mcpServers=list(servers or (ONE,)))


def server(driver: Driver, name: str = "one") -> str:
    (key,) = [key for key in driver.server_jobs() if driver.jobs[key].config.name == name]
    return key


def ready(*servers: Any, **more: Any) -> tuple[Driver, str]:
    """Every server is connected and offers the same."""
    driver, session = opened(*servers, **more)
    for key in driver.server_jobs():
        driver.offer(key)
    return driver, session


def names(driver: Driver) -> list[str]:
    (key,) = driver.model_jobs()
    return [tool.name for tool in driver.jobs[key].request.tools if "__" in tool.name]


def called(driver: Driver, session: str, name: str = "one__change", **arguments: Any) -> RunMcpCall:
    driver.prompt(session)
    driver.round(calls((name, arguments)))
    (what,) = [what for what in driver.jobs.values() if isinstance(what, RunMcpCall)]
    return what


# Starting ------------------------------------------------------------------------------------------


def test_servers_start_behind_the_answer_all_at_once() -> None:
    driver = Driver()
    driver.initialize()
    asked = driver.request("session/new", cwd="/project", mcpServers=[ONE, TWO])
    assert not driver.server_jobs()
    driver.set_up()
    answer = driver.answer_of(asked)
    assert answer is not None
    configs = [driver.jobs[key].config for key in driver.server_jobs()]
    assert [(one.name, one.transport) for one in configs] == [("one", "stdio"), ("two", "streamable-http")]
    what = driver.jobs[server(driver)]
    assert (what.session, what.cwd, what.roots) == (answer["result"]["sessionId"], "/project", ("/project",))


def test_the_same_server_twice_is_one_and_the_last_counts() -> None:
    driver, _ = opened(ONE, {**ONE, "command": "/bin/other"})
    assert driver.jobs[server(driver)].config.command == "/bin/other"


def test_the_users_servers_join_those_of_the_client_which_win() -> None:
    mine = (
        McpServerConfig(name="one", transport="stdio", command="/bin/mine"),
        McpServerConfig(name="three", transport="stdio", command="/bin/three"),
    )
    driver, _ = opened(options=with_(ALLOW, servers=mine))
    configs = {driver.jobs[key].config.name: driver.jobs[key].config.command for key in driver.server_jobs()}
    assert configs == {"one": "/bin/one", "three": "/bin/three"}


def test_a_first_prompt_waits_for_servers_that_start_and_no_longer() -> None:
    driver, session = opened(ONE, TWO)
    driver.prompt(session)
    assert not driver.model_jobs()
    driver.offer(server(driver))
    assert not driver.model_jobs()
    driver.offer(server(driver, "two"))
    assert names(driver) == ["one__look", "one__change", "two__look", "two__change"]
    waits = [key for key, what in driver.jobs.items() if isinstance(what, Wait) and what.seconds == 5.0]
    assert waits and set(waits) <= driver.stopped


def test_after_the_wait_it_goes_on_and_says_without_whom_and_later_prompts_do_not_wait() -> None:
    driver, session = opened(ONE, TWO)
    driver.offer(server(driver))
    driver.prompt(session)
    driver.bound(5.0)
    assert names(driver) == ["one__look", "one__change"]
    assert driver.notices() == [
        "The MCP server two is still starting; the answer begins without, and uses what comes once it is there."
    ]
    driver.round(said("ok"))
    driver.prompt(session)
    assert driver.model_jobs()
    driver.offer(server(driver, "two"))
    driver.round(calls(("update_plan", {"entries": []})))
    assert "two__look" in names(driver)


def test_a_cancel_while_it_waits_is_answered() -> None:
    driver, session = opened()
    asked = driver.prompt(session)
    driver.cancel(session)
    answer = driver.answer_of(asked)
    assert answer is not None and answer["result"]["stopReason"] == "cancelled"
    driver.offer(server(driver))
    driver.prompt(session)
    assert driver.model_jobs()


# Failing -------------------------------------------------------------------------------------------


def test_a_failed_server_is_named_once_and_the_prompt_goes_on() -> None:
    driver, session = opened()
    driver.end(server(driver), GONE)
    driver.prompt(session)
    driver.round(said("ok"))
    driver.now += 60
    driver.prompt(session)
    driver.end(server(driver), GONE)
    driver.round(said("ok"))
    (notice,) = driver.notices()
    assert (
        notice
        == f"{GONE.fault.message} The work goes on without its tools; it is tried again with a later message."
    )


def test_it_is_tried_again_with_a_later_prompt_and_longer_pauses() -> None:
    driver, session = opened()
    limits = OPTIONS.limits
    driver.end(server(driver), GONE)
    for tries in range(9):
        pause = min(limits.server_retry_first * 2**tries, limits.server_retry_most)
        driver.now += pause - 1
        driver.prompt(session)
        assert not driver.server_jobs()
        driver.round(said("ok"))
        driver.now += 1
        driver.prompt(session)
        driver.end(server(driver), GONE)
        driver.round(said("ok"))


def test_a_server_that_came_back_has_failed_for_the_first_time_again() -> None:
    driver, session = opened()
    for pause in (5, 10):
        driver.end(server(driver), GONE)
        driver.now += pause
        driver.prompt(session)
        if pause == 5:
            driver.bound(1.0)
            driver.round(said("ok"))
    driver.offer(server(driver))
    driver.round(said("ok"))
    driver.end(server(driver), GONE)
    driver.now += 5
    driver.prompt(session)
    assert driver.server_jobs()
    driver.offer(server(driver))
    driver.round(said("ok"))
    assert len(driver.notices()) == 2, "a new failure is told, the same one is not"


def test_a_prompt_waits_only_a_little_for_one_that_failed_before() -> None:
    driver, session = opened()
    driver.end(server(driver), GONE)
    driver.now += 60
    driver.prompt(session)
    assert not driver.model_jobs()
    driver.bound(1.0)
    assert driver.model_jobs()


def test_a_server_that_is_lost_takes_its_tools_along_and_comes_back() -> None:
    driver, session = ready()
    driver.prompt(session)
    assert names(driver) == ["one__look", "one__change"]
    driver.end(server(driver), Failed(Fault(-32603, "The MCP server one has ended.", {"kind": "mcp"})))
    driver.round(calls(("one__look", {})))
    assert "There is no tool named 'one__look'" in driver.result()
    driver.round(said("ok"))
    driver.now += 60
    driver.prompt(session)
    driver.offer(server(driver))
    assert names(driver) == ["one__look", "one__change"]


def test_a_remark_of_a_server_is_told_once() -> None:
    driver, session = opened()
    for _ in range(2):
        driver.offer(server(driver), McpOffer(remarks=("The MCP server one prints on its output.",)))
    driver.prompt(session)
    driver.round(said("ok"))
    assert driver.notices() == ["The MCP server one prints on its output."]


# The end of a session ------------------------------------------------------------------------------


def test_servers_end_with_the_session() -> None:
    driver, session = ready()
    key = server(driver)
    driver.stopping.add(session)
    driver.request("session/close", sessionId=session)
    assert key in driver.stopped


def test_a_load_keeps_what_stays_starts_what_is_new_and_ends_what_is_gone() -> None:
    driver, session = ready(ONE, TWO, options=with_(ALLOW, store=True))
    one, two = server(driver), server(driver, "two")
    driver.load(session, method="session/resume")
    assert {one, two} <= driver.stopped
    driver.request("session/resume", sessionId=session, cwd="/project", mcpServers=[ONE])
    driver.set_up()
    again = next(key for key in driver.server_jobs() if key not in driver.stopped)
    changed = {**ONE, "args": []}
    driver.request("session/resume", sessionId=session, cwd="/project", mcpServers=[changed, TWO])
    driver.set_up()
    assert again in driver.stopped
    live = [driver.jobs[key].config.name for key in driver.server_jobs() if key not in driver.stopped]
    assert live == ["one", "two"]


# Tools ---------------------------------------------------------------------------------------------


def test_a_call_goes_to_its_server_under_the_names_of_both() -> None:
    driver, session = ready()
    what = called(driver, session, x=1)
    assert (what.session, what.server, what.tool, what.arguments) == (session, "one", "change", {"x": 1})
    assert driver.card()["title"] == "one: change" and driver.card()["kind"] == "edit"
    key = driver.only(lambda job: isinstance(job, RunMcpCall))
    driver.now += 1
    driver.feed(Progressed(driver.now, key, (ToolOutput("1/2 half\n"),)))
    assert driver.card()["content"][0]["content"]["text"] == "1/2 half\n"
    result = ToolResult(
        content=(Text("both"), Image("image/png", "aGk=")), raw={"structuredContent": {"a": 1}}
    )
    driver.end(key, Ok(result))
    kinds = [item["content"]["type"] for item in driver.card()["content"]]
    assert kinds == ["text", "image"] and driver.card()["rawOutput"] == {"structuredContent": {"a": 1}}


def test_a_call_that_is_cancelled_stops_its_job() -> None:
    driver, session = ready()
    called(driver, session)
    key = driver.only(lambda job: isinstance(job, RunMcpCall))
    driver.cancel(session)
    assert key in driver.stopped


@pytest.mark.parametrize(
    ("trust", "tool", "asks"),
    [(False, "one__look", True), (True, "one__look", False), (True, "one__change", True)],
)
def test_a_claim_to_only_read_spares_the_question_only_if_the_user_says_so(
    trust: bool, tool: str, asks: bool
) -> None:
    driver, session = ready(options=with_(OPTIONS, trust_read_only=trust))
    driver.prompt(session)
    driver.round(calls((tool, {})))
    assert bool(driver.open) is asks
    if asks:
        driver.choose(driver.only_asked("session/request_permission"), "reject_once")
    assert bool([1 for what in driver.jobs.values() if isinstance(what, RunMcpCall)]) is not asks


def test_names_are_cleaned_unique_and_short() -> None:
    tools = tuple(McpTool(name=name, schema={}) for name in ("a.b", "a/b", "x" * 80, "x" * 81))
    driver, session = opened({**ONE, "name": "my server"})
    driver.offer(server(driver, "my server"), McpOffer(tools=tools))
    driver.prompt(session)
    found = names(driver)
    assert found[0] == "my_server__a_b" and found[1].startswith("my_server__a_b_")
    assert len(set(found)) == 4 and all(len(name) <= 64 for name in found)


def test_a_grant_holds_for_the_tool_and_not_for_its_name() -> None:
    driver, session = ready({**ONE, "name": "a b"}, {**ONE, "name": "a_b"}, options=OPTIONS)
    driver.prompt(session)
    first = names(driver)[1]
    driver.round(calls((first, {})))
    driver.choose(driver.only_asked("session/request_permission"), "allow_always")
    driver.work()
    driver.end(server(driver, "a b"), GONE)
    driver.offer(server(driver, "a_b"))
    driver.round(calls((first, {})))
    assert driver.only_asked("session/request_permission")


def test_a_server_that_knows_other_folders_is_started_anew() -> None:
    driver, session = ready(options=with_(ALLOW, store=True))
    driver.store()
    before = server(driver)
    driver.request(
        "session/resume",
        sessionId=session,
        cwd="/project",
        mcpServers=[ONE],
        additionalDirectories=["/other"],
    )
    driver.set_up()
    assert before in driver.stopped
    (after,) = [key for key in driver.server_jobs() if key != before]
    assert driver.jobs[after].roots == ("/project", "/other")


def test_a_client_tool_that_comes_later_has_its_name_and_the_server_another() -> None:
    driver, session = ready(options=with_(ALLOW, store=True))
    driver.store()
    tool = {"name": "one__look", "inputSchema": {"type": "object"}}
    meta = {"zidane": {"clientTools": [tool]}}
    driver.request("session/resume", sessionId=session, cwd="/project", mcpServers=[ONE], _meta=meta)
    driver.set_up()
    driver.prompt(session)
    driver.store()
    found = names(driver)
    assert found[0] == "one__look" and len(set(found)) == 3 and found[1].startswith("one__look_")


def test_commands_that_are_gone_with_their_server_are_told() -> None:
    driver, session = ready(options=with_(ALLOW, store=True))
    driver.store()
    driver.load(session, method="session/resume")
    shown = [u for u in driver.updates() if u["sessionUpdate"] == "available_commands_update"]
    assert shown[-1]["availableCommands"] == []


def test_what_a_server_does_is_no_use_of_the_session() -> None:
    driver, session = ready()
    used = driver.connection.agent.threads.get(session).updated
    driver.now += 100
    driver.offer(server(driver), McpOffer(remarks=("x",)))
    driver.end(server(driver), GONE)
    assert driver.connection.agent.threads.get(session).updated == used


def test_any_number_of_tools_of_one_name_has_names() -> None:
    tools = tuple(McpTool(name="same", schema={}) for _ in range(3000))
    driver, session = opened()
    driver.offer(server(driver), McpOffer(tools=tools))
    driver.prompt(session)
    found = names(driver)
    assert len(set(found)) == 3000 and all(len(name) <= 64 for name in found)


def test_a_changed_list_is_in_force_from_the_next_round() -> None:
    driver, session = ready()
    driver.prompt(session)
    driver.offer(server(driver), McpOffer(tools=(McpTool(name="new", schema={}),)))
    driver.round(calls(("one__new", {})))
    driver.work()
    assert names(driver) == ["one__new"]


def test_a_title_of_a_server_cannot_pass_for_something_else() -> None:
    tool = McpTool(name="t", schema={}, title="Read {path}\u202e")
    driver, session = opened()
    driver.offer(server(driver), McpOffer(tools=(tool,)))
    driver.prompt(session)
    driver.round(calls(("one__t", {"path": "x"})))
    assert driver.card()["title"] == "one: Read (path)\\u202e"


# Slash commands ------------------------------------------------------------------------------------


def test_prompts_are_slash_commands() -> None:
    driver, _ = ready()
    (update,) = [u for u in driver.updates() if u["sessionUpdate"] == "available_commands_update"]
    assert update["availableCommands"] == [
        {"name": "one__greet", "description": "A prompt of the MCP server one.", "input": {"hint": "<who>"}}
    ]


def test_a_command_is_filled_in_by_its_server_and_the_log_keeps_what_the_user_said() -> None:
    driver, session = ready()
    driver.prompt(session, "/one__greet you there")
    key = driver.only(lambda what: isinstance(what, GetMcpPrompt))
    assert (driver.jobs[key].prompt, driver.jobs[key].arguments) == ("greet", {"who": "you there"})
    driver.end(key, Ok(PromptGot((Text("Say hello to you there."),))))
    (model,) = driver.model_jobs()
    assert driver.jobs[model].request.messages[-1].parts == (Text("Say hello to you there."),)
    driver.round(said("Hello"))
    driver.check_replay()


def test_a_command_without_what_it_needs_says_so_and_one_that_fails_goes_on_as_text() -> None:
    driver, session = ready()
    driver.prompt(session, "/one__greet")
    driver.round(said("ok"))
    driver.prompt(session, "/one__greet x")
    driver.end(driver.only(lambda what: isinstance(what, GetMcpPrompt)), GONE)
    driver.round(said("ok"))
    first, second = driver.notices()
    assert first == "/one__greet needs who; the message was passed on as it is."
    assert second.startswith("The prompt of the MCP server could not be had: The MCP server one could not")
    driver.prompt(session, "/one__nothing x")
    assert driver.model_jobs()


# Questions of servers ------------------------------------------------------------------------------

FORM = {
    "mode": "form",
    "message": "Your name?",
    "requestedSchema": {"type": "object", "properties": {"name": {"type": "string", "minLength": 2}}},
}
PAGE = {"mode": "url", "message": "Log in", "url": "https://example.com/in", "elicitationId": "e1"}


@pytest.mark.parametrize(
    ("answer", "replied"),
    [
        (
            {"result": {"action": "accept", "content": {"name": "Al"}}},
            {"action": "accept", "content": {"name": "Al"}},
        ),
        ({"result": {"action": "accept", "content": {"name": "A"}}}, {"action": "cancel"}),
        ({"result": {"action": "decline"}}, {"action": "decline"}),
        ({"result": {"action": "from the future"}}, {"action": "cancel"}),
        ({"result": None}, {"action": "cancel"}),
        ({"error": {"code": -32603, "message": "x"}}, {"action": "cancel"}),
    ],
)
def test_a_form_of_a_server_goes_to_the_client_and_its_answer_back(answer: Any, replied: Any) -> None:
    driver, session = ready(capabilities=HANDS)
    key = server(driver)
    number = driver.ask(key, FORM)
    request = driver.only_asked("elicitation/create")
    params = driver.open[request]["params"]
    assert (params["message"], params["sessionId"]) == ("one: Your name?", session)
    driver.reply(request, **answer)
    assert driver.replies[key, number] == replied


def test_a_server_that_asks_without_end_is_bounded() -> None:
    driver, _ = ready(capabilities=HANDS)
    key = server(driver)
    for _ in range(15):
        driver.ask(key, FORM)
    assert len(driver.open) == 10 and len(driver.replies) == 5


def test_a_page_is_opened_and_closed_by_the_server() -> None:
    driver, _ = ready(capabilities=HANDS)
    key = server(driver)
    number = driver.ask(key, PAGE)
    request = driver.only_asked("elicitation/create")
    params = driver.open[request]["params"]
    assert (params["mode"], params["url"]) == ("url", PAGE["url"])
    driver.reply(request, result={"action": "accept"})
    assert driver.replies[key, number] == {"action": "accept"}
    for _ in range(2):
        driver.progress(key, McpPageDone("e1"))
    (done,) = driver.notifications
    assert (done["method"], done["params"]) == (
        "elicitation/complete",
        {"elicitationId": params["elicitationId"]},
    )


@pytest.mark.parametrize("question", [FORM, PAGE, {"mode": "x"}, {}, {**PAGE, "url": "file:///etc/passwd"}])
def test_what_the_client_cannot_show_is_cancelled_at_once(question: Any) -> None:
    able = {"elicitation": {"url": {}}} if question.get("url", "").startswith("file") else {"elicitation": {}}
    driver, _ = ready(capabilities=able)
    key = server(driver)
    number = driver.ask(key, question)
    assert not driver.open and driver.replies[key, number] == {"action": "cancel"}


def test_open_questions_end_with_a_cancel_and_with_their_server() -> None:
    driver, session = ready(capabilities=HANDS)
    key = server(driver)
    driver.prompt(session)
    number = driver.ask(key, FORM)
    request = driver.only_asked("elicitation/create")
    driver.cancel(session)
    assert driver.replies[key, number] == {"action": "cancel"}
    assert {"requestId": request} in [frame.get("params") for frame in driver.frames]
    driver.finish(next(job for job in driver.jobs if job in driver.stopped))
    driver.ask(key, FORM)
    request = driver.only_asked("elicitation/create")
    driver.end(key, GONE)
    assert {"requestId": request} in [frame.get("params") for frame in driver.frames]


def test_a_withdrawn_prompt_takes_the_question_along_and_while_it_stops_nothing_is_asked() -> None:
    driver, session = ready(capabilities=HANDS)
    key = server(driver)
    asked = driver.prompt(session)
    number = driver.ask(key, FORM)
    driver.only_asked("elicitation/create")
    driver.send({"method": "$/cancel_request", "params": {"requestId": asked}})
    assert driver.replies[key, number] == {"action": "cancel"} and not driver.open
    driver.stopping.add(session)  # the model has not stopped yet
    assert driver.replies[key, driver.ask(key, FORM)] == {"action": "cancel"}


def test_a_question_of_a_job_that_is_over_is_nothing() -> None:
    driver, _ = ready(capabilities=HANDS)
    key = server(driver)
    driver.end(key, GONE)
    before = driver.connection
    driver.inquired.clear()
    driver.ask(key, FORM)
    assert driver.connection is before


def test_no_value_of_a_server_is_told_to_the_client_or_logged() -> None:
    driver, session = opened({**ONE, "env": [{"name": "TOKEN", "value": "s3cret-value"}]})
    driver.end(server(driver), GONE)
    driver.prompt(session)
    driver.round(said("ok"))
    assert "s3cret-value" not in json.dumps(driver.frames)
