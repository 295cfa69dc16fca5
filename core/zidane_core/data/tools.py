"""Tools as data: what the model is told, how a call is shown, and what a call gave (ring 0)."""

from typing import Literal, TypeAlias

import msgspec

from zidane_core.data.content import Part

ToolKind: TypeAlias = Literal[
    "read", "edit", "delete", "move", "search", "execute", "think", "fetch", "switch_mode", "other"
]
Access: TypeAlias = Literal["none", "read", "write", "run", "fetch", "mode", "other"]
"""What a tool asks permission for; `none` never asks, `mode` always does."""

Preparation: TypeAlias = Literal["none", "paths", "content"]
"""What happens before the question: nothing, resolving paths, or reading the content (a diff preview)."""


class Location(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """A place a call touches: absolute path, 1-based line."""

    path: str
    line: int | None = None


class Diff(msgspec.Struct, frozen=True, gc=False, tag="diff"):
    """A change of one file: absolute path, old text (None for a new file), new text."""

    path: str
    old: str | None
    new: str


class Terminal(msgspec.Struct, frozen=True, gc=False, tag="terminal"):
    """A terminal of the client on a card, by the client's name of it. `text` is what it shows, as far as it is
    known: what the log keeps of it, since the name means nothing to another client."""

    id: str
    text: str = ""


class ToolSpec(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A tool: its name, description and JSON schema for the model, and how the agent treats its calls.

    `title` is a template over the arguments ("Edit {path}"); `path_arguments` and `line_argument` give
    the locations; `subject` is the argument that permission is about (a command, a path, a URL). `server` and
    `remote` are the MCP server that has the tool, and its name there.
    """

    name: str
    description: str
    schema: dict[str, object]
    kind: ToolKind = "other"
    access: Access = "other"
    changes: bool = True
    title: str = ""
    path_arguments: tuple[str, ...] = ()
    line_argument: str | None = None
    subject: str | None = None
    prepare: Preparation = "none"
    machine: str = "local"
    server: str = ""
    remote: str = ""


class ResolvedPath(msgspec.Struct, frozen=True, gc=False):
    """A path as the file system sees it: the real absolute path, and whether it lies in the roots."""

    given: str
    real: str
    inside: bool


class Preview(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """What prepare found: resolved paths, the change to be made, and a digest of the text it read.

    `run` gets `digest` back and refuses when the text has changed since. `title` replaces the card's title where
    the given path hides the real one. `harmless` False: what a command that only reads would do here depends on
    the folder's own configuration, so the user is asked. `environment` is what such a command runs with on top.
    """

    paths: tuple[ResolvedPath, ...] = ()
    diffs: tuple[Diff, ...] = ()
    locations: tuple[Location, ...] = ()
    digest: str = ""
    title: str = ""
    harmless: bool = True
    environment: tuple[tuple[str, str], ...] = ()


class ToolResult(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """What a call gave. `content` is for the model (and the card, unless `shown` says otherwise).

    `diffs` and `locations` go to the card; `raw` is the structured output (`rawOutput`).
    """

    content: tuple[Part, ...]
    failed: bool = False
    diffs: tuple[Diff, ...] = ()
    locations: tuple[Location, ...] = ()
    shown: tuple[Part | Terminal, ...] | None = None
    raw: dict[str, object] | None = None


class ToolOutput(msgspec.Struct, frozen=True, gc=False, tag="tool_output"):
    """Output of a running tool, as it comes; appended to what the card shows."""

    text: str


PlanStatus: TypeAlias = Literal["pending", "in_progress", "completed"]
PlanPriority: TypeAlias = Literal["high", "medium", "low"]


class PlanEntry(msgspec.Struct, frozen=True, gc=False):
    """One step of the agent's plan."""

    content: str
    status: PlanStatus = "pending"
    priority: PlanPriority = "medium"
