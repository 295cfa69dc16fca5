"""The flags of `serve` and `chat` as one table, and the pure function that reads them.

Everything that names a flag (the serve path, the help texts, the agent that `chat` starts) reads FLAGS.
"""

import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final, Literal, TypeAlias

import msgspec

from zidane_core.data.models import ThinkingLevel
from zidane_core.data.rules import Policy

PermissionPolicy: TypeAlias = Policy
LogLevel: TypeAlias = Literal["debug", "info", "warning", "error"]
FlagType: TypeAlias = Literal["text", "count", "switch"]
Value: TypeAlias = str | int | bool | tuple[str, ...]

SAFE_PYTHON: Final = ("-P", "-m", "zidane_acp.main")
"""Arguments of the interpreter that start this program; -P keeps the working folder off the import path."""


class Origin(msgspec.Struct, frozen=True, gc=False):
    """Where a setting comes from: what kind of place that is, and how it was said there."""

    kind: Literal["flag", "environment", "user"]
    said: str


class Settings(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """What flags, environment and file say. `models[0]` is the default model; empty means the provider's.

    `max_frame` is in bytes, `home` is the state folder or None for the platform's, `config` the file of
    settings or None for the one in `home` or in the platform's folder, `mode` '' the first one. `origins` holds, by field, where
    what was given comes from; all else is default.
    """

    provider: str | None = None
    models: tuple[str, ...] = ()
    base_url: str | None = None
    permission: PermissionPolicy = "ask"
    mode: str = ""
    thinking: ThinkingLevel = "off"
    max_rounds: int = 50
    home: str | None = None
    config: str | None = None
    mcp_wait: int = 5
    trust_read_only: bool = False
    script: str | None = None
    log_level: LogLevel = "warning"
    log_file: str | None = None
    trace: str | None = None
    sequential_tools: bool = False
    plain_titles: bool = False
    allow_private_fetch: bool = False
    max_frame: int = 64 * 1024 * 1024
    origins: dict[str, Origin] = {}


class SettingsProblem(msgspec.Struct, frozen=True, gc=False):
    """A flag or variable that cannot be used: one plain sentence that names it and what is allowed."""

    message: str


class Flag(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One flag. `field` is its name in Settings, `allowed` is empty when any text will do. `key` is what sets the same in
    the user's file, '' where nothing does."""

    name: str
    field: str
    key: str = ""
    help: str
    type: FlagType = "text"
    metavar: str = "TEXT"
    allowed: tuple[str, ...] = ()
    least: int = 1
    repeatable: bool = False

    @property
    def option(self) -> str:
        """The flag as it is typed."""
        return f"--{self.name}"

    @property
    def variable(self) -> str:
        """Its twin in the environment."""
        return "ZIDANE_ACP_" + self.name.upper().replace("-", "_")


FLAGS: Final[tuple[Flag, ...]] = (
    Flag(
        name="provider",
        field="provider",
        key="provider",
        metavar="NAME",
        help="Model provider, such as anthropic, openai, ollama, offline; default: the first key found.",
    ),
    Flag(
        name="model",
        field="models",
        metavar="ID",
        repeatable=True,
        help="Model that can be chosen; may be repeated, the first is the default.",
    ),
    Flag(name="base-url", field="base_url", metavar="URL", help="Base URL of the provider."),
    Flag(
        name="permission",
        field="permission",
        key="permissions.policy",
        allowed=("ask", "allow-edits", "allow-all", "read-only"),
        help="What runs without a question.",
    ),
    Flag(
        name="mode",
        field="mode",
        key="mode",
        metavar="ID",
        help="Mode of a new session, such as build or plan.",
    ),
    Flag(
        name="thinking",
        field="thinking",
        key="thinking",
        allowed=("off", "minimal", "low", "medium", "high"),
        help="How much the model thinks.",
    ),
    Flag(
        name="max-rounds",
        field="max_rounds",
        key="max_rounds",
        type="count",
        metavar="N",
        help="Model rounds in one turn.",
    ),
    Flag(name="home", field="home", metavar="DIR", help="Folder of the state; default: the platform's."),
    Flag(
        name="config",
        field="config",
        metavar="FILE",
        help="File of settings (TOML); default: the user's.",
    ),
    Flag(
        name="mcp-wait",
        field="mcp_wait",
        key="mcp_wait",
        type="count",
        metavar="SECONDS",
        least=0,
        help="How long the first message waits for MCP servers that are starting.",
    ),
    Flag(
        name="trust-read-only",
        field="trust_read_only",
        key="permissions.trust_read_only",
        type="switch",
        help="Let tools of MCP servers that claim to only read run without a question.",
    ),
    Flag(name="script", field="script", metavar="FILE", help="Script of the replay provider (JSON)."),
    Flag(
        name="log-level",
        field="log_level",
        key="log_level",
        allowed=("debug", "info", "warning", "error"),
        help="What is logged to stderr or the log file.",
    ),
    Flag(
        name="log-file",
        field="log_file",
        key="log_file",
        metavar="FILE",
        help="Log to this file instead of stderr.",
    ),
    Flag(
        name="trace", field="trace", metavar="FILE", help="Write every frame of both directions to this file."
    ),
    Flag(
        name="sequential-tools",
        field="sequential_tools",
        key="sequential_tools",
        type="switch",
        help="Run the tool calls of one round strictly one after another.",
    ),
    Flag(
        name="plain-titles",
        field="plain_titles",
        key="plain_titles",
        type="switch",
        help="Title sessions by their first prompt alone; the model is not asked for a better title.",
    ),
    Flag(
        name="allow-private-fetch",
        field="allow_private_fetch",
        key="allow_private_fetch",
        type="switch",
        help="Let the fetch tool reach loopback and private addresses.",
    ),
    Flag(
        name="max-frame",
        field="max_frame",
        key="max_frame",
        type="count",
        metavar="BYTES",
        least=1024,
        help="Largest message that is accepted.",
    ),
)

BY_FIELD: Final[Mapping[str, Flag]] = {flag.field: flag for flag in FLAGS}
BY_OPTION: Final[Mapping[str, Flag]] = {flag.option: flag for flag in FLAGS}
YES: Final = frozenset({"1", "true", "yes", "on"})
NO: Final = frozenset({"0", "false", "no", "off"})


def state_folder(settings: Settings) -> Path:
    """Where the program keeps its state: `--home`, else the platform's folder."""
    if settings.home is not None:
        return Path(settings.home)
    if sys.platform in ("win32", "darwin"):
        from platformdirs import user_state_dir

        return Path(user_state_dir("zidane-acp", appauthor=False))
    # What platformdirs gives here; to import it takes longer than all that is done before the first answer.
    base = os.environ.get("XDG_STATE_HOME", "").strip() or os.path.expanduser("~/.local/state")
    return Path(base, "zidane-acp")


def parse(argv: Sequence[str], environment: Mapping[str, str]) -> Settings | SettingsProblem:
    """Read flags (without program and command name): flags, then environment, then defaults."""
    found = _from_environment(environment)
    if isinstance(found, SettingsProblem):
        return found
    given = read_flags(argv)
    if isinstance(given, SettingsProblem):
        return given
    origins = {field: Origin("environment", BY_FIELD[field].variable) for field in found}
    origins |= {field: Origin("flag", BY_FIELD[field].option) for field in given}
    return msgspec.convert({**found, **given, "origins": origins}, Settings)


def filled(settings: Settings, values: Mapping[str, Value], file: str) -> Settings:
    """The settings with what the user's file says, by field, where neither a flag nor a variable has said it."""
    fresh = {field: value for field, value in values.items() if field not in settings.origins}
    origins = settings.origins | dict.fromkeys(fresh, Origin("user", file))
    return msgspec.structs.replace(settings, **fresh, origins=origins)


def read_flags(argv: Sequence[str]) -> dict[str, Value] | SettingsProblem:
    """The given flags alone, by field name."""
    given: dict[str, Value] = {}
    rest = list(argv)
    while rest:
        word = rest.pop(0)
        option, equals, text = word.partition("=")
        flag = BY_OPTION.get(option)
        if flag is None:
            return _unknown(word)
        if flag.type == "switch" and not equals:
            text = "on"
        elif not equals:
            if not rest or rest[0].startswith("--"):
                return SettingsProblem(f"{option} needs a value: {option} {_values(flag)}.")
            text = rest.pop(0)
        value = _value(flag, text, option)
        if isinstance(value, SettingsProblem):
            return value
        before = given.get(flag.field)
        if isinstance(before, tuple) and isinstance(value, tuple):
            value = before + value
        given[flag.field] = value
    return given


def as_arguments(settings: Settings) -> tuple[str, ...]:
    """The flags that give these settings; what is default, and was not given, is left out."""
    default = Settings()
    words: list[str] = []
    for flag in FLAGS:
        value: object = getattr(settings, flag.field)
        if value == getattr(default, flag.field) and flag.field not in settings.origins:
            continue
        if isinstance(value, tuple):
            words.extend(f"{flag.option}={item}" for item in settings.models)
        elif flag.type == "switch":
            words.append(flag.option if value is True else f"{flag.option}=off")
        else:
            words.append(f"{flag.option}={value}")
    return tuple(words)


def _from_environment(environment: Mapping[str, str]) -> dict[str, Value] | SettingsProblem:
    found: dict[str, Value] = {}
    for flag in FLAGS:
        text = environment.get(flag.variable, "").strip()
        if not text:
            continue
        items = [part.strip() for part in text.split(",") if part.strip()] if flag.repeatable else [text]
        values: tuple[str, ...] = ()
        for item in items:
            value = _value(flag, item, flag.variable)
            if isinstance(value, SettingsProblem):
                return value
            if isinstance(value, tuple):
                values += value
            else:
                found[flag.field] = value
        if flag.repeatable:
            found[flag.field] = values
    return found


def _value(flag: Flag, text: str, said: str) -> Value | SettingsProblem:
    if flag.type == "switch":
        word = text.lower()
        if word in YES or word in NO:
            return word in YES
        return SettingsProblem(f"{said} takes on or off, not {text!r}.")
    if flag.type == "count":
        if text.isascii() and text.isdigit() and len(text) < 16 and int(text) >= flag.least:
            return int(text)
        return SettingsProblem(f"{said} takes a whole number of at least {flag.least}, not {text!r}.")
    if flag.allowed and text not in flag.allowed:
        return SettingsProblem(f"{said} takes {_alternatives(flag.allowed)}, not {text!r}.")
    if not text:
        return SettingsProblem(f"{said} must not be empty.")
    return (text,) if flag.repeatable else text


def _unknown(word: str) -> SettingsProblem:
    if word.startswith("-"):
        return SettingsProblem(
            f"There is no flag {word.partition('=')[0]} in this version; "
            "`zidane-acp serve --help` lists the flags that there are."
        )
    return SettingsProblem(f"Unexpected argument {word!r}; `zidane-acp --help` lists the commands and flags.")


def _values(flag: Flag) -> str:
    return "|".join(flag.allowed) or flag.metavar


def _alternatives(allowed: tuple[str, ...]) -> str:
    return ", ".join(allowed[:-1]) + " or " + allowed[-1]
