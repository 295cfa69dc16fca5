"""How each provider is told how much to think (ring 1): a table from level and model to fields of the body.

The rules follow the providers' pages of late 2026. A model's name decides; an unknown name gets the
newest rule of its provider.
"""

import re
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final, NamedTuple, TypeAlias

from zidane_core.data.models import ModelRequest, ThinkingLevel
from zidane_core.models.codec import Effort

Fields: TypeAlias = Mapping[str, object]


class Said(NamedTuple):
    """Fields for the request's body, and a warning or ''."""

    fields: Fields = MappingProxyType({})
    warning: str = ""


_SILENT: Final = Said()

# What the OpenAI models take, by name; the first match counts. Columns: the values for off and for minimal.
# None for off means that the model knows no effort at all.
_OPENAI_MODELS: Final[tuple[tuple[re.Pattern[str], tuple[str, str] | None], ...]] = (
    (
        re.compile(
            r"(?:.*/)?(?:gpt-3|gpt-4|chatgpt|chat-latest|.*-chat-latest|o1-mini|o1-preview|gpt-audio)"
        ),
        None,
    ),
    (re.compile(r"(?:.*/)?(?:o\d|.*codex)"), ("low", "low")),
    (re.compile(r"(?:.*/)?gpt-5(?:-|$)"), ("minimal", "minimal")),
    (re.compile(r"(?:.*/)?(?:gpt-6(?:\.\d+)?-astra|gpt-6\.1-sol|.*-pro)"), ("low", "low")),
    (re.compile(r"(?:.*/)?gpt-"), ("none", "low")),
)
_NO_EFFORT_WITH_TOOLS: Final = re.compile(r"gpt-(?:5\.[4-9]|[6-9])")


def openai_effort(model: str, level: ThinkingLevel) -> str | None:
    """The `effort` of an OpenAI model, None where nothing should be said."""
    for pattern, floor in _OPENAI_MODELS:
        if pattern.match(model):
            if floor is None:
                return None
            return floor[0] if level == "off" else floor[1] if level == "minimal" else level
    return None if level == "off" else "low" if level == "minimal" else level


def _openai(request: ModelRequest) -> Said:
    model = request.model.id
    effort = openai_effort(model, request.thinking)
    if effort is None:
        return _SILENT
    if not request.tools or not _NO_EFFORT_WITH_TOOLS.match(model):
        return Said({"reasoning_effort": effort})
    # Chat Completions takes tools for these models only without reasoning.
    warning = (
        f"{request.model.name} cannot think and use tools through Chat Completions, so it answers without "
        "thinking; choose the provider openai-responses for both."
    )
    can_be_off = openai_effort(model, "off") == "none"
    fields: Fields = {"reasoning_effort": "none"} if can_be_off else {}
    return Said(fields, "" if request.thinking == "off" else warning)


def _openrouter(request: ModelRequest) -> Said:
    # Off is not said: models that always think refuse it.
    return _SILENT if request.thinking == "off" else Said({"reasoning": {"effort": request.thinking}})


def _deepseek(request: ModelRequest) -> Said:
    if request.thinking == "off":
        return Said({"thinking": {"type": "disabled"}})
    effort = "low" if request.thinking in ("minimal", "low") else "high"
    return Said({"thinking": {"type": "enabled"}, "reasoning_effort": effort})


def _stepped(level: ThinkingLevel, off: str) -> str:
    return off if level == "off" else "low" if level == "minimal" else level


def _groq(request: ModelRequest) -> Said:
    model = request.model.id
    if "gpt-oss" in model:
        return Said({"reasoning_effort": _stepped(request.thinking, "low")})
    if "qwen" in model:
        effort = "none" if request.thinking == "off" else "default"
        return Said({"reasoning_effort": effort, "reasoning_format": "parsed"})
    return _SILENT


def _cerebras(request: ModelRequest) -> Said:
    model = request.model.id
    if "gpt-oss" in model:
        return Said({"reasoning_effort": _stepped(request.thinking, "low")})
    if "qwen" in model:
        return Said({"reasoning_effort": _stepped(request.thinking, "none"), "reasoning_format": "parsed"})
    return _SILENT


def _mistral(request: ModelRequest) -> Said:
    return _SILENT if request.thinking == "off" else Said({"reasoning_effort": "high"})


_GROK_WITHOUT: Final = re.compile(r"grok-(?:2|3(?!-mini)|4(?:$|-)|4\.20|code|build)")


def _xai(request: ModelRequest) -> Said:
    model = request.model.id
    if _GROK_WITHOUT.match(model):
        return _SILENT
    return Said(
        {"reasoning_effort": _stepped(request.thinking, "none" if model.startswith("grok-4.3") else "low")}
    )


def _compatible(request: ModelRequest) -> Said:
    if request.thinking == "off":
        return _SILENT
    return Said({"reasoning_effort": "low" if request.thinking == "minimal" else request.thinking})


def _none(request: ModelRequest) -> Said:
    return _SILENT


_RULES: Final[Mapping[Effort, Callable[[ModelRequest], Said]]] = MappingProxyType(
    {
        "none": _none,
        "openai": _openai,
        "openrouter": _openrouter,
        "deepseek": _deepseek,
        "groq": _groq,
        "cerebras": _cerebras,
        "mistral": _mistral,
        "xai": _xai,
        "ollama": _compatible,
        "compatible": _compatible,
    }
)


def chat_effort(rule: Effort, request: ModelRequest) -> Said:
    """The thinking fields of a Chat Completions body. A model that cannot think is asked nothing."""
    return _RULES[rule](request) if request.model.thinking else _SILENT
