"""Providers that are made when they are first used."""

import inspect
import logging
from collections.abc import AsyncIterator, Iterator, Mapping
from typing import Final

import anyio

from zidane_acp.connection import JsonRpcError
from zidane_acp.options import ModelFactory
from zidane_acp.ports import Model
from zidane_acp.where import where
from zidane_core.data.models import Broke, ModelChoice, ModelEvent, ModelRequest
from zidane_core.faults import Fault, provider_fault

LOGGER: Final = logging.getLogger("zidane_acp.providers")

MADE_WITHIN: Final = 30.0
"""Seconds that a factory has."""


class Lazy:
    """A model whose provider is resolved when it is selected, or else on first use (`ports.Model`). A failure to do so is
    not remembered."""

    def __init__(self, factory: ModelFactory) -> None:
        self._factory = factory
        self._made: Model | None = None
        self._making = anyio.Lock()

    async def make(self, model: ModelChoice) -> Fault | None:
        """Make the provider, unless it is there: None, or why that cannot be done."""
        async with self._making:
            if self._made is not None:
                return None
            try:
                with anyio.fail_after(MADE_WITHIN):
                    # On the loop's thread, as providers may want to know their loop.
                    made = self._factory()
                    self._made = await made if inspect.isawaitable(made) else made
            except JsonRpcError as refusal:
                return Fault(refusal.code, refusal.message, refusal.data)
            except Exception as error:
                LOGGER.error("the provider of %s could not be made: %s", model.value, where(error))
                return _not_made(model, error)
        return None

    async def stream(self, request: ModelRequest, session: str) -> AsyncIterator[tuple[ModelEvent, ...]]:
        """The provider's answer."""
        fault = await self.make(request.model)
        if fault is not None or self._made is None:
            yield (Broke(fault or _not_made(request.model, RuntimeError())),)
            return
        async for batch in self._made.stream(request, session):
            yield batch

    async def aclose(self) -> None:
        """Close what was made."""
        if self._made is not None:
            await self._made.aclose()


def _not_made(model: ModelChoice, error: Exception) -> Fault:
    # Without the text of the exception: it may hold a key.
    kind = type(error).__name__
    told = f"The provider of {model.name} could not be made ({kind}). Check its settings, then try again."
    return provider_fault("server", told, provider=model.provider)


class Providers(Mapping[str, Model]):
    """The provider of each model, by the value that the model is chosen by.

    When the models become others, answers that are under way go on with what they began with; all is closed at the end.
    """

    def __init__(self, providers: Mapping[str, Model | ModelFactory]) -> None:
        self._now = resolved(providers)
        self._before: list[Model] = []

    def __getitem__(self, value: str) -> Model:
        return self._now[value]

    def __iter__(self) -> Iterator[str]:
        return iter(self._now)

    def __len__(self) -> int:
        return len(self._now)

    def become(self, providers: Mapping[str, Model | ModelFactory]) -> None:
        """Other models are there now."""
        self._before += self._now.values()
        self._now = resolved(providers)

    async def aclose(self) -> None:
        """Close all that there were, each once."""
        # By identity: a host's model need not be hashable.
        for model in {id(model): model for model in (*self._before, *self._now.values())}.values():
            await model.aclose()


def resolved(providers: Mapping[str, Model | ModelFactory]) -> dict[str, Model]:
    """Each provider as a port; one factory given twice makes one provider."""
    made: dict[int, Model] = {}
    for provider in providers.values():
        if id(provider) not in made:
            made[id(provider)] = Lazy(provider) if callable(provider) else provider
    return {name: made[id(provider)] for name, provider in providers.items()}
