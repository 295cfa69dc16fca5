"""A loopback endpoint that answers the first request with given bytes, in tiny writes, and all others with "ok"."""

import json
import socket
import threading
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Final

PIECE: Final = 7  # bytes in one write, so that every longer character is cut
OK: Final = (
    b'data: {"choices":[{"index":0,"delta":{"content":"ok"},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n'
)


class SseServer:
    """A context manager; `asked` holds the bodies of all requests."""

    def __init__(self, first: bytes) -> None:
        self.asked: list[Mapping[str, Any]] = []
        owner = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers.get("content-length", 0)))
                owner.asked.append(json.loads(body))
                answer = first if len(owner.asked) == 1 else OK
                self.send_response(200)
                self.send_header("content-type", "text/event-stream")
                self.end_headers()
                self.connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                for start in range(0, len(answer), PIECE):
                    self.wfile.write(answer[start : start + PIECE])
                    self.wfile.flush()

            def log_message(self, *_: object) -> None:
                """Requests are checked, not printed."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self.base_url = f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def __enter__(self) -> "SseServer":
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
