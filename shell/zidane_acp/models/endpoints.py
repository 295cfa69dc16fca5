"""What the models endpoints of the providers offer: asked one bounded time each, in parallel, and kept in the state folder."""

import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final

import anyio
import msgspec
from returns.result import Failure, Result, Success

from zidane_acp.calling import Call
from zidane_acp.config.place import bytes_of
from zidane_acp.replacing import replace_file
from zidane_acp.settings import Settings, state_folder
from zidane_core.fp import then
from zidane_core.models.anthropic_request import VERSION
from zidane_core.models.codec import USER_AGENT
from zidane_core.models.listing_answers import ListedModel, listing_url, read_listing
from zidane_core.text import decode_json_as, encode_json

if TYPE_CHECKING:
    from httpx2 import AsyncClient

NAME: Final = "models.json"
SECONDS: Final = 15.0
"""What all of one answer may take."""

LARGEST: Final = 16 * 1024 * 1024
"""Bytes of one answer."""


class Offer(msgspec.Struct, frozen=True, gc=False):
    """What a provider offered: when, in seconds since 1970, and its models."""

    at: float
    models: tuple[ListedModel, ...]


class Kept(msgspec.Struct, frozen=True, gc=False):
    """The file: a version, and the offers by provider."""

    version: int = 1
    providers: dict[str, Offer] = {}


def path_of(settings: Settings) -> Path:
    """Where the offers are kept."""
    return state_folder(settings) / NAME


def kept(settings: Settings) -> Mapping[str, Offer]:
    """What was asked before; nothing where there is no file, or one of another form."""
    try:
        data = bytes_of(path_of(settings))
    except (OSError, ValueError):
        return {}
    found = decode_json_as(data, Kept).value_or(Kept())
    return found.providers if found.version == Kept().version else {}


def keep(settings: Settings, offers: Mapping[str, Offer]) -> None:
    """Keep offers beside those of other providers. Raises OSError."""
    replace_file(path_of(settings), encode_json(Kept(providers={**kept(settings), **offers})))


async def ask(calls: Iterable[Call]) -> Mapping[str, Result[Offer, str]]:
    """Ask each provider what it offers; a failure is a sentence, without a key in it."""
    import httpx2

    answers: dict[str, Result[Offer, str]] = {}

    async def one(client: "AsyncClient", call: Call) -> None:
        answers[call.endpoint.name] = await _asked(client, call)

    async with (
        httpx2.AsyncClient(timeout=SECONDS, follow_redirects=False) as client,
        anyio.create_task_group() as tasks,
    ):
        for call in calls:
            tasks.start_soon(one, client, call)
    return answers


async def _asked(client: "AsyncClient", call: Call) -> Result[Offer, str]:
    import httpx2

    endpoint = call.endpoint
    where = listing_url(endpoint.name, endpoint.family, endpoint.base_url)
    data: Result[bytes, str] = Failure(f"it did not answer within {SECONDS:g} seconds")
    try:
        with anyio.move_on_after(SECONDS):
            data = await _body(client, where, _headers(call))
    # A key with characters that no header takes, an address that is none, a proxy of an unknown kind.
    except (httpx2.HTTPError, httpx2.InvalidURL, ImportError, ValueError) as error:
        data = Failure(f"it cannot be reached ({type(error).__name__})")
    return (
        then(data, read_listing)
        .map(lambda models: Offer(time.time(), models))
        .alt(lambda problem: f"{endpoint.title} could not be asked for its models: {problem}.")
    )


async def _body(client: "AsyncClient", where: str, headers: Mapping[str, str]) -> Result[bytes, str]:
    async with client.stream("GET", where, headers=headers) as response:
        if response.status_code in (401, 403):
            return Failure(f"it refused the key (HTTP {response.status_code})")
        if response.status_code != 200:
            return Failure(f"it answered HTTP {response.status_code}")
        body = bytearray()
        async for piece in response.aiter_bytes():
            body += piece
            if len(body) > LARGEST:
                return Failure(f"its answer has more than {LARGEST // 1024**2} MiB")
        return Success(bytes(body))


def _headers(call: Call) -> Mapping[str, str]:
    headers = {"accept": "application/json", "user-agent": USER_AGENT, **call.headers}
    if call.endpoint.family == "anthropic":
        headers["anthropic-version"] = VERSION
    if call.key and call.endpoint.auth == "x-api-key":
        headers["x-api-key"] = call.key
    if call.key and call.endpoint.auth == "bearer":
        headers["authorization"] = f"Bearer {call.key}"
    return headers
