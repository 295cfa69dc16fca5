"""What a workspace brings along (ring 0): settings, instructions and commands in its files, and its state."""

from typing import Literal

import msgspec

from zidane_core.data.rules import Denials, Grant, Policy


class ProjectSettings(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """What a project may choose for its sessions; None leaves it open. `policy` and `denials` only make it tighter."""

    default_model: str | None = None
    mode: str | None = None
    thinking: str | None = None
    policy: Policy | None = None
    denials: Denials = Denials()


class Instructions(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A file of instructions for agents: its absolute path, as much of its text as is used, and its size in bytes.
    `folder` is the one of `Project.folders` that it belongs to, '' for the user's own file, which needs no trust."""

    path: str
    text: str
    size: int
    cut: bool = False
    folder: str = ""


class UserCommand(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A slash command in a file. In `template` `$ARGUMENTS` stands for what follows the name, `$1` to `$9` for its
    words. One of the project is used only if `folder`, one of `Project.folders`, is trusted. `path` is absolute."""

    name: str
    template: str
    description: str = ""
    hint: str = ""
    source: Literal["user", "project"] = "user"
    path: str = ""
    folder: str = ""


class Project(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """What was found in the folders of a session.

    `folders` are the real paths that trust is given to (a repository's root, else the folder itself), those that are
    not trusted yet in `untrusted`. `grants` are permissions that the user gave for this project. `warnings` are
    sentences for the user about what was left out.
    """

    folders: tuple[str, ...] = ()
    untrusted: tuple[str, ...] = ()
    settings: ProjectSettings = ProjectSettings()
    instructions: tuple[Instructions, ...] = ()
    commands: tuple[UserCommand, ...] = ()
    grants: tuple[Grant, ...] = ()
    warnings: tuple[str, ...] = ()


class Surroundings(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """Where a session works, for the system prompt: the platform, the local date (ISO 8601), and the state of the
    repository in a few lines, '' outside of one."""

    platform: str
    date: str
    repository: str = ""
