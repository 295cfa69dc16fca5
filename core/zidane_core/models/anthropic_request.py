"""A request for the Anthropic Messages API (ring 1)."""

from types import MappingProxyType
from typing import Final, TypeAlias

from zidane_core.data.content import Audio, Document, Image, Text
from zidane_core.data.models import (
    AssistantBlock,
    AssistantMessage,
    Call,
    CallResult,
    Message,
    ModelChoice,
    ModelRequest,
    Opaque,
    Said,
    Thought,
    UserMessage,
)
from zidane_core.data.tools import ToolSpec
from zidane_core.models import anthropic_thinking
from zidane_core.models.codec import Endpoint, HttpRequest, headers, url
from zidane_core.models.extra_body import with_options
from zidane_core.models.ids import call_id, tool_name
from zidane_core.models.parts import PDF, Takes, fit
from zidane_core.models.repair import arguments_object, repair
from zidane_core.models.settled import Settled, joined, kept, settle
from zidane_core.text import decode_json, encode_json, is_object

FAMILY: Final = "anthropic"
VERSION: Final = "2023-06-01"
_TAKES: Final = Takes(text_documents=True, document_links=True)
_EPHEMERAL: Final = MappingProxyType({"type": "ephemeral"})
_CACHED_TURNS: Final = 2  # with the system prompt and the tools these are the four breakpoints allowed

Json: TypeAlias = dict[str, object]


def build(
    endpoint: Endpoint, request: ModelRequest, before: Settled | None = None
) -> tuple[HttpRequest, tuple[str, ...]]:
    """The request without its key, and warnings for the user."""
    plan = anthropic_thinking.plan(request)

    def turns(part: tuple[Message, ...]) -> tuple[list[tuple[str, list[Json]]], tuple[str, ...]]:
        return _turns(repair(part), request.model, plan.thoughts)

    def settled(part: tuple[Message, ...]) -> tuple[list[Json], tuple[str, ...]]:
        found, more = turns(part)
        first = _opened(found) if part[0] is request.messages[0] else []
        return [{"role": role, "content": blocks} for role, blocks in [*first, *found]], more

    # The last user turns carry the breakpoints of the prompt cache, which move on with each request.
    key = (endpoint, request.model, plan.thoughts)
    history = settle(request.messages, _CACHED_TURNS, key, before, settled)
    rest, more = turns(request.messages[len(history.messages) :])
    first = [] if history.messages else _opened(rest)
    messages, warnings = joined(history, _cached(_closed([*first, *rest]))), (*history.warnings, *more)
    body: Json = {
        "model": request.model.id,
        "max_tokens": plan.max_tokens,
        "stream": True,
        **plan.fields,
        "messages": messages,
    }
    if request.system.strip():
        body["system"] = [{"type": "text", "text": request.system, "cache_control": dict(_EPHEMERAL)}]
    if request.tools:
        tools = [_tool(tool) for tool in request.tools]
        body["tools"] = [*tools[:-1], {**tools[-1], "cache_control": dict(_EPHEMERAL)}]
    sent = HttpRequest(
        "POST",
        url(endpoint.base_url, "/v1/messages"),
        headers(("anthropic-version", VERSION), *plan.headers),
        encode_json(with_options(body, request.options)),
        kept(history),
    )
    return sent, (*warnings, *((plan.warning,) if plan.warning else ()))


def _tool(tool: ToolSpec) -> Json:
    schema = tool.schema if tool.schema.get("type") == "object" else {"type": "object", **tool.schema}
    return {"name": tool_name(tool.name), "description": tool.description, "input_schema": schema}


def _turns(
    messages: tuple[Message, ...], model: ModelChoice, thoughts: bool
) -> tuple[list[tuple[str, list[Json]]], tuple[str, ...]]:
    """Roles and their blocks, neighbours of one role merged."""
    turns: list[tuple[str, list[Json]]] = []
    warnings: list[str] = []
    for message in messages:
        role = "assistant" if isinstance(message, AssistantMessage) else "user"
        blocks, more = _blocks(message, model, thoughts)
        warnings.extend(more)
        if not blocks:
            continue
        if turns and turns[-1][0] == role:
            turns[-1][1].extend(blocks)
        else:
            turns.append((role, blocks))
    return turns, tuple(warnings)


