"""What a host gives to serve ACP: `AcpServerOptions` and the records in it (seed items 19 to 28)."""

import os
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Final, Protocol, TypeAlias

import msgspec

from zidane_acp.environment import Environment, inherited
from zidane_acp.ports import Auth, Model, Rules, Store, Tools
from zidane_core import __version__
from zidane_core.acp.connection import ModelSource, Opened, Server
from zidane_core.acp.frames import MAX_FRAME, Framing
from zidane_core.acp.wire import Implementation
from zidane_core.agent.modes import MODES
from zidane_core.agent.presets import ACP_DEFAULT
from zidane_core.agent.state import Command, Limits, Options
from zidane_core.agent.system_prompt import SYSTEM
from zidane_core.data.auth import AuthStanding
from zidane_core.data.mcp import McpServerConfig
from zidane_core.data.models import (
    IMAGE_BYTES,
    ModelChoice,
    ModelOption,
    OptionValue,
    Price,
    ThinkingLevel,
)
from zidane_core.data.modes import Mode
from zidane_core.data.rules import Denials, Policy
from zidane_core.data.tools import ToolSpec
from zidane_core.text import encode_json

PermissionPolicy: TypeAlias = Policy
"""Controls when the agent asks before a tool runs: ask, allow-edits, allow-all, read-only."""

ModelFactory: TypeAlias = Callable[[], Model | Awaitable[Model]]
StoreFactory: TypeAlias = Callable[[], Store]
RulesFactory: TypeAlias = Callable[[], Rules]


class AcpModelOption(msgspec.Struct, frozen=True, kw_only=True):
    """A boolean of one model, shown to the client as a select control.

    `on` and `off` are JSON objects that our own codecs merge into the provider's request; a provider of the host's own finds
    the chosen value in the request (`ModelRequest.options`).
    """

    id: str
    name: str
    description: str | None = None
    default: bool = False
    on: Mapping[str, object] = {}
    off: Mapping[str, object] = {}


class AcpModelChoice(msgspec.Struct, frozen=True, kw_only=True):
    """A model that the user can choose, with a provider of its own.

    `provider` may be a factory: it is called when the model is first used, so that credentials are looked up
    only then. `provider_name` groups the models of one provider. `model` is the provider's own name of the
    model, the same as `id` when not given. `context_window` and `max_output` are in tokens, `image_bytes` is what it
    takes of one picture before base64; a larger one becomes a note. `price` lets a session tell what it has cost. `options`
    are switches, or choices of values (`ModelOption`). Without `language` it is no language model, and is asked for neither
    titles nor summaries.
    """

    id: str
    provider: Model | ModelFactory
    name: str | None = None
    provider_name: str = ""
    model: str | None = None
    images: bool = True
    audio: bool = False
    documents: bool = False
    thinking: bool = True
    max_output: int = 16384
    context_window: int | None = None
    image_bytes: int = IMAGE_BYTES
    price: Price | None = None
    options: tuple[AcpModelOption | ModelOption, ...] = ()
    language: bool = True


