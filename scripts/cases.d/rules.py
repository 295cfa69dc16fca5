"""The rules of each case: its expected.md as assertions."""

import json
import re
from collections.abc import Callable, Mapping
from typing import Final

from transcript import Transcript, require

STOPS: Final = {"end_turn", "max_tokens", "max_turn_requests", "refusal", "cancelled"}


def lives(seen: Transcript) -> None:
    """Of every case: it ends by itself with 0, without a traceback."""
    require(seen.exit_code() == "0", f"the process ended with {seen.exit_code()}")
    require("Traceback" not in seen.printed, "there is a traceback")
    require("NOT JSON" not in seen.printed, "a line on stdout is no JSON")
    require(re.search(r"NaN|Infinity", json.dumps(seen.sent)) is None, "a frame holds NaN or Infinity")


def case_01(seen: Transcript) -> None:
    """A stray line does not kill the agent."""
    nameless = [m["error"]["code"] for m in seen.answers(None)]
    require(sorted(nameless) == [-32700] * 2 + [-32600] * 6, f"the errors without id are {nameless}")
    require(seen.error(52)["code"] == -32600, "id 52 is not -32600")
    require("sessionId" in seen.answer("s-1").get("result", {}), "the string id got no session")
    require(seen.error(53)["code"] == -32601, "id 53 is not -32601")
    answers = [m for m in seen.sent if "method" not in m]
    require(
        len(answers) == 12,
        f"there are {len(answers)} answers instead of 12: something was answered that may not be",
    )


def case_02(seen: Transcript) -> None:
    """`_meta` overrides nothing."""
    require("sessionId" in seen.answer(1).get("result", {}), "there is no session")
    require(seen.stop(2) == "end_turn", "the prompt did not end with end_turn")
    require(seen.text(2) == "hi", f"the text is {seen.text(2)!r}")
    everything = json.dumps(seen.sent)
    require("/from-meta" not in everything and "boom" not in everything, "a value of _meta was used")


def case_03(seen: Transcript) -> None:
    """Long lines, as far as they need no client files."""
    for number in (2, 3, 4):
        require(seen.stop(number) == "end_turn", f"id {number} did not end with end_turn")
    answer = seen.answer(5)
    require(
        "result" in answer or answer["error"]["code"] in {-32600, -32602},
        f"id 5 got {json.dumps(answer)[:200]}",
    )


def case_04(seen: Transcript) -> None:
    """Requests take effect in their order, as far as they need no modes."""
    for number in (2, 3, 6):
        seen.answer(number)
    require("error" in seen.answer(6), "an unknown mode was set")
    require(seen.stop(4) == "end_turn" and seen.stop(5) == "end_turn", "a prompt did not end with end_turn")
    require(seen.before(seen.answer(4), seen.answer(5)), "the second prompt was answered before the first")
    require(seen.text(5).strip() == "second", f"the second prompt got {seen.text(5)!r}")
    require(not (seen.work / "x.txt").exists(), "a file was written though the client cannot be asked")


def case_08(seen: Transcript) -> None:
    """Lone surrogates and split characters, without session/load."""
    text = seen.text(2)
    wanted = "pair \U0001f600 lone \ufffd 中文 café \U0001f600"
    require(text.startswith(wanted), f"the text is {text!r}")
    everything = json.dumps(seen.sent, ensure_ascii=False)
    require(re.search("[\ud800-\udfff]", everything) is None, "a frame holds a lone surrogate")
    [question] = seen.requests("session/request_permission")
    call = question["params"]["toolCall"]["toolCallId"]
    require(seen.last_status(call) == "completed", f"the shell call ended {seen.last_status(call)}")
    require("\ufffd\ufffd bytes" in everything, "the bytes that are no UTF-8 are not shown as U+FFFD")
    require(seen.stop(3) == "end_turn", "id 3 did not end with end_turn")
    require(
        "user lone \ufffd end" in json.dumps(seen.asked[-1], ensure_ascii=False),
        "the model did not see U+FFFD",
    )
    seen.answer(4)
    require("UnicodeEncodeError" not in seen.printed, "there is a UnicodeEncodeError")


