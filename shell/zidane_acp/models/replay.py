"""The replay model: plays a script of turns from a JSON file."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Final

from returns.result import Failure, Result

from zidane_acp.models.offline import paced
from zidane_core.data.models import Broke, ModelEvent, ModelRequest
from zidane_core.faults import ErrorCode, Fault
from zidane_core.models.pacing import Paced
from zidane_core.models.script import Script, read_script, script_steps

_NO_SCRIPT: Final = Script(())


class ReplayModel:
    """A scripted model (`ports.Model`): the N-th request of all sessions together takes the N-th turn.

    The file is read once, here. `fault` is what is wrong with it, or None; a program can refuse to start with
    it, and every request answers it.
    """

    def __init__(self, path: str | Path) -> None:
        read = _read(Path(path))
        self._script = read.value_or(_NO_SCRIPT)
        self.fault: Final[Fault | None] = read.swap().value_or(None)
        self._requests = 0

    async def stream(self, request: ModelRequest, session: str) -> AsyncIterator[tuple[ModelEvent, ...]]:
        """The next turn of the script."""
        index = self._requests
        self._requests += 1
        steps = script_steps(self._script, index) if self.fault is None else (Paced((Broke(self.fault),)),)
        async for batch in paced(steps):
            yield batch

    async def aclose(self) -> None:
        """Nothing to close."""


def _read(path: Path) -> Result[Script, Fault]:
    try:
        data = path.read_bytes()
    except OSError as error:
        reason = error.strerror or type(error).__name__
        return Failure(
            Fault(
                ErrorCode.INVALID_PARAMS,
                f"The replay script {path} cannot be read ({reason}). Give an existing file with --script.",
                {"field": "script"},
            )
        )
    return read_script(data)
