"""Ways to log in, and how logging in stands (ring 0)."""

from typing import Literal

import msgspec


class AuthMethod(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A way to log in. An `agent` one is done by the agent itself. For a `terminal` one the client runs the agent's own
    command with `args` added and `env` (pairs of name and value) set, until it exits with 0."""

    id: str
    name: str
    description: str = ""
    kind: Literal["agent", "terminal"] = "agent"
    args: tuple[str, ...] = ()
    env: tuple[tuple[str, str], ...] = ()


class AuthStanding(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """What can be logged in with. `needed`: no session is opened before a login. `can_forget`: there is something that a
    logout forgets."""

    methods: tuple[AuthMethod, ...] = ()
    needed: bool = False
    can_forget: bool = False
