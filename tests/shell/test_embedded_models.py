"""The offline and the replay model in time: pauses, cancellation, files, and the look for an Ollama."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import anyio
import anyio.abc
import pytest

from zidane_acp.models.offline import OfflineModel
from zidane_acp.models.replay import ReplayModel
from zidane_acp.ports import Model
from zidane_core.data.content import Text
from zidane_core.data.models import (
    Broke,
    Finished,
    ModelChoice,
    ModelEvent,
    ModelRequest,
    TextDelta,
    UserMessage,
)

MODEL = ModelChoice(value="offline", name="Offline", provider="offline", id="offline")


def request(text: str) -> ModelRequest:
    return ModelRequest(model=MODEL, system="", messages=(UserMessage((Text(text),)),))


async def batches(model: Model, text: str = "hi") -> list[tuple[ModelEvent, ...]]:
    return [batch async for batch in model.stream(request(text), "s1")]


async def said(model: Model, text: str = "hi") -> str:
    found = [event for batch in await batches(model, text) for event in batch]
    return "".join(event.text for event in found if isinstance(event, TextDelta))


def replay(folder: Path, *turns: dict[str, Any]) -> ReplayModel:
    path = folder / "script.json"
    path.write_text(json.dumps({"turns": turns}), encoding="utf-8")
    return ReplayModel(path)


@pytest.mark.anyio
async def test_both_models_end_with_finished_and_nothing_is_empty(tmp_path: Path) -> None:
    for model in (OfflineModel(keys=(), ollama=None), replay(tmp_path, {"text": "x", "delay_ms": 1})):
        found = await batches(model)
        assert found[-1][-1] == Finished("stop")
        assert all(found)
        await model.aclose()


@pytest.mark.anyio
async def test_the_replay_counts_requests_over_all_sessions(tmp_path: Path) -> None:
    model = replay(tmp_path, {"text": "one"}, {"text": "two"})
    assert [await said(model), await said(model)] == ["one", "two"]
    [(end,)] = await batches(model)
    assert isinstance(end, Broke) and "exhausted" in end.fault.message


@pytest.mark.anyio
async def test_twenty_thousand_chunks_come_in_batches(tmp_path: Path) -> None:
    found = await batches(replay(tmp_path, {"text": "x", "repeat": 20_000}))
    sizes = [len(batch) for batch in found]
    assert sum(sizes) == 20_001 and 64 <= max(sizes) <= 256


@pytest.mark.anyio
async def test_a_cancel_is_noticed_between_batches_that_wait_for_nothing(tmp_path: Path) -> None:
    model = replay(tmp_path, {"text": "x", "repeat": 1_000_000})
    seen = 0
    with anyio.CancelScope() as scope:
        async for batch in model.stream(request("hi"), "s1"):
            seen += len(batch)
            scope.cancel()
    assert scope.cancelled_caught and 0 < seen <= 256


@pytest.mark.anyio
async def test_a_cancel_ends_a_long_pause(tmp_path: Path) -> None:
    for model, text in (
        (replay(tmp_path, {"text": "x", "delay_ms": 3_600_000}), "hi"),
        (OfflineModel(keys=(), ollama=None), "/count 5 60000"),
    ):
        with anyio.fail_after(10):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(batches, model, text)
                await anyio.wait_all_tasks_blocked()
                tasks.cancel_scope.cancel()


@pytest.mark.anyio
async def test_a_script_that_cannot_be_used_is_a_fault_at_once_and_for_every_request(tmp_path: Path) -> None:
    bad = tmp_path / "bad.json"
    bad.write_text('{"turns": [{"txt": 1}]}', encoding="utf-8")
    for model, named in (
        (ReplayModel(bad), "turn 1"),
        (ReplayModel(tmp_path / "none.json"), "cannot be read"),
    ):
        assert model.fault is not None and named in model.fault.message
        assert await batches(model) == [(Broke(model.fault),)]


async def serve(listener: anyio.abc.Listener[Any], accepted: list[int]) -> None:
    async def accept(stream: anyio.abc.ByteStream) -> None:
        accepted.append(1)
        await stream.aclose()

    await listener.serve(accept)


async def listening(keys: Sequence[str], *prompts: str) -> tuple[list[str], int]:
    """What the model says while something listens where an Ollama would, and how often it was reached."""
    accepted: list[int] = []
    async with await anyio.create_tcp_listener(local_host="127.0.0.1") as listener:
        port = listener.extra(anyio.abc.SocketAttribute.local_port)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(serve, listener, accepted)
            model = OfflineModel(keys=keys, ollama=("127.0.0.1", port))
            answers = [await said(model, prompt) for prompt in prompts]
            await anyio.wait_all_tasks_blocked()
            tasks.cancel_scope.cancel()
    return [answer.replace(str(port), "PORT") for answer in answers], len(accepted)


@pytest.mark.anyio
async def test_a_local_ollama_is_looked_for_once_and_named() -> None:
    answers, reached = await listening((), "hello", "/setup", "hello")
    assert all("http://127.0.0.1:PORT" in answer for answer in answers)
    assert reached == 1


@pytest.mark.anyio
async def test_nothing_is_looked_for_when_a_key_is_set_or_the_answer_needs_no_facts() -> None:
    answers, reached = await listening(("GROQ_API_KEY",), "hello")
    assert "`GROQ_API_KEY`" in answers[0] and "--provider groq" in answers[0]
    assert reached == 0
    assert (await listening((), "/count 2"))[1] == 0


@pytest.mark.anyio
async def test_where_no_ollama_listens_it_says_so() -> None:
    async with await anyio.create_tcp_listener(local_host="127.0.0.1") as listener:
        port = listener.extra(anyio.abc.SocketAttribute.local_port)
    assert "no local Ollama" in await said(OfflineModel(keys=(), ollama=("127.0.0.1", port)))


@pytest.mark.anyio
async def test_keys_are_named_and_their_values_never_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-very-secret")
    for variable in ("ANTHROPIC_API_KEY", "OPENROUTER_API_KEY", "CEREBRAS_API_KEY", "GROQ_API_KEY"):
        monkeypatch.delenv(variable, raising=False)
    answered = await said(OfflineModel(ollama=None), "/setup")
    assert "`OPENAI_API_KEY`" in answered and "--provider openai`" in answered
    assert "sk-very-secret" not in answered
