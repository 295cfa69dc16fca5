"""The providers that have a name: where they are, which key they want, which models they offer (ring 1).

`detect` picks one by the environment; `endpoint` gives how it is called.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, Literal, TypeAlias
from urllib.parse import urlsplit

import msgspec
from msgspec.structs import replace
from returns.result import Failure, Result, Success

from zidane_core.data.models import ModelChoice
from zidane_core.models.codec import Auth, Endpoint, Family, Quirks
from zidane_core.models.known_models import MODELS, model_choice


class Provider(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A row of the table. `base_url` None: it must be given. `elsewhere` are the quirks behind another base URL.
    `configured_url` is the user's own address of it, which a variable beats."""

    name: str
    title: str
    family: Family
    base_url: str | None
    key_variable: str | None
    base_variable: str
    auth: Auth = "bearer"
    key_optional: bool = False
    quirks: Quirks = Quirks()
    elsewhere: Quirks | None = None
    configured_url: str | None = None


_COMPATIBLE: Final = Quirks(bare=True)

_ROWS: Final = (
    Provider(
        name="anthropic",
        title="Anthropic",
        family="anthropic",
        base_url="https://api.anthropic.com",
        key_variable="ANTHROPIC_API_KEY",
        base_variable="ANTHROPIC_BASE_URL",
        auth="x-api-key",
        quirks=Quirks(call_ids="anthropic"),
    ),
    Provider(
        name="openai",
        title="OpenAI",
        family="openai-chat",
        base_url="https://api.openai.com/v1",
        key_variable="OPENAI_API_KEY",
        base_variable="OPENAI_BASE_URL",
        quirks=Quirks(max_tokens="max_completion_tokens", developer_role=True, effort="openai"),
        elsewhere=_COMPATIBLE,
    ),
    Provider(
        name="openai-responses",
        title="OpenAI",
        family="openai-responses",
        base_url="https://api.openai.com/v1",
        key_variable="OPENAI_API_KEY",
        base_variable="OPENAI_BASE_URL",
    ),
    Provider(
        name="openrouter",
        title="OpenRouter",
        family="openai-chat",
        base_url="https://openrouter.ai/api/v1",
        key_variable="OPENROUTER_API_KEY",
        base_variable="OPENROUTER_BASE_URL",
        quirks=Quirks(max_tokens="max_tokens", effort="openrouter", reasoning_back="reasoning_details"),
    ),
    Provider(
        name="cerebras",
        title="Cerebras",
        family="openai-chat",
        base_url="https://api.cerebras.ai/v1",
        key_variable="CEREBRAS_API_KEY",
        base_variable="CEREBRAS_BASE_URL",
        quirks=Quirks(max_tokens="max_completion_tokens", effort="cerebras"),
    ),
    Provider(
        name="groq",
        title="Groq",
        family="openai-chat",
        base_url="https://api.groq.com/openai/v1",
        key_variable="GROQ_API_KEY",
        base_variable="GROQ_BASE_URL",
        quirks=Quirks(max_tokens="max_completion_tokens", effort="groq"),
    ),
    Provider(
        name="deepseek",
        title="DeepSeek",
        family="openai-chat",
        base_url="https://api.deepseek.com",
        key_variable="DEEPSEEK_API_KEY",
        base_variable="DEEPSEEK_BASE_URL",
        quirks=Quirks(max_tokens="max_tokens", effort="deepseek", reasoning_back="reasoning_content"),
    ),
    Provider(
        name="mistral",
        title="Mistral",
        family="openai-chat",
        base_url="https://api.mistral.ai/v1",
        key_variable="MISTRAL_API_KEY",
        base_variable="MISTRAL_BASE_URL",
        quirks=Quirks(
            max_tokens="max_tokens",
            stream_usage=False,
            effort="mistral",
            call_ids="mistral",
            answer_before_user=True,
            images_in_results=False,
        ),
    ),
    Provider(
        name="xai",
        title="xAI",
        family="openai-chat",
        base_url="https://api.x.ai/v1",
        key_variable="XAI_API_KEY",
        base_variable="XAI_BASE_URL",
        quirks=Quirks(max_tokens="max_completion_tokens", effort="xai"),
    ),
    Provider(
        name="ollama",
        title="Ollama",
        family="openai-chat",
        base_url="http://127.0.0.1:11434/v1",
        key_variable="OLLAMA_API_KEY",
        base_variable="OLLAMA_HOST",
        key_optional=True,
        quirks=Quirks(max_tokens="max_tokens", effort="ollama"),
    ),
    Provider(
        name="openai-compatible",
        title="the OpenAI-compatible server",
        family="openai-chat",
        base_url=None,
        key_variable="OPENAI_COMPATIBLE_API_KEY",
        base_variable="OPENAI_COMPATIBLE_BASE_URL",
        key_optional=True,
        quirks=_COMPATIBLE,
    ),
)

