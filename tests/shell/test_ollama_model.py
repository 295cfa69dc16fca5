"""A local Ollama of which no model was named."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from zidane_acp.models.http import HttpModel
from zidane_acp.models.ollama import OllamaModel
from zidane_core.data.content import Text
from zidane_core.data.models import Broke, ModelChoice, ModelRequest, TextDelta, UserMessage
from zidane_core.models import providers

CHOICE = ModelChoice(value="any", name="Any", provider="ollama", id=providers.ANY_MODEL)
REQUEST = ModelRequest(model=CHOICE, system="", messages=(UserMessage((Text("hi"),)),))
STREAM = b'data: {"choices":[{"delta":{"content":"hello"},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n'


class Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.answer(
            "application/json", json.dumps({"data": [{"id": m} for m in self.server.models]}).encode()
        )  # type: ignore[attr-defined]

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.asked.append(body["model"])  # type: ignore[attr-defined]
        self.answer("text/event-stream", STREAM)

    def answer(self, kind: str, body: bytes) -> None:
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def ollama() -> Iterator[Any]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.models, server.asked = ["first:latest", "second"], []  # type: ignore[attr-defined]
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        yield server
        server.shutdown()
        thread.join()


async def ask(port: int) -> list[Any]:
    endpoint = providers.endpoint("ollama", {"OLLAMA_HOST": f"127.0.0.1:{port}"}).unwrap()
    model = OllamaModel(endpoint, HttpModel(endpoint, None))
    events = [event async for batch in model.stream(REQUEST, "s") for event in batch]
    await model.aclose()
    return events


@pytest.mark.anyio
async def test_the_first_model_answers(ollama: Any) -> None:
    events = await ask(ollama.server_port)
    assert TextDelta("hello") in events
    assert ollama.asked == ["first:latest"]


@pytest.mark.anyio
async def test_no_model_is_one_sentence_with_the_next_step(ollama: Any) -> None:
    ollama.models = []
    (event,) = await ask(ollama.server_port)
    assert isinstance(event, Broke)
    assert "ollama pull" in event.fault.message


@pytest.mark.anyio
async def test_nobody_there_is_the_same_sentence() -> None:
    (event,) = await ask(9)
    assert isinstance(event, Broke)
    assert "Start Ollama" in event.fault.message
