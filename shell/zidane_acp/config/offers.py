"""Providers, models and MCP servers of the user's file, as the core knows them."""

from msgspec.structs import replace

from zidane_acp.config.records import (
    McpTable,
    ModelTable,
    OptionTable,
    PriceTable,
    ProviderTable,
    ValueTable,
)
from zidane_acp.options import body_of, switch
from zidane_core.data.mcp import McpServerConfig
from zidane_core.data.models import ModelOption, OptionValue, Price
from zidane_core.models.picking import ConfiguredModel
from zidane_core.models.providers import PROVIDERS, Provider, own_provider


def provider_row(name: str, table: ProviderTable) -> Provider:
    """A provider of the file: a known one with changes, or a server of the user's own."""
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


def mcp_server(name: str, table: McpTable) -> McpServerConfig:
    """An MCP server of the file."""
    if table.command:
        env = tuple(table.env.items())
        return McpServerConfig(name=name, transport="stdio", command=table.command, args=table.args, env=env)
    headers = tuple(table.headers.items())
    return McpServerConfig(name=name, transport=table.transport, url=table.url, headers=headers)


def configured_model(table: ModelTable) -> ConfiguredModel:
    """A model of the file."""
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
