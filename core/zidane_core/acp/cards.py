"""Domain parts, cards and permission questions in ACP's words (ring 3)."""

from zidane_core.acp import wire
from zidane_core.agent.effects import CardChanged, CardOpened
from zidane_core.agent.peer import AskPermission
from zidane_core.convert.tool_result import tool_result_to_acp_content
from zidane_core.data import tools


class OpenedCard(wire.Wire, frozen=True, kw_only=True, gc=False, tag="tool_call", tag_field="sessionUpdate"):
    """`ToolCall` with status and kind always written out, for clients that do not know the defaults."""

    tool_call_id: str
    title: str
    name: str
    kind: wire.ToolKind
    status: wire.ToolCallStatus
    content: tuple[wire.ToolCallContent, ...] = ()
    locations: tuple[wire.ToolCallLocation, ...] = ()
    raw_input: object = None


def opened(card: CardOpened) -> OpenedCard:
    """The first report of a call."""
    return OpenedCard(
        tool_call_id=card.call,
        title=card.title,
        name=card.name,
        kind=card.kind,
        status="pending",
        content=tool_result_to_acp_content(card.diffs),
        locations=locations(card.locations),
        raw_input=card.raw_input,
    )


def changed(card: CardChanged) -> wire.ToolCallUpdated:
    """What changed of a call."""
    return wire.ToolCallUpdated(
        tool_call_id=card.call,
        status=card.status,
        title=card.title,
        content=None if card.content is None else tool_result_to_acp_content(card.content),
        locations=None if card.locations is None else locations(card.locations),
        raw_output=card.raw_output,
    )


def permission(session: str, asked: AskPermission) -> wire.RequestPermissionRequest:
    """The question before a call; it repeats the whole card, since the user must see what will run."""
    call = wire.ToolCallUpdate(
        tool_call_id=asked.call,
        title=asked.title,
        name=asked.name,
        kind=asked.kind,
        status="pending",
        content=tool_result_to_acp_content(asked.diffs) or None,
        locations=locations(asked.locations) or None,
        raw_input=asked.raw_input,
    )
    options = tuple(
        wire.PermissionOption(option_id=choice.id, name=choice.name, kind=choice.kind)
        for choice in asked.choices
    )
    return wire.RequestPermissionRequest(session_id=session, tool_call=call, options=options)


def locations(places: tuple[tools.Location, ...]) -> tuple[wire.ToolCallLocation, ...]:
    """Places by absolute path and 1-based line."""
    return tuple(wire.ToolCallLocation(path=place.path, line=place.line) for place in places)
