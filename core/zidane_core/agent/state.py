"""The state of the machine: agent, threads, turns, calls (ring 2). Records only."""

from typing import Literal, TypeAlias

import msgspec

from zidane_core.agent.editor_files import Seen
from zidane_core.agent.effects import AnswerValue, CardChanged, TurnAnswer
from zidane_core.agent.events import Attachment, Key, Prompt
from zidane_core.agent.log import View
from zidane_core.agent.machines import State
from zidane_core.agent.pages import Pages
from zidane_core.agent.peer import Abilities
from zidane_core.agent.server_state import Inquiry, Page, Server
from zidane_core.buckets import Buckets
from zidane_core.data.history import Entry, Given
from zidane_core.data.mcp import McpServerConfig
from zidane_core.data.models import Broke, ModelChoice, Opaque, Price, ThinkingLevel
from zidane_core.data.modes import Mode
from zidane_core.data.outcome import FinishReason, StopReason, Usage
from zidane_core.data.project import Project, Surroundings
from zidane_core.data.rules import Denials, Grant, Policy
from zidane_core.data.stored import JournalRow, Place
from zidane_core.data.tools import Location, PlanEntry, Preview, ToolResult, ToolSpec
from zidane_core.faults import Fault
from zidane_core.text import Growing


class Limits(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """Bounds of a turn and of a session; times in seconds, sizes in bytes.

    `settle_within` leaves room in the two seconds that a cancel and the end of the connection may take.
    `servers_within` is how long the first prompt waits for MCP servers that start, `retried_within` one that waits
    for a further try of a failed one; `connect_within` is what a server has for its start.
    `journal_every` is how often the message that is being streamed is kept, `idle_after` when an idle session gives
    back the memory of its history.
    """

    rounds: int = 50
    tries: int = 5
    retry_first: float = 0.5
    retry_most: float = 8.0
    retry_after_most: float = 60.0
    settle_within: float = 1.5
    result_bytes: int = 65536
    card_bytes: int = 262144
    live_bytes: int = 16384
    live_every: float = 0.1
    journal_every: float = 0.25
    idle_after: float = 600.0
    servers_within: float = 5.0
    retried_within: float = 1.0
    connect_within: float = 30.0
    server_retry_first: float = 5.0
    server_retry_most: float = 300.0


class Command(msgspec.Struct, frozen=True, gc=False):
    """A slash command that the agent advertises; with `provider` only while a model of that provider is chosen."""

    name: str
    description: str
    hint: str = ""
    provider: str = ""


class Options(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """What a host chose for all threads of an agent.

    `system` may name {cwd}; `store` says that threads are stored, `titles` that the model is asked for a title once.
    `through_client`: files and commands go through the client where it can. `servers` are MCP servers of every thread;
    `trust_read_only`: their tools that claim to only read need no question. `modes` are what a session can be in, the first
    is the default unless `mode` names one. `denials` win over everything. `protected` are absolute folders that nothing is written into
    without a question. `slash`: the built-in slash commands are there. `project`: instructions, commands and settings of
    the workspace are used. `pinned` are the settings (`model`, `mode`, `thinking`) that a project cannot choose, since the
    user's command line did. `remembers`: permissions can be kept for a project. `compacts`: a conversation that outgrows the model's window is shortened.
    """

    models: tuple[ModelChoice, ...]
    default_model: str
    tools: tuple[ToolSpec, ...] = ()
    system: str = ""
    policy: Policy = "ask"
    thinking: ThinkingLevel = "off"
    sequential: bool = False
    read_only_commands: bool = True
    commands: tuple[Command, ...] = ()
    store: bool = False
    titles: bool = False
    through_client: bool = True
    servers: tuple[McpServerConfig, ...] = ()
    trust_read_only: bool = False
    modes: tuple[Mode, ...] = ()
    mode: str = ""
    denials: Denials = Denials()
    protected: tuple[str, ...] = ()
    slash: bool = False
    project: bool = False
    pinned: tuple[str, ...] = ()
    remembers: bool = False
    compacts: bool = True
    limits: Limits = Limits()


class Settings(msgspec.Struct, frozen=True, gc=False):
    """What can be chosen for one thread. `features` are values of models' own options that were chosen, by the option's
    id; they hold for every model that has such an option. `chosen` tells that the user picked the model."""

    model: str
    thinking: ThinkingLevel
    policy: Policy
    mode: str = ""
    features: tuple[tuple[str, str], ...] = ()
    chosen: bool = False


class OpenBlock(msgspec.Struct, frozen=True, gc=False):
    """The block being streamed. The journal has the first `journaled` closed pieces of its text."""

    kind: Literal["agent", "thought"]
    message: str
    text: Growing = Growing()
    journaled: int = 0


CallPhase: TypeAlias = Literal["new", "gate", "prepare", "ask", "allowed", "run", "transform", "done"]


class Link(msgspec.Struct, frozen=True, gc=False):
    """A job or ask of a machine: the machine's own word for it, and its key."""

    tag: str
    key: Key


class Call(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One tool call of the running round.

    `machine` is the state of what runs it, `jobs` and `asks` are the machine's, by tag; `ask` is the open
    permission question. `ready` tells that the preparation is done. `problem` says why it cannot run (unknown
    tool, bad arguments). `offered` is the grant that the open question offers, `lasting` whether also for the project, `granted` is set once the user
    allowed this very call, `cleared` once it runs by more than being harmless (`RunTool.granted`). `live` is output streamed so far (bounded), `live_due` the key of a pending
    redraw. `shown` is how the card stands, beyond what announced it.
    """

    id: str
    name: str
    text: str
    arguments: dict[str, object]
    spec: ToolSpec | None
    problem: str = ""
    opaque: Opaque | None = None
    title: str = ""
    locations: tuple[Location, ...] = ()
    paths: tuple[str, ...] = ()
    phase: CallPhase = "new"
    machine: State | None = None
    jobs: tuple[Link, ...] = ()
    asks: tuple[Link, ...] = ()
    ask: Key = ""
    ready: bool = False
    preview: Preview | None = None
    offered: Grant | None = None
    lasting: bool = False
    granted: bool = False
    cleared: bool = False
    result: ToolResult | None = None
    live: str = ""
    live_shown: float = 0.0
    live_due: Key = ""
    shown: CardChanged | None = None


class Asking(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The question whether these folders are trusted: its key ('' once it was answered), the call of its card, whether
    it offers to remember the answer."""

    ask: Key
    call: str
    folders: tuple[str, ...]
    always: bool = False


class Gathering(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """What a prompt needs before the model sees it: how far that is, the wait and the job that go on, the questions to
    the editor by the position of a part, and what has been found so far. `around` is the job that looks where the
    thread works, `asking` the open question about trust."""

    stage: Literal["servers", "trust", "prompt", "attachments", "editor", "done"] = "servers"
    wait: Key = ""
    job: Key = ""
    around: Key = ""
    asking: Asking | None = None
    asks: tuple[Link, ...] = ()
    attachments: tuple[Attachment, ...] = ()
    given: tuple[Given, ...] = ()


TurnPhase: TypeAlias = Literal[
    "claim", "gather", "command", "model", "tools", "retry", "compact", "interrupt", "answer"
]


class Compaction(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The conversation is being shortened for the model.

    `cause`: a request would not fit, a provider said that one did not (`broke`), or the user asked for it. While nothing was
    begun `id` is empty. The first `upto` messages of the view are summarised by the turn's job, unless that is a wait
    before another try (`waiting`); `goal` is how many estimated tokens all messages may have, `said` the summary so far.
    """

    cause: Literal["full", "overflow", "asked"]
    instructions: str = ""
    id: str = ""
    upto: int = 0
    goal: int = 0
    tries: int = 0
    waiting: bool = False
    said: Growing = Growing()
    usage: Usage | None = None
    finish: FinishReason | None = None
    broke: Broke | None = None


class Turn(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The running prompt of a thread.

    `ticket` is the request to answer, `base` the length of the log before its prompt, and `repaired` whether what
    an earlier turn lacked stands between the two. `notices` is what the prompt's conversion has to say. `job` is the model round or the retry wait, `deadline` the bound on
    stopping. `stopping` is why no new work may start; `expired` that the bound has passed.
    `posed` is a question to the user in plain text, with which the turn ends. `aside`: a slash command that the agent answers
    by itself, so that the model sees nothing of the turn; `picked` is the model that it waits for.
    `compaction` is what goes on in the phase `compact`; `compacted` that room was made for the running model request, which
    is done once.
    `value` is the answer of a turn that has ended and waits until it is stored. `journal` is the wait before the
    open block goes to the journal.
    """

    ticket: int
    number: int
    trace: str = ""
    base: int = 0
    repaired: bool = False
    notices: tuple[str, ...] = ()
    phase: TurnPhase = "model"
    gathering: Gathering | None = None
    round: int = 0
    tries: int = 0
    job: Key = ""
    deadline: Key = ""
    calls: tuple[Call, ...] = ()
    open: OpenBlock | None = None
    held: tuple[Opaque, ...] = ()
    said: bool = False
    finish: FinishReason | None = None
    refusal: str = ""
    broke: Broke | None = None
    stopping: Literal["", "cancelled", "closed"] = ""
    expired: bool = False
    stop: StopReason | None = None
    fault: Fault | None = None
    value: TurnAnswer | Fault | None = None
    posed: str = ""
    aside: bool = False
    picked: str = ""
    compaction: Compaction | None = None
    compacted: bool = False
    usage: Usage = Usage()
    round_usage: Usage | None = None
    journal: Key = ""


class QueuedPrompt(msgspec.Struct, frozen=True, gc=False):
    """A prompt behind the running one. A cancelled one only waits to be written to the log."""

    prompt: Prompt
    cancelled: bool = False


class Store(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """How a thread is stored: not at all, in an open store, or in memory since the store failed.

    `made` says that the session has a row, or will have one. `seq` entries are on disk. `saving` is the save in flight, of `flying` entries with `leasing`. `lease` tells
    that the session is ours. `tries` counts saves that found the store locked, `pause` is the wait after one.
    `held` entries wait for the next turn, since another program works in the session. `journal` is what a program
    that ended in the middle of a message had kept of it.
    """

    state: Literal["none", "open", "memory"] = "none"
    made: bool = False
    seq: int = 0
    saving: Key = ""
    flying: int = 0
    leasing: Literal["take", "keep", "drop"] = "keep"
    lease: bool = False
    tries: int = 0
    pause: Key = ""
    held: bool = False
    journal: tuple[JournalRow, ...] = ()


class Setup(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """What opens a thread, or opens it again: a new one, a stored one with or without a replay, or one whose history
    was given back (`warm`, which nobody asked for: its ticket is 0). `again` says that an open one is looked for in the
    store, where another program may have gone on with it."""

    kind: Literal["new", "load", "resume", "warm"]
    ticket: int = 0
    cwd: str
    roots: tuple[str, ...] = ()
    notices: tuple[str, ...] = ()
    again: bool = False
    servers: tuple[McpServerConfig, ...] = ()
    client_tools: tuple[ToolSpec, ...] | None = None


class Choosing(msgspec.Struct, frozen=True, gc=False):
    """A request to set an option; `via` says whether as an option or as a mode."""

    ticket: int
    option: str
    value: str | bool
    via: Literal["option", "mode"] = "option"


Held: TypeAlias = Setup | Choosing | Prompt
"""A request that waits for the setup before it."""


class Owed(msgspec.Struct, frozen=True, gc=False):
    """An answer that goes out once `upto` entries are stored (None: what it is about is not in the log yet), or when
    the wait `bound` is over."""

    ticket: int
    value: AnswerValue
    upto: int | None
    bound: Key
    expired: bool = False


ThreadPhase: TypeAlias = Literal["opening", "open", "cold", "gone"]


class Closing(msgspec.Struct, frozen=True, gc=False):
    """A thread that is being closed: the ticket to answer (0: none), the key of the bound on it, whether that has
    passed, and the tickets of those who want it deleted then."""

    ticket: int
    bound: Key
    expired: bool = False
    deletes: tuple[int, ...] = ()


class Keeping(msgspec.Struct, frozen=True, gc=False):
    """A permission that is being remembered for the project, by a job."""

    job: Key
    grant: Grant


class Trust(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The folders that the user trusts for as long as the thread is open, those that they were asked about, and the job
    that remembers an answer."""

    given: tuple[str, ...] = ()
    asked: tuple[str, ...] = ()
    job: Key = ""


class Title(msgspec.Struct, frozen=True, gc=False):
    """A thread's title: the text, whether a model was asked for it (once is enough), the job that asks it now, what that
    has said and used, and the model's price."""

    text: str = ""
    asked: bool = False
    job: Key = ""
    said: str = ""
    usage: Usage = Usage()
    price: Price | None = None


class Thread(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One conversation.

    `setup` is the request that opens it, `choosing` one that waits for a model's provider, `job` the job of either, `lane`
    what waits behind that. `notices` are for the
    user and wait for the first prompt; `later` are entries that wait for the open block to close, or for the history
    to be there. Counters only grow, and ids hold the `tag` of this opening, so that message ids, call ids and keys
    are never used twice, in no program. `cut` tells that the log may end in the middle of a turn, since another
    program wrote it. `head` is the stored row's text as it was read. `context` is how many tokens the model saw last.
    `grants` are permissions for this session, `keeping` those that are being remembered for its project.
    `abilities` is what its client can be asked for; what it failed at is taken away. `seen` is what was last seen of files that the client has, by path;
    `commanded` tells that commands have run, so that the disk may have changed. `project` is what its folders bring along,
    `surroundings` what the system prompt says of where it works; None while that has not been read. `cost` is what it has cost so far in US dollars, None if not known. `advertised` are the slash commands that the client
    was told of, None when that is to be told anew. `inquiries` are open questions of
    servers, `pages` what the user opened for them.
    `idle` is the wait before the history is given back. `created` and `updated` are in seconds since 1970.
    """

    id: str
    epoch: int
    tag: str
    cwd: str
    roots: tuple[str, ...]
    settings: Settings
    created: float = 0.0
    updated: float = 0.0
    outlet: bool = True
    phase: ThreadPhase = "opening"
    setup: Setup | None = None
    job: Key = ""
    choosing: Choosing | None = None
    lane: tuple[Held, ...] = ()
    log: Pages[Entry] = Pages()
    view: View = View()
    cut: bool = False
    head: str = ""
    title: Title = Title()
    plan: tuple[PlanEntry, ...] = ()
    context: int = 0
    grants: tuple[Grant, ...] = ()
    keeping: tuple[Keeping, ...] = ()
    abilities: Abilities = Abilities()
    client_tools: tuple[ToolSpec, ...] = ()
    servers: tuple[Server, ...] = ()
    inquiries: tuple[Inquiry, ...] = ()
    pages: tuple[Page, ...] = ()
    seen: dict[str, Seen] = {}
    commanded: bool = False
    project: Project | None = None
    trust: Trust = Trust()
    surroundings: Surroundings | None = None
    cost: float | None = 0.0
    advertised: tuple[Command, ...] | None = ()
    warned: tuple[str, ...] = ()
    notices: tuple[str, ...] = ()
    later: tuple[Entry, ...] = ()
    store: Store = Store()
    owed: tuple[Owed, ...] = ()
    turn: Turn | None = None
    prompts: tuple[QueuedPrompt, ...] = ()
    idle: Key = ""
    turns: int = 0
    messages: int = 0
    calls: int = 0
    keys: int = 0
    closing: Closing | None = None


class Listing(msgspec.Struct, frozen=True, gc=False):
    """A request for the list of sessions: the folder (None: all), and the place behind which it goes on."""

    ticket: int
    cwd: str | None = None
    after: Place | None = None


class Deleting(msgspec.Struct, frozen=True, gc=False):
    """A request to delete a session that is not open."""

    ticket: int


class LoggingIn(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A request to log in. `asks` are the open questions to the user, by their key, each with its number in the job;
    `pages` are the keys of those that the user agreed to open. `withdrawn`: nobody wants it any more."""

    ticket: int
    asks: tuple[tuple[Key, int], ...] = ()
    pages: tuple[Key, ...] = ()
    withdrawn: bool = False


class LoggingOut(msgspec.Struct, frozen=True, gc=False):
    """A request to log out."""

    ticket: int


Pending: TypeAlias = Listing | Deleting | LoggingIn | LoggingOut
"""A request that a job of no thread works on."""


class Agent(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """All threads of one connection, whose client has these `abilities`; `commanded` as in `Thread`. `owners` finds the thread of a prompt's ticket; `jobs` are those of no thread."""

    seed: str
    options: Options
    abilities: Abilities = Abilities()
    commanded: bool = False
    threads: Buckets[str, Thread]
    owners: Buckets[int, str]
    opened: int = 0
    keys: int = 0
    jobs: dict[Key, Pending] = {}
    closing: Literal["", "eof", "broken_pipe", "terminated", "hung_up"] = ""
