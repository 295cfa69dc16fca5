"""A tool's result -> the content of its card."""

from collections.abc import Iterable

from zidane_core.acp.wire.content import ContentBlock, TextContent
from zidane_core.acp.wire.tool_calls import Content, Diff, Terminal, ToolCallContent
from zidane_core.convert.stored import session_content_to_acp_content
from zidane_core.data import tools
from zidane_core.data.content import Audio, Document, Image, Part


def tool_result_to_acp_content(
    result: str | Iterable[Part | tools.Diff | tools.Terminal],
) -> tuple[ToolCallContent, ...]:
    """A string is one text item; blocks map one to one. What cannot be shown is given by its text form."""
    if isinstance(result, str):
        return (Content(content=TextContent(text=result)),)
    return tuple(_item(part) for part in result)


def _item(part: Part | tools.Diff | tools.Terminal) -> ToolCallContent:
    if isinstance(part, tools.Terminal):
        return Terminal(terminal_id=part.id)
    if isinstance(part, tools.Diff):
        return Diff(path=part.path, old_text=part.old, new_text=part.new)
    return Content(content=_block(part))


def _block(part: Part) -> ContentBlock:
    if isinstance(part, Image | Audio) and not part.data:
        return TextContent(text=_named(type(part).__name__.lower(), part.media_type, part.uri))
    if isinstance(part, Document) and part.text is None and not part.data and not part.uri:
        return TextContent(text=_named("document", part.media_type, part.name))
    return session_content_to_acp_content((part,))[0]


def _named(kind: str, media_type: str | None, place: str | None) -> str:
    known = ", ".join(word for word in (place, media_type) if word)
    return f"[{kind}: {known}]" if known else f"[{kind}]"
