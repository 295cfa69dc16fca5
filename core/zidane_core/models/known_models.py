"""Models that can be chosen without naming one, as the providers list them in late 2026 (ring 1). The first is the default."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from msgspec.structs import replace

from zidane_core.data.models import ModelChoice
from zidane_core.models.codec import NO_LIMIT
from zidane_core.models.families import family
from zidane_core.models.picture_size import image_bytes

_PDF: Final = frozenset({"anthropic", "openai", "openai-responses"})
"""Providers whose models take documents when nothing else is known of them."""


def model_choice(provider: str, model: str, name: str = "", *, anything: bool = False) -> ModelChoice:
    """A provider's model with what its name says of it. `anything`: the provider is a server that may run any model, of
    which nothing is assumed."""
    choice = ModelChoice(
        value=model, name=name or model, provider=provider, id=model, image_bytes=image_bytes(provider)
    )
    known = None if anything else family(provider, model)
    if known is None:
        # Servers refuse a limit that does not fit beside the prompt; Anthropic wants one.
        most = choice.max_output if provider == "anthropic" else NO_LIMIT
        return replace(choice, thinking=not anything, documents=provider in _PDF, max_output=most)
    return replace(
        choice,
        context_window=known.context_window,
        max_output=known.max_output,
        images=known.images,
        documents=known.documents,
        thinking=known.thinking,
        price=known.price,
    )


_LIST: Final = (
    ("anthropic", "claude-sonnet-5-5", "Claude Sonnet 5.5"),
    ("anthropic", "claude-opus-5-5", "Claude Opus 5.5"),
    ("anthropic", "claude-haiku-5-5", "Claude Haiku 5.5"),
    ("openai", "gpt-6-sol", "GPT-6 Sol"),
    ("openai", "gpt-6-luna", "GPT-6 Luna"),
    ("openai-responses", "gpt-6-sol", "GPT-6 Sol"),
    ("openai-responses", "gpt-6-luna", "GPT-6 Luna"),
    ("openrouter", "anthropic/claude-sonnet-5.5", "Claude Sonnet 5.5"),
    ("openrouter", "openai/gpt-6-sol", "GPT-6 Sol"),
    ("openrouter", "deepseek/deepseek-v4.1-flash", "DeepSeek V4.1 Flash"),
    ("cerebras", "gpt-oss-120b", "GPT OSS 120B"),
    ("cerebras", "qwen-3.8-27b", "Qwen 3.8 27B"),
    ("groq", "openai/gpt-oss-120b", "GPT OSS 120B"),
    ("groq", "openai/gpt-oss-20b", "GPT OSS 20B"),
    ("groq", "qwen/qwen3.8-27b", "Qwen 3.8 27B"),
    ("deepseek", "deepseek-flash", "DeepSeek Flash"),
    ("deepseek", "deepseek-v4-pro", "DeepSeek V4 Pro"),
    ("mistral", "mistral-medium-latest", "Mistral Medium"),
    ("mistral", "mistral-small-latest", "Mistral Small"),
    ("mistral", "mistral-large-latest", "Mistral Large"),
    ("xai", "grok-4.5", "Grok 4.5"),
    ("xai", "grok-4.3", "Grok 4.3"),
)

MODELS: Final[Mapping[str, tuple[ModelChoice, ...]]] = MappingProxyType(
    {
        provider: tuple(model_choice(owner, model, name) for owner, model, name in _LIST if owner == provider)
        for provider in dict.fromkeys(owner for owner, _, _ in _LIST)
    }
)
