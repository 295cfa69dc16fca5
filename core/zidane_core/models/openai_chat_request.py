"""A request for OpenAI Chat Completions and everything compatible with it (ring 1)."""

import re
from types import MappingProxyType
from typing import Final, TypeAlias

import msgspec

from zidane_core.data.content import Audio, Document, Image, Text
from zidane_core.data.models import (
    AssistantMessage,
    Call,
    CallResult,
    Foreign,
    Message,
    ModelRequest,
    ResultsMessage,
    Said,
    Thought,
    UserMessage,
)
from zidane_core.data.tools import ToolSpec
from zidane_core.models.codec import NO_LIMIT, Endpoint, HttpRequest, Quirks, headers, url
from zidane_core.models.efforts import chat_effort
from zidane_core.models.extra_body import with_options
from zidane_core.models.ids import call_id, tool_name
from zidane_core.models.parts import Takes, data_url, file_name, fit, plain
from zidane_core.models.repair import arguments_object, repair
from zidane_core.models.settled import Settled, joined, kept, settle
from zidane_core.text import decode_json, encode_json, is_array, is_object

DETAILS_FAMILY: Final = "openrouter"
"""The family of reasoning details, which only OpenRouter makes and takes."""

_TAKES: Final = Takes(
    audio=MappingProxyType(
        {
            "audio/wav": "wav",
            "audio/x-wav": "wav",
            "audio/wave": "wav",
            "audio/mpeg": "mp3",
            "audio/mp3": "mp3",
        }
    )
)
_NEW_LIMIT: Final = re.compile(r"(?:.*/)?(?:o\d|gpt-[5-9])")

Json: TypeAlias = dict[str, object]
Parts: TypeAlias = tuple[Text | Image | Audio | Document, ...]


def build(
    endpoint: Endpoint, request: ModelRequest, before: Settled | None = None
) -> tuple[HttpRequest, tuple[str, ...]]:
    """The request without its key, and warnings for the user."""
    quirks = endpoint.quirks
    effort = chat_effort(quirks.effort, request)
    history = settle(
        request.messages, 1, (endpoint, request.model), before, lambda part: _messages(quirks, request, part)
    )
    rest, more = _messages(quirks, request, request.messages[len(history.messages) :])
    messages, warnings = _with_system(quirks, request, joined(history, rest)), (*history.warnings, *more)
    limit = max(1, min(request.max_tokens, request.model.max_output))
    body: Json = {"model": request.model.id, "messages": messages, "stream": True, **effort.fields}
    if limit < NO_LIMIT:
        body[_limit_field(quirks, request.model.id)] = limit
    if quirks.stream_usage:
        body["stream_options"] = {"include_usage": True}
    if request.tools:
        body["tools"] = [_tool(tool) for tool in request.tools]
    where = url(endpoint.base_url, "/chat/completions")
    sent = HttpRequest(
        "POST", where, headers(), encode_json(with_options(body, request.options)), kept(history)
    )
    return sent, (*warnings, *((effort.warning,) if effort.warning else ()))


def _limit_field(quirks: Quirks, model: str) -> str:
    if quirks.max_tokens != "auto":
        return quirks.max_tokens
    return "max_completion_tokens" if _NEW_LIMIT.match(model) else "max_tokens"


def _tool(tool: ToolSpec) -> Json:
    schema = tool.schema if tool.schema.get("type") == "object" else {"type": "object", **tool.schema}
    function = {"name": tool_name(tool.name), "description": tool.description, "parameters": schema}
    return {"type": "function", "function": function}


def _with_system(quirks: Quirks, request: ModelRequest, messages: msgspec.Raw) -> msgspec.Raw:
    if not request.system.strip():
        return messages
    role = "developer" if quirks.developer_role and _NEW_LIMIT.match(request.model.id) else "system"
    system = encode_json({"role": role, "content": request.system})
    items = bytes(messages)[1:-1]
    return msgspec.Raw(b"[" + (system + b"," + items if items else system) + b"]")


