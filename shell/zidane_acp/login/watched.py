"""A model that notes when its provider refuses the key, so that the next login asks for another one."""

from collections.abc import AsyncIterator, Awaitable, Callable
from inspect import isawaitable

from zidane_acp.ports import Model
from zidane_core.data.models import Broke, ModelEvent, ModelRequest
from zidane_core.faults import ErrorCode


class Watched:
    """A model (`ports.Model`) as it is, with `refused` called when it ends with a refused key."""

    def __init__(self, model: Model, refused: Callable[[], None]) -> None:
        self._model = model
        self._refused = refused

    async def stream(self, request: ModelRequest, session: str) -> AsyncIterator[tuple[ModelEvent, ...]]:
        """The model's answer."""
        async for batch in self._model.stream(request, session):
            last = batch[-1] if batch else None
            if isinstance(last, Broke) and last.fault.code == ErrorCode.AUTH_REQUIRED:
                self._refused()
            yield batch

    async def aclose(self) -> None:
        """Close the model."""
        await self._model.aclose()


def watched(
    make: Callable[[], Model | Awaitable[Model]], refused: Callable[[], None]
) -> Callable[[], Awaitable[Model]]:
    """A factory of watched models in the place of this one."""

    async def made() -> Model:
        model = make()
        return Watched(await model if isawaitable(model) else model, refused)

    return made
