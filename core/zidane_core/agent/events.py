"""What happened: the inputs of `step` (ring 2).

Every event carries `now`, seconds since 1970 on a clock that never runs backwards.
"""

from typing import Literal, TypeAlias

import msgspec

from zidane_core.agent.peer import PeerAnswer
from zidane_core.data.content import Part
from zidane_core.data.mcp import McpOffer, McpPageDone
from zidane_core.data.models import ModelChoice, ModelEvent
from zidane_core.data.project import Project, Surroundings
from zidane_core.data.stored import JournalRow, RefusalReason, StoredRow
from zidane_core.data.tools import PlanEntry, Preview, ResolvedPath, ToolOutput, ToolResult
from zidane_core.faults import Fault

Key: TypeAlias = str
"""Names one job, ask or save; never reused, also after close and load."""


# Values of jobs ------------------------------------------------------------------------------------


class ModelDone(msgspec.Struct, frozen=True, gc=False, tag="model_done"):
    """The model job ended; what it said came before as `Progressed`."""


class WaitDone(msgspec.Struct, frozen=True, gc=False, tag="wait_done"):
    """The wait is over."""


class HookDone(msgspec.Struct, frozen=True, gc=False, tag="hook_done"):
    """A hook answered: for `gate` allow, ask or block with a reason; for `transform` a result."""

    verdict: Literal["allow", "ask", "block"] = "allow"
    reason: str = ""
    result: ToolResult | None = None


class CheckedPaths(msgspec.Struct, frozen=True, gc=False, tag="checked_paths"):
    """The folders of a thread were looked at: what is wrong with the first bad one, and which it is; or None. What they
    bring along, where that was asked for."""

    problem: str | None = None
    position: int = 0
    project: Project | None = None


class LookedAround(msgspec.Struct, frozen=True, gc=False, tag="looked_around"):
    """Where a thread works."""

    surroundings: Surroundings


class RuleKept(msgspec.Struct, frozen=True, gc=False, tag="rule_kept"):
    """A permission or trust is remembered."""


class ProviderMade(msgspec.Struct, frozen=True, gc=False, tag="provider_made"):
    """The provider of a model is there."""


class LoggedIn(msgspec.Struct, frozen=True, gc=False, tag="logged_in"):
    """The login is done."""


class LoggedOut(msgspec.Struct, frozen=True, gc=False, tag="logged_out"):
    """What logins had kept is forgotten."""


class Found(msgspec.Struct, frozen=True, gc=False, tag="found"):
    """The stored session, or None."""

    row: StoredRow | None = None


class Loaded(msgspec.Struct, frozen=True, gc=False, tag="loaded"):
    """All entries of a stored session came as progress; these are the rows of its journal."""

    journal: tuple[JournalRow, ...] = ()


class Listed(msgspec.Struct, frozen=True, gc=False, tag="listed"):
    """Stored sessions, the newest first; fewer than asked for means that there are no more."""

    rows: tuple[StoredRow, ...] = ()


class Deleted(msgspec.Struct, frozen=True, gc=False, tag="deleted"):
    """The stored session is gone."""


class FileSeen(msgspec.Struct, frozen=True, kw_only=True, gc=False, tag="file_seen"):
    """What the disk has at a path.

    `path` and `title` are as in `Preview`, `shown` is the absolute path for the client. `text` is the text of a
    text file of at most 8 MiB, with its own line ends; only `kind` tells the others apart.
    """

    path: ResolvedPath
    shown: str
    kind: Literal["text", "missing", "folder", "image", "binary", "large", "outside", "unreadable"]
    text: str = ""
    title: str = ""


class PromptGot(msgspec.Struct, frozen=True, gc=False, tag="prompt_got"):
    """What a server's prompt says."""

    parts: tuple[Part, ...]


