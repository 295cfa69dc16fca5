"""Where a session works: the platform, the date, the state of its repository; all within a moment."""

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from datetime import datetime
from typing import Final

import anyio
import anyio.abc
import anyio.to_thread

from zidane_acp.project.roots import home, repository_of
from zidane_acp.tools.harmless import is_harmless
from zidane_acp.tools.processes import started
from zidane_acp.tools.repository import hardened
from zidane_core.convert.repository_state import repository_state
from zidane_core.data.project import Surroundings
from zidane_core.models.providers import HIDDEN_VARIABLES

WITHIN: Final = 1.5
"""Seconds for all of it; what is not known by then is left out."""

GRACE: Final = 0.3
"""Seconds that an ended command has to be gone."""

ROOM: Final = 1024 * 1024
"""Bytes that git may say."""

SUBJECT: Final = (
    "git",
    "--no-optional-locks",
    "log",
    "-1",
    "--no-show-signature",
    "--no-color",
    "--format=%s",
)
STATUS: Final = ("git", "--no-optional-locks", "status", "--porcelain=v2", "--branch")


async def look_around(cwd: str, environment: Mapping[str, str] = os.environ) -> Surroundings:
    """What can be said of the place. Never raises for what is there."""
    said: dict[tuple[str, ...], str] = {}
    with anyio.move_on_after(WITHIN), contextlib.suppress(OSError):
        folder = await anyio.to_thread.run_sync(_repository, cwd, environment, abandon_on_cancel=True)
        if folder is not None:
            for command in (SUBJECT, STATUS):
                said[command] = await _said(command, folder, _shared(environment))
    return Surroundings(
        platform=platform(),
        date=datetime.now().astimezone().date().isoformat(),
        repository=repository_state(said.get(STATUS, ""), said.get(SUBJECT, "")),
    )


def platform() -> str:
    """The system, its release, and what runs commands."""
    if sys.platform == "win32":
        version = sys.getwindowsversion()
        return f"Windows {version.major}.{version.minor}.{version.build}; commands run in cmd.exe"
    found = os.uname()
    name = "macOS (Darwin" if found.sysname == "Darwin" else found.sysname
    closing = ")" if found.sysname == "Darwin" else ""
    return f"{name} {found.release}{closing}; commands run in /bin/sh"


def _repository(cwd: str, environment: Mapping[str, str]) -> str | None:
    """The real folder, if git can be asked there without running anything of the repository's own."""
    folder = os.path.realpath(cwd)
    around = repository_of(folder, home())
    if around is None or not is_harmless("git status", folder, (around,), environment):
        return None
    return folder


def _shared(environment: Mapping[str, str]) -> dict[str, str]:
    return hardened({name: value for name, value in environment.items() if name not in HIDDEN_VARIABLES})


async def _said(command: tuple[str, ...], folder: str, environment: Mapping[str, str]) -> str:
    """What a command says, '' when it fails; ended when it is late."""
    process = await started(command, folder, environment, errors=subprocess.DEVNULL)
    said = b""
    try:
        if process.stdout is not None:
            async for piece in process.stdout:
                said += piece
                if len(said) > ROOM:
                    return ""
        return "" if await process.wait() else said.decode("utf-8", "replace")
    finally:
        await _end(process)


async def _end(process: anyio.abc.Process) -> None:
    """The command and what it has started are gone, or nobody waits for them any more."""
    with anyio.CancelScope(shield=True), anyio.move_on_after(GRACE):
        with contextlib.suppress(OSError):
            if sys.platform == "win32":
                process.kill()
            else:
                os.killpg(process.pid, signal.SIGKILL)
        await process.aclose()
