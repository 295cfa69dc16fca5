"""What can be set for a session, in ACP's words (ring 3): config options, and modes as such."""

from zidane_core.acp import wire
from zidane_core.acp.connection import Connection
from zidane_core.agent import features, settings
from zidane_core.agent.modes import mode_of
from zidane_core.agent.state import Thread


def config_options(connection: Connection, thread: Thread | None) -> tuple[wire.SessionConfigOption, ...]:
    """The complete list of a thread's options with their current values."""
    if thread is None:
        return ()
    shown = _switch if _shows_switches(connection) else _select
    return tuple(
        shown(setting) if setting.switch else _select(setting)
        for setting in settings.offered(connection.agent.options, thread)
    )


def _shows_switches(connection: Connection) -> bool:
    session = None if connection.capabilities is None else connection.capabilities.session
    options = None if session is None else session.config_options
    return options is not None and options.boolean is not None


def _switch(setting: settings.Setting) -> wire.SessionConfigBoolean:
    return wire.SessionConfigBoolean(
        id=setting.id,
        name=setting.name,
        description=setting.description or None,
        category=setting.category,
        current_value=setting.current == features.ON,
    )


def _select(setting: settings.Setting) -> wire.SessionConfigSelect:
    groups = tuple(dict.fromkeys(choice.group for choice in setting.choices))
    return wire.SessionConfigSelect(
        id=setting.id,
        name=setting.name,
        description=setting.description or None,
        category=setting.category,
        current_value=setting.current,
        options=_flat(setting.choices) if len(groups) < 2 else _grouped(setting.choices, groups),
    )


def _flat(choices: tuple[settings.Choice, ...]) -> tuple[wire.SessionConfigSelectOption, ...]:
    return tuple(
        wire.SessionConfigSelectOption(
            value=choice.value, name=choice.name, description=choice.description or None
        )
        for choice in choices
    )


def _grouped(
    choices: tuple[settings.Choice, ...], groups: tuple[str, ...]
) -> tuple[wire.SessionConfigSelectGroup, ...]:
    return tuple(
        wire.SessionConfigSelectGroup(
            group=group,
            name=group,
            options=_flat(tuple(choice for choice in choices if choice.group == group)),
        )
        for group in groups
    )


def modes(connection: Connection, thread: Thread | None) -> wire.SessionModeState | None:
    """The modes of a thread; None where there are none."""
    options = connection.agent.options
    if thread is None or not options.modes:
        return None
    return wire.SessionModeState(
        current_mode_id=mode_of(options, thread).id,
        available_modes=tuple(
            wire.SessionMode(id=mode.id, name=mode.name, description=mode.description or None)
            for mode in options.modes
        ),
    )
