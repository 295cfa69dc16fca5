"""What may run without a question, as data (ring 0): the policy, and permissions that were given to keep."""

from typing import Literal, TypeAlias

import msgspec

Policy: TypeAlias = Literal["ask", "allow-edits", "allow-all", "read-only"]
"""When the agent asks before a tool runs."""


class Grant(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """A remembered permission: an exact command, a word prefix, all edits in the roots, a host, a tool."""

    kind: Literal["command", "prefix", "edits", "host", "tool"]
    value: tuple[str, ...] = ()


class Denials(msgspec.Struct, frozen=True, gc=False):
    """What never happens, whatever else allows it: patterns of paths, and beginnings of commands."""

    paths: tuple[str, ...] = ()
    commands: tuple[str, ...] = ()
