"""What a provider's error means: HTTP answers, error events in a stream, and streams that were cut (ring 1).

Every fault is one plain sentence: who, what, and what to do next.
"""

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Final

import msgspec
from msgspec.structs import replace

from zidane_core.data.models import Broke
from zidane_core.faults import provider_fault
from zidane_core.models.codec import Endpoint
from zidane_core.text import clean, decode_json, is_array, is_object

_LONGEST: Final = 300
_SECRETS: Final = re.compile(
    r"(?i)\b(?:sk|gsk|xai|csk|pk|key)[-_][A-Za-z0-9_\-*.]{6,}|(?<=bearer )\S+|[A-Za-z0-9]{4,}\*{3,}\w*"
)
_PAGE: Final = re.compile(r"^\s*(?:<!doctype html|<html|<\?xml)", re.IGNORECASE)

# The first row whose word stands in the code, the type or the message decides; the status decides otherwise.
_WORDS: Final[tuple[tuple[str, tuple[str, ...]], ...]] = (
    (
        "context_overflow",
        (
            "context_length_exceeded",
            "request_too_large",
            "context length",
            "context window",
            "context size",
            "maximum context",
            "maximum prompt length",
            "prompt is too long",
            "input is too long",
            "too many input tokens",
            "exceeds the maximum number of tokens",
        ),
    ),
    (
        "billing",
        (
            "insufficient_quota",
            "billing_error",
            "billing_hard_limit",
            "credit balance",
            "insufficient balance",
            "insufficient credits",
            "exceeded your current quota",
            "payment required",
        ),
    ),
    (
        "auth",
        (
            "authentication_error",
            "invalid_api_key",
            "incorrect api key",
            "invalid api key",
            "api key not valid",
            "no auth credentials",
            "unauthorized",
        ),
    ),
    ("rate_limit", ("rate_limit", "rate limit", "too many requests", "rate-limited")),
    ("bad_response", ("tool_use_failed",)),
    (
        "server",
        ("overloaded", "server_error", "api_error", "internal error", "service unavailable", "timeout_error"),
    ),
)

_STATUSES: Final[Mapping[int, str]] = MappingProxyType(
    {
        401: "auth",
        402: "billing",
        403: "auth",
        408: "server",
        409: "server",
        413: "context_overflow",
        425: "server",
    }
    | {429: "rate_limit"}
)

_RETRYABLE: Final = frozenset({"rate_limit", "server", "network"})
_NEVER_AGAIN: Final = frozenset({501, 505})

_SENTENCES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "auth": "{who} refused the API key{why}; {key}.",
        "billing": "{who} wants the account's billing settled first{why}; check your plan and credit there.",
        "rate_limit": "{who} says that too many requests came{why}; {wait}.",
        "context_overflow": "The conversation is too long for the model at {who}{why}; start a new session or ask with less.",
        "invalid_request": "{who} did not accept the request{why}; change the request or choose another model.",
        "server": "{who} has a problem on its side{why}; {wait}.",
        "network": "The connection to {who} failed{why}; check the network, the proxy settings and the base URL.",
        "bad_response": "{who} sent an answer that cannot be used{why}; {bad}.",
    }
)


class Details(msgspec.Struct, frozen=True, gc=False):
    """What an error body says, whatever its shape: message, type, code, and a status or request id inside."""

    message: str = ""
    type: str = ""
    code: str = ""
    status: int | None = None
    request_id: str | None = None


def details(value: object) -> Details:
    """Read an error object of any provider: nested or flat, text or list."""
    if is_array(value) and value:
        return details(value[0])
    if isinstance(value, str):
        return Details(message=value)
    if not is_object(value):
        return Details()
    inner = value.get("error")
    if is_object(inner):
        found = _flat(inner)
        return replace(found, request_id=found.request_id or _text(value.get("request_id")) or None)
    if isinstance(inner, str) and inner:
        return replace(_flat(value), message=inner)
    return _flat(value)


