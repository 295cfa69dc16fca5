"""What every provider codec has in common: an endpoint, a request without secrets, a decoder, five functions."""

from collections.abc import Callable, Mapping
from typing import Final, Literal, NamedTuple, Protocol, TypeAlias

import msgspec

from zidane_core import __version__
from zidane_core.data.models import Broke, ModelEvent, ModelRequest
from zidane_core.models.settled import Settled

Family: TypeAlias = Literal["anthropic", "openai-chat", "openai-responses"]
Auth: TypeAlias = Literal["bearer", "x-api-key", "none"]

Effort: TypeAlias = Literal[
    "none", "openai", "openrouter", "deepseek", "groq", "cerebras", "mistral", "xai", "ollama", "compatible"
]
"""How a thinking level is said: a row of `efforts.py`."""

CallIds: TypeAlias = Literal["anthropic", "openai", "mistral"]
"""Which tool call ids are accepted: a row of `ids.py`."""

NO_LIMIT: Final = 2**31 - 1
"""The `max_output` of a model whose limit is not known: the request says none where the protocol lets it."""

USER_AGENT: Final = f"zidane-acp/{__version__}"


class Quirks(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """Where the servers of one family differ.

    `max_tokens` "auto" picks by the model's name. `stream_usage` asks for token counts in the stream.
    `reasoning_back` is the field that thinking goes back in. `answer_before_user` puts a short answer between
    tool results and a user message. `bare` marks an endpoint of unknown make: only what all understand is sent.
    """

    max_tokens: Literal["auto", "max_tokens", "max_completion_tokens"] = "auto"
    developer_role: bool = False
    stream_usage: bool = True
    effort: Effort = "compatible"
    reasoning_back: Literal["none", "reasoning_content", "reasoning_details"] = "none"
    call_ids: CallIds = "openai"
    answer_before_user: bool = False
    images_in_results: bool = True
    bare: bool = False


class Endpoint(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A provider as it is called: its name and title, the family it speaks, where it is, and how a key is sent.

    `key_variable` names the environment variable of the key; None means that it needs none. `key_optional`
    says that it also answers without one.
    """

    name: str
    title: str
    family: Family
    base_url: str
    key_variable: str | None = None
    key_optional: bool = False
    auth: Auth = "bearer"
    quirks: Quirks = Quirks()


class HttpRequest(msgspec.Struct, frozen=True, gc=False):
    """A request without its key: the shell adds the key's header as `Endpoint.auth` says.

    `settled` is for the next request of the same session, to be given to `build`.
    """

    method: str
    url: str
    headers: tuple[tuple[str, str], ...]
    body: bytes
    settled: Settled | None = None


class Build(Protocol):
    """Makes a request and warnings for the user. `before` is what the last request of the session had settled."""

    def __call__(
        self, endpoint: Endpoint, request: ModelRequest, before: Settled | None = None
    ) -> tuple[HttpRequest, tuple[str, ...]]: ...


class Stream(Protocol):
    """A decoder of one answer. It is a value: `feed` gives the next one and never changes the old one."""

    def feed(self, data: bytes) -> "tuple[Stream, tuple[ModelEvent, ...]]": ...

    def end(self) -> tuple[ModelEvent, ...]: ...

    @property
    def done(self) -> bool: ...


class Codec(NamedTuple):
    """The functions of one family.

    `build` gives the request and warnings for the user, plain sentences. `feed` takes bytes as they come and
    `end` says what is left when they end. `fault` explains an HTTP answer that is no stream: status, headers
    with lower-case names, body, and the time as seconds since 1970.
    """

    build: Build
    start: Callable[[Endpoint], Stream]
    feed: Callable[[Stream, bytes], tuple[Stream, tuple[ModelEvent, ...]]]
    end: Callable[[Stream], tuple[ModelEvent, ...]]
    fault: Callable[[Endpoint, int, Mapping[str, str], bytes, float], Broke]


def url(base: str, path: str) -> str:
    """`path` under a base URL, whether the base already has the version, or the whole path, or neither."""
    base = base.strip().rstrip("/")
    if base.endswith(path):
        return base
    version, _, rest = path.lstrip("/").partition("/")
    return f"{base}/{rest}" if rest and base.endswith(f"/{version}") else base + path


def headers(*more: tuple[str, str]) -> tuple[tuple[str, str], ...]:
    """The headers of every request, and some more."""
    return (
        ("content-type", "application/json"),
        ("accept", "text/event-stream"),
        ("accept-encoding", "identity"),  # compression would hold back what is ready
        ("user-agent", USER_AGENT),
        *more,
    )
