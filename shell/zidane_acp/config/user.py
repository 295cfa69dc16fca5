"""What the user's file says. What reads a file is loaded only where there is one: the start of the agent is waited for."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import msgspec

from zidane_acp.config.place import bytes_of, config_path
from zidane_acp.settings import Settings, Value
from zidane_core.data.mcp import McpServerConfig
from zidane_core.data.rules import Denials
from zidane_core.models.picking import ConfiguredModel
from zidane_core.models.providers import PROVIDERS, Provider

if TYPE_CHECKING:
    from zidane_acp.config.records import UserFile


class Config(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """What the file says, in the words of what it is for.

    `settings` stand in place of flags, by the field of `Settings`. `rows` are all providers, with what the file changes and
    adds; `named` are those that it names, `off` those that it takes away. `headers` are by provider: names with the
    variables of their values, `hidden` all variables that hold secrets. `user` is the file as it is written, None where there is none;
    then `file` is ''. Each warning is one sentence that names the file, the line and the key, and never a value.
    """

    file: str = ""
    user: "UserFile | None" = None
    warnings: tuple[str, ...] = ()
    settings: Mapping[str, Value] = {}
    rows: Mapping[str, Provider] = PROVIDERS
    named: tuple[str, ...] = ()
    off: tuple[str, ...] = ()
    headers: Mapping[str, Mapping[str, str]] = {}
    hidden: tuple[str, ...] = ()
    models: tuple[ConfiguredModel, ...] = ()
    default_model: str = ""
    denials: Denials = Denials()
    read_only_commands: bool = True
    require_login: bool = False
    mcp_servers: tuple[McpServerConfig, ...] = ()


def read_config(settings: Settings) -> Config:
    """What the user's file says; nothing when there is none. A file that was asked for must be there."""
    path = config_path(settings)
    try:
        data = bytes_of(path)
    except FileNotFoundError:
        asked = settings.config is not None
        return _not_read(f"There is no config file {path}; nothing was read.") if asked else Config()
    except OSError as error:
        return _not_read(f"The config file {path} cannot be read: {error.strerror}.")
    except ValueError as error:
        return _not_read(f"The config file {path} cannot be read: {error}.")
    from zidane_acp.config.file import config_of

    return config_of(data, str(path))


def _not_read(problem: str) -> Config:
    from zidane_core.convert.visible import line

    return Config(warnings=(line(problem),))
