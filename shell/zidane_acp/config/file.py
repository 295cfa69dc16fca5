"""From the bytes of the user's file to what it says, and what is wrong with it. Nothing in it is ever fatal for a session."""

from zidane_acp.config.offers import configured_model, mcp_server, provider_row
from zidane_acp.config.paths import Path
from zidane_acp.config.reading import UNUSED, Problem, parsed, read_record, shown, told
from zidane_acp.config.records import UserFile
from zidane_acp.config.user import Config
from zidane_acp.settings import FLAGS, Value
from zidane_core.data.rules import Denials
from zidane_core.models.providers import PROVIDERS


def config_of(data: bytes, file: str) -> Config:
    """What the bytes of a file say."""
    return examined(data, file)[0]


def examined(data: bytes, file: str) -> tuple[Config, tuple[Problem, ...]]:
    """What the bytes of a file say, and what is wrong with its keys."""
    file = shown(file)
    found = parsed(data, f"The config file {file}")
    if isinstance(found, str):
        return Config(warnings=(found,), file=file), ()
    whole, text = found
    problems: list[Problem] = []

    def note(path: Path, problem: str) -> None:
        problems.append(Problem(path, problem))

    user = read_record(UserFile, whole, note) or UserFile()
    if user.agents:
        note(("agents",), f"agents is kept for a later release; {UNUSED}.")
    return _config(user, told(problems, text, file), file), tuple(problems)


def _config(user: UserFile, warnings: tuple[str, ...], file: str) -> Config:
    tables, rules = user.providers, user.permissions
    keys = [table.key_variable for table in tables.values() if table.key_variable]
    variables = [variable for table in tables.values() for variable in table.headers.values()]
    return Config(
        file=file,
        user=user,
        warnings=warnings,
        settings=_settings(user),
        rows={**PROVIDERS, **{name: provider_row(name, table) for name, table in tables.items()}},
        named=tuple(name for name, table in tables.items() if table.enabled),
        off=tuple(name for name, table in tables.items() if not table.enabled),
        headers={name: table.headers for name, table in tables.items()},
        hidden=tuple(dict.fromkeys([*keys, *variables])),
        models=tuple(configured_model(table) for table in user.models),
        default_model=user.default_model or "",
        denials=Denials(rules.deny_paths, rules.deny_commands),
        read_only_commands=rules.read_only_commands,
        require_login=user.require_login,
        mcp_servers=tuple(mcp_server(name, table) for name, table in user.mcp.items() if table.enabled),
    )


def _settings(user: UserFile) -> dict[str, Value]:
    """What the file says in place of flags."""
    found: dict[str, Value] = {}
    for flag in FLAGS:
        value: object = user
        for key in flag.key.split("."):
            value = getattr(value, key, None)
        if isinstance(value, str | int):
            found[flag.field] = value
    return found
