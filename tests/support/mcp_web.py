"""An MCP server over HTTP that answers wrongly: what a path begins with says how a request of a call is answered."""

import contextlib
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from queue import Queue
from typing import Any

RESULT = '{"jsonrpc":"2.0","id":ID,"result":{"content":[{"type":"text","text":"a\\ud83d b"}]}}'
CALLS: dict[str, tuple[int, str, str]] = {
    "401": (401, "text/plain", "no"),
    "500": (500, "text/plain", "boom"),
    "page": (200, "text/html; charset=utf-8", "<html>log in</html>"),
    "garbage": (200, "application/json", "{]"),
    "events": (200, "text/event-stream", "event: message\ndata: {]\n\n"),
    "nothing": (202, "", ""),
    "empty": (204, "", ""),
    "elsewhere": (307, "http://other.example/mcp", ""),
    "error": (
        400,
        "application/json",
        '{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"own words"}}',
    ),
}
"""The status, the type (or the address) and the body of the answer to a call."""


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    streams: "Queue[bytes]" = Queue()

    def log_message(self, format: str, *args: Any) -> None:
        pass

    def answer(self, status: int, kind: str = "", body: str = "") -> None:
        self.send_response(status)
        if kind:
            self.send_header("Location" if 300 <= status < 400 else "Content-Type", kind)
        if status not in (202, 204):
            self.send_header("Content-Length", str(len(body.encode())))
        elif status == 202:
            self.send_header("Content-Length", "0")
        self.end_headers()
        self.wfile.write(body.encode())

    def do_GET(self) -> None:
        if not self.path.startswith("/sse-"):
            return self.answer(405)
        if self.path == "/sse-page":
            return self.answer(200, "text/html", "<html>")
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        self.wfile.write(f"event: endpoint\ndata: {self.path}\n\n".encode())
        with contextlib.suppress(OSError):
            while True:
                self.wfile.write(b"event: message\ndata: " + self.streams.get() + b"\n\n")

    def do_DELETE(self) -> None:
        self.answer(200)

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        message = json.loads(body)
        known, method = message.get("id"), message["method"]
        how = self.path.strip("/").partition("?")[0]
        if known is None:
            return self.answer(202)
        if method == "tools/call" and not how.startswith("sse-"):
            return self.answer(*CALLS[how])
        if method == "tools/call" and how == "sse-401":
            return self.answer(401)
        results = {
            "initialize": {
                "protocolVersion": message.get("params", {}).get("protocolVersion"),
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "web", "version": "1"},
            },
            "tools/list": {"tools": [{"name": "t", "inputSchema": {"type": "object"}}]},
        }
        text = json.dumps({"jsonrpc": "2.0", "id": known, "result": results.get(method, {})})
        if method == "tools/call":
            text = RESULT.replace("ID", json.dumps(known))
            text = f"[{text}]" if how == "sse-batch" else text
        if how.startswith("sse-"):
            self.streams.put(text.encode())
            return self.answer(202)
        return self.answer(200, "application/json", text)


@contextlib.contextmanager
def web_server() -> Iterator[int]:
    """The server; its port."""
    Handler.streams = Queue()
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    server.block_on_close = False
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()
        server.server_close()
