"""A request for the OpenAI Responses API (ring 1). Nothing is stored there: the history goes along each time."""

from typing import Final, TypeAlias

from zidane_core.data.content import Audio, Document, Image, Text
from zidane_core.data.models import (
    AssistantBlock,
    AssistantMessage,
    Call,
    CallResult,
    Message,
    ModelRequest,
    Opaque,
    ResultsMessage,
    Said,
    UserMessage,
)
from zidane_core.data.tools import ToolSpec
from zidane_core.models.codec import NO_LIMIT, Endpoint, HttpRequest, headers, url
from zidane_core.models.efforts import openai_effort
from zidane_core.models.extra_body import with_options
from zidane_core.models.ids import call_id, tool_name
from zidane_core.models.parts import Takes, data_url, file_name, fit, plain
from zidane_core.models.repair import arguments_object, repair
from zidane_core.models.settled import Settled, joined, kept, settle
from zidane_core.text import decode_json, encode_json, is_object

FAMILY: Final = "openai-responses"
_TAKES: Final = Takes(document_links=True)

Json: TypeAlias = dict[str, object]


def build(
    endpoint: Endpoint, request: ModelRequest, before: Settled | None = None
) -> tuple[HttpRequest, tuple[str, ...]]:
    """The request without its key, and warnings for the user."""
    history = settle(
        request.messages, 1, (endpoint, request.model), before, lambda part: _items(request, part)
    )
    rest, more = _items(request, request.messages[len(history.messages) :])
    items, warnings = joined(history, rest), [*history.warnings, *more]
    body: Json = {
        "model": request.model.id,
        "input": items,
        "stream": True,
        "store": False,
        **_reasoning(request),
    }
    limit = max(16, min(request.max_tokens, request.model.max_output))
    if limit < NO_LIMIT:
        body["max_output_tokens"] = limit
    if request.system.strip():
        body["instructions"] = request.system
    if request.tools:
        body["tools"] = [_tool(tool) for tool in request.tools]
    sent = HttpRequest(
        "POST",
        url(endpoint.base_url, "/responses"),
        headers(),
        encode_json(with_options(body, request.options)),
        kept(history),
    )
    return sent, tuple(warnings)


def _reasoning(request: ModelRequest) -> Json:
    effort = openai_effort(request.model.id, request.thinking) if request.model.thinking else None
    if effort is None:
        return {}
    # A summary is asked for only with thinking: accounts that are not verified are refused one.
    shown: Json = {} if request.thinking == "off" else {"summary": "auto"}
    return {"reasoning": {"effort": effort, **shown}, "include": ["reasoning.encrypted_content"]}


def _items(request: ModelRequest, part: tuple[Message, ...]) -> tuple[list[Json], tuple[str, ...]]:
    """Whole turns of the history as input items."""
    items: list[Json] = []
    warnings: list[str] = []
    for message in repair(part):
        if isinstance(message, AssistantMessage):
            items.extend(_assistant(message, request.model.thinking))
        elif isinstance(message, ResultsMessage):
            for result in message.results:
                item, more = _result(result, request)
                items.append(item)
                warnings.extend(more)
        else:
            user, more = _user(message, request)
            items.append(user)
            warnings.extend(more)
    return items, tuple(warnings)


def _tool(tool: ToolSpec) -> Json:
    schema = tool.schema if tool.schema.get("type") == "object" else {"type": "object", **tool.schema}
    return {
        "type": "function",
        "name": tool_name(tool.name),
        "description": tool.description,
        "parameters": schema,
        "strict": False,
    }


def _user(message: UserMessage, request: ModelRequest) -> tuple[Json, tuple[str, ...]]:
    fitted = fit(message.parts, request.model, _TAKES)
    return {
        "type": "message",
        "role": "user",
        "content": [_part(part) for part in fitted.parts],
    }, fitted.warnings


def _part(part: Text | Image | Audio | Document) -> Json:
    if isinstance(part, Text):
        return {"type": "input_text", "text": part.text}
    if isinstance(part, Document):
        if not part.data:
            return {"type": "input_file", "file_url": part.uri}
        data = data_url(part.media_type or "", part.data)
        return {"type": "input_file", "filename": file_name(part), "file_data": data}
    address = data_url(part.media_type, part.data) if part.data else part.uri
    return {"type": "input_image", "detail": "auto", "image_url": address}


def _result(result: CallResult, request: ModelRequest) -> tuple[Json, tuple[str, ...]]:
    fitted = fit(result.content, request.model, _TAKES)
    output: object = plain(fitted.parts) or "(no output)"
    if result.failed and isinstance(output, str) and not output.lower().startswith("error"):
        output = f"Error: {output}"
    if not all(isinstance(part, Text) for part in fitted.parts):
        failed = (Text("Error:"),) if result.failed else ()
        output = [_part(part) for part in (*failed, *fitted.parts)]
    item: Json = {"type": "function_call_output", "call_id": call_id(result.id, "openai"), "output": output}
    return item, fitted.warnings


def _assistant(message: AssistantMessage, thinks: bool) -> list[Json]:
    items = [item for item in (_item(block, thinks) for block in message.blocks) if item is not None]
    # A reasoning item must have the item it led to behind it; an answer that was cut leaves it alone.
    while items and items[-1].get("type") == "reasoning":
        items.pop()
    return items


def _item(block: AssistantBlock, thinks: bool) -> Json | None:
    if isinstance(block, Said):
        phase = _stored(block.opaque).get("phase")
        said: Json = {"phase": phase} if isinstance(phase, str) else {}
        return {"type": "message", "role": "assistant", "content": block.text, **said}
    if isinstance(block, Call):
        arguments = encode_json(arguments_object(block.arguments)).decode()
        name = tool_name(block.name)
        return {
            "type": "function_call",
            "call_id": call_id(block.id, "openai"),
            "name": name,
            "arguments": arguments,
        }
    stored = _stored(block.opaque)
    if not stored:
        return None
    # Without its encrypted content a reasoning item means nothing to a server that stored nothing.
    reasoning = stored.get("type") == "reasoning"
    return None if reasoning and not (thinks and stored.get("encrypted_content")) else stored


def _stored(opaque: Opaque | None) -> Json:
    if opaque is None or opaque.family != FAMILY:
        return {}
    value: object = decode_json(opaque.data).value_or(None)
    return dict(value) if is_object(value) else {}
