"""From the command line's settings to an agent: which provider, which models, where the key is."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final, TypeAlias

import msgspec

from zidane_acp.config import Config, config_path
from zidane_acp.options import AcpModelChoice, AcpServerOptions, StdioOptions, choice_of
from zidane_acp.ports import Model, Rules, Store
from zidane_acp.settings import Settings
from zidane_core.acp.connection import ModelSource
from zidane_core.agent.state import Command
from zidane_core.data.models import ModelChoice
from zidane_core.fp import fold
from zidane_core.models import providers
from zidane_core.models.codec import Endpoint

NO_CONFIG: Final = Config()


class WiringProblem(msgspec.Struct, frozen=True, gc=False):
    """The settings do not make an agent: one plain sentence with the next step."""

    message: str


Wired: TypeAlias = AcpServerOptions | WiringProblem


def options_of(
    settings: Settings, env: Mapping[str, str], config: Config = NO_CONFIG
) -> StdioOptions | WiringProblem:
    """The options of the agent that the settings and the user's file ask for. Nothing is looked up outside of them
    and of `env`."""
    name, source = _provider(settings, env)
    wired = _EMBEDDED.get(name, _remote)(settings, env, name, source)
    if isinstance(wired, WiringProblem):
        return wired
    # Not the folder of a file that `--config` names: that one may lie in anybody's repository.
    own = config_path(msgspec.structs.replace(settings, config=None), env).parent
    wired = msgspec.structs.replace(wired, mcp_servers=config.mcp_servers, project=True, user_folder=str(own))
    return StdioOptions(server=wired, max_frame=settings.max_frame, trace=settings.trace)


def _provider(settings: Settings, env: Mapping[str, str]) -> tuple[str, str]:
    """The provider's name and where it came from."""
    if settings.provider is not None:
        return settings.provider, "--provider"
    if settings.script is not None:
        return "replay", "--script"
    if settings.base_url is not None:
        return "openai-compatible", "--base-url"
    found = providers.detect(env)
    return found.provider, found.variable


def _server(
    settings: Settings,
    choices: tuple[AcpModelChoice, ...],
    source: ModelSource,
    commands: tuple[Command, ...] = (),
    titles: bool = False,
) -> AcpServerOptions:
    return AcpServerOptions(
        models=choices,
        permission=settings.permission,
        thinking=settings.thinking,
        max_rounds=settings.max_rounds,
        sequential_tools=settings.sequential_tools,
        allow_private_fetch=settings.allow_private_fetch,
        commands=commands,
        store=lambda: _store(settings),
        rules=lambda: _rules(settings),
        titles=titles and not settings.plain_titles,
        source=source,
        mcp_within=float(settings.mcp_wait),
        trust_read_only=settings.trust_read_only,
    )


def _store(settings: Settings) -> Store:
    """Made when the first answer is out: the start of the agent is waited for."""
    from zidane_acp.store import SqliteStore
    from zidane_acp.store.place import store_path

    return SqliteStore(store_path(settings))


def _rules(settings: Settings) -> Rules:
    from zidane_acp.rules import SqliteRules
    from zidane_acp.rules.place import rules_path

    return SqliteRules(rules_path(settings))


# Embedded models -----------------------------------------------------------------------------------


def _offline(settings: Settings, env: Mapping[str, str], name: str, source: str) -> Wired:
    def make() -> Model:
        from zidane_acp.models.offline import OfflineModel

        return OfflineModel()

    from zidane_core.models.offline_commands import COMMANDS

    choice = AcpModelChoice(
        id="offline", name="Offline (no language model)", provider_name=name, provider=make, thinking=False
    )
    told = ModelSource(name, "offline", source or "no provider key was found")
    return _server(settings, (choice,), told, tuple(Command(*command) for command in COMMANDS))


def _replay(settings: Settings, env: Mapping[str, str], name: str, source: str) -> Wired:
    if settings.script is None:
        return WiringProblem("The replay provider needs a script; give its file with --script FILE.")
    from zidane_acp.models.replay import ReplayModel

    model = ReplayModel(settings.script)
    if model.fault is not None:
        return WiringProblem(model.fault.message)
    ids = settings.models or ("replay",)
    choices = tuple(AcpModelChoice(id=known, provider_name=name, provider=model) for known in ids)
    return _server(settings, choices, ModelSource(name, ids[0], source))


# Providers over HTTP -------------------------------------------------------------------------------


def _remote(settings: Settings, env: Mapping[str, str], name: str, source: str) -> Wired:
    if name not in providers.PROVIDERS:
        known = ", ".join((*providers.PROVIDERS, *_EMBEDDED))
        return WiringProblem(f"There is no provider named {name}; choose one of {known}.")
    return fold(
        providers.endpoint(name, env, settings.base_url),
        lambda endpoint: _served(settings, env, endpoint, source),
        WiringProblem,
    )


def _served(settings: Settings, env: Mapping[str, str], endpoint: Endpoint, source: str) -> Wired:
    models = providers.models(endpoint.name, settings.models)
    if not models and endpoint.name == "ollama":
        models = (ANY_OLLAMA_MODEL,)
    if not models:
        return WiringProblem(f"The provider {endpoint.name} has no default model; give one with --model ID.")
    key = env.get(endpoint.key_variable, "").strip() if endpoint.key_variable else ""
    if source == "--provider" and key and endpoint.key_variable:
        source = f"--provider, key from {endpoint.key_variable}"
    made: list[Model] = []

    def make() -> Model:
        # One client for all models of the provider, so that they share its connections.
        if not made:
            made.append(_http(endpoint, key or None))
        return made[0]

    choices = tuple(choice_of(model, make) for model in models)
    return _server(settings, choices, ModelSource(endpoint.name, models[0].id, source), titles=True)


ANY_OLLAMA_MODEL: Final = ModelChoice(
    value=providers.ANY_MODEL,
    name="First model of Ollama",
    provider="ollama",
    id=providers.ANY_MODEL,
    images=False,
    thinking=False,
)


def _http(endpoint: Endpoint, key: str | None) -> Model:
    from zidane_acp.models.http import HttpModel

    if endpoint.name != "ollama":
        return HttpModel(endpoint, key)
    from zidane_acp.models.ollama import OllamaModel

    return OllamaModel(endpoint, HttpModel(endpoint, key))


_EMBEDDED: Final[Mapping[str, Callable[[Settings, Mapping[str, str], str, str], Wired]]] = MappingProxyType(
    {"offline": _offline, "replay": _replay}
)