class AcpServerOptions(msgspec.Struct, frozen=True, kw_only=True):
    """Options of `create_acp_server`. Set `provider` or `models`.

    `preset` is the tools, taken as they are; None gives the default ones. `tools` runs them; None gives the
    local executors. `system` may name {cwd}. `read_only_commands` lets known harmless commands run without a
    question. `store` keeps the sessions, and may be a function that makes what does; None keeps them in memory, as
    long as the server lives. `rules` keeps permissions of projects and trust in folders, the same way; without it no permission
    is offered for a project. `titles` lets the
    model be asked once in a session for a better title. `source` is shown to the user as where the model comes from.
    `mcp_servers` are the user's own servers, used by every session; `mcp_within` is how many seconds the first prompt of
    a session waits for servers that are starting. `trust_read_only` lets tools of servers that claim to only read run without a
    question. `through_client` False keeps files and commands here, whatever the client can do. `modes` are the modes of a
    session, () for none; `mode` is the one to begin with, '' the first. `denials` never happen, `protected` are absolute folders
    and files that are not changed without a question. `slash` adds the built-in slash commands. `project` lets instructions
    and commands in files of the workspace be used, once the user trusts its folder, and tells the model where it works;
    `user_folder` is a folder with such files of the user's own, None for nowhere. `pinned` are those of the settings `model`,
    `mode` and `thinking` that a project cannot choose. `compacts` False never shortens a conversation that outgrows its model.
    `hidden_variables` hold keys of providers of the host's own, which child processes do not inherit. `auth` is how clients log in,
    None where there is nothing to log in to; `renewed` gives the options as they are after a login or logout, None where they
    stay as they are; only the models and `source` of the new ones count. `environment` is what the processes of tools and
    MCP servers get, but for the keys of providers.
    """

    provider: Model | ModelFactory | None = None
    models: tuple[AcpModelChoice, ...] = ()
    default_model: str | None = None
    preset: tuple[ToolSpec, ...] | None = None
    tools: Tools | None = None
    system: str = SYSTEM
    permission: PermissionPolicy = "ask"
    read_only_commands: bool = True
    thinking: ThinkingLevel = "off"
    max_rounds: int = 50
    sequential_tools: bool = False
    allow_private_fetch: bool = False
    commands: tuple[Command, ...] = ()
    store: Store | StoreFactory | None = None
    rules: Rules | RulesFactory | None = None
    titles: bool = False
    info: Implementation | None = None
    source: ModelSource | None = None
    mcp_servers: tuple[McpServerConfig, ...] = ()
    mcp_within: float = 5.0
    trust_read_only: bool = False
    through_client: bool = True
    modes: tuple[Mode, ...] = MODES
    mode: str = ""
    denials: Denials = Denials()
    protected: tuple[str, ...] = ()
    slash: bool = False
    project: bool = False
    pinned: tuple[str, ...] = ()
    compacts: bool = True
    hidden_variables: tuple[str, ...] = ()
    user_folder: str | None = None
    auth: Auth | None = None
    renewed: "Callable[[], AcpServerOptions | None] | None" = None
    environment: Environment = inherited


class Background(Protocol):
    """What a program finds out while it already serves. Each gives whether the server is to be refreshed."""

    async def before_sessions(self) -> bool:
        """What no session is opened without; it must be short."""
        ...

    async def meanwhile(self) -> bool:
        """What takes its time."""
        ...


class StdioOptions(msgspec.Struct, frozen=True, kw_only=True):
    """Options of `run_acp_stdio_server`: the server's and those of the transport (seed item 75).

    `input` and `output` are file descriptors, None the process's own. `max_frame` is in bytes. `trace` is a
    file that gets both directions as JSON lines. `warnings` are sentences for the log. `background` is looked at once the first
    answer is out. `secrets` are values that the trace hides, looked at anew for each line; None: those of the environment.
    """

    server: AcpServerOptions
    input: int | None = None
    output: int | None = None
    framing: Framing = "ndjson"
    max_frame: int = MAX_FRAME
    trace: str | None = None
    warnings: tuple[str, ...] = ()
    background: Background | None = None
    secrets: Iterable[str] | None = None


DEFAULT_MODEL: Final = "default"


def choices_of(options: AcpServerOptions) -> tuple[AcpModelChoice, ...]:
    """The models of the options. Raises ValueError when there is none, or when the default is not among them."""
    models = options.models
    if not models:
        if options.provider is None:
            raise ValueError("Set provider or models in AcpServerOptions: the agent needs a model to answer.")
        models = (AcpModelChoice(id=options.default_model or DEFAULT_MODEL, provider=options.provider),)
    ids = [model.id for model in models]
    if options.default_model is not None and options.default_model not in ids:
        raise ValueError(
            f"default_model {options.default_model!r} is not one of the models: {', '.join(ids)}."
        )
    if len(set(ids)) < len(ids):
        raise ValueError(f"Each model needs an id of its own, got: {', '.join(ids)}.")
    return models


