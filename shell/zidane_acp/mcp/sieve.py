"""The lists of a server before they are checked as a whole: what is malformed, told twice or too much is left out.

The official session refuses a whole list for one entry, and builds a record for each of a hundred thousand.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

from mcp.shared.dispatcher import CallOptions
from mcp.shared.inbound import MCP_PROTOCOL_VERSION_HEADER
from mcp.shared.jsonrpc_dispatcher import JSONRPCDispatcher
from mcp_types import ListPromptsResult, ListToolsResult
from mcp_types.methods import validate_server_result
from mcp_types.version import LATEST_HANDSHAKE_VERSION
from pydantic import BaseModel

from zidane_core.text import is_array, is_object

MOST: Final = 1000
"""Tools, and prompts, of one server."""

LISTS: Final[Mapping[str, tuple[str, type[BaseModel]]]] = MappingProxyType(
    {"tools/list": ("tools", ListToolsResult), "prompts/list": ("prompts", ListPromptsResult)}
)
"""The field and the record of each list, by its method."""


class Sieve(JSONRPCDispatcher):
    """The dispatcher of a session; `malformed` are the names of entries that were left out since it was emptied."""

    def __init__(self, read_stream: Any, write_stream: Any) -> None:
        super().__init__(read_stream, write_stream)
        self.malformed: list[str] = []

    async def send_raw_request(
        self,
        method: str,
        params: Mapping[str, Any] | None,
        opts: CallOptions | None = None,
        *,
        _related_request_id: Any = None,
    ) -> dict[str, Any]:
        """The answer to a request; of a list the entries that can be used, one more than `MOST` at most."""
        result = await super().send_raw_request(method, params, opts, _related_request_id=_related_request_id)
        if method not in LISTS:
            return result
        headers = (opts or {}).get("headers") or {}
        return self._sifted(
            method, result, headers.get(MCP_PROTOCOL_VERSION_HEADER, LATEST_HANDSHAKE_VERSION)
        )

    def _sifted(self, method: str, result: dict[str, Any], version: str) -> dict[str, Any]:
        field, _ = LISTS[method]
        entries: object = result.get(field)
        if not is_array(entries):
            return result
        first: dict[object, object] = {}
        for at, entry in enumerate(entries):
            name = entry.get("name") if is_object(entry) else None
            first.setdefault(name if isinstance(name, str) else at, entry)
            if len(first) > MOST:
                break
        kept = {**result, field: list(first.values())}
        if _fits(method, kept, version) or not _fits(method, {**result, field: []}, version):
            return kept  # what is wrong beside the entries is told by the session
        good: list[object] = []
        for name, entry in first.items():
            if _fits(method, {**result, field: [entry]}, version):
                good.append(entry)
            else:
                self.malformed.append(name if isinstance(name, str) else "")
        return {**result, field: good}


def _fits(method: str, result: dict[str, Any], version: str) -> bool:
    """Whether the session will take a list."""
    try:
        validate_server_result(method, version, result)
        LISTS[method][1].model_validate(result, by_name=False)
    except KeyError:
        return True
    except ValueError:
        return False
    return True