def _messages(
    quirks: Quirks, request: ModelRequest, part: tuple[Message, ...]
) -> tuple[list[Json], tuple[str, ...]]:
    """Whole turns of the history as wire messages."""
    messages: list[Json] = []
    warnings: list[str] = []
    waiting: Parts = ()  # pictures of results, and what the user said: one user message
    asked = False
    for message in repair(part):
        if isinstance(message, UserMessage):
            fitted = fit(message.parts, request.model, _TAKES)
            warnings.extend(fitted.warnings)
            if asked:  # an earlier prompt that failed is not joined with this one: it is answered no more
                messages.extend(_user(waiting, messages, quirks))
                waiting = ()
            waiting, asked = (*waiting, *fitted.parts), True
            continue
        if isinstance(message, ResultsMessage):
            for result in message.results:
                text, pictures, more = _result(result, request, quirks)
                messages.append(text)
                waiting = (*waiting, *pictures)
                warnings.extend(more)
            continue
        messages.extend(_user(waiting, messages, quirks))
        waiting, asked = (), False
        messages.extend(_assistant(message, request, quirks))
    messages.extend(_user(waiting, messages, quirks))
    return messages, tuple(warnings)


def _user(parts: Parts, before: list[Json], quirks: Quirks) -> list[Json]:
    if not parts:
        return []
    only_text = all(isinstance(part, Text) for part in parts)
    content: object = plain(parts) if only_text else [_part(part) for part in parts]
    user: Json = {"role": "user", "content": content}
    if quirks.answer_before_user and before and before[-1]["role"] == "tool":
        return [{"role": "assistant", "content": "OK."}, user]
    return [user]


def _part(part: Text | Image | Audio | Document) -> Json:
    if isinstance(part, Text):
        return {"type": "text", "text": part.text}
    if isinstance(part, Image):
        address = data_url(part.media_type, part.data) if part.data else part.uri
        return {"type": "image_url", "image_url": {"url": address}}
    if isinstance(part, Audio):
        return {
            "type": "input_audio",
            "input_audio": {"data": part.data, "format": _TAKES.audio[part.media_type]},
        }
    file = {"filename": file_name(part), "file_data": data_url(part.media_type or "", part.data)}
    return {"type": "file", "file": file}


def _result(result: CallResult, request: ModelRequest, quirks: Quirks) -> tuple[Json, Parts, tuple[str, ...]]:
    """A tool message, which holds text only, and the pictures that follow it in a user message."""
    model = request.model
    fitted = fit(result.content, model, _TAKES)
    others: Parts = tuple(part for part in fitted.parts if not isinstance(part, Text))
    text = plain(fitted.parts)
    warnings = fitted.warnings
    if others and not quirks.images_in_results:
        note = f"{model.name} cannot be shown the {len(others)} attachment(s) that {result.name} gave."
        text, others, warnings = f"{text}\n[attachment not shown to you]".strip(), (), (*warnings, note)
    if others:
        others = (Text(f"Attachments of the result of {tool_name(result.name)}:"), *others)
        text = text or "The result is attached below."
    text = text or "(no output)"
    if result.failed and not text.lower().startswith("error"):
        text = f"Error: {text}"
    sent: Json = {"role": "tool", "tool_call_id": call_id(result.id, quirks.call_ids), "content": text}
    return sent, others, warnings


def _assistant(message: AssistantMessage, request: ModelRequest, quirks: Quirks) -> list[Json]:
    text = "\n\n".join(block.text for block in message.blocks if isinstance(block, Said))
    calls = [_call(block, quirks) for block in message.blocks if isinstance(block, Call)]
    if not text and not calls:
        return []
    sent: Json = {"role": "assistant", "content": text or None}
    if calls:
        sent["tool_calls"] = calls
    return [{**sent, **_reasoning(message, request, quirks)}]


def _call(call: Call, quirks: Quirks) -> Json:
    value = arguments_object(call.arguments)
    text = encode_json(value).decode()
    return {
        "id": call_id(call.id, quirks.call_ids),
        "type": "function",
        "function": {"name": tool_name(call.name), "arguments": text},
    }


def _reasoning(message: AssistantMessage, request: ModelRequest, quirks: Quirks) -> Json:
    if quirks.reasoning_back == "reasoning_content":
        if request.thinking == "off":
            return {}
        # In thinking mode the field must be there, also where the thoughts came from another provider.
        return {
            "reasoning_content": "\n".join(
                block.text for block in message.blocks if isinstance(block, Thought)
            )
        }
    if quirks.reasoning_back == "reasoning_details":
        details = [item for block in message.blocks if isinstance(block, Foreign) for item in _details(block)]
        return {"reasoning_details": details} if details else {}
    return {}


def _details(block: Foreign) -> list[object]:
    if block.opaque.family != DETAILS_FAMILY:
        return []
    value: object = decode_json(block.opaque.data).value_or(None)
    return [item for item in value if is_object(item)] if is_array(value) else []
