"""A local Ollama of which no model was named: its first model is asked for when the first prompt comes."""

from collections.abc import AsyncIterator

from msgspec.structs import replace

from zidane_acp.models.http import HttpModel
from zidane_core.data.models import Broke, ModelEvent, ModelRequest
from zidane_core.faults import provider_fault
from zidane_core.models.codec import Endpoint
from zidane_core.models.providers import ANY_MODEL
from zidane_core.text import decode_json, is_array, is_object

LOOK_SECONDS = 5.0


class OllamaModel:
    """`ports.Model` over `HttpModel`; a model id of `ANY_MODEL` becomes the first that Ollama lists."""

    def __init__(self, endpoint: Endpoint, model: HttpModel) -> None:
        self._endpoint = endpoint
        self._model = model
        self._found: str | None = None

    async def stream(self, request: ModelRequest, session: str) -> AsyncIterator[tuple[ModelEvent, ...]]:
        """The answer of the named model, or of the first one there is."""
        if request.model.id == ANY_MODEL:
            self._found = self._found or await self._first()
            if not self._found:
                yield (self._none(),)
                return
            request = replace(request, model=replace(request.model, id=self._found))
        async for batch in self._model.stream(request, session):
            yield batch

    async def aclose(self) -> None:
        """Close the connection."""
        await self._model.aclose()

    async def _first(self) -> str:
        """The name of the first model, empty when there is none or nobody answers."""
        import httpx2

        try:
            async with httpx2.AsyncClient(timeout=LOOK_SECONDS) as client:
                answer = await client.get(f"{self._endpoint.base_url}/models")
        except httpx2.HTTPError:
            return ""
        listed = decode_json(answer.content).value_or(None)
        models = listed.get("data") if is_object(listed) else None
        names = [found.get("id") for found in models if is_object(found)] if is_array(models) else []
        return next((name for name in names if isinstance(name, str) and name), "")

    def _none(self) -> Broke:
        message = (
            f"No model was found at {self._endpoint.base_url}. Start Ollama, get a model with "
            "`ollama pull NAME`, or start the agent with --provider ollama --model NAME."
        )
        return Broke(provider_fault("network", message, provider=self._endpoint.name))
