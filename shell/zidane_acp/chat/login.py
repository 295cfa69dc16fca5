"""How to log in, from the methods that an agent names."""

import shlex
from collections.abc import Iterable, Iterator
from typing import Final

import msgspec
from msgspec.structs import replace

from zidane_acp.chat.connection import RpcError
from zidane_acp.chat.safe_text import line, neutral
from zidane_acp.fields import JsonObject, child, objects, text
from zidane_core.text import is_array

AUTH_REQUIRED: Final = -32000
METHODS: Final = "authMethods"


class Method(msgspec.Struct, frozen=True, gc=False):
    """A way to log in: the agent does it itself, or its own command does, with `words` added and `variables` set."""

    id: str
    name: str
    terminal: bool = False
    words: tuple[str, ...] = ()
    variables: tuple[tuple[str, str], ...] = ()

    def command(self, agent: Iterable[str]) -> tuple[str, ...]:
        """What the terminal is to run, with the command of the agent."""
        return (*agent, *self.words)


def with_methods(error: RpcError, agent: JsonObject) -> RpcError:
    """An error that wants a login, with the methods of the agent's first answer where it names none itself."""
    if error.code != AUTH_REQUIRED or objects(error.data, METHODS):
        return error
    return replace(error, data={**error.data, METHODS: list(objects(agent, METHODS))})


def methods(error: RpcError) -> tuple[Method, ...]:
    """The ways that an error names."""
    return tuple(_methods(error.data)) if error.code == AUTH_REQUIRED else ()


def _methods(source: JsonObject) -> Iterator[Method]:
    for item in objects(source, METHODS):
        number, kind = text(item, "id"), text(item, "type", "agent")
        if number and kind in ("agent", "terminal"):
            words = item.get("args")
            yield Method(
                number,
                text(item, "name") or number,
                kind == "terminal",
                tuple(word for word in words if isinstance(word, str)) if is_array(words) else (),
                tuple((name, value) for name, value in child(item, "env").items() if isinstance(value, str)),
            )


def wanted_text(error: RpcError, agent: Iterable[str]) -> str:
    """The sentence of an error that wants a login, and how to go on; `agent` is the command that starts the agent."""
    ways = methods(error)
    said = line(error.message).rstrip(".") or "authentication required"
    named = f" It offers: {', '.join(line(way.name) for way in ways)}." if ways else ""
    commands = tuple(f"`{_shown(way, agent)}`" for way in ways if way.terminal)
    step = f"Run {' or '.join(commands)}" if commands else "Log in with the agent's own program"
    return f"The agent wants a login first: {said}.{named} {step}, then start the chat again."


def _shown(way: Method, agent: Iterable[str]) -> str:
    pairs = (f"{name}={shlex.quote(value)}" for name, value in way.variables)
    return neutral(" ".join((*pairs, shlex.join(way.command(agent)))))
