"""A stdio server without any library, for what no library would say: `mcp_raw.py MODE [FILE]`.

Each line that it gets is appended to FILE, so that a test sees what was asked.
"""

import json
import os
import signal
import sys
from typing import Any


def out(data: bytes) -> None:
    while data:
        data = data[os.write(1, data) :]


def say(**members: Any) -> None:
    out(json.dumps({"jsonrpc": "2.0", **members}).encode() + b"\n")


def tool(name: Any, **more: Any) -> dict[str, Any]:
    return {"name": name, "inputSchema": {"type": "object"}, **more}


def deep(levels: int) -> str:
    return '"content":[],"structuredContent":{"a":' + "[" * levels + "]" * levels + "}"


def result(members: str) -> str:
    return '{"jsonrpc":"2.0","id":ID,"result":{' + members + "}}"


def text(words: str) -> str:
    return result('"content":[{"type":"text","text":"' + words + '"}]')


ANSWERS = {
    "latin": text("caf\u00e9"),
    "surrogate": text("a\\ud83d b"),
    "batch": f"[{text('hi')}]",
    "marked": "\u00ef\u00bb\u00bf" + text("hi"),
    "deep": result(deep(300)),
    "deeper": '{"result":{' + deep(5000) + '},"jsonrpc":"2.0","id":ID}',
    "deepest": result(deep(100_000)),
    "digits": result('"content":[],"structuredContent":{"n":' + "1" * 5000 + "}"),
    "broken": '{"id":ID,"jsonrpc":"2.0","result":{"content":[}',
    "text": '{"jsonrpc":"2.0","id":ID,"result":"done"}',
    "null": '{"jsonrpc":"2.0","id":ID,"result":null}',
    "versionless": text("hi").replace('"jsonrpc":"2.0",', ""),
    "video": result('"content":[{"type":"video","x":1}]'),
}
"""What a call is answered with, as Latin-1."""

PAGES: dict[str, list[list[Any]]] = {
    "twice": [[tool("t", description="first"), tool("t", description="second")], [tool("t"), tool("u")]],
    "many": [[tool(f"t{number}") for number in range(1500)]],
    "many pages": [[tool(f"t{number}-{page}") for number in range(300)] for page in range(9)],
    "malformed": [[tool("good"), tool("bad\n1", inputSchema="x"), {"inputSchema": {}}, 7, tool("fine")]],
}


def pages(mode: str) -> list[list[Any]]:
    return PAGES.get(mode, [[tool("t")]])


def page(mode: str, cursor: str | None, asked: int) -> dict[str, Any]:
    if mode == "for ever":
        return {"tools": [tool("t")], "nextCursor": str(asked)}
    if mode == "around":
        return {"tools": [tool(f"t{asked}")], "nextCursor": "again"}
    at = int(cursor or 0)
    following = {"nextCursor": str(at + 1)} if at + 1 < len(pages(mode)) else {}
    return {"tools": pages(mode)[at], **following}


def called(mode: str, known: object, listed: int) -> None:
    if mode == "storm":
        out(b'{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}\n' * 2000)
    elif mode == "junk":
        out(b"xx\n" * 20_000)
    elif mode == "junk objects":
        out(b'{"a":1}\n' * 20_000)
    elif mode == "blank":
        out(b"\n" * 20_000)
    elif mode == "some junk":
        out(b"xx\n" * 5000)
    elif mode == "long":
        for _ in range(70):
            out(b"x" * 1024**2)
    elif mode == "deaf":
        os.close(0)
    answer = ANSWERS.get(mode, text("ok"))
    out(answer.replace("ID", json.dumps(known)).encode("latin-1") + b"\n")


def main() -> None:
    mode, file = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else os.devnull
    listed = 0
    for line in sys.stdin.buffer:
        with open(file, "ab") as log:
            log.write(line)
        message = json.loads(line)
        known, method, params = message.get("id"), message.get("method"), message.get("params", {})
        if method == "initialize":
            capabilities = {"tools": {"listChanged": True}}
            if mode == "malformed":
                capabilities["prompts"] = {}
            about = {"serverInfo": {"name": "raw", "version": "1"}, "capabilities": capabilities}
            version = "1066" if mode == "old" else params["protocolVersion"]
            say(id=known, result={"protocolVersion": version, **about})
        elif method == "tools/list":
            listed += 1
            if mode == "storm":
                say(id=known, result={"tools": [tool(f"t{listed}")]})
            elif mode == "no list":
                say(id=known, result={"tools": "none"})
            else:
                say(id=known, result=page(mode, params.get("cursor"), listed))
        elif method == "prompts/list":
            say(id=known, result={"prompts": [{"name": "p"}, {"name": 7}]})
        elif method == "tools/call":
            called(mode, known, listed)
            if mode == "deaf":
                signal.pause()


if __name__ == "__main__":
    main()
