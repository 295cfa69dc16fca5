"""The tables of the user's file as records. Reader, editor and `docs/configuration.md` are all made from them.

Every field has a description. A field that is None is not set, and whatever it stands for is decided elsewhere.
"""

from typing import Annotated, Final, Literal, TypeAlias

import msgspec
from msgspec import Meta

from zidane_acp.settings import LogLevel
from zidane_core.data.models import ThinkingLevel
from zidane_core.data.rules import Policy
from zidane_core.models.providers import Kind

Tokens: TypeAlias = Annotated[int, Meta(ge=1)]
Dollars: TypeAlias = Annotated[float, Meta(ge=0)]
Text: TypeAlias = Annotated[str, Meta(min_length=1)]
Variable: TypeAlias = Annotated[str, Meta(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")]
"""The name of an environment variable. What holds other characters is most likely a key in the wrong place."""


class ProviderTable(msgspec.Struct, frozen=True, kw_only=True, gc=False, omit_defaults=True):
    """A table `[providers.NAME]`: how a known provider is called, or a server of your own."""

    kind: Annotated[
        Kind | None, Meta(description="What a server of your own speaks; a known provider needs none.")
    ] = None
    base_url: Annotated[
        Text | None, Meta(description="Its address. The provider's variable and `--base-url` beat it.")
    ] = None
    key_variable: Annotated[
        Variable | None,
        Meta(
            description="Name of the environment variable that holds the key, never the key itself. A server of "
            "your own without one is called without a key."
        ),
    ] = None
    headers: Annotated[
        dict[str, Variable],
        Meta(
            description="Further HTTP headers: each name with the environment variable that holds its value. One "
            "whose variable is not set is left out."
        ),
    ] = {}
    title: Annotated[Text | None, Meta(description="What it is called in messages.")] = None
    enabled: Annotated[bool, Meta(description="`false` leaves it out, even when its key is there.")] = True


class PriceTable(msgspec.Struct, frozen=True, kw_only=True, gc=False, omit_defaults=True):
    """What a model costs, in US dollars for a million tokens."""

    input: Annotated[Dollars, Meta(description="Tokens that go in.")]
    output: Annotated[Dollars, Meta(description="Tokens that come out.")]
    cached_read: Annotated[
        Dollars | None, Meta(description="Tokens read from the cache; else as all input.")
    ] = None
    cached_write: Annotated[
        Dollars | None, Meta(description="Tokens written into the cache; else as all input.")
    ] = None


class ValueTable(msgspec.Struct, frozen=True, kw_only=True, gc=False, omit_defaults=True):
    """A value of an option, `[[models.options.values]]`."""

    value: Annotated[Text, Meta(description="How it is chosen.")]
    name: Annotated[str, Meta(description="How it is shown; else as it is chosen.")] = ""
    description: Annotated[str, Meta(description="A line about it.")] = ""
    body: Annotated[
        dict[str, object],
        Meta(
            description="Fields for the provider's request. `model`, `messages`, `input` and `stream` stay."
        ),
    ] = {}


class OptionTable(msgspec.Struct, frozen=True, kw_only=True, gc=False, omit_defaults=True):
    """An option of one model, `[[models.options]]`: a switch with `on` and `off`, or a choice of `values`."""

    id: Annotated[Text, Meta(description="Its name in the list of options, behind `model.`.")]
    name: Annotated[str, Meta(description="How it is shown; else its id.")] = ""
    description: Annotated[str, Meta(description="A line about it.")] = ""
    default: Annotated[
        bool | str | None,
        Meta(
            description="`true` or `false` for a switch (else `false`), one of the values otherwise (else the first)."
        ),
    ] = None
    on: Annotated[
        dict[str, object] | None, Meta(description="Fields for the provider's request when it is on.")
    ] = None
    off: Annotated[
        dict[str, object] | None, Meta(description="Fields for the provider's request when it is off.")
    ] = None
    values: Annotated[
        tuple[ValueTable, ...], Meta(description="What can be chosen, when it is no switch.")
    ] = ()


class ModelTable(msgspec.Struct, frozen=True, kw_only=True, gc=False, omit_defaults=True):
    """An entry `[[models]]`: a further model, or changes of one that is known by the same id."""

    id: Annotated[Text, Meta(description="How it is chosen.")]
    provider: Annotated[
        Text | None,
        Meta(
            description="Whose it is. Without it the entry changes the model of this id wherever there is one."
        ),
    ] = None
    model: Annotated[Text | None, Meta(description="The provider's name of it; else its id.")] = None
    name: Annotated[Text | None, Meta(description="How it is shown.")] = None
    context_window: Annotated[Tokens | None, Meta(description="Tokens that it sees at once.")] = None
    max_output: Annotated[
        Tokens | None, Meta(description="Tokens that are asked for at most in one answer.")
    ] = None
    images: Annotated[bool | None, Meta(description="Whether it takes pictures.")] = None
    audio: Annotated[bool | None, Meta(description="Whether it takes sound.")] = None
    documents: Annotated[bool | None, Meta(description="Whether it takes PDFs.")] = None
    thinking: Annotated[bool | None, Meta(description="Whether it can think.")] = None
    price: Annotated[PriceTable | None, Meta(description="What it costs.")] = None
    options: Annotated[tuple[OptionTable, ...], Meta(description="Options of its own.")] = ()


class PermissionsTable(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The table `[permissions]`. What is denied stays denied, whatever else allows it."""

    policy: Annotated[Policy | None, Meta(description="What runs without a question.")] = None
    deny_paths: Annotated[
        tuple[Text, ...], Meta(description="Patterns of paths that no tool touches, such as `**/.env`.")
    ] = ()
    deny_commands: Annotated[
        tuple[Text, ...], Meta(description="Beginnings of commands that never run, such as `git push`.")
    ] = ()
    read_only_commands: Annotated[
        bool, Meta(description="Whether known commands that only read run without a question.")
    ] = True
    trust_read_only: Annotated[
        bool | None,
        Meta(
            description="Whether tools of MCP servers that claim to only read run without a question (else no)."
        ),
    ] = None


class UiTable(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The table `[ui]`: how `zidane-acp chat` looks."""

    thoughts: Annotated[bool, Meta(description="Whether thoughts of the model are shown.")] = True
    past_turns: Annotated[
        Tokens, Meta(description="Turns of a conversation that are shown when it is gone on with.")
    ] = 10


class McpTable(msgspec.Struct, frozen=True, kw_only=True, gc=False, omit_defaults=True):
    """A table `[mcp.NAME]`: an MCP server of every session, with either `command` or `url`."""

    command: Annotated[str, Meta(description="Program that is started.")] = ""
    args: Annotated[tuple[str, ...], Meta(description="Its arguments.")] = ()
    env: Annotated[dict[str, str], Meta(description="Variables of its environment.")] = {}
    url: Annotated[str, Meta(description="Address of a server over HTTP.")] = ""
    transport: Annotated[
        Literal["streamable-http", "sse"], Meta(description="How it is spoken to over HTTP.")
    ] = "streamable-http"
    headers: Annotated[dict[str, str], Meta(description="HTTP headers.")] = {}
    enabled: Annotated[bool, Meta(description="`false` leaves it out.")] = True


class UserFile(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """All of the file."""

    provider: Annotated[Text | None, Meta(description="Whose models come first.")] = None
    default_model: Annotated[
        Text | None, Meta(description="Model of a new session: its id, or `provider/id`.")
    ] = None
    mode: Annotated[Text | None, Meta(description="Mode of a new session: `build` or `plan`.")] = None
    thinking: Annotated[ThinkingLevel | None, Meta(description="How much the model thinks.")] = None
    max_rounds: Annotated[Tokens | None, Meta(description="Model rounds in one turn.")] = None
    require_login: Annotated[
        bool,
        Meta(description="Whether a session needs the key of a model; else `offline` answers without one."),
    ] = False
    mcp_wait: Annotated[
        Annotated[int, Meta(ge=0)] | None,
        Meta(description="Seconds that the first message waits for MCP servers that are starting."),
    ] = None
    sequential_tools: Annotated[
        bool | None, Meta(description="Whether the calls of one round run strictly one after another.")
    ] = None
    plain_titles: Annotated[
        bool | None, Meta(description="Whether sessions keep the title made from their first prompt.")
    ] = None
    allow_private_fetch: Annotated[
        bool | None, Meta(description="Whether `fetch` may reach loopback and private addresses.")
    ] = None
    log_level: Annotated[LogLevel | None, Meta(description="What is logged.")] = None
    log_file: Annotated[Text | None, Meta(description="Where the log goes instead of standard error.")] = None
    max_frame: Annotated[
        Annotated[int, Meta(ge=1024)] | None, Meta(description="Bytes of the largest message.")
    ] = None
    permissions: Annotated[PermissionsTable, Meta(description="What runs without a question, and never.")] = (
        PermissionsTable()
    )
    ui: Annotated[UiTable, Meta(description="How `zidane-acp chat` looks.")] = UiTable()
    providers: Annotated[dict[str, ProviderTable], Meta(description="Providers, by name.")] = {}
    models: Annotated[tuple[ModelTable, ...], Meta(description="Models.")] = ()
    mcp: Annotated[dict[str, McpTable], Meta(description="MCP servers of every session, by name.")] = {}
    agents: Annotated[
        dict[str, object], Meta(description="Kept for a later release; this one does not use it.")
    ] = {}


KEY_NAMES: Final = frozenset(
    {"key", "api_key", "apikey", "api-key", "token", "auth_token", "access_token", "secret", "password"}
)
"""What people call a key that they write into a file, where none belongs."""
