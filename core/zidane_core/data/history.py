"""The entries of a thread's log (ring 0). The log only grows; an entry is a closed block, never a chunk."""

from typing import TypeAlias

import msgspec

from zidane_core.data.content import Part, Severity
from zidane_core.data.models import Opaque
from zidane_core.data.outcome import StopReason, Usage
from zidane_core.data.rules import Grant
from zidane_core.data.tools import Diff, Location, PlanEntry, ToolKind
from zidane_core.faults import Fault


class UserSaid(msgspec.Struct, frozen=True, gc=False, omit_defaults=True, tag="user"):
    """A prompt, kept even when it was cancelled before its turn."""

    message: str
    parts: tuple[Part, ...]
    turn: int


class Given(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """What the model is given in the place of one part of a prompt."""

    position: int
    parts: tuple[Part, ...]


class Attached(msgspec.Struct, frozen=True, gc=False, omit_defaults=True, tag="attached"):
    """What the model is given in the place of parts of the prompt before it; the user said what they said."""

    given: tuple[Given, ...]


class TextSaid(msgspec.Struct, frozen=True, gc=False, omit_defaults=True, tag="text"):
    """A closed block of the answer."""

    message: str
    text: str
    opaque: Opaque | None = None


class Thinking(msgspec.Struct, frozen=True, gc=False, omit_defaults=True, tag="thought"):
    """A closed block of thinking."""

    message: str
    text: str
    opaque: Opaque | None = None


class ForeignKept(msgspec.Struct, frozen=True, gc=False, omit_defaults=True, tag="foreign"):
    """A block only its own provider understands."""

    opaque: Opaque


class CallMade(msgspec.Struct, frozen=True, kw_only=True, gc=False, omit_defaults=True, tag="call"):
    """A tool call with its card as it was announced. `arguments` is JSON text, `raw` what the card shows of it. `aside`: the
    agent itself asks the user something by this card, and the model sees nothing of it."""

    call: str
    name: str
    arguments: str
    title: str
    kind: ToolKind
    locations: tuple[Location, ...] = ()
    raw: dict[str, object] = {}
    opaque: Opaque | None = None
    aside: bool = False


class ResultMade(msgspec.Struct, frozen=True, kw_only=True, gc=False, omit_defaults=True, tag="result"):
    """A call's result: `content` for the model, the rest as the card showed it last. `title` when it had changed."""

    call: str
    name: str
    content: tuple[Part, ...]
    failed: bool
    shown: tuple[Part, ...] = ()
    diffs: tuple[Diff, ...] = ()
    locations: tuple[Location, ...] = ()
    raw: dict[str, object] | None = None
    title: str = ""


class PlanSet(msgspec.Struct, frozen=True, gc=False, omit_defaults=True, tag="plan"):
    """The whole plan."""

    entries: tuple[PlanEntry, ...]


class TitleSet(msgspec.Struct, frozen=True, gc=False, omit_defaults=True, tag="title"):
    """The session's title, made from the first prompt or by a model."""

    title: str
    by_model: bool = False


class SettingChanged(msgspec.Struct, frozen=True, gc=False, omit_defaults=True, tag="setting"):
    """A mode or option was set."""

    option: str
    value: str


class NoticeGiven(msgspec.Struct, frozen=True, gc=False, omit_defaults=True, tag="notice"):
    """Something the user was told; not part of what the model sees."""

    message: str
    severity: Severity
    text: str


class TurnEnded(msgspec.Struct, frozen=True, gc=False, omit_defaults=True, tag="turn_end"):
    """A turn's end: its stop reason, or the fault it was answered with; the sums of its tokens, how many the
    model saw last, and what the session has cost so far in US dollars (None: not known)."""

    turn: int
    stop: StopReason | None = None
    fault: Fault | None = None
    usage: Usage = Usage()
    context: int = 0
    cost: float | None = None


class Shortened(msgspec.Struct, frozen=True, gc=False, omit_defaults=True, tag="shortened"):
    """In the first `upto` messages of the model's view the results of tools are shortened."""

    upto: int


class Compacted(msgspec.Struct, frozen=True, gc=False, omit_defaults=True, tag="compacted"):
    """The first `upto` messages of the model's view are replaced by a summary. `id` names the compaction, and is a
    message id of its own."""

    upto: int
    summary: str
    id: str


class Granted(msgspec.Struct, frozen=True, gc=False, omit_defaults=True, tag="granted"):
    """The user gave a permission for the rest of the session."""

    grant: Grant


class Excluded(msgspec.Struct, frozen=True, gc=False, omit_defaults=True, tag="excluded"):
    """The turn was refused: the model's view leaves out its prompt and all after it. `aside`: so does one that was no
    more than a slash command to the agent itself."""

    turn: int
    aside: bool = False


class InterruptMade(msgspec.Struct, frozen=True, gc=False, omit_defaults=True, tag="interrupt"):
    """A graph paused with questions."""

    token: str
    questions: tuple[str, ...]


class Resumed(msgspec.Struct, frozen=True, gc=False, omit_defaults=True, tag="resumed"):
    """A paused graph went on with these answers."""

    token: str
    answers: tuple[str, ...]


class Unread(msgspec.Struct, frozen=True, gc=False, omit_defaults=True, tag="unread"):
    """A stored entry that this version cannot read: it keeps its place, is shown nowhere and stays as it is."""

    text: str


Entry: TypeAlias = (
    UserSaid
    | Attached
    | TextSaid
    | Thinking
    | ForeignKept
    | CallMade
    | ResultMade
    | PlanSet
    | TitleSet
    | SettingChanged
    | NoticeGiven
    | TurnEnded
    | Shortened
    | Compacted
    | Granted
    | Excluded
    | InterruptMade
    | Resumed
    | Unread
)
