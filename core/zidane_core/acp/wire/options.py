"""Modes and config options of a session (spec: session modes, session config options)."""

from typing import TypeAlias

from zidane_core.acp.wire.record import SessionId, Wire

SessionConfigOptionCategory: TypeAlias = str
"""mode, model, model_config, thought_level, or a name of ours beginning with "_"; helps clients to place the option."""


class SessionMode(Wire, frozen=True, kw_only=True, gc=False):
    """A mode that a session can run in."""

    id: str
    name: str
    description: str | None = None


class SessionModeState(Wire, frozen=True, kw_only=True, gc=False):
    """The modes of a session and the one in force."""

    current_mode_id: str
    available_modes: tuple[SessionMode, ...]


class SessionConfigSelectOption(Wire, frozen=True, kw_only=True, gc=False):
    """One choice of a select option."""

    value: str
    name: str
    description: str | None = None


class SessionConfigSelectGroup(Wire, frozen=True, kw_only=True, gc=False):
    """A named group of choices."""

    group: str
    name: str
    options: tuple[SessionConfigSelectOption, ...]


SessionConfigSelectOptions: TypeAlias = (
    tuple[SessionConfigSelectOption, ...] | tuple[SessionConfigSelectGroup, ...]
)
"""A flat list of choices or a list of groups, never mixed."""


class SessionConfigSelect(Wire, frozen=True, kw_only=True, gc=False, tag="select", tag_field="type"):
    """An option with one value out of a list."""

    id: str
    name: str
    description: str | None = None
    category: SessionConfigOptionCategory | None = None
    current_value: str
    options: SessionConfigSelectOptions


class SessionConfigBoolean(Wire, frozen=True, kw_only=True, gc=False, tag="boolean", tag_field="type"):
    """An option that is on or off; only for clients that said they show it."""

    id: str
    name: str
    description: str | None = None
    category: SessionConfigOptionCategory | None = None
    current_value: bool


SessionConfigOption: TypeAlias = SessionConfigSelect | SessionConfigBoolean
"""An option of a session, with its current value."""


class SetSessionModeRequest(Wire, frozen=True, kw_only=True, gc=False):
    """Params of `session/set_mode`."""

    session_id: SessionId
    mode_id: str


class SetSessionModeResponse(Wire, frozen=True, kw_only=True, gc=False):
    """Result of `session/set_mode`."""


class SetSessionConfigOptionRequest(Wire, frozen=True, kw_only=True, gc=False):
    """Params of `session/set_config_option`: a bool with type "boolean", else the id of a value."""

    session_id: SessionId
    config_id: str
    value: str | bool
    type: str | None = None


class SetSessionConfigOptionResponse(Wire, frozen=True, kw_only=True, gc=False):
    """Result of `session/set_config_option`: always all options."""

    config_options: tuple[SessionConfigOption, ...]
