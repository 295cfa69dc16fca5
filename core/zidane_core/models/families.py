"""What is known of models by their names (ring 1): window, output, what they take, and what they cost.

State of the table: 1 December 2026. Windows, limits and prices are those that the providers publish; what could not be
confirmed is None, nothing is guessed. What a long prompt costs more is in a price; where a provider asks more for busy hours (DeepSeek), that
is not.
"""

from types import MappingProxyType
from typing import Final

import msgspec
from msgspec.structs import replace

from zidane_core.data.models import LongPrompt, Price


class ModelFamily(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """Models of one provider ('': of any) whose name is `name`, alone or with the mark of a snapshot behind it.

    `max_output` is what a request asks for at most, in tokens: less than a model could give where that much is never
    needed, since servers count it against rate limits.
    """

    provider: str
    name: str
    context_window: int | None
    max_output: int = 32768
    images: bool = True
    documents: bool = False
    thinking: bool = True
    price: Price | None = None


def _claude(
    name: str,
    window: int,
    cost: tuple[float, float, float],
    *,
    output: int = 32768,
    thinking: bool = True,
    long: LongPrompt | None = None,
) -> ModelFamily:
    """`cost` is input, output and what is read from the cache; to write into the cache costs a quarter more than input."""
    given, said, read = cost
    price = Price(input=given, output=said, cached_read=read, cached_write=given * 1.25, long=long)
    return ModelFamily(
        provider="anthropic",
        name=name,
        context_window=window,
        max_output=output,
        documents=True,
        thinking=thinking,
        price=price,
    )


def _gpt(
    name: str,
    window: int | None,
    cost: tuple[float, float, float],
    *,
    output: int = 32768,
    images: bool = True,
    thinking: bool = True,
    write: float | None = None,
    long: LongPrompt | None = None,
) -> ModelFamily:
    price = Price(input=cost[0], output=cost[1], cached_read=cost[2], cached_write=write, long=long)
    return ModelFamily(
        provider="openai",
        name=name,
        context_window=window,
        max_output=output,
        images=images,
        documents=True,
        thinking=thinking,
        price=price,
    )


def _other(
    provider: str,
    name: str,
    window: int | None,
    cost: tuple[float, float] | None = None,
    read: float | None = None,
    *,
    output: int = 32768,
    images: bool = True,
    thinking: bool = True,
    long: LongPrompt | None = None,
) -> ModelFamily:
    return ModelFamily(
        provider=provider,
        name=name,
        context_window=window,
        max_output=output,
        images=images,
        thinking=thinking,
        price=None if cost is None else Price(input=cost[0], output=cost[1], cached_read=read, long=long),
    )


_M: Final = 1_000_000
_200K: Final = 200_000
_GPT: Final = 1_050_000
_GPT_5: Final = 400_000
_GPT_4_1: Final = 1_047_576
_128K: Final = 131_072
_LONG_GPT: Final = LongPrompt(272_000, 2.0, 1.5)
_LONG_GROK: Final = LongPrompt(200_000, 2.0, 2.0)

_ROWS: Final = (
    _claude("claude-fable-5-1", _M, (10, 50, 0.25)),
    _claude("claude-opus-5-5", _M, (4, 20, 0.2)),
    _claude("claude-opus-5", _M, (5, 25, 0.5)),
    _claude("claude-opus-4-8", _M, (5, 25, 0.5)),
    _claude("claude-opus-4-7", _M, (5, 25, 0.5)),
    _claude("claude-opus-4-6", _M, (5, 25, 0.5)),
    _claude("claude-opus-4-5", _200K, (5, 25, 0.5)),
    _claude("claude-opus-4-1", _200K, (15, 75, 1.5), output=32000),
    _claude("claude-opus-4", _200K, (15, 75, 1.5), output=32000),
    _claude("claude-sonnet-5-5", _M, (2, 10, 0.1)),
    _claude("claude-sonnet-5", _M, (2, 10, 0.2)),
    _claude("claude-sonnet-4-6", _M, (3, 15, 0.3)),
    _claude("claude-sonnet-4-5", _200K, (3, 15, 0.3)),
    _claude("claude-sonnet-4", _200K, (3, 15, 0.3)),
    _claude("claude-3-7-sonnet", _200K, (3, 15, 0.3)),
    _claude("claude-3-5-sonnet", _200K, (3, 15, 0.3), output=8192, thinking=False),
    _claude("claude-haiku-5-5", _M, (0.1, 0.5, 0.01), long=LongPrompt(100_000, 5.0, 5.0)),
    _claude("claude-haiku-4-5", _200K, (1, 5, 0.1)),
    _claude("claude-3-5-haiku", _200K, (0.8, 4, 0.08), output=8192, thinking=False),
    _claude("claude-3-haiku", _200K, (0.25, 1.25, 0.03), output=4096, thinking=False),
    _claude("claude-3-opus", _200K, (15, 75, 1.5), output=4096, thinking=False),
    _gpt("gpt-6.1-sol", _GPT, (2, 10, 0.1), long=_LONG_GPT),
    _gpt("gpt-6.1-terra", _GPT, (1, 5, 0.05), long=_LONG_GPT),
    _gpt("gpt-6-astra", _GPT, (10, 50, 1), write=12.5, long=_LONG_GPT),
    _gpt("gpt-6-sol", _GPT, (2, 10, 0.2), write=2.5, long=_LONG_GPT),
    _gpt("gpt-6-luna", _GPT, (0.1, 0.5, 0.01), write=0.125, long=_LONG_GPT),
    _gpt("gpt-5.6-sol", _GPT, (4, 20, 0.4), long=_LONG_GPT),
    _gpt("gpt-5.6-terra", _GPT, (2, 12, 0.2), long=_LONG_GPT),
    _gpt("gpt-5.6-luna", _GPT, (0.2, 1.2, 0.02), long=_LONG_GPT),
    _gpt("gpt-5.5", _GPT, (5, 30, 0.5), long=_LONG_GPT),
    _gpt("gpt-5.4", _GPT, (2.5, 15, 0.25)),
    _gpt("gpt-5.4-mini", None, (0.75, 4.5, 0.075)),
    _gpt("gpt-5.2", _GPT_5, (1.75, 14, 0.175)),
    _gpt("gpt-5.1", _GPT_5, (1.25, 10, 0.125)),
    _gpt("gpt-5", _GPT_5, (1.25, 10, 0.125)),
    _gpt("gpt-5-mini", _GPT_5, (0.25, 2, 0.025)),
    _gpt("gpt-5-nano", _GPT_5, (0.05, 0.4, 0.005)),
    _gpt("gpt-4.1", _GPT_4_1, (2, 8, 0.5), thinking=False),
    _gpt("gpt-4.1-mini", _GPT_4_1, (0.4, 1.6, 0.1), thinking=False),
    _gpt("gpt-4.1-nano", _GPT_4_1, (0.1, 0.4, 0.025), thinking=False),
    _gpt("gpt-4o", 128_000, (2.5, 10, 1.25), output=16384, thinking=False),
    _gpt("gpt-4o-mini", 128_000, (0.15, 0.6, 0.075), output=16384, thinking=False),
    _gpt("o3", _200K, (2, 8, 0.5)),
    _gpt("o3-mini", _200K, (1.1, 4.4, 0.55), images=False),
    _gpt("o4-mini", _200K, (1.1, 4.4, 0.275)),
    # Whoever serves it asks a price of his own.
    _other("", "gpt-oss-120b", _128K, images=False),
    _other("", "gpt-oss-20b", _128K, images=False),
    _other("openrouter", "deepseek/deepseek-v4.1-flash", _M),
    # The free tier of Cerebras and the rate limits of Groq are what the windows and outputs here are made for.
    _other("cerebras", "gpt-oss-120b", 65_536, (0.35, 0.75), output=16384, images=False),
    _other("cerebras", "qwen-3.8-27b", 64_000, (0.99, 1.49), output=16384, images=False),
    _other("groq", "openai/gpt-oss-120b", _128K, (0.15, 0.6), 0.075, output=8192, images=False),
    _other("groq", "openai/gpt-oss-20b", _128K, (0.075, 0.3), 0.0375, output=8192, images=False),
    _other("groq", "qwen/qwen3.8-27b", 131_042, (0.8, 4), 0.4, output=8192),
    _other("deepseek", "deepseek-flash", _M, (0.15, 0.6), 0.003),
    _other("deepseek", "deepseek-v4-flash", _M, (0.15, 0.6), 0.003),
    _other("deepseek", "deepseek-v4-pro", _M, (0.66, 1.98), 0.022, images=False),
    _other("deepseek", "deepseek-chat", _M, output=8192, images=False, thinking=False),
    _other("deepseek", "deepseek-reasoner", _M, images=False),
    _other("mistral", "mistral-medium", 262_144, (1.5, 7.5)),
    _other("mistral", "mistral-medium-3.5", 262_144, (1.5, 7.5)),
    _other("mistral", "mistral-small", _128K),
    _other("mistral", "mistral-large", _128K, thinking=False),
    _other("mistral", "mistral-large-2512", 262_144, (0.5, 1.5), thinking=False),
    _other("mistral", "mistral-large-4", 1_048_576, (0.68, 2.09)),
    _other("mistral", "magistral-medium", 128_000, (2, 5), output=16384, images=False),
    _other("mistral", "devstral-2512", 262_144, (0.4, 2), images=False, thinking=False),
    _other("mistral", "codestral", 256_000, (0.3, 0.9), images=False, thinking=False),
    _other("xai", "grok-4.7", None, (2, 6), 0.5, long=_LONG_GROK),
    _other("xai", "grok-4.5", 500_000, (2, 6), 0.5, long=_LONG_GROK),
    _other("xai", "grok-4.3", _M, (1.25, 2.5), 0.2, long=_LONG_GROK),
    _other("xai", "grok-4", 256_000, (3, 15), 0.75, output=8192),
    _other("xai", "grok-4-fast", 2_000_000, (0.2, 0.5), 0.05, output=30000),
    _other("xai", "grok-3", _128K, (3, 15), 0.75, output=8192, images=False, thinking=False),
    _other("xai", "grok-3-mini", _128K, (0.3, 0.5), 0.075, output=8192, images=False),
    _other("xai", "grok-code-fast-1", 256_000, (0.2, 1.5), 0.02, output=10000, images=False),
)

FAMILIES: Final = MappingProxyType({(row.provider, row.name): row for row in _ROWS})
"""The rows by provider and name."""

_SAME: Final = MappingProxyType({"openai-responses": "openai"})
_SOLD_BY_THEIR_MAKER: Final = MappingProxyType({"anthropic": "anthropic", "openai": "openai", "x-ai": "xai"})
"""Makers at OpenRouter, which asks what they ask. Models of others have many sellers with prices of their own."""


def family(provider: str, model: str) -> ModelFamily | None:
    """What is known of a provider's model, None where its name says nothing."""
    found = _named(_SAME.get(provider, provider), model)
    return found or _at_router(model) if provider == "openrouter" else found


def _named(provider: str, model: str) -> ModelFamily | None:
    keys = ((owner, name) for owner in (provider, "") for name in (model, _unmarked(model)))
    return next((FAMILIES[key] for key in keys if key in FAMILIES), None)


def _unmarked(model: str) -> str:
    """The name without the mark of a snapshot. Any other ending makes it another model, which may cost something else."""
    parts = model.rsplit("-", 3)
    if [len(part) for part in parts[1:] if part.isdigit()] == [4, 2, 2]:
        return parts[0]
    name, _, mark = model.rpartition("-")
    return name if mark in ("latest", "0") or (mark.isdigit() and 4 <= len(mark) <= 8) else model


def _at_router(model: str) -> ModelFamily | None:
    maker, _, name = model.partition("/")
    provider = _SOLD_BY_THEIR_MAKER.get(maker)
    if provider is None:
        return None
    # Anthropic writes its versions with a dash, OpenRouter with a dot.
    found = _named(provider, name.replace(".", "-") if maker == "anthropic" else name)
    return None if found is None else replace(found, documents=False)
