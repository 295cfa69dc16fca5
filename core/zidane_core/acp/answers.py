"""The client's answers in the machine's words (ring 3): one reader a kind of request.

Clients answer null where the schema has an object, leave out what they have not, and add what we do not know: only
what is needed must be there. An answer without it is `Unreadable`.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final, TypeVar

import msgspec

from zidane_core.acp import jsonrpc
from zidane_core.acp.blocks import decode_prompt_blocks
from zidane_core.agent import peer
from zidane_core.agent.peer import PeerAnswer
from zidane_core.convert.client_tools import ClientToolReply
from zidane_core.convert.prompt import acp_prompt_to_prompt_parts
from zidane_core.faults import ErrorCode
from zidane_core.fp import fold
from zidane_core.text import decode_json_as, is_object

T = TypeVar("T")

LONGEST_REASON: Final = 300


def answer(request: peer.PeerRequest, response: jsonrpc.Response) -> PeerAnswer:
    """What a response to this request means."""
    if response.error is None:
        return _READERS[type(request)](bytes(response.result))
    if response.error.code == ErrorCode.REQUEST_CANCELLED:
        return peer.Dismissed()
    # What a client says of a question to the user is not for the model: the number is enough there.
    said = f"the client answered with error {response.error.code}"
    if not isinstance(request, peer.AskPermission):
        said = response.error.message.strip()[:LONGEST_REASON] or said
    return peer.Unanswerable(said, response.error.code == ErrorCode.RESOURCE_NOT_FOUND)


def _needing(kind: type[T], made: Callable[[T], PeerAnswer]) -> Callable[[bytes], PeerAnswer]:
    return lambda result: fold(decode_json_as(result, kind), made, lambda _: peer.Unreadable())


class _Outcome(msgspec.Struct, frozen=True, gc=False):
    """A permission outcome; whatever else is in it, also a broken `_meta`, does not matter."""

    outcome: str
    option: str | None = msgspec.field(name="optionId", default=None)


class _Chosen(msgspec.Struct, frozen=True, gc=False):
    outcome: _Outcome


def _permission(found: _Chosen) -> PeerAnswer:
    outcome = found.outcome
    if outcome.outcome == "cancelled":
        return peer.Dismissed()
    chosen = outcome.outcome == "selected" and outcome.option is not None
    return peer.Chose(outcome.option) if chosen and outcome.option is not None else peer.Unreadable()


class _Text(msgspec.Struct, frozen=True, gc=False):
    content: str


class _Made(msgspec.Struct, frozen=True, gc=False):
    terminal: str = msgspec.field(name="terminalId")


class _Output(msgspec.Struct, frozen=True, gc=False):
    output: str
    truncated: object = None
    status: object = msgspec.field(name="exitStatus", default=None)


class _Exit(msgspec.Struct, frozen=True, gc=False):
    code: object = msgspec.field(name="exitCode", default=None)
    signal: object = None


def _exited(found: _Exit) -> peer.Exited:
    code = found.code if isinstance(found.code, int) and not isinstance(found.code, bool) else None
    return peer.Exited(code, found.signal if isinstance(found.signal, str) else None)


def _exit(result: bytes) -> PeerAnswer:
    """Also null: the command has ended, and nobody knows how."""
    return fold(decode_json_as(result, _Exit), _exited, lambda _: peer.Exited())


def _terminal_text(found: _Output) -> PeerAnswer:
    status = _exited(msgspec.convert(found.status, _Exit)) if is_object(found.status) else None
    return peer.TerminalText(found.output, found.truncated is True, status)


def _replied(reply: ClientToolReply) -> PeerAnswer:
    blocks = decode_prompt_blocks(msgspec.Raw(msgspec.json.encode(reply.content))).value_or(None)
    if blocks is None:
        return peer.Unreadable()
    return peer.ToolReplied(acp_prompt_to_prompt_parts(blocks).parts, reply.is_error)


class _Filled(msgspec.Struct, frozen=True, gc=False):
    action: str
    content: dict[str, object] | None = None


_READERS: Final[Mapping[type, Callable[[bytes], PeerAnswer]]] = MappingProxyType(
    {
        peer.AskPermission: _needing(_Chosen, _permission),
        peer.ReadFile: _needing(_Text, lambda found: peer.FileText(found.content)),
        peer.WriteFile: lambda _: peer.Accepted(),
        peer.CreateTerminal: _needing(_Made, lambda found: peer.TerminalMade(found.terminal)),
        peer.WaitForExit: _exit,
        peer.ReadTerminal: _needing(_Output, _terminal_text),
        peer.KillTerminal: lambda _: peer.Accepted(),
        peer.ReleaseTerminal: lambda _: peer.Accepted(),
        peer.CallTool: _needing(ClientToolReply, _replied),
        peer.AskForm: _needing(_Filled, lambda found: peer.Filled(found.action, found.content or {})),
        peer.AskPage: _needing(_Filled, lambda found: peer.Filled(found.action)),
    }
)