PROVIDERS: Final[Mapping[str, Provider]] = MappingProxyType({row.name: row for row in _ROWS})

Kind: TypeAlias = Literal["openai", "openai-responses", "anthropic"]
"""What a server of the user's own speaks."""

_OWN: Final[Mapping[Kind, Provider]] = MappingProxyType(
    {
        "openai": PROVIDERS["openai-compatible"],
        "openai-responses": replace(PROVIDERS["openai-responses"], base_url=None),
        "anthropic": replace(PROVIDERS["anthropic"], base_url=None),
    }
)


def own_provider(name: str, kind: Kind, base_url: str, key_variable: str | None, title: str) -> Provider:
    """A row for a server of the user's own. It answers without a key when no variable is named for one."""
    return replace(
        _OWN[kind],
        name=name,
        title=title or name,
        configured_url=base_url,
        key_variable=key_variable,
        key_optional=key_variable is None,
        base_variable="",
    )


# Keys of model providers that are not in the table above. They are set for other programs on the same machine, pay
# for the same kind of thing, and a command that the model wrote has no need of them. What pays for the user's own
# work (GITHUB_TOKEN, AWS_SECRET_ACCESS_KEY) stays: builds, deployments and git need it.
_OTHER_KEYS: Final = (
    "AI21_API_KEY",
    "AI_GATEWAY_API_KEY",
    "ANTHROPIC_AUTH_TOKEN",
    "ANYSCALE_API_KEY",
    "AWS_BEARER_TOKEN_BEDROCK",
    "AZURE_API_KEY",
    "AZURE_OPENAI_AD_TOKEN",
    "AZURE_OPENAI_API_KEY",
    "BASETEN_API_KEY",
    "CLAUDE_CODE_OAUTH_TOKEN",
    "CODESTRAL_API_KEY",
    "COHERE_API_KEY",
    "CO_API_KEY",
    "DASHSCOPE_API_KEY",
    "DEEPINFRA_API_KEY",
    "FIREWORKS_API_KEY",
    "GEMINI_API_KEY",
    "GOOGLE_API_KEY",
    "GOOGLE_GENERATIVE_AI_API_KEY",
    "HF_TOKEN",
    "HUGGINGFACEHUB_API_TOKEN",
    "HUGGINGFACE_API_KEY",
    "HUGGING_FACE_HUB_TOKEN",
    "HYPERBOLIC_API_KEY",
    "LITELLM_API_KEY",
    "LITELLM_MASTER_KEY",
    "MINIMAX_API_KEY",
    "MOONSHOT_API_KEY",
    "NEBIUS_API_KEY",
    "NOVITA_API_KEY",
    "NVIDIA_API_KEY",
    "OPENAI_ADMIN_KEY",
    "OPENAI_KEY",
    "PERPLEXITYAI_API_KEY",
    "PERPLEXITY_API_KEY",
    "PPLX_API_KEY",
    "REPLICATE_API_KEY",
    "REPLICATE_API_TOKEN",
    "SAMBANOVA_API_KEY",
    "TOGETHERAI_API_KEY",
    "TOGETHER_API_KEY",
    "VOYAGE_API_KEY",
    "WATSONX_API_KEY",
    "ZAI_API_KEY",
    "ZHIPUAI_API_KEY",
)