class Attachment(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """What the model is given for the part at `position` of a prompt, which may be nothing else than the part.

    `path` is the absolute path of a text file whose text a client may know better, `digest` what its whole text on the
    disk is told by ('' when not all of it was read); `first` and `last` are the lines
    that were asked for, from 1 (None: all). `notice` is a sentence for the user.
    """

    position: int
    part: Part
    path: str = ""
    digest: str = ""
    first: int | None = None
    last: int | None = None
    notice: str = ""


class AttachmentsRead(msgspec.Struct, frozen=True, gc=False, tag="attachments_read"):
    """The files and pictures of a prompt; a part that stays as it is has none."""

    attachments: tuple[Attachment, ...] = ()


JobValue: TypeAlias = (
    ModelDone
    | WaitDone
    | HookDone
    | CheckedPaths
    | LookedAround
    | RuleKept
    | ProviderMade
    | LoggedIn
    | LoggedOut
    | Found
    | Loaded
    | Listed
    | Deleted
    | FileSeen
    | PromptGot
    | AttachmentsRead
    | ToolResult
    | Preview
)


# Outcomes of jobs ----------------------------------------------------------------------------------


class Ok(msgspec.Struct, frozen=True, gc=False, tag="ok"):
    """The job did what it was started for."""

    value: JobValue


class Failed(msgspec.Struct, frozen=True, gc=False, tag="failed"):
    """The job failed; `retryable` and `retry_after` (seconds) come from the codec or the transport."""

    fault: Fault
    retryable: bool = False
    retry_after: float | None = None


class Stopped(msgspec.Struct, frozen=True, gc=False, tag="stopped"):
    """The job was stopped by `Stop` before it ended."""


class Interrupted(msgspec.Struct, frozen=True, gc=False, tag="interrupted"):
    """A graph paused: the token that resumes it, and its questions as JSON texts."""

    token: str
    questions: tuple[str, ...] = ()


JobOutcome: TypeAlias = Ok | Failed | Stopped | Interrupted


# Progress ------------------------------------------------------------------------------------------


class PlanMade(msgspec.Struct, frozen=True, gc=False, tag="plan_made"):
    """Foreign code set the plan."""

    entries: tuple[PlanEntry, ...]


class Noted(msgspec.Struct, frozen=True, gc=False, tag="noted"):
    """Foreign code reported progress in words."""

    text: str


class Ticked(msgspec.Struct, frozen=True, gc=False, tag="ticked"):
    """A periodic tick."""


class EntriesRead(msgspec.Struct, frozen=True, gc=False, tag="entries_read"):
    """Entries of a stored session, in order, as JSON texts; '' is one that is missing or not readable."""

    entries: tuple[str, ...]


Progress: TypeAlias = (
    ModelEvent | ToolOutput | PlanMade | Noted | Ticked | McpOffer | McpPageDone | EntriesRead
)


# Events --------------------------------------------------------------------------------------------


class Closed(msgspec.Struct, frozen=True, gc=False, tag="closed"):
    """The peer is gone or the process is asked to end; `reason` picks the exit code."""

    now: float
    reason: Literal["eof", "broken_pipe", "terminated", "hung_up"]


class Progressed(msgspec.Struct, frozen=True, gc=False, tag="progressed"):
    """A job went on; all that was ready comes in one batch."""

    now: float
    key: Key
    batch: tuple[Progress, ...]


class Asked(msgspec.Struct, frozen=True, gc=False, tag="asked"):
    """Foreign code (a graph, a hook, an MCP server, a host's tool) asks something through its job.

    `ask` numbers the questions of a job. `question` is JSON text; of the kind `elicit` it is {"mode": "form",
    "message", "requestedSchema"} or {"mode": "url", "message", "url", "elicitationId"}, and the answer is {"action":
    "accept", "decline" or "cancel", "content"?}.
    """

    now: float
    key: Key
    ask: int
    question: str
    kind: Literal["permission", "elicit", "model", "tool", "client"]


class Ended(msgspec.Struct, frozen=True, gc=False, tag="ended"):
    """A job ended; exactly one for each `Start`."""

    now: float
    key: Key
    outcome: JobOutcome


class Answered(msgspec.Struct, frozen=True, gc=False, tag="answered"):
    """The peer answered an `AskPeer`."""

    now: float
    key: Key
    value: PeerAnswer


class Saved(msgspec.Struct, frozen=True, gc=False, tag="saved"):
    """A `Save` is on disk."""

    now: float
    key: Key


class SaveFailed(msgspec.Struct, frozen=True, gc=False, tag="save_failed"):
    """A `Save` was refused; nothing of it is stored. `detail` is a sentence for the user, or ''."""

    now: float
    key: Key
    reason: RefusalReason
    detail: str = ""


class Conflict(msgspec.Struct, frozen=True, gc=False, tag="conflict"):
    """Others have stored more: `missing` are their entries as JSON texts, `journal` is how it is now."""

    now: float
    key: Key
    missing: tuple[str, ...]
    journal: tuple[JournalRow, ...] = ()


class ModelsChanged(msgspec.Struct, frozen=True, gc=False, tag="models_changed"):
    """The models that can be chosen are others now, since a key was found or is gone; `default` is one of them."""

    now: float
    models: tuple[ModelChoice, ...]
    default: str


Event: TypeAlias = (
    Closed | Progressed | Asked | Ended | Answered | Saved | SaveFailed | Conflict | ModelsChanged
)
"""What the root reducer of ring 2 takes; ring 3 adds `Opened` and `Received`."""


class Prompt(msgspec.Struct, frozen=True, gc=False):
    """A prompt that waits for its turn. `ticket` is the request to answer, `trace` the trace context (JSON)."""

    ticket: int
    parts: tuple[Part, ...]
    notices: tuple[str, ...] = ()
    trace: str = ""
