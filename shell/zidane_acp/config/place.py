"""Where the user's file is, and its bytes. A file that is not there costs one look."""

import os
import stat
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from zidane_acp.settings import Settings

NAME: Final = "config.toml"
LONGEST: Final = 1024 * 1024
"""Bytes of the file."""


def config_path(settings: Settings, env: Mapping[str, str] = os.environ) -> Path:
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


def bytes_of(path: Path) -> bytes:
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
