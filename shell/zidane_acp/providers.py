"""Providers that are made when they are first used."""

import logging
from collections.abc import AsyncIterator, Mapping
from typing import Final

from zidane_acp.options import ModelFactory
from zidane_acp.ports import Model
from zidane_acp.where import where
from zidane_core.data.models import Broke, ModelChoice, ModelEvent, ModelRequest
from zidane_core.faults import provider_fault

LOGGER: Final = logging.getLogger("zidane_acp.providers")


class Lazy:
    """A model whose provider is resolved on first use (`ports.Model`). A failure to do so is not remembered."""

    def __init__(self, factory: ModelFactory) -> None:
        self._factory = factory
        self._made: Model | None = None

    async def stream(self, request: ModelRequest, session: str) -> AsyncIterator[tuple[ModelEvent, ...]]:
        """The provider's answer."""
        if self._made is None:
            try:
                self._made = self._factory()
            except Exception as error:
                LOGGER.error("the provider of %s could not be made: %s", request.model.value, where(error))
                yield (_not_made(request.model, error),)
                return
        async for batch in self._made.stream(request, session):
            yield batch

    async def aclose(self) -> None:
        """Close what was made."""
        if self._made is not None:
            await self._made.aclose()


def _not_made(model: ModelChoice, error: Exception) -> Broke:
    # Without the text of the exception: it may hold a key.
    kind = type(error).__name__
    told = f"The provider of {model.name} could not be made ({kind}). Check its settings, then try again."
    return Broke(provider_fault("server", told, provider=model.provider))


def resolved(providers: Mapping[str, Model | ModelFactory]) -> dict[str, Model]:
    """Each provider as a port; one factory given twice makes one provider."""
    made: dict[int, Model] = {}
    for provider in providers.values():
        if id(provider) not in made:
            made[id(provider)] = Lazy(provider) if callable(provider) else provider
    return {name: made[id(provider)] for name, provider in providers.items()}