HIDDEN_VARIABLES: Final = tuple(
    sorted({*_OTHER_KEYS, *(row.key_variable for row in _ROWS if row.key_variable)})
)
"""The variables that hold the key of a model provider; no child process inherits them."""

DETECTION_ORDER: Final = (
    "anthropic",
    "openai",
    "openrouter",
    "cerebras",
    "groq",
    "deepseek",
    "mistral",
    "xai",
)
"""The first of these whose key is set is used, then Ollama if OLLAMA_HOST is set, else `offline`."""

OFFLINE: Final = "offline"

ANY_MODEL: Final = "any"
"""The id that stands for whatever model a local Ollama has."""


class Found(msgspec.Struct, frozen=True, gc=False):
    """A provider's name and the variable it came from; '' when nothing was set."""

    provider: str
    variable: str


def keyed(env: Mapping[str, str], rows: Mapping[str, Provider] = PROVIDERS) -> tuple[Found, ...]:
    """The providers that the environment has a key for, in the order of detection, then Ollama if its host is set; a
    variable that is empty counts as not set."""
    found = [(name, rows[name].key_variable or "") for name in DETECTION_ORDER if name in rows]
    found.append(("ollama", PROVIDERS["ollama"].base_variable))
    return tuple(Found(name, variable) for name, variable in found if env.get(variable, "").strip())


def detect(env: Mapping[str, str]) -> Found:
    """The provider that the environment asks for."""
    return next(iter(keyed(env)), Found(OFFLINE, ""))


def endpoint(
    name: str, env: Mapping[str, str], base_url: str | None = None, rows: Mapping[str, Provider] = PROVIDERS
) -> Result[Endpoint, str]:
    """How a provider is called. A given base URL beats the variable, which beats the user's configured one; the failure
    is a sentence for the user."""
    row = rows.get(name)
    if row is None:
        return Failure(f"There is no provider named {name}; choose one of {', '.join(rows)}.")
    given = (base_url or "").strip() or env.get(row.base_variable, "").strip() or row.configured_url or ""
    base = _ollama_url(given) if name == "ollama" and given else given or row.base_url
    if base is None:
        return Failure(f"The provider {name} needs an address; give --base-url or set {row.base_variable}.")
    if urlsplit(base).scheme not in ("http", "https"):
        return Failure(f"The base URL {base} of {name} is no http or https address; give it in full.")
    elsewhere = row.elsewhere is not None and base.rstrip("/") != row.base_url
    return Success(
        Endpoint(
            name=row.name,
            title=row.title,
            family=row.family,
            base_url=base,
            key_variable=row.key_variable,
            key_optional=row.key_optional,
            auth=row.auth,
            quirks=row.elsewhere if elsewhere and row.elsewhere is not None else row.quirks,
        )
    )


def _ollama_url(host: str) -> str:
    """OLLAMA_HOST as Ollama reads it: a host, a port, or both, with or without a scheme."""
    full = host if "://" in host else f"http://{host}"
    parts = urlsplit(full)
    name = "127.0.0.1" if parts.hostname in (None, "", "0.0.0.0", "::") else parts.hostname
    name = f"[{name}]" if name and ":" in name else name
    default = 443 if parts.scheme == "https" and "://" in host else 80 if "://" in host else 11434
    try:
        port = parts.port or default
    except ValueError:  # no number: the default is as good a guess as any
        port = default
    path = parts.path.rstrip("/")
    return f"{parts.scheme}://{name}:{port}{path if path.endswith('/v1') else path + '/v1'}"


def models(
    name: str, ids: tuple[str, ...] = (), rows: Mapping[str, Provider] = PROVIDERS
) -> tuple[ModelChoice, ...]:
    """The models of a provider to choose from: the given ids first, else the known ones.

    Empty where the provider has no list of its own and none was given (ollama, openai-compatible, servers of the user's own).
    """
    known = MODELS.get(name, ())
    if not ids:
        return known
    by_id = {choice.id: choice for choice in known}
    row = rows.get(name)
    anything = row is None or row.key_optional or name not in PROVIDERS
    return tuple(by_id.get(model) or model_choice(name, model, anything=anything) for model in ids)
