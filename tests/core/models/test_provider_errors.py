"""Error bodies, error events and cut streams: the kind, whether another try may help, how long to wait, the sentence."""

import json
from pathlib import Path
from typing import Any

import pytest

from zidane_core.data.models import Broke
from zidane_core.faults import PROVIDER_KINDS, ErrorCode
from zidane_core.models import errors
from zidane_core.models.codec import Endpoint
from zidane_core.models.providers import endpoint

DATA = Path(__file__).parents[2] / "data" / "provider-streams"
INDEX = {row["file"]: row for row in json.loads((DATA / "index.json").read_text())}
RECORDED = sorted(path.name for path in DATA.glob("*.json") if path.name != "index.json")
KINDS = {
    "groq-chat--tool-use-failed-error--0.json": "bad_response",
    "openrouter-chat--openrouter-errors-raised--0.json": "rate_limit",
}
OPENAI = endpoint("openai", {}).unwrap()


def fault(status: int, body: object, headers: dict[str, str] | None = None, who: Endpoint = OPENAI) -> Broke:
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    return errors.fault(who, status, headers or {}, raw, 1_000_000.0)


def data(broke: Broke) -> dict[str, Any]:
    assert broke.fault.data is not None
    assert broke.fault.data["kind"] in PROVIDER_KINDS
    return broke.fault.data


@pytest.mark.parametrize("name", RECORDED)
def test_recorded_errors(name: str) -> None:
    row = INDEX[name]
    broke = errors.fault(OPENAI, row["status"], {}, (DATA / name).read_bytes(), 0.0)
    expected = KINDS.get(name, "bad_response" if "tool-use-failed" in name else "invalid_request")
    assert data(broke)["kind"] == expected
    assert data(broke)["status"] == row["status"]
    assert broke.retryable == (expected != "invalid_request")
    said = json.loads((DATA / name).read_text())["error"]["message"]
    assert " ".join(said.split())[:60].rstrip(".") in broke.fault.message
    assert broke.fault.message.startswith("OpenAI ")


BODIES: list[tuple[int, object, str, bool]] = [
    (401, {"error": {"message": "bad", "type": "authentication_error"}}, "auth", False),
    (403, {"error": {"message": "no access", "type": "permission_error"}}, "auth", False),
    (400, {"code": "x", "error": "Incorrect API key provided: xa***"}, "auth", False),
    (402, {"error": {"message": "Payment required"}}, "billing", False),
    (
        429,
        {"error": {"message": "You exceeded your current quota", "code": "insufficient_quota"}},
        "billing",
        False,
    ),
    (
        400,
        {"error": {"message": "Your credit balance is too low", "type": "invalid_request_error"}},
        "billing",
        False,
    ),
    (429, {"error": {"message": "slow down", "type": "rate_limit_error"}}, "rate_limit", True),
    (429, {"object": "error", "message": "Requests rate limit exceeded"}, "rate_limit", True),
    (400, {"error": {"message": "too long", "code": "context_length_exceeded"}}, "context_overflow", False),
    (400, {"error": {"message": "prompt is too long: 2 tokens > 1 maximum"}}, "context_overflow", False),
    (
        413,
        {"type": "error", "error": {"type": "request_too_large", "message": "big"}},
        "context_overflow",
        False,
    ),
    (413, {"error": {"message": "TPM", "code": "rate_limit_exceeded"}}, "rate_limit", False),
    (400, {"detail": [{"msg": "field required"}]}, "invalid_request", False),
    (404, {"error": {"message": "no such model", "code": "model_not_found"}}, "invalid_request", False),
    (422, {"message": "bad shape"}, "invalid_request", False),
    (408, {}, "server", True),
    (409, {}, "server", True),
    (500, b"", "server", True),
    (501, b"", "server", False),
    (502, b"<html><body>Bad gateway</body></html>", "server", True),
    (503, [{"error": {"code": 503, "message": "no capacity"}}], "server", True),
    (529, {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}, "server", True),
    (302, b"", "bad_response", False),
    (200, b"<!DOCTYPE html><html>sign in</html>", "bad_response", False),
    (200, {"choices": [{"message": {"content": "no stream"}}]}, "bad_response", False),
    (200, {"error": {"message": "upstream is busy", "code": 429}}, "rate_limit", True),
    (200, {"error": {"message": "broken", "code": 502}}, "server", True),
    (400, {"error": None}, "invalid_request", False),
    (400, b"\xff\xfe", "invalid_request", False),
    (400, b"[" * 100_000, "invalid_request", False),
]


@pytest.mark.parametrize(("status", "body", "kind", "retryable"), BODIES)
def test_kinds(status: int, body: object, kind: str, retryable: bool) -> None:
    broke = fault(status, body)
    assert (data(broke)["kind"], broke.retryable) == (kind, retryable)
    assert (broke.fault.code == ErrorCode.AUTH_REQUIRED) == (kind == "auth")
    assert broke.fault.message.endswith(".")
    assert "\n" not in broke.fault.message
    assert "OpenAI" in broke.fault.message


