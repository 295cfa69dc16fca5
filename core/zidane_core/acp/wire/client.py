"""Files and terminals of the client (spec: file system, terminals). Paths are absolute, lines 1-based."""

from zidane_core.acp.wire.record import SessionId, Wire
from zidane_core.acp.wire.session import EnvVariable


class ReadTextFileRequest(Wire, frozen=True, kw_only=True, gc=False):
    """Params of `fs/read_text_file`; `limit` counts lines."""

    session_id: SessionId
    path: str
    line: int | None = None
    limit: int | None = None


class ReadTextFileResponse(Wire, frozen=True, kw_only=True, gc=False):
    """Result of `fs/read_text_file`; unsaved changes of the editor included."""

    content: str


class WriteTextFileRequest(Wire, frozen=True, kw_only=True, gc=False):
    """Params of `fs/write_text_file`; the client makes the file if there is none."""

    session_id: SessionId
    path: str
    content: str


class WriteTextFileResponse(Wire, frozen=True, kw_only=True, gc=False):
    """Result of `fs/write_text_file`."""


class CreateTerminalRequest(Wire, frozen=True, kw_only=True, gc=False):
    """Params of `terminal/create`; output beyond `output_byte_limit` is cut at its front."""

    session_id: SessionId
    command: str
    args: tuple[str, ...] = ()
    env: tuple[EnvVariable, ...] = ()
    cwd: str | None = None
    output_byte_limit: int | None = None


class CreateTerminalResponse(Wire, frozen=True, kw_only=True, gc=False):
    """Result of `terminal/create`; comes at once."""

    terminal_id: str


class TerminalOutputRequest(Wire, frozen=True, kw_only=True, gc=False):
    """Params of `terminal/output`."""

    session_id: SessionId
    terminal_id: str


class TerminalExitStatus(Wire, frozen=True, kw_only=True, gc=False):
    """How a command ended: by an exit code or a signal."""

    exit_code: int | None = None
    signal: str | None = None


class TerminalOutputResponse(Wire, frozen=True, kw_only=True, gc=False):
    """Result of `terminal/output`; without a status the command still runs."""

    output: str
    truncated: bool
    exit_status: TerminalExitStatus | None = None


class WaitForTerminalExitRequest(Wire, frozen=True, kw_only=True, gc=False):
    """Params of `terminal/wait_for_exit`."""

    session_id: SessionId
    terminal_id: str


class WaitForTerminalExitResponse(Wire, frozen=True, kw_only=True, gc=False):
    """Result of `terminal/wait_for_exit`."""

    exit_code: int | None = None
    signal: str | None = None


class KillTerminalRequest(Wire, frozen=True, kw_only=True, gc=False):
    """Params of `terminal/kill`; the id stays valid."""

    session_id: SessionId
    terminal_id: str


class KillTerminalResponse(Wire, frozen=True, kw_only=True, gc=False):
    """Result of `terminal/kill`."""


class ReleaseTerminalRequest(Wire, frozen=True, kw_only=True, gc=False):
    """Params of `terminal/release`; the id is dead afterwards."""

    session_id: SessionId
    terminal_id: str


class ReleaseTerminalResponse(Wire, frozen=True, kw_only=True, gc=False):
    """Result of `terminal/release`."""
