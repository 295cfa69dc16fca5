"""The providers and models of the user's file, as the core knows them."""

from collections.abc import Mapping

from msgspec.structs import replace

from zidane_acp.config.records import ModelTable, OptionTable, PriceTable, ProviderTable, UserFile, ValueTable
from zidane_acp.options import body_of, switch
from zidane_core.data.models import ModelOption, OptionValue, Price
from zidane_core.models.picking import ConfiguredModel
from zidane_core.models.providers import PROVIDERS, Provider, own_provider


def provider_rows(user: UserFile) -> Mapping[str, Provider]:
    """The table of providers with what the file changes and adds."""
    return {**PROVIDERS, **{name: _row(name, table) for name, table in user.providers.items()}}


def _row(name: str, table: ProviderTable) -> Provider:
    row = PROVIDERS.get(name)
    if row is None:
        kind, title = table.kind or "openai", table.title or ""
        return own_provider(name, kind, table.base_url or "", table.key_variable, title)
    return replace(
        row,
        configured_url=table.base_url,
        key_variable=table.key_variable or row.key_variable,
        title=table.title or row.title,
    )


def headers_of(user: UserFile, provider: str, env: Mapping[str, str]) -> Mapping[str, str]:
    """The further headers of a provider, those whose variable is set."""
    table = user.providers.get(provider, ProviderTable())
    found = {name: env.get(variable, "").strip() for name, variable in table.headers.items()}
    return {name: value for name, value in found.items() if value}


def secret_variables(user: UserFile) -> tuple[str, ...]:
    """The variables of the file that hold keys or headers; no child process inherits them."""
    tables = user.providers.values()
    keys = [table.key_variable for table in tables if table.key_variable]
    headers = [variable for table in tables for variable in table.headers.values()]
    return tuple(dict.fromkeys([*keys, *headers]))


def configured_models(user: UserFile) -> tuple[ConfiguredModel, ...]:
    """The models of the file."""
    return tuple(_model(table) for table in user.models)


def _model(table: ModelTable) -> ConfiguredModel:
    return ConfiguredModel(
        id=table.id,
        provider=table.provider or "",
        model=table.model or "",
        name=table.name,
        context_window=table.context_window,
        max_output=table.max_output,
        images=table.images,
        audio=table.audio,
        documents=table.documents,
        thinking=table.thinking,
        price=None if table.price is None else _price(table.price),
        options=tuple(_option(option) for option in table.options) or None,
    )


def _price(table: PriceTable) -> Price:
    return Price(
        input=table.input,
        output=table.output,
        cached_read=table.cached_read,
        cached_write=table.cached_write,
    )


def _option(table: OptionTable) -> ModelOption:
    name = table.name or table.id
    if not table.values:
        default = table.default is True
        return switch(table.id, name, table.description, default, table.on or {}, table.off or {})
    return ModelOption(
        id=table.id,
        name=name,
        description=table.description,
        values=tuple(_value(value) for value in table.values),
        default=table.default if isinstance(table.default, str) else table.values[0].value,
    )


def _value(table: ValueTable) -> OptionValue:
    return OptionValue(table.value, table.name or table.value, table.description, body_of(table.body))
