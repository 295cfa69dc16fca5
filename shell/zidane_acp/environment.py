"""The environment of child processes, where this process got less than the user's shell would have given it.

An editor that was started from a dock hands on a PATH with the system's folders and nothing else. What the login shell
knows comes under what is there: nothing of the user's is replaced.
"""

import os
import sys
from collections.abc import Awaitable, Callable, Mapping
from typing import Final, TypeAlias

Environment: TypeAlias = Callable[[], Awaitable[Mapping[str, str]]]
"""What child processes get, the variables included that no child may see."""

SYSTEM: Final = frozenset(
    (
        *("/usr/bin", "/bin", "/usr/sbin", "/sbin", "/usr/local/bin", "/usr/local/sbin"),
        *("/usr/games", "/usr/local/games", "/snap/bin"),
    )
)
SHELLS: Final = frozenset({"sh", "bash", "zsh", "fish", "dash", "ksh"})
OWN: Final = frozenset({"HOME", "PWD", "OLDPWD", "SHLVL", "_", "TERM"})
"""Variables that say where this process is, or what the shell is doing; they are not taken over."""


async def inherited() -> Mapping[str, str]:
    """The environment of this process."""
    return os.environ


def is_bare(env: Mapping[str, str], platform: str = sys.platform) -> bool:
    """Whether the environment looks as if no shell had made it: no terminal, and a PATH of the system's folders."""
    if platform == "win32" or env.get("TERM", "dumb") not in ("", "dumb"):
        return False
    return all(folder.rstrip("/") in SYSTEM for folder in env.get("PATH", "").split(":") if folder)


def joined(env: Mapping[str, str], asked: Mapping[str, str]) -> dict[str, str]:
    """The environment with what the login shell has beside it; the folders of its PATH come behind those of ours."""
    taken = {name: value for name, value in asked.items() if name not in OWN and name.isidentifier()}
    own = env.get("PATH", "")
    there = own.split(":")
    more = [path for path in asked.get("PATH", "").split(":") if path.startswith("/") and path not in there]
    return {**taken, **env, "PATH": ":".join((*([own] if own else []), *more))}


def shell_of(env: Mapping[str, str]) -> str | None:
    """The user's login shell: SHELL, else what the system knows of the user; only of a kind that is known."""
    return next((path for path in (env.get("SHELL", ""), _registered()) if _is_shell(path)), None)


def _is_shell(path: str) -> bool:
    return os.path.isabs(path) and os.path.basename(path) in SHELLS and os.access(path, os.X_OK)


def _registered() -> str:
    import pwd

    try:
        return pwd.getpwuid(os.getuid()).pw_shell
    except KeyError:
        return ""
