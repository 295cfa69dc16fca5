"""The offline model in time: performs the core's steps, and looks once at what this machine has."""

import os
from collections.abc import AsyncIterator, Sequence
from typing import Final

import anyio
import anyio.lowlevel

from zidane_core.data.models import ModelEvent, ModelRequest
from zidane_core.models.offline import answer, wants_facts
from zidane_core.models.offline_words import KEY_VARIABLES
from zidane_core.models.pacing import Paced

OLLAMA_ADDRESS: Final = ("127.0.0.1", 11434)
PROBE_SECONDS: Final = 0.3


async def paced(steps: Sequence[Paced]) -> AsyncIterator[tuple[ModelEvent, ...]]:
    """The steps' events, each batch after its pause; a cancel is noticed between any two batches."""
    for step in steps:
        if step.delay > 0:
            await anyio.sleep(step.delay)
        else:
            await anyio.lowlevel.checkpoint()
        if step.events:
            yield step.events


class OfflineModel:
    """The model without a model (`ports.Model`).

    `keys` are the names of the key variables that are set, None to look at the environment; `ollama` is
    where a local Ollama would listen, None to look nowhere.
    """

    def __init__(
        self, keys: Sequence[str] | None = None, ollama: tuple[str, int] | None = OLLAMA_ADDRESS
    ) -> None:
        self._keys = keys
        self._ollama = ollama
        self._facts: str | None = None

    async def stream(self, request: ModelRequest, session: str) -> AsyncIterator[tuple[ModelEvent, ...]]:
        """The answer to the request; nothing outside this machine is asked."""
        facts = await self._look() if wants_facts(request) else ""
        async for batch in paced(answer(request, facts)):
            yield batch

    async def aclose(self) -> None:
        """Nothing to close."""

    async def _look(self) -> str:
        """The facts, found once: keys by name only, and with none a short try to reach an Ollama."""
        if self._facts is None:
            keys = tuple(self._keys if self._keys is not None else _keys_set())
            reached = not keys and self._ollama is not None and await _answers(self._ollama)
            self._facts = _key_facts(keys) if keys else _ollama_facts(reached, self._ollama)
        return self._facts


def _keys_set() -> tuple[str, ...]:
    return tuple(variable for variable, _ in KEY_VARIABLES if os.environ.get(variable))


async def _answers(address: tuple[str, int]) -> bool:
    try:
        with anyio.fail_after(PROBE_SECONDS):
            stream = await anyio.connect_tcp(*address)
    except (OSError, TimeoutError):
        return False
    await stream.aclose()
    return True


def _key_facts(keys: tuple[str, ...]) -> str:
    provider = next((provider for variable, provider in KEY_VARIABLES if variable in keys), "NAME")
    return (
        f"Keys found: {', '.join(f'`{key}`' for key in keys)}. "
        f"Start the agent with `--provider {provider}` to use a language model."
    )


def _ollama_facts(reached: bool, address: tuple[str, int] | None) -> str:
    if not reached or address is None:
        return "No provider key is set here, and no local Ollama was found."
    return (
        f"No provider key is set here, but an Ollama answers at `http://{address[0]}:{address[1]}`: "
        "start the agent with `--provider ollama --model NAME` (`ollama list` shows the names)."
    )
