"""Payloads of `session/update`, told apart by `sessionUpdate` (spec: prompt turn, agent reports output)."""

from typing import Literal, TypeAlias

import msgspec

from zidane_core.acp.wire.content import ContentBlock
from zidane_core.acp.wire.options import SessionConfigOption
from zidane_core.acp.wire.record import Meta, SessionId, Wire
from zidane_core.acp.wire.tool_calls import ToolCall, ToolCallUpdated

PlanEntryPriority: TypeAlias = Literal["high", "medium", "low"]
"""How important a step is."""

PlanEntryStatus: TypeAlias = Literal["pending", "in_progress", "completed"]
"""How far a step is."""

NoticeSeverity: TypeAlias = str
"""info, warning, error; an open set."""

CompactionStatus: TypeAlias = str
"""in_progress, completed, failed, cancelled; an open set."""


class ContentChunk(Wire, frozen=True, kw_only=True, gc=False):
    """A piece of a message; all pieces of one message carry the same id."""

    content: ContentBlock
    message_id: str | None = None


class UserMessageChunk(
    ContentChunk, frozen=True, kw_only=True, gc=False, tag="user_message_chunk", tag_field="sessionUpdate"
):
    """A piece of what the user said, in a replay."""


class AgentMessageChunk(
    ContentChunk, frozen=True, kw_only=True, gc=False, tag="agent_message_chunk", tag_field="sessionUpdate"
):
    """A piece of the agent's answer."""


class AgentThoughtChunk(
    ContentChunk, frozen=True, kw_only=True, gc=False, tag="agent_thought_chunk", tag_field="sessionUpdate"
):
    """A piece of the agent's thinking."""


class PlanEntry(Wire, frozen=True, kw_only=True, gc=False):
    """One step of a plan."""

    content: str
    priority: PlanEntryPriority
    status: PlanEntryStatus


class Plan(Wire, frozen=True, kw_only=True, gc=False, tag="plan", tag_field="sessionUpdate"):
    """The whole plan; replaces the one before."""

    entries: tuple[PlanEntry, ...]


class UnstructuredCommandInput(Wire, frozen=True, kw_only=True, gc=False):
    """All text after the command's name; `hint` is shown while nothing is typed."""

    hint: str


AvailableCommandInput: TypeAlias = UnstructuredCommandInput
"""What a command takes."""


class AvailableCommand(Wire, frozen=True, kw_only=True, gc=False):
    """A slash command, its name without the slash."""

    name: str
    description: str
    input: AvailableCommandInput | None = None


class AvailableCommandsUpdate(
    Wire, frozen=True, kw_only=True, gc=False, tag="available_commands_update", tag_field="sessionUpdate"
):
    """All slash commands of the session."""

    available_commands: tuple[AvailableCommand, ...]


class CurrentModeUpdate(
    Wire, frozen=True, kw_only=True, gc=False, tag="current_mode_update", tag_field="sessionUpdate"
):
    """The mode changed."""

    current_mode_id: str


class ConfigOptionUpdate(
    Wire, frozen=True, kw_only=True, gc=False, tag="config_option_update", tag_field="sessionUpdate"
):
    """The options changed; always all of them."""

    config_options: tuple[SessionConfigOption, ...]


class SessionInfoUpdate(
    Wire, frozen=True, kw_only=True, gc=False, tag="session_info_update", tag_field="sessionUpdate"
):
    """What changed of the session's summary. Unset stays as it was, None clears."""

    title: str | msgspec.UnsetType | None = msgspec.UNSET
    updated_at: str | msgspec.UnsetType | None = msgspec.UNSET


class Cost(Wire, frozen=True, kw_only=True, gc=False):
    """Money spent in the session so far; the currency by ISO 4217."""

    amount: float
    currency: str


class UsageUpdate(Wire, frozen=True, kw_only=True, gc=False, tag="usage_update", tag_field="sessionUpdate"):
    """Tokens now in the context and the size of its window."""

    used: int
    size: int
    cost: Cost | None = None


class Notice(Wire, frozen=True, kw_only=True, gc=False, tag="notice", tag_field="sessionUpdate"):
    """Something for the user that is no part of the history; only with the client's `session.notices`."""

    severity: NoticeSeverity
    title: str
    description: str | None = None


class CompactionUpdate(
    msgspec.Struct,
    frozen=True,
    kw_only=True,
    gc=False,
    rename="camel",
    omit_defaults=True,
    tag="compaction_update",
    tag_field="sessionUpdate",
):
    """A compaction began or went on; only with the client's `session.compaction`. Three states as above."""

    compaction_id: str
    status: CompactionStatus
    summary: tuple[ContentBlock, ...] | msgspec.UnsetType | None = msgspec.UNSET
    error: str | msgspec.UnsetType | None = msgspec.UNSET
    meta: Meta | msgspec.UnsetType | None = msgspec.field(name="_meta", default=msgspec.UNSET)


class CompactionSummaryChunk(
    Wire, frozen=True, kw_only=True, gc=False, tag="compaction_summary_chunk", tag_field="sessionUpdate"
):
    """A block added to a compaction's summary."""

    compaction_id: str
    content: ContentBlock


SessionUpdate: TypeAlias = (
    UserMessageChunk
    | AgentMessageChunk
    | AgentThoughtChunk
    | ToolCall
    | ToolCallUpdated
    | Plan
    | AvailableCommandsUpdate
    | CurrentModeUpdate
    | ConfigOptionUpdate
    | SessionInfoUpdate
    | UsageUpdate
    | Notice
    | CompactionUpdate
    | CompactionSummaryChunk
)
"""What the agent tells about a session."""


class SessionNotification(Wire, frozen=True, kw_only=True, gc=False):
    """Params of `session/update`."""

    session_id: SessionId
    update: SessionUpdate
