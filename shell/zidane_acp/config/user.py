"""The user's file: what it says, and what is wrong with it. Nothing in it is ever fatal for a session."""

from collections.abc import Mapping

import msgspec

from zidane_acp.config.place import bytes_of, config_path
from zidane_acp.config.places import Path
from zidane_acp.config.reading import UNUSED, Problem, parsed, read_record, shown, told
from zidane_acp.config.records import McpTable, UserFile
from zidane_acp.settings import Settings, Value
from zidane_core.data.mcp import McpServerConfig


class Config(msgspec.Struct, frozen=True, gc=False):
    """What the file says: its tables as far as they can be used, and the MCP servers that it names.

    Each warning is one sentence that names the file, the line and the key, and never a value. `file` is '' when there is none.
    """

    user: UserFile = UserFile()
    mcp_servers: tuple[McpServerConfig, ...] = ()
    warnings: tuple[str, ...] = ()
    file: str = ""

    @property
    def require_login(self) -> bool:
        """Whether a session needs the key of a model."""
        return self.user.require_login

    @property
    def settings(self) -> Mapping[str, Value]:
        """What the file says in place of flags, by the field of the settings."""
        user, rules = self.user, self.user.permissions
        values: dict[str, Value | None] = {
            "provider": user.provider,
            "mode": user.mode,
            "thinking": user.thinking,
            "max_rounds": user.max_rounds,
            "mcp_wait": user.mcp_wait,
            "sequential_tools": user.sequential_tools,
            "plain_titles": user.plain_titles,
            "allow_private_fetch": user.allow_private_fetch,
            "log_level": user.log_level,
            "log_file": user.log_file,
            "max_frame": user.max_frame,
            "permission": rules.policy,
            "trust_read_only": rules.trust_read_only,
        }
        return {field: value for field, value in values.items() if value is not None}


def read_config(settings: Settings) -> Config:
    """What the user's file says; nothing when there is none. A file that was asked for must be there."""
    path = config_path(settings)
    name = shown(str(path))
    try:
        data = bytes_of(path)
    except FileNotFoundError:
        asked = settings.config is not None
        return Config(warnings=(f"There is no config file {name}; nothing was read.",) if asked else ())
    except OSError as error:
        return Config(warnings=(f"The config file {name} cannot be read: {error.strerror}.",))
    except ValueError as error:
        return Config(warnings=(f"The config file {name} cannot be read: {error}.",))
    return config_of(data, str(path))


def config_of(data: bytes, file: str) -> Config:
    """What the bytes of a file say."""
    return examined(data, file)[0]


def examined(data: bytes, file: str) -> tuple[Config, tuple[Problem, ...]]:
    """What the bytes of a file say, and what is wrong with its keys."""
    file = shown(file)
    found = parsed(data, f"The config file {file}")
    if isinstance(found, str):
        return Config(warnings=(found,), file=file), ()
    whole, text = found
    problems: list[Problem] = []

    def note(path: Path, problem: str) -> None:
        problems.append(Problem(path, problem))

    user = read_record(UserFile, whole, note) or UserFile()
    if user.agents:
        note(("agents",), f"agents is kept for a later release; {UNUSED}.")
    servers = tuple(_server(name, table) for name, table in user.mcp.items() if table.enabled)
    return Config(user, servers, told(problems, text, file), file), tuple(problems)


def _server(name: str, table: McpTable) -> McpServerConfig:
    if table.command:
        env = tuple(table.env.items())
        return McpServerConfig(name=name, transport="stdio", command=table.command, args=table.args, env=env)
    headers = tuple(table.headers.items())
    return McpServerConfig(name=name, transport=table.transport, url=table.url, headers=headers)
