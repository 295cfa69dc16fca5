"""Results of tools, and the one exception by which an executor says no."""

from zidane_core.data.content import Text
from zidane_core.data.tools import ToolResult


class Refused(Exception):
    """The call cannot be done; the message is a sentence for the model. `LocalTools` makes it a failed result."""


def said(text: str, *, failed: bool = False, raw: dict[str, object] | None = None) -> ToolResult:
    """A result of one text."""
    return ToolResult(content=(Text(text),), failed=failed, raw=raw)


def why(error: OSError, shown: str) -> str:
    """A failure of the file system as a sentence about the path `shown`."""
    if isinstance(error, FileNotFoundError):
        return f"There is no file or folder {shown}."
    if isinstance(error, PermissionError):
        return f"Permission denied: {shown}."
    if isinstance(error, NotADirectoryError):
        return f"A part of the path {shown} is not a folder."
    return f"{shown}: {error.strerror or error}."
