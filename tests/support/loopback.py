"""A model server on the loopback interface that speaks OpenAI's chat protocol and says what a test wants."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, TypeAlias

Answer: TypeAlias = tuple[int, str, bytes]
"""Status, content type, body."""


def said(text: str, *, used: int = 0, written: int = 1) -> Answer:
    """The model says something; with the tokens of the request and of the answer where `used` is given."""
    return _stream({"content": text}, "stop", used, written)


def calling(name: str, arguments: dict[str, Any], *, call: str = "c", used: int = 0) -> Answer:
    """The model calls a tool."""
    made = {
        "index": 0,
        "id": call,
        "type": "function",
        "function": {"name": name, "arguments": json.dumps(arguments)},
    }
    return _stream({"tool_calls": [made]}, "tool_calls", used, 1)


def refusing(status: int, message: str, **more: Any) -> Answer:
    """An error instead of an answer."""
    return status, "application/json", json.dumps({"error": {"message": message, **more}}).encode()


def _stream(delta: dict[str, Any], finish: str, used: int, written: int) -> Answer:
    chunks: list[dict[str, Any]] = [{"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}]
    if used:
        usage = {"prompt_tokens": used, "completion_tokens": written, "total_tokens": used + written}
        chunks.append({"choices": [], "usage": usage})
    body = "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks) + "data: [DONE]\n\n"
    return 200, "text/event-stream", body.encode()


class Loopback:
    """One server. `answer` takes the body of a request; `bodies` are all that came, `keys` what they were signed with."""

    def __init__(self, answer: Callable[[dict[str, Any]], Answer]) -> None:
        self.bodies: list[dict[str, Any]] = []
        self.keys: list[str] = []
        known = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body: dict[str, Any] = json.loads(self.rfile.read(int(self.headers["content-length"])))
                known.bodies.append(body)
                known.keys.append((self.headers.get("authorization") or "").removeprefix("Bearer "))
                status, kind, data = answer(body)
                self.send_response(status)
                self.send_header("content-type", kind)
                self.send_header("content-length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, format: str, *args: Any) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/v1"


@contextmanager
def serving(answer: Callable[[dict[str, Any]], Answer] = lambda _: said("ok")) -> Iterator[Loopback]:
    """A server that runs as long as the block."""
    loopback = Loopback(answer)
    thread = threading.Thread(target=loopback.server.serve_forever)
    thread.start()
    try:
        yield loopback
    finally:
        loopback.server.shutdown()
        thread.join()
        loopback.server.server_close()


TWO_MODELS = """
default_model = "left-model"
plain_titles = true

[providers.left]
base_url = "{left}"

[providers.right]
base_url = "{right}"

[[models]]
id = "left-model"
provider = "left"
context_window = 100000
max_output = 1000
price = {{ input = 1.0, output = 2.0 }}

[[models.options]]
id = "fast"
name = "Fast"
on = {{ service_tier = "priority" }}

[[models.options]]
id = "size"
name = "Size"
values = [ {{ value = "small", name = "Small" }}, {{ value = "large", name = "Large", body = {{ verbosity = "high" }} }} ]

[[models]]
id = "right-model"
provider = "right"
context_window = 50000
max_output = 1000
price = {{ input = 1.0, output = 2.0 }}
"""
"""A config file for two servers, whose addresses are `left` and `right`, with a model of each."""
