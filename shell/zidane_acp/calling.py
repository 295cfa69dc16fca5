"""How a provider is called from here: its endpoint, its key, and further headers."""

from collections.abc import Mapping

import msgspec
from returns.result import Result

from zidane_acp.config import Config
from zidane_acp.ports import Model
from zidane_core.models import providers
from zidane_core.models.codec import Endpoint


class Call(msgspec.Struct, frozen=True, kw_only=True):
    """A provider with all that a request to it needs. `key` is '' when none was found; it and the headers are secret."""

    endpoint: Endpoint
    key: str
    headers: Mapping[str, str]


def call_of(name: str, base_url: str | None, env: Mapping[str, str], config: Config) -> Result[Call, str]:
    """How a provider is called; the failure is a sentence for the user. A header whose variable is not set is left out."""
    named = {
        header: env.get(variable, "").strip() for header, variable in config.headers.get(name, {}).items()
    }
    headers = {header: value for header, value in named.items() if value}

    def call(endpoint: Endpoint) -> Call:
        key = env.get(endpoint.key_variable or "", "").strip()
        return Call(endpoint=endpoint, key=key, headers=headers)

    return providers.endpoint(name, env, base_url, config.rows).map(call)


class Maker:
    """Makes one client for all models of a provider, so that they share its connections."""

    def __init__(self, call: Call) -> None:
        self._call = call
        self._made: Model | None = None

    def __call__(self) -> Model:
        """The client, the same each time."""
        if self._made is None:
            self._made = _client(self._call)
        return self._made


def _client(call: Call) -> Model:
    from zidane_acp.models.http import HttpModel

    model = HttpModel(call.endpoint, call.key or None, more_headers=call.headers)
    if call.endpoint.name != "ollama":
        return model
    from zidane_acp.models.ollama import OllamaModel

    return OllamaModel(call.endpoint, model)
