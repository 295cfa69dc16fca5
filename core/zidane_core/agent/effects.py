"""What to do: the outputs of `step` (ring 2).

The shell performs `Start`, `Stop`, `Reply`, `Save`, `Journal`, `Send`, `Log`
and `Exit`. The others are domain
effects that ring 3 turns into `Send` before the shell sees them.
"""

from typing import Literal, TypeAlias

import msgspec

from zidane_core.agent.events import Key
from zidane_core.data.content import Part, Severity
from zidane_core.data.models import ModelRequest
from zidane_core.data.outcome import StopReason, Usage
from zidane_core.data.tools import Diff, Location, PlanEntry, Preview, ToolKind
from zidane_core.faults import Fault

# What can be started -------------------------------------------------------------------------------


class RunModel(msgspec.Struct, frozen=True, gc=False, tag="run_model"):
    """One model round."""

    request: ModelRequest
    session: str = ""


class RunTool(msgspec.Struct, frozen=True, kw_only=True, gc=False, tag="run_tool"):
    """Prepare (reads only) or run one tool call.

    `arguments` fit the tool's schema. `cwd` is absolute; file tools resolve relative paths against it and
    stay in `roots` unless `outside` was granted. `preview` is what prepare found; run checks it again. `granted`
    False: the call runs without a question only because it is harmless, so its paths are checked once more.
    """

    stage: Literal["prepare", "run"]
    name: str
    arguments: dict[str, object]
    session: str
    call: str
    cwd: str
    roots: tuple[str, ...]
    paths: tuple[str, ...] = ()
    preview: Preview | None = None
    outside: bool = False
    granted: bool = False


class RunMcpServer(msgspec.Struct, frozen=True, gc=False, tag="run_mcp_server"):
    """Connect a server and keep it; its tools come as progress."""

    name: str
    config: str


class RunMcpCall(msgspec.Struct, frozen=True, gc=False, tag="run_mcp_call"):
    """One call on a connected server."""

    server: str
    tool: str
    arguments: dict[str, object]


class RunGraph(msgspec.Struct, frozen=True, gc=False, tag="run_graph"):
    """Run or resume a named agent's graph; `payload` is JSON text."""

    agent: str
    thread: str
    payload: str
    resume: bool = False


class RunHook(msgspec.Struct, frozen=True, gc=False, tag="run_hook"):
    """Ask a host's hook about a call; `payload` is JSON text."""

    hook: Literal["gate", "transform", "context"]
    payload: str


class RunFactory(msgspec.Struct, frozen=True, gc=False, tag="run_factory"):
    """Resolve the provider of a model that was selected for the first time."""

    model: str


class CheckPath(msgspec.Struct, frozen=True, gc=False, tag="check_path"):
    """Look whether the working folder of a new thread exists."""

    path: str


class LoadThread(msgspec.Struct, frozen=True, gc=False, tag="load_thread"):
    """Read a stored session."""

    session: str


class DeleteThread(msgspec.Struct, frozen=True, gc=False, tag="delete_thread"):
    """Remove a stored session."""

    session: str


class ListThreads(msgspec.Struct, frozen=True, gc=False, tag="list_threads"):
    """Read one page of stored sessions."""

    cwd: str | None = None
    cursor: str | None = None


class Wait(msgspec.Struct, frozen=True, gc=False, tag="wait"):
    """End after so many seconds."""

    seconds: float


class Tick(msgspec.Struct, frozen=True, gc=False, tag="tick"):
    """Report every so many seconds until stopped."""

    seconds: float


What: TypeAlias = (
    RunModel
    | RunTool
    | RunMcpServer
    | RunMcpCall
    | RunGraph
    | RunHook
    | RunFactory
    | CheckPath
    | LoadThread
    | DeleteThread
    | ListThreads
    | Wait
    | Tick
)


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


class Save(msgspec.Struct, frozen=True, gc=False, tag="save"):
    """Append entries to a stored session if its sequence number is still the expected one."""

    key: Key
    session: str
    expected_seq: int
    entries: tuple[str, ...]
    lease: Literal["take", "keep", "drop"] = "keep"
    clears: bool = False


class Journal(msgspec.Struct, frozen=True, gc=False, tag="journal"):
    """Overwrite the row of the open block; unanswered, the finishing `Save` clears it."""

    session: str
    message: str
    block: int
    text: str


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
    """A piece of a message that is no text."""

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
    content: tuple[Part | Diff, ...] | None = None
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


class OptionsAnswer(msgspec.Struct, frozen=True, gc=False, tag="options_answer"):
    """An option was set; the answer is the complete list."""

    thread: str


class EmptyAnswer(msgspec.Struct, frozen=True, gc=False, tag="empty_answer"):
    """Done, nothing to say."""


AnswerValue: TypeAlias = TurnAnswer | ThreadAnswer | OptionsAnswer | EmptyAnswer | Fault


class Answer(msgspec.Struct, frozen=True, gc=False, tag="answer"):
    """Answer the request behind a ticket; exactly one for each ticket."""

    ticket: int
    value: AnswerValue


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


class CallClient(msgspec.Struct, frozen=True, gc=False, tag="call_client"):
    """Any other request to the client: the method and its params as JSON text."""

    method: str
    params: str


PeerRequest: TypeAlias = AskPermission | CallClient


class Undo(msgspec.Struct, frozen=True, gc=False):
    """What takes back a request that was withdrawn and succeeded all the same: a method, its params as JSON text,
    and the fields that it takes over from the late result (the id of the terminal that now exists)."""

    method: str
    params: str
    takes: tuple[str, ...] = ()


class AskPeer(msgspec.Struct, frozen=True, gc=False, tag="ask_peer"):
    """Ask the client; exactly one `Answered` follows unless it is dropped."""

    key: Key
    thread: str
    request: PeerRequest
    undo: Undo | None = None
    trace: str = ""


class DropPeer(msgspec.Struct, frozen=True, gc=False, tag="drop_peer"):
    """Withdraw a question; the client is told by `$/cancel_request`."""

    key: Key


Effect: TypeAlias = (
    Start | Stop | Reply | Save | Journal | Send | Log | Exit | Chunk | Tell | Answer | AskPeer | DropPeer
)