def test_the_sentence_says_who_what_and_what_to_do() -> None:
    assert fault(401, {"error": {"message": "invalid x-api-key"}}).fault.message == (
        "OpenAI refused the API key (HTTP 401: invalid x-api-key); check the value of OPENAI_API_KEY."
    )
    assert fault(429, {"error": {"message": "Slow down."}}, {"retry-after": "20"}).fault.message == (
        "OpenAI says that too many requests came (HTTP 429: Slow down); try again in 20 seconds."
    )
    assert "a web page instead of an answer" in fault(200, b"<html>").fault.message


WAITS: list[tuple[dict[str, str], str, float | None]] = [
    ({"retry-after": "7"}, "", 7.0),
    ({"retry-after": "1.5"}, "", 1.5),
    ({"retry-after-ms": "250", "retry-after": "9"}, "", 0.25),
    ({"retry-after": "Mon, 12 Jan 1970 13:46:50 GMT"}, "", 10.0),
    ({"retry-after": "Mon, 12 Jan 1970 13:46:30 GMT"}, "", 0.0),
    ({"retry-after": "Mon, 31 Feb 1970 13:46:30 GMT"}, "", None),
    ({"retry-after": "soon"}, "", None),
    ({"retry-after": "-5"}, "", None),
    ({"retry-after": "nan"}, "", None),
    ({}, "Please try again in 7.66s.", 7.66),
    ({}, "Please try again in 2m59.5s.", 179.5),
    ({}, "Please try again in 120ms.", 0.12),
    ({}, "Please try again in a while.", None),
]


@pytest.mark.parametrize(("headers", "message", "seconds"), WAITS)
def test_how_long_to_wait(headers: dict[str, str], message: str, seconds: float | None) -> None:
    broke = fault(429, {"error": {"message": message}}, headers)
    assert broke.retry_after == (pytest.approx(seconds) if seconds is not None else None)
    assert data(broke).get("retryAfter") == broke.retry_after


@pytest.mark.parametrize(("said", "expected"), [("true", True), ("false", False)])
def test_the_server_has_the_last_word_about_another_try(said: str, expected: bool) -> None:
    assert fault(500, {}, {"x-should-retry": said}).retryable is expected
    assert fault(400, {}, {"x-should-retry": said}).retryable is expected


def test_request_ids() -> None:
    assert data(fault(500, {}, {"request-id": "r1"}))["requestId"] == "r1"
    assert data(fault(500, {}, {"x-request-id": "r2"}))["requestId"] == "r2"
    assert data(fault(500, {"error": {"message": "m"}, "request_id": "r3"}))["requestId"] == "r3"
    assert "requestId" not in data(fault(500, {}))


SECRETS = [
    "sk-ant-api03-AbC_d-9",
    "gsk_abcdef123456",
    "xai-abcdef123456",
    "sk-proj-aaaa****bbbb",
    "abcd****wxyz",
]


@pytest.mark.parametrize("secret", SECRETS)
def test_what_looks_like_a_key_is_masked(secret: str) -> None:
    message = fault(
        401, {"error": {"message": f"Incorrect API key provided: {secret}. See the docs."}}
    ).fault.message
    assert secret not in message
    assert "[key]" in message


def test_a_long_or_broken_message_is_cut_and_cleaned() -> None:
    message = fault(400, b'{"error": {"message": "\\ud800 ' + b"x" * 10_000 + b'"}}').fault.message
    assert len(message) < 500
    message.encode()


def test_missing_and_unusable_keys() -> None:
    missing = errors.missing_key(OPENAI)
    assert missing.fault.code == ErrorCode.AUTH_REQUIRED
    assert "OPENAI_API_KEY" in missing.fault.message
    assert not missing.retryable
    assert "OPENAI_API_KEY" in errors.unusable_key(OPENAI).fault.message


def test_cut_streams() -> None:
    before, after = errors.cut(OPENAI, content=False), errors.cut(OPENAI, content=True)
    assert data(before)["kind"] == data(after)["kind"] == "network"
    assert before.retryable
    assert "middle of its answer" in after.fault.message


EVENTS: list[tuple[object, str, bool]] = [
    ({"type": "overloaded_error", "message": "Overloaded"}, "server", True),
    ({"type": "rate_limit_error", "message": "m"}, "rate_limit", True),
    ({"type": "invalid_request_error", "message": "m"}, "invalid_request", False),
    ({"code": 429, "message": "Provider returned error"}, "rate_limit", True),
    ({"code": "server_error", "message": "m"}, "server", True),
    ("a text", "server", True),
    (None, "server", True),
]


@pytest.mark.parametrize(("error", "kind", "retryable"), EVENTS)
def test_errors_inside_a_stream(error: object, kind: str, retryable: bool) -> None:
    broke = errors.event_fault(OPENAI, error)
    assert (data(broke)["kind"], broke.retryable) == (kind, retryable)
