"""All that the folders of a session bring along, by a few small reads."""

import os

from zidane_acp.ports import Rules, StoreProblem
from zidane_acp.project.commands import read_commands
from zidane_acp.project.instructions import Root, read_instructions
from zidane_acp.project.roots import home, repository_of
from zidane_acp.project.settings import read_settings
from zidane_core.data.project import Project
from zidane_core.data.rules import Grant


def read_project(paths: tuple[str, ...], user_folder: str | None, rules: Rules | None) -> Project:
    """What is in these folders, the working folder first, and in the user's own folder. Never raises for what it finds.

    Without `rules` nothing is trusted beforehand.
    """
    at_home = home()
    roots = tuple(_root(os.path.realpath(path), at_home) for path in paths)
    folders = tuple(dict.fromkeys(root.folder for root in roots))
    warnings: list[str] = []
    trusted, grants = _kept(rules, folders, warnings)
    return Project(
        folders=folders,
        untrusted=tuple(folder for folder in folders if folder not in trusted),
        settings=read_settings(folders, warnings.append),
        instructions=read_instructions(user_folder, roots, warnings.append),
        commands=read_commands(user_folder, folders, warnings.append),
        grants=grants,
        warnings=tuple(warnings),
    )


def _root(path: str, at_home: str) -> Root:
    return Root(path, repository_of(path, at_home) or path)


def _kept(
    rules: Rules | None, folders: tuple[str, ...], warnings: list[str]
) -> tuple[frozenset[str], tuple[Grant, ...]]:
    """The folders that are trusted, and the permissions of the first; nothing of either where they cannot be read."""
    if rules is None:
        return frozenset(), ()
    try:
        return rules.trusted(folders), rules.grants(folders[0])
    except StoreProblem as problem:
        warnings.append(str(problem))
        return frozenset(), ()
