"""From the command line's settings to an agent: which providers, which models, where the keys are."""

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Final, TypeAlias

import msgspec
from msgspec.structs import replace

from zidane_acp.calling import Call, Maker, call_of
from zidane_acp.config import Config, config_path
from zidane_acp.options import AcpModelChoice, AcpServerOptions, StdioOptions, choice_of
from zidane_acp.ports import Model, Rules, Store
from zidane_acp.settings import Settings, filled, state_folder
from zidane_core.acp.connection import ModelSource
from zidane_core.agent.modes import MODES
from zidane_core.agent.state import Command
from zidane_core.models import providers
from zidane_core.models.picking import Picked, Wish, pick, usable

NO_CONFIG: Final = Config()
PINNED: Final[Mapping[str, str]] = MappingProxyType(
    {"models": "model", "mode": "mode", "thinking": "thinking"}
)
"""The settings that a project may choose, by their field: what the command line has chosen stays."""


class WiringProblem(msgspec.Struct, frozen=True, gc=False):
    """The settings do not make an agent: one plain sentence with the next step."""

    message: str


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    """All that is known when an agent is wired. `settings` hold what the file says, too; `mode` is the one that counts."""

    settings: Settings
    env: Mapping[str, str]
    config: Config
    mode: str = ""


class Wired(msgspec.Struct, frozen=True, kw_only=True):
    """The models of an agent, the one to begin with, and where that comes from."""

    models: tuple[AcpModelChoice, ...]
    source: ModelSource
    default: str | None = None
    commands: tuple[Command, ...] = ()
    titles: bool = False
    warnings: tuple[str, ...] = ()


Wiring: TypeAlias = Wired | WiringProblem


def options_of(
    settings: Settings, env: Mapping[str, str], config: Config = NO_CONFIG
) -> StdioOptions | WiringProblem:
    """The options of the agent that the settings and the user's file ask for. Keys are looked for in `env` alone."""
    settings = filled(settings, config.settings, config.file)
    known = {mode.id for mode in MODES}
    strange = settings.mode not in known and settings.mode != ""
    told = f"There is no mode {settings.mode}; choose one of {', '.join(sorted(known))}."
    if strange and not _of_user(settings, "mode"):
        return WiringProblem(told)
    asked = Asked(
        settings=settings,
        env=env,
        config=config,
        mode="" if strange else settings.mode,
    )
    wired = _wired(asked)
    if isinstance(wired, WiringProblem):
        return wired
    return StdioOptions(
        server=_server(asked, wired),
        max_frame=settings.max_frame,
        trace=settings.trace,
        warnings=(*((f"{config.file}: {told}",) if strange else ()), *wired.warnings),
    )


def _of_user(settings: Settings, field: str) -> bool:
    """Whether a setting comes from the user's file, in which nothing is fatal."""
    origin = settings.origins.get(field)
    return origin is not None and origin.kind == "user"


def _wired(asked: Asked) -> Wiring:
    settings = asked.settings
    embedded = _EMBEDDED.get(settings.provider or "")
    if embedded is not None:
        return embedded(asked, _said(asked, "provider"))
    if settings.provider is None and settings.script is not None:
        return _replay(asked, "--script")
    return _remote(asked)


def _server(asked: Asked, wired: Wired) -> AcpServerOptions:
    settings, config = asked.settings, asked.config
    given = [name for name, origin in settings.origins.items() if origin.kind != "user"]
    # Not the folder of a file that `--config` names: that one may lie in anybody's repository.
    own = config_path(replace(settings, config=None), asked.env).parent
    return AcpServerOptions(
        models=wired.models,
        default_model=wired.default,
        permission=settings.permission,
        read_only_commands=config.read_only_commands,
        thinking=settings.thinking,
        max_rounds=settings.max_rounds,
        sequential_tools=settings.sequential_tools,
        allow_private_fetch=settings.allow_private_fetch,
        commands=wired.commands,
        store=lambda: _store(settings),
        rules=lambda: _rules(settings),
        titles=wired.titles and not settings.plain_titles,
        source=wired.source,
        mcp_servers=config.mcp_servers,
        mcp_within=float(settings.mcp_wait),
        trust_read_only=settings.trust_read_only,
        mode=asked.mode,
        denials=config.denials,
        protected=_protected(state_folder(settings), own, config_path(settings, asked.env)),
        slash=True,
        project=True,
        user_folder=str(own),
        pinned=tuple(PINNED[name] for name in given if name in PINNED),
        hidden_variables=config.hidden,
    )


def _protected(*paths: Path) -> tuple[str, ...]:
    """Where the settings are that decide what may be done, by name and by real path; what lies in another is left out."""
    names = [name for path in paths for name in (os.path.abspath(path), os.path.realpath(path))]
    folders = dict.fromkeys(names)
    return tuple(name for name in folders if not any(str(parent) in folders for parent in Path(name).parents))


def _store(settings: Settings) -> Store:
    """Made when the first answer is out: the start of the agent is waited for."""
    from zidane_acp.store import SqliteStore
    from zidane_acp.store.place import store_path

    return SqliteStore(store_path(settings))


def _rules(settings: Settings) -> Rules:
    from zidane_acp.rules import SqliteRules
    from zidane_acp.rules.place import rules_path

    return SqliteRules(rules_path(settings))


def _said(asked: Asked, field: str) -> str:
    """Where a setting comes from, in words."""
    origin = asked.settings.origins.get(field)
    if origin is None:
        return f"--{field}"
    return "the config file" if origin.kind == "user" else origin.said


# Embedded models -----------------------------------------------------------------------------------