def _opened(turns: list[tuple[str, list[Json]]]) -> list[tuple[str, list[Json]]]:
    """What makes a conversation begin with the user."""
    starts = bool(turns) and turns[0][0] == "user"
    return [] if starts else [("user", [{"type": "text", "text": "(The conversation goes on.)"}])]


def _closed(turns: list[tuple[str, list[Json]]]) -> list[tuple[str, list[Json]]]:
    """The conversation, ending with the user."""
    ends = turns[-1][0] == "user"
    return turns if ends else [*turns, ("user", [{"type": "text", "text": "Go on."}])]


def _blocks(message: Message, model: ModelChoice, thoughts: bool) -> tuple[list[Json], tuple[str, ...]]:
    if isinstance(message, AssistantMessage):
        return _assistant(message, thoughts), ()
    if isinstance(message, UserMessage):
        fitted = fit(message.parts, model, _TAKES)
        return [_part(part) for part in fitted.parts], fitted.warnings
    results = [_result(result, model) for result in message.results]
    return [block for block, _ in results], tuple(warning for _, more in results for warning in more)


def _cached(turns: list[tuple[str, list[Json]]]) -> list[Json]:
    """The messages, with breakpoints for the prompt cache at the end of the last user messages."""
    marked = [place for place, (role, _) in enumerate(turns) if role == "user"][-_CACHED_TURNS:]
    messages: list[Json] = []
    for place, (role, blocks) in enumerate(turns):
        if place in marked:
            blocks = [*blocks[:-1], {**blocks[-1], "cache_control": dict(_EPHEMERAL)}]
        messages.append({"role": role, "content": blocks})
    return messages


def _result(result: CallResult, model: ModelChoice) -> tuple[Json, tuple[str, ...]]:
    fitted = fit(result.content, model, _TAKES)
    block: Json = {"type": "tool_result", "tool_use_id": call_id(result.id, "anthropic")}
    if fitted.parts:
        block["content"] = [_part(part) for part in fitted.parts]
    if result.failed:
        block["is_error"] = True
    return block, fitted.warnings


def _part(part: Text | Image | Audio | Document) -> Json:
    if isinstance(part, Text):
        return {"type": "text", "text": part.text}
    if isinstance(part, Document):
        titled: Json = {"title": part.name or part.uri} if part.name or part.uri else {}
        return {"type": "document", "source": _document(part), **titled}
    if isinstance(part, Image) and not part.data:
        return {"type": "image", "source": {"type": "url", "url": part.uri}}
    return {"type": "image", "source": {"type": "base64", "media_type": part.media_type, "data": part.data}}


def _document(part: Document) -> Json:
    if part.text is not None:
        return {"type": "text", "media_type": "text/plain", "data": part.text}
    if part.data:
        return {"type": "base64", "media_type": PDF, "data": part.data}
    return {"type": "url", "url": part.uri}


def _assistant(message: AssistantMessage, thoughts: bool) -> list[Json]:
    blocks = [block for block in (_block(block, thoughts) for block in message.blocks) if block is not None]
    # A message of thoughts alone is refused; it is what is left of an answer that was cut.
    return blocks if any(block["type"] not in ("thinking", "redacted_thinking") for block in blocks) else []


def _block(block: AssistantBlock, thoughts: bool) -> Json | None:
    if isinstance(block, Said):
        return {"type": "text", "text": block.text}
    if isinstance(block, Call):
        return {
            "type": "tool_use",
            "id": call_id(block.id, "anthropic"),
            "name": tool_name(block.name),
            "input": arguments_object(block.arguments),
        }
    stored = _stored(block.opaque)
    if stored is None:
        return None
    if isinstance(block, Thought):
        signature = stored.get("signature")
        signed = thoughts and isinstance(signature, str) and signature
        return {"type": "thinking", "thinking": block.text, "signature": signature} if signed else None
    hidden = stored.get("type") in ("thinking", "redacted_thinking")
    return None if hidden and not thoughts else stored


def _stored(opaque: Opaque | None) -> Json | None:
    if opaque is None or opaque.family != FAMILY:
        return None
    value: object = decode_json(opaque.data).value_or(None)
    return dict(value) if is_object(value) else None
