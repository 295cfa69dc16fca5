"""What to do: the outputs of `step` (ring 2).

The shell performs `Start`, `Stop`, `Reply`, `Save`, `Journal`, `Release`, `Send`, `Log`
and `Exit`. The others are domain
effects that ring 3 turns into `Send` before the shell sees them.
"""

from typing import Literal, TypeAlias

import msgspec

from zidane_core.agent.events import Key
from zidane_core.agent.peer import PeerRequest
from zidane_core.agent.work import What
from zidane_core.data.content import Part, Severity
from zidane_core.data.outcome import StopReason, Usage
from zidane_core.data.stored import Place
from zidane_core.data.tools import Diff, Location, PlanEntry, Terminal, ToolKind
from zidane_core.faults import Fault

# Effects for the shell -----------------------------------------------------------------------------


class Start(msgspec.Struct, frozen=True, gc=False, tag="start"):
    """Start a job; exactly one `Ended` with this key follows."""

    key: Key
    what: What


class Stop(msgspec.Struct, frozen=True, gc=False, tag="stop"):
    """Stop a job; its `Ended` still comes. An unknown or ended key is ignored."""

    key: Key


class Reply(msgspec.Struct, frozen=True, gc=False, tag="reply"):
    """Answer an `Asked`; with `more` further answers follow. Dropped when the job is gone."""

    key: Key
    ask: int
    answer: str
    more: bool = False


class Save(msgspec.Struct, frozen=True, kw_only=True, gc=False, tag="save"):
    """Append entries (JSON texts) to a stored session if it still has as many as expected.

    One transaction: the entries, the session's row (`cwd`, `updated` in seconds since 1970, `head` as JSON text), the
    lease, and the journal of the messages in `clears`, which are entries now. With `take`, the journal must also
    still have `journal` characters in all. A session that is not stored yet is made by a save that expects 0 entries; it
    may have none, which gives the session its row only.
    """

    key: Key
    session: str
    expected_seq: int
    entries: tuple[str, ...]
    lease: Literal["take", "keep", "drop"] = "keep"
    clears: tuple[str, ...] = ()
    journal: int = 0
    cwd: str
    updated: float
    head: str


class Journal(msgspec.Struct, frozen=True, gc=False, tag="journal"):
    """Overwrite one row of a message that is being streamed (`body` is JSON text); unanswered, and dropped where the
    lease is not ours. The save that has the finished message clears it."""

    session: str
    message: str
    part: int
    body: str


class Release(msgspec.Struct, frozen=True, gc=False, tag="release"):
    """Give back the lease of a session, if it is ours; unanswered, and tried again until it is done."""

    session: str


class Send(msgspec.Struct, frozen=True, gc=False, tag="send"):
    """Enqueue one frame, without its line end or header."""

    frame: bytes


class Log(msgspec.Struct, frozen=True, gc=False, tag="log"):
    """Write one line to the log; never a key, a token or the text of a message."""

    level: Literal["debug", "info", "warning", "error"]
    text: str


class Exit(msgspec.Struct, frozen=True, gc=False, tag="exit"):
    """End the process or connection with this exit code, after all frames are out."""

    code: int


# Domain effects, spoken by ring 3 ------------------------------------------------------------------


class Chunk(msgspec.Struct, frozen=True, gc=False, tag="chunk"):
    """A piece of a message: the hot path of a turn. A bare thread (no `outlet`) says nothing to the client."""

    thread: str
    kind: Literal["user", "agent", "thought"]
    message: str
    text: str
    outlet: bool = True


class ContentShown(msgspec.Struct, frozen=True, gc=False, tag="content_shown"):
    """A piece of a message that is more than text."""

    kind: Literal["user", "agent", "thought"]
    message: str
    part: Part


CardStatus: TypeAlias = Literal["pending", "in_progress", "completed", "failed"]


class CardOpened(msgspec.Struct, frozen=True, kw_only=True, gc=False, tag="card_opened"):
    """A tool call is announced."""

    call: str
    name: str
    title: str
    kind: ToolKind
    raw_input: object
    locations: tuple[Location, ...] = ()
    diffs: tuple[Diff, ...] = ()


class CardChanged(msgspec.Struct, frozen=True, kw_only=True, gc=False, tag="card_changed"):
    """A tool call went on; None leaves a field as it was, a given collection replaces the old one."""

    call: str
    status: CardStatus | None = None
    title: str | None = None
    content: tuple[Part | Diff | Terminal, ...] | None = None
    locations: tuple[Location, ...] | None = None
    raw_output: dict[str, object] | None = None


