"""What the client of a thread can be asked, and what it answers, in the machine's own words (ring 2).

A request has the name of what it does, never of a protocol's method; ring 3 knows how each is said and read.
"""

from typing import Literal, TypeAlias

import msgspec

from zidane_core.data.content import Part
from zidane_core.data.tools import Diff, Location, ToolKind

# Requests ------------------------------------------------------------------------------------------


class PermissionChoice(msgspec.Struct, frozen=True, gc=False):
    """An option of a permission question."""

    id: str
    name: str
    kind: Literal["allow_once", "allow_always", "reject_once", "reject_always"]


class AskPermission(msgspec.Struct, frozen=True, kw_only=True, gc=False, tag="ask_permission"):
    """Ask the user before a call runs; the card is repeated whole."""

    call: str
    name: str
    title: str
    kind: ToolKind
    raw_input: object
    locations: tuple[Location, ...] = ()
    diffs: tuple[Diff, ...] = ()
    choices: tuple[PermissionChoice, ...]


class ReadFile(msgspec.Struct, frozen=True, gc=False, tag="read_file"):
    """The whole text of a file as the editor has it, unsaved changes included. Answered by `FileText`."""

    path: str


class WriteFile(msgspec.Struct, frozen=True, gc=False, tag="write_file"):
    """Write a file through the editor. Answered by `Accepted`."""

    path: str
    content: str


class CreateTerminal(msgspec.Struct, frozen=True, kw_only=True, gc=False, tag="create_terminal"):
    """Start a command in a terminal of the client. Answered by `TerminalMade`, at once.

    `environment` is pairs of name and value on top of the client's own. Of the output the last `output_bytes` are
    kept. Withdrawn and made all the same, the terminal is released.
    """

    command: str
    arguments: tuple[str, ...]
    environment: tuple[tuple[str, str], ...]
    cwd: str
    output_bytes: int


class WaitForExit(msgspec.Struct, frozen=True, gc=False, tag="wait_for_exit"):
    """Wait until a terminal's command has ended. Answered by `Exited`."""

    terminal: str


class ReadTerminal(msgspec.Struct, frozen=True, gc=False, tag="read_terminal"):
    """What a terminal shows now. Answered by `TerminalText`."""

    terminal: str


class KillTerminal(msgspec.Struct, frozen=True, gc=False, tag="kill_terminal"):
    """End a terminal's command; the terminal stays. Answered by `Accepted`."""

    terminal: str


class ReleaseTerminal(msgspec.Struct, frozen=True, gc=False, tag="release_terminal"):
    """Give a terminal back; its name means nothing afterwards. Answered by `Accepted`."""

    terminal: str


class CallTool(msgspec.Struct, frozen=True, gc=False, tag="call_tool"):
    """Run a tool of the client. Answered by `ToolReplied`. Withdrawn, the client is told that nobody waits."""

    call: str
    name: str
    arguments: dict[str, object]


class AskForm(msgspec.Struct, frozen=True, gc=False, tag="ask_form"):
    """Have the user fill in a form: a flat JSON schema. Answered by `Filled`. `call` is the tool call it belongs to."""

    message: str
    schema: dict[str, object]
    call: str = ""


class AskPage(msgspec.Struct, frozen=True, gc=False, tag="ask_page"):
    """Have the user open a page. Answered by `Filled`, without content: that the user agreed to open it. `id` is
    unique among all pages of a connection. `call` is the tool call it belongs to, `ticket` the request of the client, for
    a page of no session."""

    message: str
    url: str
    id: str
    call: str = ""
    ticket: int = 0


PeerRequest: TypeAlias = (
    AskPermission
    | ReadFile
    | WriteFile
    | CreateTerminal
    | WaitForExit
    | ReadTerminal
    | KillTerminal
    | ReleaseTerminal
    | CallTool
    | AskForm
    | AskPage
)


class Abilities(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """What the client of a connection can be asked for, besides permission."""

    reads: bool = False
    writes: bool = False
    terminals: bool = False
    forms: bool = False
    pages: bool = False


# Answers -------------------------------------------------------------------------------------------


class Chose(msgspec.Struct, frozen=True, gc=False, tag="chose"):
    """The user picked an offered option."""

    option: str


class Dismissed(msgspec.Struct, frozen=True, gc=False, tag="dismissed"):
    """The question was cancelled by the user or the client."""


class Unanswerable(msgspec.Struct, frozen=True, gc=False, tag="unanswerable"):
    """The client failed to answer: it cannot do it, or said something that is no answer. `missing` says that it
    answered that there is no such thing."""

    reason: str
    missing: bool = False


class Unreadable(msgspec.Struct, frozen=True, gc=False, tag="unreadable"):
    """The client answered something that is no answer to this request."""


class FileText(msgspec.Struct, frozen=True, gc=False, tag="file_text"):
    """The text of a file in the editor."""

    text: str


class Accepted(msgspec.Struct, frozen=True, gc=False, tag="accepted"):
    """It is done; there is nothing to say."""


class TerminalMade(msgspec.Struct, frozen=True, gc=False, tag="terminal_made"):
    """The terminal is there."""

    terminal: str


class Exited(msgspec.Struct, frozen=True, gc=False, tag="exited"):
    """How a terminal's command ended: by an exit code or a signal; both None when the client does not know."""

    code: int | None = None
    signal: str | None = None


class TerminalText(msgspec.Struct, frozen=True, gc=False, tag="terminal_text"):
    """What a terminal shows, whether its beginning is missing, and how its command ended if it has."""

    text: str
    truncated: bool = False
    exited: Exited | None = None


class ToolReplied(msgspec.Struct, frozen=True, gc=False, tag="tool_replied"):
    """What a tool of the client gave."""

    parts: tuple[Part, ...]
    failed: bool = False


class Filled(msgspec.Struct, frozen=True, gc=False, tag="filled"):
    """What the user did with a form or page: `action` is accept, decline, cancel or a word unknown to us."""

    action: str
    content: dict[str, object] = {}


PeerAnswer: TypeAlias = (
    Chose
    | Dismissed
    | Unanswerable
    | Unreadable
    | FileText
    | Accepted
    | TerminalMade
    | Exited
    | TerminalText
    | ToolReplied
    | Filled
)
