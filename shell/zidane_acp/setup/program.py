"""How this program is started from elsewhere: an absolute command."""

import shutil
import sys
from collections.abc import Callable
from pathlib import Path

from zidane_acp.settings import SAFE_PYTHON

NAME = "zidane-acp"


def command(
    argv0: str = sys.argv[0],
    executable: str = sys.executable,
    which: Callable[[str], str | None] = shutil.which,
) -> tuple[str, ...]:
    """The installed console script by its absolute path, else the interpreter with the module.

    Links are kept as they are: `pipx` and `uv` put a stable link on the PATH whose target may move.
    """
    script = Path(argv0)
    if script.name in (NAME, NAME + ".exe") and script.is_absolute() and script.is_file():
        return (str(script),)
    beside = Path(executable).with_name(NAME)
    for candidate in (beside, beside.with_suffix(".exe")):
        if candidate.is_file():
            return (str(candidate),)
    found = which(NAME)
    if found is not None:
        return (str(Path(found).absolute()),)
    return (executable, *SAFE_PYTHON, "serve")