def core_options(options: AcpServerOptions) -> Options:
    """The options as the core takes them. Raises ValueError as `choices_of` does."""
    choices = choices_of(options)
    return Options(
        models=tuple(_choice(choice) for choice in choices),
        default_model=options.default_model or choices[0].id,
        tools=ACP_DEFAULT if options.preset is None else options.preset,
        system=options.system,
        policy=options.permission,
        thinking=options.thinking,
        sequential=options.sequential_tools,
        read_only_commands=options.read_only_commands,
        commands=options.commands,
        store=True,
        remembers=options.rules is not None,
        titles=options.titles,
        through_client=options.through_client,
        servers=options.mcp_servers,
        trust_read_only=options.trust_read_only,
        modes=options.modes,
        mode=options.mode,
        denials=options.denials,
        protected=options.protected,
        slash=options.slash,
        project=options.project,
        pinned=options.pinned,
        compacts=options.compacts,
        limits=Limits(rounds=options.max_rounds, servers_within=options.mcp_within),
    )


def choice_of(model: ModelChoice, provider: Model | ModelFactory) -> AcpModelChoice:
    """A model of the core's tables, served by this provider; `_choice` is the way back."""
    return AcpModelChoice(
        id=model.value,
        provider=provider,
        name=model.name,
        provider_name=model.provider,
        model=model.id,
        images=model.images,
        audio=model.audio,
        documents=model.documents,
        thinking=model.thinking,
        max_output=model.max_output,
        context_window=model.context_window,
        image_bytes=model.image_bytes,
        price=model.price,
        options=model.options,
        language=model.language,
    )


def _choice(choice: AcpModelChoice) -> ModelChoice:
    return ModelChoice(
        value=choice.id,
        name=choice.name or choice.id,
        provider=choice.provider_name,
        id=choice.model or choice.id,
        images=choice.images,
        audio=choice.audio,
        documents=choice.documents,
        thinking=choice.thinking,
        max_output=choice.max_output,
        context_window=choice.context_window,
        image_bytes=choice.image_bytes,
        price=choice.price,
        options=tuple(_option(option) for option in choice.options),
        made_late=callable(choice.provider),
        language=choice.language,
    )


def _option(option: AcpModelOption | ModelOption) -> ModelOption:
    if isinstance(option, ModelOption):
        return option
    return switch(option.id, option.name, option.description or "", option.default, option.on, option.off)


def switch(
    name: str,
    title: str,
    description: str,
    default: bool,
    on: Mapping[str, object],
    off: Mapping[str, object],
) -> ModelOption:
    """A boolean of a model as the core knows it, with the fields that each value puts into a request."""
    return ModelOption(
        id=name,
        name=title,
        description=description,
        values=(OptionValue("on", "On", body=body_of(on)), OptionValue("off", "Off", body=body_of(off))),
        default="on" if default else "off",
        switch=True,
    )


def body_of(fields: Mapping[str, object]) -> str:
    """Fields of a request as the JSON text of a value; '' for none."""
    return encode_json(fields).decode() if fields else ""


def server_of(options: AcpServerOptions) -> Server:
    """What the agent says of itself, and how logging in stands."""
    info = options.info or Implementation(name="zidane-acp", title="Zidane", version=__version__)
    auth = options.auth
    if auth is None:
        return Server(info=info, source=options.source)
    standing = AuthStanding(methods=auth.methods(), needed=auth.needed(), can_forget=auth.can_forget())
    return Server(info=info, source=options.source, auth=standing)


def providers_of(options: AcpServerOptions) -> Mapping[str, Model | ModelFactory]:
    """The provider of each model, by the value that the model is chosen by."""
    return {choice.id: choice.provider for choice in choices_of(options)}


def opened_of(options: AcpServerOptions, now: float) -> Opened:
    """The first event of a connection. Raises ValueError as `create_acp_server` does."""
    return Opened(
        now=now, seed=os.urandom(16).hex(), options=core_options(options), server=server_of(options)
    )
