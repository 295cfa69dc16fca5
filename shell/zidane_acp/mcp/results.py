"""Results and prompts of a server as our own content."""

from typing import Final

import mcp_types as types
import msgspec

from zidane_core.agent.events import PromptGot
from zidane_core.data.content import Annotations, Audio, Document, Hints, Image, Link, Part, Text
from zidane_core.data.tools import ToolResult

NOTHING: Final = "[The tool gave no output.]"


def result_of(result: types.CallToolResult) -> ToolResult:
    """The result of a call; structured content is `raw`, and stands for the text when there is none."""
    content = tuple(part_of(block) for block in result.content)
    structured: object = result.structured_content
    if not content:
        shown = NOTHING if structured is None else msgspec.json.encode(structured).decode()
        content = (Text(shown),)
    raw: dict[str, object] | None = None if structured is None else {"structuredContent": structured}
    return ToolResult(content=content, failed=result.is_error, raw=raw)


def failed(text: str) -> ToolResult:
    """A call that came to nothing."""
    return ToolResult(content=(Text(text),), failed=True)


def prompt_of(result: types.GetPromptResult) -> PromptGot:
    """The content of the messages; texts of the assistant say so, since all of it becomes one prompt."""
    return PromptGot(tuple(_said(message) for message in result.messages))


def part_of(block: types.ContentBlock) -> Part:
    """One piece of content, with what the server says about it."""
    part, given = _part(block), block.annotations
    if given is None:
        return part
    audience = None if given.audience is None else tuple(given.audience)
    annotations = Annotations(audience, given.last_modified, given.priority)
    return msgspec.structs.replace(part, hints=Hints(annotations))


def _part(block: types.ContentBlock) -> Part:
    match block:
        case types.TextContent():
            return Text(block.text)
        case types.ImageContent():
            return Image(block.mime_type, block.data)
        case types.AudioContent():
            return Audio(block.mime_type, block.data)
        case types.ResourceLink():
            return Link(
                uri=block.uri,
                name=block.name,
                title=block.title,
                description=block.description,
                media_type=block.mime_type,
                size=block.size,
            )
        case types.EmbeddedResource():
            return _resource(block.resource)


def _resource(resource: types.TextResourceContents | types.BlobResourceContents) -> Part:
    if isinstance(resource, types.TextResourceContents):
        return Document(uri=resource.uri, media_type=resource.mime_type, text=resource.text)
    if (resource.mime_type or "").startswith("image/"):
        return Image(resource.mime_type or "", resource.blob, resource.uri)
    return Document(uri=resource.uri, media_type=resource.mime_type, data=resource.blob)


def _said(message: types.PromptMessage) -> Part:
    part = part_of(message.content)
    if message.role == "assistant" and isinstance(part, Text):
        return msgspec.structs.replace(part, text=f"Assistant: {part.text}")
    return part
