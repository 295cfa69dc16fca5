"""An MCP server that breaks the rules: `raw_mcp.py HOW`, over standard input and output, without any package."""

import json
import os
import subprocess
import sys
from typing import Any

HOW = sys.argv[1]
SCHEMA = {"type": "object"}


def tools(cursor: str | None) -> dict[str, Any]:
    good = {"name": "good", "inputSchema": SCHEMA}
    if HOW == "endless":
        return {"tools": [good], "nextCursor": f"{cursor or ''}x"}
    if HOW == "malformed":
        return {"tools": [{"name": "bad", "inputSchema": "x"}, good, 7]}
    if HOW == "many":
        return {"tools": [{"name": f"t{number}", "inputSchema": SCHEMA} for number in range(1500)]}
    return {"tools": [good]}


def called(number: int) -> bytes:
    start = b'{"jsonrpc":"2.0","id":%d,"result":' % number
    text = b'{"content":[{"type":"text","text":"%s"}]}}'
    return {
        "latin": start + text % b"caf\xe9",
        "lone": start + text % b"\\ud83d",
        "deep": start + b'{"content":[],"structuredContent":{"x":' + b"[" * 300 + b"]" * 300 + b"}}}",
        "array": b"[" + start + text % b"in an array" + b"]",
    }.get(HOW, start + text % b"ok")


def main() -> None:
    if HOW == "junk":
        sys.stdout.buffer.write(b"noise\n" * 20_000)
    if HOW == "long":
        sys.stdout.buffer.write(b"x" * (65 * 2**20))
    if HOW == "daemon":
        subprocess.Popen(
            ["/usr/bin/env", "-i", sys.executable, "-c", DAEMON, sys.argv[2]], start_new_session=True
        )
    if HOW == "secrets":
        secret = os.environ["SECRET"]
        print("x" * 4000 + secret, json.dumps(secret), secret.splitlines()[-1], file=sys.stderr, flush=True)
        sys.exit(3)
    for line in sys.stdin.buffer:
        asked = json.loads(line)
        number, method = asked.get("id"), asked["method"]
        if number is None:
            continue
        if method == "initialize":
            info = {"name": "raw", "version": "1"}
            result = {
                "protocolVersion": asked["params"]["protocolVersion"],
                "capabilities": {"tools": {"listChanged": True}},
                "serverInfo": info,
            }
        elif method == "tools/list":
            result = tools((asked.get("params") or {}).get("cursor"))
        else:
            sys.stdout.buffer.write(called(number) + b"\n")
            sys.stdout.buffer.flush()
            continue
        answer = json.dumps({"jsonrpc": "2.0", "id": number, "result": result})
        changed = '\n{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}' if HOW == "storm" else ""
        with open(os.environ.get("LISTED", os.devnull), "a") as file:
            file.write(f"{method}\n")
        sys.stdout.buffer.write((answer + changed + "\n").encode())
        sys.stdout.buffer.flush()


DAEMON = "import os,sys,time; open(sys.argv[1],'w').write(str(os.getpid())); time.sleep(600)"

if __name__ == "__main__":
    main()
