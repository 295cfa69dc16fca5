"""Providers that are made when they are first used."""

from collections.abc import AsyncIterator, Mapping

from zidane_acp.options import ModelFactory
from zidane_acp.ports import Model
from zidane_core.data.models import ModelEvent, ModelRequest


class Lazy:
    """A model whose provider is resolved on first use (`ports.Model`). A failure to do so is not remembered."""

    def __init__(self, factory: ModelFactory) -> None:
        self._factory = factory
        self._made: Model | None = None

    async def stream(self, request: ModelRequest, session: str) -> AsyncIterator[tuple[ModelEvent, ...]]:
        """The provider's answer."""
        if self._made is None:
            self._made = self._factory()
        async for batch in self._made.stream(request, session):
            yield batch

    async def aclose(self) -> None:
        """Close what was made."""
        if self._made is not None:
            await self._made.aclose()


def resolved(providers: Mapping[str, Model | ModelFactory]) -> dict[str, Model]:
    """Each provider as a port; one factory given twice makes one provider."""
    made: dict[int, Model] = {}
    for provider in providers.values():
        if id(provider) not in made:
            made[id(provider)] = Lazy(provider) if callable(provider) else provider
    return {name: made[id(provider)] for name, provider in providers.items()}
