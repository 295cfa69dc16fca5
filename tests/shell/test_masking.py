"""No key in log or trace, and ordinary words stay."""

import base64
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from support.process import Process

from zidane_acp.masking import LONGEST, MASK, mask, mask_start, mask_tree
from zidane_acp.trace import DECODED, Trace

KEY = "sk-proj-AAAAAAAAAAAAAAAAAAAA"
OWN = "0123456789abcdef-my-own"


def traced(path: Path, *frames: bytes) -> list[dict[str, Any]]:
    trace = Trace(str(path), (OWN,))
    for frame in frames:
        trace.frame("in", frame)
    trace.close(20)
    return [json.loads(line) for line in path.read_text().splitlines()]


@pytest.mark.parametrize(
    "text",
    [
        "skeletonization-of-things and pkgconfigurations",
        "hfxxxxxxxxxxxxxxxxx, skxxxxxxxxxxxxxxxx",
        "sk-ask-for-a-long-word",
        "inputTokens: 12, maxTokens=3",
    ],
)
def test_words_that_only_begin_like_a_key_stay(text: str) -> None:
    assert mask(text) == text


@pytest.mark.parametrize(
    "key",
    [KEY, "sk_live_abcdefghijkl0123", "hf_abcdefghijklmnop", "gsk_abcdefghijklmnop0", "ghp_abcdefghijklmnop1",
     "AIzaSyA1234567890abcdef", "AKIAIOSFODNN7EXAMPLE", "xai-abcdefghijklmnop", "github_pat_11ABCDEFG0abcdefghijk"],
)  # fmt: skip
def test_keys_with_a_prefix_are_hidden(key: str) -> None:
    assert mask(f"it is {key}.") == f"it is {MASK}."


def test_values_of_secret_names_are_hidden_and_the_shape_stays() -> None:
    frame = {
        "password": True,
        "api_key": "short",
        "nested": [{"clientSecret": {"a": "b", "n": 7, "none": None}}, f"see {OWN}"],
        "usage": {"inputTokens": 12},
        "mcpServers": [
            {"name": "m", "headers": [{"name": "X-Any", "value": "v"}], "env": [{"name": "A", "value": "b"}]},
            {"name": "n", "env": {"A": "b"}},
        ],
    }
    assert mask_tree(frame, (OWN,)) == {
        "password": True,
        "api_key": MASK,
        "nested": [{"clientSecret": {"a": MASK, "n": MASK, "none": None}}, f"see {MASK}"],
        "usage": {"inputTokens": 12},
        "mcpServers": [
            {
                "name": "m",
                "headers": [{"name": "X-Any", "value": MASK}],
                "env": [{"name": "A", "value": MASK}],
            },
            {"name": "n", "env": {"A": MASK}},
        ],
    }


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("https://me:pass@host:1/mcp?key=k&a=b#t", f"https://{MASK}@host:1/mcp?{MASK}"),
        ("https://me:p?a#s/s@host/mcp", f"https://{MASK}@host/mcp"),
        ("me:pass@host", f"{MASK}@host"),
        ("http:me:pass@host", f"http:{MASK}@host"),
        ("https:/me:pass@host", f"https:{MASK}@host"),
        ("https://host/mcp", "https://host/mcp"),
        ("https://host/mcp#token", f"https://host/mcp#{MASK}"),
        ("https://host/a?x=me@there", f"https://{MASK}@there"),
    ],
)
def test_what_is_secret_in_the_address_of_a_server_is_hidden(url: str, shown: str) -> None:
    frame = {"mcpServers": [{"name": "m", "type": "http", "url": url}], "url": url, "uri": url}
    named = {"mcpServers": {"m": {"URL": url}}}
    assert mask_tree(frame) == {**frame, "mcpServers": [{"name": "m", "type": "http", "url": shown}]}
    assert mask_tree(named) == {"mcpServers": {"m": {"URL": shown}}}