def case_09(seen: Transcript) -> None:
    """Every answer to a permission request."""
    questions = seen.requests("session/request_permission")
    require(len(questions) == 6, f"there were {len(questions)} questions instead of 6")
    opened = {u["toolCallId"]: u for u in seen.updates("tool_call")}
    commands = ("touch a.txt", "touch b.txt", "touch x.txt", "touch always.txt", "touch c.txt", "touch d.txt")
    for question, command in zip(questions, commands, strict=True):
        call = question["params"]["toolCall"]
        require(command in call["title"], f"the title {call['title']!r} does not name {command!r}")
        require(call["rawInput"]["command"] == command, f"rawInput is {call['rawInput']}")
        require(call["kind"] == "execute", f"the kind is {call['kind']}")
        kinds = {option["kind"] for option in question["params"]["options"]}
        require({"allow_once", "reject_once"} <= kinds, f"the options are {kinds}")
        card = opened.get(call["toolCallId"])
        require(card is not None, f"no card for {command}")
        require(
            card is not None and card.get("status", "pending") == "pending",
            f"the card of {command} is not pending",
        )
        whole = next(
            m for m in seen.sent if m.get("method") == "session/update" and m["params"]["update"] is card
        )
        require(seen.before(whole, question), f"the question for {command} came before its card")
    first, second, third, _, fifth, sixth = (q["params"]["toolCall"]["toolCallId"] for q in questions)
    made = {path.name for path in seen.work.iterdir()}
    require(made == {"a.txt", "always.txt"}, f"the files are {made}")
    require(
        seen.last_status(first) == "completed" and seen.last_status(second) == "failed",
        "the cards of id 2 are wrong",
    )
    require(seen.stop(2) == "end_turn", "id 2 did not end with end_turn")
    require(
        seen.last_status(third) == "failed" and seen.stop(3) == "end_turn",
        "an unknown option was not a refusal",
    )
    require(
        re.search(r"\d\.\d{3} e .*made-up", seen.printed),  # two threads print: lines may be glued
        "no line on stderr names the unknown option",
    )
    runs = [
        u for u in seen.updates("tool_call") if (u.get("rawInput") or {}).get("command") == "touch always.txt"
    ]
    require(len(runs) == 2, f"`touch always.txt` has {len(runs)} cards instead of 2")
    require(
        all(seen.last_status(run["toolCallId"]) == "completed" for run in runs),
        "the granted command did not run twice",
    )
    require(
        seen.stop(4) == "end_turn" and seen.stop(5) == "end_turn", "ids 4 and 5 did not end with end_turn"
    )
    require(seen.stop(6) == "cancelled" and seen.last_status(fifth) == "failed", "id 6 was not cancelled")
    require(seen.stop(7) == "end_turn" and seen.last_status(sixth) == "failed", "id 7 did not end as refused")
    require("cannot ask" in seen.text(7), f"id 7 says {seen.text(7)!r}")


FAULTS: Final[Mapping[int, tuple[int, frozenset[str], int | None]]] = {
    10: (-32000, frozenset({"auth"}), 401),
    12: (-32603, frozenset({"context_overflow"}), 400),
    13: (-32603, frozenset({"server"}), 500),
    14: (-32603, frozenset({"network", "bad_response"}), None),
    15: (-32603, frozenset({"network", "bad_response"}), None),
    16: (-32603, frozenset({"bad_response"}), None),
    19: (-32603, frozenset({"network"}), None),
}


def case_12(seen: Transcript) -> None:
    """Whatever the provider does, the prompt is answered once, with the reason."""
    for number, (code, kinds, status) in FAULTS.items():
        error = seen.error(number)
        data = error.get("data") or {}
        require(error["code"] == code, f"id {number} has the code {error['code']}: {error['message']}")
        require(data.get("kind") in kinds, f"id {number} has the kind {data.get('kind')}")
        require(
            status is None or data.get("status") == status, f"id {number} has the status {data.get('status')}"
        )
        message = error["message"]
        require(len(message) > 20 and "\n" not in message, f"id {number} says {message!r}")
        require("Internal error" not in message, f"id {number} says {message!r}")
    require(seen.stop(11) == "end_turn" and "ok" in seen.text(11), "id 11 was not answered after its retries")
    require(len(seen.turn(11)) > 1, "the waits of id 11 are not visible")
    require("half an ans" in seen.text(14), "the text before the cut is gone")
    require(
        "cut" in seen.error(14)["message"],
        f"the error of id 14 does not say cut: {seen.error(14)['message']}",
    )
    require(seen.stop(17) == "end_turn" and seen.turn(17), "the empty completion has no notice")
    require(seen.stop(18) == "max_tokens", f"id 18 ended with {seen.stop(18)}")
    require(seen.stop(30) == "end_turn" and "fine" in seen.text(30), "the session is not usable afterwards")
    stops = {m["result"]["stopReason"] for m in seen.sent if "stopReason" in (m.get("result") or {})}
    require(stops <= STOPS, f"the stop reasons are {stops}")
    require("never-to-be-shown" not in seen.printed, "the API key is shown")


RULES: Final[Mapping[str, Callable[[Transcript], None]]] = {
    "01": case_01,
    "02": case_02,
    "03": case_03,
    "04": case_04,
    "08": case_08,
    "09": case_09,
    "12": case_12,
}