class PlanShown(msgspec.Struct, frozen=True, gc=False, tag="plan_shown"):
    """The whole plan."""

    entries: tuple[PlanEntry, ...]


class NoticeShown(msgspec.Struct, frozen=True, gc=False, tag="notice_shown"):
    """Something the user should know; `message` is the id it gets when it is shown as a message."""

    message: str
    severity: Severity
    text: str
    kind: str = ""


class UsageShown(msgspec.Struct, frozen=True, gc=False, tag="usage_shown"):
    """Tokens in context, the window's size, and the cost so far in US dollars if known."""

    used: int
    size: int
    cost: float | None = None


class OptionsShown(msgspec.Struct, frozen=True, gc=False, tag="options_shown"):
    """The options of the thread changed by the agent itself."""


class ModeShown(msgspec.Struct, frozen=True, gc=False, tag="mode_shown"):
    """The mode changed."""

    mode: str


class CommandsShown(msgspec.Struct, frozen=True, gc=False, tag="commands_shown"):
    """The slash commands, each (name, description, hint or empty)."""

    commands: tuple[tuple[str, str, str], ...]


class TitleShown(msgspec.Struct, frozen=True, gc=False, tag="title_shown"):
    """The session's title."""

    title: str


class CompactionShown(msgspec.Struct, frozen=True, gc=False, tag="compaction_shown"):
    """The conversation is being shortened for the model, or was: `summary` comes with `completed`, `error` with `failed`.
    `id` names the compaction, and is a message id of its own."""

    id: str
    status: Literal["in_progress", "completed", "failed", "cancelled"]
    summary: str = ""
    error: str = ""


Shown: TypeAlias = (
    ContentShown
    | CardOpened
    | CardChanged
    | PlanShown
    | NoticeShown
    | UsageShown
    | OptionsShown
    | ModeShown
    | CommandsShown
    | TitleShown
    | CompactionShown
)


class Tell(msgspec.Struct, frozen=True, gc=False, tag="tell"):
    """Show the client of a thread something."""

    thread: str
    shown: Shown


class TurnAnswer(msgspec.Struct, frozen=True, gc=False, tag="turn_answer"):
    """How a prompt ended, with the sums of its tokens."""

    stop: StopReason
    usage: Usage = Usage()


class ThreadAnswer(msgspec.Struct, frozen=True, gc=False, tag="thread_answer"):
    """A thread was opened."""

    thread: str


class ReopenAnswer(msgspec.Struct, frozen=True, gc=False, tag="reopen_answer"):
    """A stored thread is open again; what was to be replayed has been."""

    thread: str


class ListedThread(msgspec.Struct, frozen=True, gc=False):
    """A thread in the list. `title` is empty when there is none yet, `updated` in seconds since 1970."""

    thread: str
    cwd: str
    roots: tuple[str, ...]
    title: str
    updated: float


class ListAnswer(msgspec.Struct, frozen=True, gc=False, tag="list_answer"):
    """A page of the list; `after` is where the next one begins, None when this is the last one."""

    threads: tuple[ListedThread, ...]
    after: Place | None = None


class OptionsAnswer(msgspec.Struct, frozen=True, gc=False, tag="options_answer"):
    """An option was set; the answer is the complete list."""

    thread: str


class EmptyAnswer(msgspec.Struct, frozen=True, gc=False, tag="empty_answer"):
    """Done, nothing to say."""


AnswerValue: TypeAlias = (
    TurnAnswer | ThreadAnswer | ReopenAnswer | ListAnswer | OptionsAnswer | EmptyAnswer | Fault
)


class Answer(msgspec.Struct, frozen=True, gc=False, tag="answer"):
    """Answer the request behind a ticket; exactly one for each ticket."""

    ticket: int
    value: AnswerValue


class AskPeer(msgspec.Struct, frozen=True, gc=False, tag="ask_peer"):
    """Ask the client; exactly one `Answered` follows unless it is dropped."""

    key: Key
    thread: str
    request: PeerRequest
    trace: str = ""


class DropPeer(msgspec.Struct, frozen=True, gc=False, tag="drop_peer"):
    """Withdraw a question; the client is told by `$/cancel_request`."""

    key: Key


class ClosePage(msgspec.Struct, frozen=True, gc=False, tag="close_page"):
    """What the user opened a page for is done; `id` is that of its `AskPage`."""

    id: str


Effect: TypeAlias = (
    Start
    | Stop
    | Reply
    | Save
    | Journal
    | Release
    | Send
    | Log
    | Exit
    | Chunk
    | Tell
    | Answer
    | AskPeer
    | DropPeer
    | ClosePage
)