def test_of_a_long_text_the_start_is_kept_and_no_half_of_a_secret() -> None:
    for before in range(70, 100 + 4097, 5):
        shown = mask_start("x " * (before // 2) + OWN + " y" * 3000, (OWN,), 100)
        assert OWN[:4] not in shown and len(shown) <= 100 + len(MASK) + 10


def test_a_frame_with_a_flag_beside_a_key_is_traced_as_json(tmp_path: Path) -> None:
    frame = json.dumps({"password": True, "api_key": KEY, "note": f"my key is {OWN}"}).encode()
    [line] = traced(tmp_path / "t", frame)
    assert line["frame"] == {"password": True, "api_key": MASK, "note": f"my key is {MASK}"}


@pytest.mark.parametrize(
    "frame",
    [f"{{bad {KEY} {OWN}".encode(), f'{{"a": "\\ud800 {KEY} {OWN}"}}'.encode(), f"\xff {KEY} {OWN}".encode("latin-1")],
    ids=["broken", "surrogate", "no utf-8"],
)  # fmt: skip
def test_a_frame_that_is_no_json_is_masked_before_it_is_encoded(tmp_path: Path, frame: bytes) -> None:
    [line] = traced(tmp_path / "t", frame)
    raw = base64.b64decode(line["raw"]).decode()
    assert raw.count(MASK) == 2 and KEY not in raw and OWN not in raw
    assert line["bytes"] == len(frame)


def test_deep_nesting_is_traced_as_bytes(tmp_path: Path) -> None:
    [line] = traced(tmp_path / "t", b"[" * 900 + b"]" * 900)
    assert "raw" in line


def test_of_a_large_frame_the_start_is_traced(tmp_path: Path) -> None:
    large = json.dumps({"text": f"{OWN} " + "x" * DECODED}).encode()
    long = json.dumps({"text": f"{OWN} " + "x" * (DECODED // 2)}).encode()
    first, second = traced(tmp_path / "t", large, long)
    assert base64.b64decode(first["raw"]).startswith(f'{{"text": "{MASK} xxx'.encode())
    assert first["bytes"] == len(large)
    assert second["frame"]["text"].startswith(f"{MASK} xxx")
    assert (tmp_path / "t").stat().st_size < 4 * LONGEST


def test_the_keys_of_the_environment_are_not_in_the_trace(tmp_path: Path) -> None:
    path = tmp_path / "t"
    with Process("--provider", "offline", "--trace", str(path), env={"OPENAI_API_KEY": OWN}) as agent:
        asked = agent.prompt(agent.session("/"), f"is {OWN} a key?")
        agent.until(lambda frame: frame.get("id") == asked)
        assert agent.close() == 0
    assert OWN not in path.read_text() and f"is {MASK} a key?" in path.read_text()


def test_libraries_do_not_log_what_they_send_and_get() -> None:
    code = (
        "import logging; from zidane_acp.log import configure\n"
        "configure('debug')\n"
        "for name in ('httpcore2.http11', 'httpx2', 'h11', 'asyncio', 'httpcore.connection', 'httpx'):\n"
        "    logging.getLogger(name).info('set-cookie: sess=1')\n"
        "logging.getLogger('zidane_acp').debug('ours')\n"
        "logging.getLogger('x').debug('%d', 'does not fit')\n"
    )
    done = subprocess.run((sys.executable, "-c", code), capture_output=True, check=True, timeout=20)
    assert b"cookie" not in done.stderr and b"ours" in done.stderr
    assert b"could not be made (TypeError)" in done.stderr and b"does not fit" not in done.stderr


def test_the_password_and_the_query_of_a_servers_url_are_hidden() -> None:
    url = "https://me:swordfish@host.example/mcp?key=hunter2#part"
    frame = {
        "params": {"mcpServers": [{"type": "http", "name": "a", "url": url}], "uri": "https://x/?page=2"}
    }
    shown = str(mask_tree(frame))
    assert "swordfish" not in shown and "hunter2" not in shown
    assert "host.example/mcp" in shown and "page=2" in shown