def _offline(asked: Asked, source: str) -> Wiring:
    def make() -> Model:
        from zidane_acp.models.offline import OfflineModel

        return OfflineModel()

    from zidane_core.models.offline_commands import COMMANDS

    name = providers.OFFLINE
    choice = AcpModelChoice(
        id="offline",
        name="Offline (no language model)",
        provider_name=name,
        provider=make,
        thinking=False,
        language=False,
    )
    commands = tuple(Command(*command, provider=name) for command in COMMANDS)
    return Wired(
        models=(choice,), source=ModelSource(name, "offline", source), commands=commands, titles=True
    )


def _replay(asked: Asked, source: str) -> Wiring:
    script, ids = asked.settings.script, asked.settings.models or ("replay",)
    if script is None:
        return WiringProblem("The replay provider needs a script; give its file with --script FILE.")
    from zidane_acp.models.replay import ReplayModel

    model = ReplayModel(script)
    if model.fault is not None:
        return WiringProblem(model.fault.message)
    choices = tuple(AcpModelChoice(id=known, provider_name="replay", provider=model) for known in ids)
    return Wired(models=choices, source=ModelSource("replay", ids[0], source))


_EMBEDDED: Final[Mapping[str, Callable[[Asked, str], Wiring]]] = MappingProxyType(
    {"offline": _offline, "replay": _replay}
)


# Providers over HTTP -------------------------------------------------------------------------------


def _remote(asked: Asked) -> Wiring:
    settings, rows = asked.settings, asked.config.rows
    named, warnings = settings.provider or "", list[str]()
    if named and named not in rows:
        told = f"There is no provider named {named}; choose one of {', '.join((*rows, *_EMBEDDED))}."
        if not _of_user(settings, "provider"):
            return WiringProblem(told)
        warnings.append(f"{asked.config.file}: {told}")
        named = ""
    wish = _wish(asked, *_chosen(asked, named))
    picked = pick(wish, asked.env, rows)
    if not picked.models:
        return _nothing(asked, wish, picked, warnings)
    found = _calls(asked, wish, picked)
    if isinstance(found, WiringProblem):
        return found
    calls, refused = found
    makers = {name: Maker(call) for name, call in calls.items()}
    offered = [model for model in picked.models if model.provider in makers]
    default = next(model for model in offered if model.value == picked.default)
    return Wired(
        models=tuple(choice_of(model, makers[model.provider]) for model in offered),
        default=picked.default,
        source=ModelSource(default.provider, default.id, _source(asked, wish, calls[default.provider])),
        titles=True,
        warnings=(*warnings, *picked.warnings, *_without_models(picked), *refused),
    )


def reachable(settings: Settings, env: Mapping[str, str], config: Config) -> tuple[str, ...]:
    """The providers that can be asked something: those of a flag, with a key, or that need none."""
    settings = filled(settings, config.settings, config.file)
    asked = Asked(settings=settings, env=env, config=config)
    only, first = _chosen(asked, settings.provider or "")
    return usable(_wish(asked, only, first), env, config.rows)


def _chosen(asked: Asked, named: str) -> tuple[str, str]:
    """The only provider, or the one that comes first; '' for none. A provider of the file is not alone."""
    if not named and asked.settings.base_url is not None:
        named = "openai-compatible"
    by_user = _of_user(asked.settings, "provider") and asked.settings.base_url is None
    return ("", named) if by_user else (named, "")


def _wish(asked: Asked, only: str, first: str) -> Wish:
    config = asked.config
    return Wish(
        only=only,
        first=first,
        named=config.named,
        off=config.off,
        ids=asked.settings.models,
        default=config.default_model,
        configured=config.models,
    )


def _nothing(asked: Asked, wish: Wish, picked: Picked, warnings: list[str]) -> Wiring:
    if wish.only:
        endpoint = providers.endpoint(wish.only, asked.env, asked.settings.base_url, asked.config.rows)
        # What is wrong with the address is said first: without one no model helps.
        return WiringProblem(
            endpoint.swap().value_or(
                f"The provider {wish.only} has no default model; give one with --model ID."
            )
        )
    offline = _offline(asked, "no provider key was found")
    if isinstance(offline, WiringProblem):
        return offline
    return replace(offline, warnings=(*warnings, *picked.warnings, *_without_models(picked)))


def _without_models(picked: Picked) -> tuple[str, ...]:
    return tuple(
        f"No model of the provider {name} is known; add one under [[models]]." for name in picked.missing
    )


def _calls(asked: Asked, wish: Wish, picked: Picked) -> tuple[Mapping[str, Call], list[str]] | WiringProblem:
    """How the providers are called. One that cannot be is left out, unless the model to begin with is its."""
    found: dict[str, Call] = {}
    refused: list[str] = []
    begun = next(model.provider for model in picked.models if model.value == picked.default)
    base_url = asked.settings.base_url if wish.only else None
    for name in dict.fromkeys(model.provider for model in picked.models):
        call = call_of(name, base_url, asked.env, asked.config)
        problem = call.swap().value_or("")
        if not problem:
            found[name] = call.unwrap()
        elif name == begun:
            return WiringProblem(problem)
        else:
            refused.append(problem)
    return found, refused


def _source(asked: Asked, wish: Wish, call: Call) -> str:
    """The variable that the key came from, and what chose the provider where that is more than the key."""
    name, key = call.endpoint.name, (call.endpoint.key_variable or "") if call.key else ""
    host = providers.PROVIDERS["ollama"].base_variable
    if wish.only or wish.first == name:
        chosen = "--base-url" if asked.settings.provider is None else _said(asked, "provider")
        return f"{chosen}, key from {key}" if key and chosen != "--base-url" else chosen
    if name == "ollama" and asked.env.get(host, "").strip():
        return host
    return key or "the config file"
