"""Plays the tour: the script's answers, the real agent, its real tools, and a real question."""

import re
import shlex
import shutil
import sys
import tempfile
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from typing import Final

import anyio
import msgspec

from zidane_acp.settings import SAFE_PYTHON, PermissionPolicy, Settings, as_arguments

PROMPT: Final = "The total is wrong when there is a discount. Please fix it and run the tests."
SUFFIX: Final = ".txt"
"""The project's files carry it in the package, so that nothing takes them for code of ours."""
PAUSE: Final = re.compile(r'"delay_ms": \d+,\s*')
KEYSTROKE: Final = 0.03
AFTER: Final = """This was a tour: the words were scripted, but the search, the edit and the
test run were real, in a copy that is gone now. To work on your own files:

    export ANTHROPIC_API_KEY=...   or another provider's key, or use Ollama
    zidane-acp chat                in the folder of your project
    zidane-acp setup zed           for an editor; also jetbrains, neovim, ...
    zidane-acp doctor              shows what was found on this machine"""


class Typed:
    """Types the tour's prompt by itself, once."""

    def __init__(self, write: Callable[[str], object]) -> None:
        self._write = write
        self._done = False

    async def read(self, typed: str = "") -> str | None:
        if self._done:
            return None
        self._done = True
        self._write("› ")
        for character in PROMPT:
            self._write(character)
            await anyio.sleep(KEYSTROKE)
        self._write("\n")
        return PROMPT

    def leave(self) -> None:
        """Nothing waits here."""


def run_tour(terminal: bool) -> int:
    """Play it and give the exit code. Without a terminal nobody can be asked, so everything is allowed."""
    from zidane_acp.chat.command import started_in

    with tempfile.TemporaryDirectory(prefix="zidane-acp-tour-") as folder:
        project, script = lay_out(Path(folder).resolve(), _python(), terminal)
        return started_in(_tour(project, script, terminal))


def lay_out(folder: Path, python: str, paced: bool) -> tuple[Path, Path]:
    """The project's copy and the script in `folder`; the pauses are for somebody who watches."""
    project = folder / "basket"
    project.mkdir()
    for file in files("zidane_acp.demo").joinpath("project").iterdir():
        if file.name.endswith(SUFFIX):
            (project / file.name.removesuffix(SUFFIX)).write_bytes(file.read_bytes())
    script = folder / "script.json"
    text = files("zidane_acp.demo").joinpath("script.json").read_text(encoding="utf-8")
    quoted = msgspec.json.encode(python).decode()[1:-1]
    text = text.replace("{python} -m", f"{quoted} -m")
    script.write_text(text if paced else PAUSE.sub("", text), encoding="utf-8")
    return project, script


def _python() -> str:
    # The short name reads better on the card; it is only used where it is there.
    return next((name for name in ("python3", "python") if shutil.which(name)), shlex.quote(sys.executable))


async def _tour(project: Path, script: Path, terminal: bool) -> int:
    from zidane_acp.chat.link import Launch
    from zidane_acp.chat.policy import decider

    policy: PermissionPolicy = "ask" if terminal else "allow-all"
    # A home of its own, which goes with the folder: a tour is no session to go on with.
    home = str(project.parent / "home")
    settings = Settings(provider="replay", script=str(script), permission=policy, home=home)
    command = (sys.executable, *SAFE_PYTHON, "serve", *as_arguments(settings))
    launch = Launch(command, True, str(project), kept=False)
    if not terminal:
        from zidane_acp.chat.headless import OnePrompt
        from zidane_acp.chat.plain import PlainView

        return await OnePrompt(launch, PlainView(), decider(policy, own=True, can_ask=False)).run(PROMPT)
    from rich.console import Console

    from zidane_acp.chat.interactive import Conversation
    from zidane_acp.chat.keyboard import Keyboard
    from zidane_acp.chat.screen import Screen

    console = Console(highlight=False)
    keyboard = Keyboard()
    screen = Screen(console, keyboard, launch.cwd)
    prompts = Typed(lambda text: console.print(text, end="", markup=False))
    code = await Conversation(
        launch, screen, keyboard, prompts, decider(policy, own=True, can_ask=True)
    ).run()
    if code == 0:
        screen.tell(AFTER)
    return code
