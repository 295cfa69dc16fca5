"""Models that can be chosen without naming one, as the providers list them in late 2026 (ring 1). The first is the default."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from zidane_core.data.models import ModelChoice
from zidane_core.models.picture_size import image_bytes


def _choice(
    provider: str,
    model: str,
    name: str,
    window: int,
    *,
    output: int = 32768,
    images: bool = True,
    documents: bool = False,
    thinking: bool = True,
) -> ModelChoice:
    return ModelChoice(
        value=model,
        name=name,
        provider=provider,
        id=model,
        images=images,
        documents=documents,
        thinking=thinking,
        max_output=output,
        context_window=window,
        image_bytes=image_bytes(provider),
    )


_M: Final = 1_000_000
_OPENAI_WINDOW: Final = 1_050_000
_LIST: Final = (
    _choice("anthropic", "claude-sonnet-5-5", "Claude Sonnet 5.5", _M, documents=True),
    _choice("anthropic", "claude-opus-5-5", "Claude Opus 5.5", _M, documents=True),
    _choice("anthropic", "claude-haiku-5-5", "Claude Haiku 5.5", _M, documents=True),
    _choice("openai", "gpt-6-sol", "GPT-6 Sol", _OPENAI_WINDOW, documents=True),
    _choice("openai", "gpt-6-luna", "GPT-6 Luna", _OPENAI_WINDOW, documents=True),
    _choice("openai-responses", "gpt-6-sol", "GPT-6 Sol", _OPENAI_WINDOW, documents=True),
    _choice("openai-responses", "gpt-6-luna", "GPT-6 Luna", _OPENAI_WINDOW, documents=True),
    _choice("openrouter", "anthropic/claude-sonnet-5.5", "Claude Sonnet 5.5", _M),
    _choice("openrouter", "openai/gpt-6-sol", "GPT-6 Sol", _OPENAI_WINDOW),
    _choice("openrouter", "deepseek/deepseek-v4.1-flash", "DeepSeek V4.1 Flash", _M),
    _choice("cerebras", "gpt-oss-120b", "GPT OSS 120B", 65_536, output=16384, images=False),
    _choice("cerebras", "qwen-3.8-27b", "Qwen 3.8 27B", 64_000, output=16384, images=False),
    _choice("groq", "openai/gpt-oss-120b", "GPT OSS 120B", 131_072, output=8192, images=False),
    _choice("groq", "openai/gpt-oss-20b", "GPT OSS 20B", 131_072, output=8192, images=False),
    _choice("groq", "qwen/qwen3.8-27b", "Qwen 3.8 27B", 131_042, output=8192),
    _choice("deepseek", "deepseek-flash", "DeepSeek Flash", _M),
    _choice("deepseek", "deepseek-v4-pro", "DeepSeek V4 Pro", _M, images=False),
    _choice("mistral", "mistral-medium-latest", "Mistral Medium", 262_144),
    _choice("mistral", "mistral-small-latest", "Mistral Small", 131_072),
    _choice("mistral", "mistral-large-latest", "Mistral Large", 131_072, thinking=False),
    _choice("xai", "grok-4.5", "Grok 4.5", 500_000),
    _choice("xai", "grok-4.3", "Grok 4.3", _M),
)

MODELS: Final[Mapping[str, tuple[ModelChoice, ...]]] = MappingProxyType(
    {
        provider: tuple(choice for choice in _LIST if choice.provider == provider)
        for provider in dict.fromkeys(choice.provider for choice in _LIST)
    }
)