def _flat(error: Mapping[str, object]) -> Details:
    message = (
        _text(error.get("message")) or _text(error.get("detail")) or _text(error.get("error_description"))
    )
    metadata = error.get("metadata")
    if is_object(metadata):
        raw = _text(metadata.get("raw"))
        message = f"{message}: {raw}" if raw and not raw.startswith("{") else message
    code = error.get("code")
    status = error.get("status_code")
    number = code if isinstance(code, int) else status if isinstance(status, int) else None
    return Details(
        message=message,
        type=_text(error.get("type")),
        code=code if isinstance(code, str) else "",
        status=number,
        request_id=_text(error.get("request_id")) or None,
    )


def _text(value: object) -> str:
    if is_array(value) and value:
        return _text(value[0])
    if is_object(value):
        return _text(value.get("msg") or value.get("message"))
    return value if isinstance(value, str) else ""


def kind_of(found: Details, status: int | None) -> str:
    """One of PROVIDER_KINDS for an error."""
    words = f"{found.code} {found.type} {found.message}".lower()
    if status == 413 and "rate_limit" in words:
        return "rate_limit"
    for kind, needles in _WORDS:
        if any(needle in words for needle in needles):
            return kind
    if status is None:
        return "invalid_request" if "invalid_request" in words or "not_found" in words else "server"
    if status in _STATUSES:
        return _STATUSES[status]
    if status >= 500:
        return "server"
    return "invalid_request" if status >= 400 else "bad_response"


def fault(endpoint: Endpoint, status: int, headers: Mapping[str, str], body: bytes, now: float) -> Broke:
    """An HTTP answer that is no event stream. `headers` have lower-case names; `now` is seconds since 1970."""
    decoded: object = decode_json(body).value_or(None)
    found = details(decoded)
    real = (
        found.status if 200 <= status < 300 and found.status is not None and found.status >= 400 else status
    )
    kind = _kind_of_answer(found, real, decoded, body)
    if not found.message:
        found = replace(found, message=_plain(body, decoded))
    wait = retry_after(headers, found.message, now)
    retryable = {"true": True, "false": False}.get(
        headers.get("x-should-retry", ""), _again(kind, real, found)
    )
    return _broke(
        endpoint,
        kind,
        found,
        status=real,
        wait=wait,
        retryable=retryable,
        request_id=headers.get("request-id") or headers.get("x-request-id") or found.request_id,
    )


def _kind_of_answer(found: Details, status: int, decoded: object, body: bytes) -> str:
    if not 200 <= status < 300:
        return kind_of(found, status)
    named = is_object(decoded) and (decoded.get("error") is not None or decoded.get("type") == "error")
    return kind_of(found, None) if named else "bad_response"


def _again(kind: str, status: int, found: Details) -> bool:
    if found.code == "tool_use_failed":
        return True  # the model wrote a call that the server could not read; another try often helps
    return kind in _RETRYABLE and status != 413 and status not in _NEVER_AGAIN


def _plain(body: bytes, decoded: object) -> str:
    if decoded is not None:
        return ""
    text = body[:4096].decode("utf-8", "replace")
    return "a web page instead of an answer" if _PAGE.match(text) else text


def event_fault(endpoint: Endpoint, error: object) -> Broke:
    """An error that came inside the stream: the value of its `error` field, or the whole event."""
    found = details(error)
    kind = kind_of(found, found.status)
    return _broke(
        endpoint,
        kind,
        found,
        status=found.status,
        wait=retry_after({}, found.message, 0.0),
        retryable=_again(kind, found.status or 0, found),
        request_id=found.request_id,
    )


def cut(endpoint: Endpoint, content: bool, problem: str = "") -> Broke:
    """The stream ended without an end. Before any content another try may help."""
    if content:
        what = f"{endpoint.title} broke off in the middle of its answer; ask it to go on."
        return Broke(provider_fault("network", what, provider=endpoint.name), retryable=True)
    why = f" ({problem})" if problem else ""
    what = f"{endpoint.title} ended its answer before it said anything{why}; try again."
    return Broke(provider_fault("network", what, provider=endpoint.name), retryable=True)


def unreadable(endpoint: Endpoint, problem: str) -> Broke:
    """The stream holds something that cannot be read."""
    return _broke(endpoint, "bad_response", Details(message=problem), status=None, wait=None, retryable=True)


