"""An MCP server over standard input with one tool, as small as it can be; `silent` never answers."""

import json
import sys
from typing import Any

TOOL = {"name": "ping", "description": "Answers.", "inputSchema": {"type": "object"}}


def result(method: str, params: dict[str, Any]) -> dict[str, Any]:
    if method == "initialize":
        info = {"name": "tiny", "version": "1"}
        return {
            "protocolVersion": params["protocolVersion"],
            "capabilities": {"tools": {}},
            "serverInfo": info,
        }
    return {"tools": [TOOL]} if method == "tools/list" else {"content": [{"type": "text", "text": "pong"}]}


def main() -> None:
    for line in sys.stdin:
        asked = json.loads(line)
        if "id" not in asked or sys.argv[1:] == ["silent"]:
            continue
        known = asked["method"] in {"initialize", "tools/list", "tools/call", "ping"}
        answer: dict[str, Any] = {"jsonrpc": "2.0", "id": asked["id"]}
        if known:
            answer["result"] = result(asked["method"], asked.get("params", {}))
        else:
            answer["error"] = {"code": -32601, "message": "Method not found"}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
