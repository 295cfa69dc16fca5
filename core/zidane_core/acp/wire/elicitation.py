"""Asking the user through the client (spec: elicitation): by a form, or by a page to open."""

from typing import Literal, TypeAlias

import msgspec

from zidane_core.acp.wire.record import RequestId, SessionId, Wire

StringFormat: TypeAlias = Literal["email", "uri", "date", "date-time"]
"""The formats that a text field may ask for."""

ElicitationContentValue: TypeAlias = str | int | float | bool | tuple[str, ...]
"""What a field of a filled form holds."""


class EnumOption(Wire, frozen=True, kw_only=True, gc=False):
    """A choice with a title."""

    const: str
    title: str
    description: str | None = None


class StringPropertySchema(Wire, frozen=True, kw_only=True, gc=False, tag="string", tag_field="type"):
    """A text field, or a single choice when `enum` or `one_of` is there."""

    title: str | None = None
    description: str | None = None
    min_length: int | None = None
    max_length: int | None = None
    pattern: str | None = None
    format: StringFormat | None = None
    default: str | None = None
    enum: tuple[str, ...] | None = None
    one_of: tuple[EnumOption, ...] | None = None


class NumberPropertySchema(Wire, frozen=True, kw_only=True, gc=False, tag="number", tag_field="type"):
    """A number field."""

    title: str | None = None
    description: str | None = None
    minimum: float | None = None
    maximum: float | None = None
    default: float | None = None


class IntegerPropertySchema(Wire, frozen=True, kw_only=True, gc=False, tag="integer", tag_field="type"):
    """A field for whole numbers."""

    title: str | None = None
    description: str | None = None
    minimum: int | None = None
    maximum: int | None = None
    default: int | None = None


class BooleanPropertySchema(Wire, frozen=True, kw_only=True, gc=False, tag="boolean", tag_field="type"):
    """A yes or no field."""

    title: str | None = None
    description: str | None = None
    default: bool | None = None


class StringMultiSelectItems(Wire, frozen=True, kw_only=True, gc=False, tag="string", tag_field="type"):
    """The choices of a multiple choice, as plain values."""

    enum: tuple[str, ...]


class TitledMultiSelectItems(Wire, frozen=True, kw_only=True, gc=False):
    """The choices of a multiple choice, with titles; no type, as in MCP."""

    any_of: tuple[EnumOption, ...]


MultiSelectItems: TypeAlias = StringMultiSelectItems | TitledMultiSelectItems
"""The choices of a multiple choice."""


class MultiSelectPropertySchema(Wire, frozen=True, kw_only=True, gc=False, tag="array", tag_field="type"):
    """A multiple choice."""

    items: MultiSelectItems
    title: str | None = None
    description: str | None = None
    min_items: int | None = None
    max_items: int | None = None
    default: tuple[str, ...] | None = None


ElicitationPropertySchema: TypeAlias = (
    StringPropertySchema
    | NumberPropertySchema
    | IntegerPropertySchema
    | BooleanPropertySchema
    | MultiSelectPropertySchema
)
"""A field of a form."""


class ElicitationSchema(Wire, frozen=True, kw_only=True, gc=False):
    """A form: a flat object of fields. `type` is optional on the wire and always "object"."""

    type: Literal["object"] | None = None
    title: str | None = None
    description: str | None = None
    properties: dict[str, ElicitationPropertySchema] = {}
    required: tuple[str, ...] | None = None


class ElicitationFormRequest(Wire, frozen=True, kw_only=True, gc=False, tag="form", tag_field="mode"):
    """Params of `elicitation/create` for a form.

    Its scope is a session (and perhaps a tool call) or the client's open request, never both.
    """

    message: str
    requested_schema: ElicitationSchema
    session_id: SessionId | msgspec.UnsetType = msgspec.UNSET
    tool_call_id: str | None = None
    request_id: RequestId | msgspec.UnsetType = msgspec.UNSET


class ElicitationUrlRequest(Wire, frozen=True, kw_only=True, gc=False, tag="url", tag_field="mode"):
    """Params of `elicitation/create` for a page; the id is unique among the open ones of a connection."""

    message: str
    elicitation_id: str
    url: str
    session_id: SessionId | msgspec.UnsetType = msgspec.UNSET
    tool_call_id: str | None = None
    request_id: RequestId | msgspec.UnsetType = msgspec.UNSET


CreateElicitationRequest: TypeAlias = ElicitationFormRequest | ElicitationUrlRequest
"""Params of `elicitation/create`."""


class CreateElicitationResponse(Wire, frozen=True, kw_only=True, gc=False):
    """Result of `elicitation/create`. Any action but accept is a no; `content` counts only with accept."""

    action: str
    content: dict[str, ElicitationContentValue] | None = None


class CompleteElicitationNotification(Wire, frozen=True, kw_only=True, gc=False):
    """Params of `elicitation/complete`: what the page was opened for is done."""

    elicitation_id: str
