"""Tool calls as the client shows them, and asking before one runs (spec: tool calls)."""

from typing import Literal, TypeAlias

import msgspec

from zidane_core.acp.wire.content import ContentBlock
from zidane_core.acp.wire.record import SessionId, Wire

ToolKind: TypeAlias = Literal[
    "read", "edit", "delete", "move", "search", "execute", "think", "fetch", "switch_mode", "other"
]
"""What a tool does; clients choose icons by it."""

ToolCallStatus: TypeAlias = Literal["pending", "in_progress", "completed", "failed"]
"""How far a call is."""

PermissionOptionKind: TypeAlias = Literal["allow_once", "allow_always", "reject_once", "reject_always"]
"""How a client shows a permission option; what it does is ours to say."""


class Content(Wire, frozen=True, kw_only=True, gc=False, tag="content", tag_field="type"):
    """A content block within a tool call."""

    content: ContentBlock


class Diff(Wire, frozen=True, kw_only=True, gc=False, tag="diff", tag_field="type"):
    """A change of a file by its absolute path. `old_text` None (sent as null) is a new file."""

    path: str
    new_text: str
    old_text: str | msgspec.UnsetType | None = msgspec.UNSET


class Terminal(Wire, frozen=True, kw_only=True, gc=False, tag="terminal", tag_field="type"):
    """A client's terminal, embedded by its id before it is released."""

    terminal_id: str


ToolCallContent: TypeAlias = Content | Diff | Terminal
"""What a tool call produced."""


class ToolCallLocation(Wire, frozen=True, kw_only=True, gc=False):
    """A place that a call touches: absolute path, 1-based line."""

    path: str
    line: int | None = None


class ToolCall(Wire, frozen=True, kw_only=True, gc=False, tag="tool_call", tag_field="sessionUpdate"):
    """The first report of a call. Absent kind is other, absent status pending."""

    tool_call_id: str
    title: str
    name: str | None = None
    kind: ToolKind = "other"
    status: ToolCallStatus = "pending"
    content: tuple[ToolCallContent, ...] = ()
    locations: tuple[ToolCallLocation, ...] = ()
    raw_input: object = None
    raw_output: object = None


class ToolCallUpdate(Wire, frozen=True, kw_only=True, gc=False):
    """What changed of a call. An absent field stays as it was; a collection replaces the old one."""

    tool_call_id: str
    title: str | None = None
    name: str | None = None
    kind: ToolKind | None = None
    status: ToolCallStatus | None = None
    content: tuple[ToolCallContent, ...] | None = None
    locations: tuple[ToolCallLocation, ...] | None = None
    raw_input: object = None
    raw_output: object = None


class ToolCallUpdated(
    ToolCallUpdate, frozen=True, kw_only=True, gc=False, tag="tool_call_update", tag_field="sessionUpdate"
):
    """`ToolCallUpdate` as the payload of `session/update`; in a permission request it has no tag."""


class PermissionOption(Wire, frozen=True, kw_only=True, gc=False):
    """A choice offered to the user."""

    option_id: str
    name: str
    kind: PermissionOptionKind


class RequestPermissionRequest(Wire, frozen=True, kw_only=True, gc=False):
    """Params of `session/request_permission`."""

    session_id: SessionId
    tool_call: ToolCallUpdate
    options: tuple[PermissionOption, ...]


class SelectedPermissionOutcome(
    Wire, frozen=True, kw_only=True, gc=False, tag="selected", tag_field="outcome"
):
    """The user picked an option."""

    option_id: str


class CancelledPermissionOutcome(
    msgspec.Struct, frozen=True, kw_only=True, gc=False, tag="cancelled", tag_field="outcome"
):
    """The turn was cancelled before the user answered."""


RequestPermissionOutcome: TypeAlias = SelectedPermissionOutcome | CancelledPermissionOutcome
"""How the user answered."""


class RequestPermissionResponse(Wire, frozen=True, kw_only=True, gc=False):
    """Result of `session/request_permission`."""

    outcome: RequestPermissionOutcome