def unreachable(endpoint: Endpoint, problem: str) -> Broke:
    """No connection, or it broke before an answer; `problem` is said in a few words."""
    return _broke(endpoint, "network", Details(message=problem), status=None, wait=None, retryable=True)


def missing_key(endpoint: Endpoint) -> Broke:
    """The endpoint wants a key and there is none."""
    variable = endpoint.key_variable or "its API key"
    message = f"No API key for {endpoint.title} is set; set {variable} in the environment and start again."
    return Broke(provider_fault("auth", message, provider=endpoint.name))


def unusable_key(endpoint: Endpoint) -> Broke:
    """The key holds characters that cannot be sent."""
    variable = endpoint.key_variable or "the API key"
    message = f"The API key for {endpoint.title} holds characters that no key has; set {variable} again."
    return Broke(provider_fault("auth", message, provider=endpoint.name))


def _broke(
    endpoint: Endpoint,
    kind: str,
    found: Details,
    *,
    status: int | None,
    wait: float | None,
    retryable: bool,
    request_id: str | None = None,
) -> Broke:
    said = mask(" ".join(clean(found.message).split()))
    said = said if len(said) <= _LONGEST else said[: _LONGEST - 1] + "…"
    said = said.rstrip(".;: ")
    parts = (f"HTTP {status}" if status and not 200 <= status < 300 else "", said or found.code or found.type)
    why = ": ".join(part for part in parts if part)
    sentence = _SENTENCES[kind].format(
        who=endpoint.title,
        why=f" ({why})" if why else "",
        key=f"check the value of {endpoint.key_variable}" if endpoint.key_variable else "check the key",
        wait="try again later" if wait is None else f"try again in {wait:g} seconds",
        bad="try again" if retryable else "check that the base URL is right",
    )
    return Broke(
        provider_fault(
            kind, sentence, provider=endpoint.name, status=status, retry_after=wait, request_id=request_id
        ),
        retryable=retryable,
        retry_after=wait,
    )


def mask(text: str) -> str:
    """The text with everything that looks like a key replaced."""
    return _SECRETS.sub("[key]", text)


# How long to wait ----------------------------------------------------------------------------------

_MONTHS: Final = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_DATE: Final = re.compile(r"^\w{3,9}, (\d{1,2})[ -](\w{3})[ -](\d{4}) (\d{2}):(\d{2}):(\d{2}) (?:GMT|UTC)$")
_IN_WORDS: Final = re.compile(r"try again in (?:(\d+)h)?(?:(\d+)m(?!s))?(?:(\d+(?:\.\d+)?)(ms|s))?")


def retry_after(headers: Mapping[str, str], message: str, now: float) -> float | None:
    """Seconds to wait: `retry-after-ms`, `retry-after` in seconds or as an HTTP date, or the message's words."""
    milliseconds = _number(headers.get("retry-after-ms", ""))
    if milliseconds is not None:
        return milliseconds / 1000
    value = headers.get("retry-after", "").strip()
    seconds = _number(value)
    if seconds is not None:
        return seconds
    moment = _moment(value)
    if moment is not None:
        return max(0.0, moment - now)
    words = _IN_WORDS.search(message)
    if words is None or not any(words.groups()):
        return None
    hours, minutes, amount, unit = words.groups()
    rest = float(amount or 0) / (1000 if unit == "ms" else 1)
    return int(hours or 0) * 3600 + int(minutes or 0) * 60 + rest


def _number(value: str) -> float | None:
    if re.fullmatch(r"\s*\d+(?:\.\d+)?\s*", value, re.ASCII) is None:
        return None
    return float(value)


def _moment(value: str) -> float | None:
    match = _DATE.match(value)
    if match is None or match[2].lower() not in _MONTHS:
        return None
    day, year, hour, minute, second = (int(match[group]) for group in (1, 3, 4, 5, 6))
    try:
        moment = datetime(
            year, _MONTHS.index(match[2].lower()) + 1, day, hour, minute, min(second, 59), tzinfo=UTC
        )
    except ValueError:  # a day that does not exist: as good as no header
        return None
    return moment.timestamp()
