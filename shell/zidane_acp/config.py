"""The user's file of settings that are too large for flags: the MCP servers that every session gets.

What is wrong in it is a warning; the rest of it holds. A file that is not there costs one look.
"""

import os
import stat
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

import msgspec

from zidane_core.convert.visible import clip, line
from zidane_core.data.mcp import McpServerConfig
from zidane_core.text import is_object

if TYPE_CHECKING:
    from zidane_acp.settings import Settings

NAME: Final = "config.toml"
LONGEST: Final = 1024 * 1024
"""Bytes of the file."""

WIDTH: Final = 200
"""Characters of a name or a path in a warning."""

OVER_HTTP: Final = frozenset({"url", "transport", "headers"})
AS_PROCESS: Final = frozenset({"command", "args", "env"})


class Config(msgspec.Struct, frozen=True, gc=False):
    """What the file says. Each warning is one sentence that names the file and the key, and never a value."""

    mcp_servers: tuple[McpServerConfig, ...] = ()
    require_login: bool = False
    warnings: tuple[str, ...] = ()


class McpTable(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A table `[mcp.NAME]`."""

    command: str = ""
    args: tuple[str, ...] = ()
    env: dict[str, str] = {}
    url: str = ""
    transport: Literal["streamable-http", "sse"] = "streamable-http"
    headers: dict[str, str] = {}
    enabled: bool = True


def config_path(settings: "Settings", env: Mapping[str, str] = os.environ) -> Path:
    """The file: `--config`, else `config.toml` in `--home`, else in the platform's folder of settings."""
    if settings.config is not None:
        return Path(settings.config)
    if settings.home is not None:
        return Path(settings.home, NAME)
    if sys.platform in ("win32", "darwin"):
        from platformdirs import user_config_path

        return user_config_path("zidane-acp", appauthor=False) / NAME
    # What platformdirs gives here; to import it takes longer than all the rest of this.
    base = env.get("XDG_CONFIG_HOME", "").strip() or os.path.expanduser("~/.config")
    return Path(base, "zidane-acp", NAME)


def read_config(settings: "Settings") -> Config:
    """What the user's file says; nothing when there is none. A file that was asked for must be there."""
    path = config_path(settings)
    shown = _shown(str(path))
    try:
        data = _bytes_of(path)
    except FileNotFoundError:
        asked = settings.config is not None
        return Config(warnings=(f"There is no config file {shown}; nothing was read.",) if asked else ())
    except OSError as error:
        return Config(warnings=(f"The config file {shown} cannot be read: {error.strerror}.",))
    except ValueError as error:
        return Config(warnings=(f"The config file {shown} cannot be read: {error}.",))
    return config_of(data, str(path))


def _bytes_of(path: Path) -> bytes:
    """The bytes of a regular file. Raises OSError, and ValueError with the reason."""
    if "\0" in str(path):
        raise ValueError("its name holds a zero byte")
    # Looked at before it is opened, since to open a device may do something; it may become one until then.
    _check(os.stat(path))
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    with open(os.open(path, flags), "rb") as file:
        _check(os.fstat(file.fileno()))
        data = file.read(LONGEST + 1)
    if len(data) > LONGEST:
        raise ValueError(f"it has more than {LONGEST // 1024**2} MiB")
    return data


def _check(found: os.stat_result) -> None:
    if not stat.S_ISREG(found.st_mode):
        raise ValueError("it is no regular file")


def config_of(data: bytes, file: str) -> Config:
    """What the bytes of a file say."""
    import tomllib

    file = _shown(file)
    try:
        whole: dict[str, object] = tomllib.loads(data.decode("utf-8-sig"))
    except UnicodeDecodeError:
        return Config(warnings=(f"The config file {file} is not UTF-8; nothing of it is used.",))
    except tomllib.TOMLDecodeError as error:
        # Only the place: the text may quote what stands there.
        place = str(error).rpartition("(")[2].rstrip(")")
        return Config(warnings=(f"The config file {file} is no TOML ({place}); nothing of it is used.",))
    except (ValueError, RecursionError):
        # What Python itself refuses: a number with thousands of digits, arrays in arrays without end.
        text = f"The config file {file} holds a number or nesting too large to read; nothing of it is used."
        return Config(warnings=(text,))
    warnings = [_unknown(file, key) for key in whole if key not in ("mcp", "require_login")]
    required = whole.get("require_login", False)
    if not isinstance(required, bool):
        warnings.append(f"{file}: require_login must be true or false; it counts as true.")
    tables = whole.get("mcp", {})
    if not is_object(tables):
        return Config(
            warnings=(*warnings, f"{file}: mcp must be a table such as [mcp.files]; it is not used.")
        )
    found = [_server(file, name, table, warnings.append) for name, table in tables.items()]
    servers = tuple(server for server in found if server is not None)
    return Config(servers, required is not False, tuple(warnings))


def _unknown(file: str, key: str) -> str:
    return f"{file}: there is no setting {_shown(key)}; it is not used."


def _shown(text: str) -> str:
    """A name that stands in the file, on one line of the log."""
    return clip(line(text), WIDTH)


def _server(file: str, name: str, table: object, warn: Callable[[str], None]) -> McpServerConfig | None:
    where = f"mcp.{_shown(name)}"
    if not is_object(table):
        warn(f"{file}: {where} must be a table; it is not used.")
        return None
    known = McpTable.__struct_fields__
    for key in table:
        if key not in known:
            warn(_unknown(file, f"{where}.{key}"))
    try:
        read = msgspec.convert({key: value for key, value in table.items() if key in known}, McpTable)
    except msgspec.ValidationError as error:
        warn(f"{file}: {_place(where, str(error))}; the server is not used.")
        return None
    if not read.enabled:
        return None
    if bool(read.command) == bool(read.url):
        warn(f"{file}: {where} needs either command or url; the server is not used.")
        return None
    for key in sorted((OVER_HTTP if read.command else AS_PROCESS) & table.keys()):
        warn(f"{file}: {where}.{key} has no meaning beside {'command' if read.command else 'url'}.")
    if read.command:
        env = tuple(read.env.items())
        return McpServerConfig(name=name, transport="stdio", command=read.command, args=read.args, env=env)
    return McpServerConfig(
        name=name, transport=read.transport, url=read.url, headers=tuple(read.headers.items())
    )


def _place(where: str, problem: str) -> str:
    """What msgspec says of a value, with our name of its place and without the value."""
    said, _, path = problem.partition(" - at `$")
    keys = path.rstrip("`")
    if said.startswith("Invalid enum value"):
        return f"{where}{keys} must be streamable-http or sse"
    return f"{where}{keys}: {said[:1].lower()}{said[1:]}".replace("`", "")
