"""The settings that a project brings along in `.zidane/config.toml`: few, and none that gives the project power.

Whoever clones a repository has its files, so that they are read like what a stranger sent.
"""

from typing import Annotated, Final

import msgspec
from msgspec import Meta

from zidane_acp.config.paths import Path, dotted
from zidane_acp.config.reading import UNUSED, Problem, nearest, parsed, read_record, shown, told
from zidane_acp.config.records import PermissionsTable, Text, UserFile
from zidane_core.data.models import ThinkingLevel
from zidane_core.data.project import ProjectSettings
from zidane_core.data.rules import Denials, Policy
from zidane_core.text import is_object

LONGEST: Final = 64 * 1024
"""Bytes of the file."""

MOST_WARNINGS: Final = 10
MOST_PATTERNS: Final = 1000
"""Denied paths, and denied commands, that are used."""

OF_USERS: Final = frozenset((*UserFile.__struct_fields__, *PermissionsTable.__struct_fields__))
"""What is no mistake for another name, but a setting that only a user has."""


class ProjectPermissions(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """Its table `[permissions]`, which can only make the user's own stricter."""

    policy: Annotated[Policy | None, Meta(description="What runs without a question, if that is less.")] = (
        None
    )
    deny_paths: Annotated[tuple[Text, ...], Meta(description="Further patterns of paths.")] = ()
    deny_commands: Annotated[tuple[Text, ...], Meta(description="Further beginnings of commands.")] = ()


class ProjectFile(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """All of the file."""

    default_model: Annotated[Text | None, Meta(description="Model of a new session in this folder.")] = None
    mode: Annotated[Text | None, Meta(description="Mode of a new session in this folder.")] = None
    thinking: Annotated[ThinkingLevel | None, Meta(description="How much the model thinks here.")] = None
    permissions: Annotated[
        ProjectPermissions, Meta(description="What is denied here beyond what the user denies.")
    ] = ProjectPermissions()


def project_settings(data: bytes, file: str) -> tuple[ProjectSettings, tuple[str, ...]]:
    """What the bytes of a project's file choose, and sentences about what is left out. Nothing in it raises."""
    file = shown(file)
    if len(data) > LONGEST:
        return ProjectSettings(), (f"{file} has more than {LONGEST // 1024} KiB; nothing of it is used.",)
    found = parsed(data, file)
    if isinstance(found, str):
        return ProjectSettings(), (found,)
    whole, text = found
    problems: list[Problem] = []

    def note(path: Path, problem: str) -> None:
        problems.append(Problem(path, problem))

    table = read_record(ProjectFile, _allowed(whole, problems), note) or ProjectFile()
    rules = table.permissions
    settings = ProjectSettings(
        default_model=table.default_model,
        mode=table.mode,
        thinking=table.thinking,
        policy=rules.policy,
        denials=Denials(rules.deny_paths[:MOST_PATTERNS], rules.deny_commands[:MOST_PATTERNS]),
    )
    more = len(problems) - MOST_WARNINGS
    rest = (f"{file}: {more} more problems are left out.",) if more > 0 else ()
    return settings, (*told(problems[:MOST_WARNINGS], text, file), *rest)


def _allowed(whole: dict[str, object], problems: list[Problem]) -> dict[str, object]:
    """The tables without what a project cannot set; each such key is a problem."""
    mine = _known(whole, ProjectFile, (), problems)
    rules = mine.get("permissions")
    if is_object(rules):
        mine["permissions"] = _known(rules, ProjectPermissions, ("permissions",), problems)
    return mine


def _known(
    table: dict[str, object], record: type[msgspec.Struct], above: tuple[str, ...], problems: list[Problem]
) -> dict[str, object]:
    fields = record.__struct_fields__
    for key in [key for key in table if key not in fields]:
        path = (*above, key)
        meant = "" if key in OF_USERS else nearest(key, fields)
        text = f"a project cannot set {shown(dotted(path))}{meant}; {UNUSED}."
        problems.append(Problem(path, text))
    return {key: value for key, value in table.items() if key in fields}
