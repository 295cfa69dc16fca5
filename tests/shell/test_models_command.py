"""`zidane-acp models`: what can be chosen, and what a server on the loopback interface offers beside it."""

import json
import os
import stat
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from zidane_acp.cli import run_command
from zidane_acp.models.command import run_models
from zidane_acp.models.endpoints import LARGEST, Offer, kept, path_of
from zidane_acp.models.rows import cost, size
from zidane_acp.settings import Settings
from zidane_core.data.models import Price
from zidane_core.models.listing_answers import ListedModel

KEY = "sk-swordfish-0123456789"
ANSWERS: dict[str, tuple[int, bytes]] = {
    "/openai/models": (200, b'{"data": [{"id": "gpt-6-sol"}, {"id": "gpt-4o"}, {"id": "gpt-other"}]}'),
    "/claude/v1/models?limit=1000": (
        200,
        b'{"data": [{"id": "claude-large", "display_name": "Claude Large", "max_input_tokens": 5000}]}',
    ),
    "/refuses/models": (401, b'{"error": "no sk-swordfish-0123456789"}'),
    "/breaks/models": (500, b"oops"),
    "/odd/models": (200, b"<html>"),
    "/large/models": (200, b"x" * (LARGEST + 1)),
}


class Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.server.asked.append((self.path, dict(self.headers)))  # type: ignore[attr-defined]
        status, body = ANSWERS[self.path]
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        try:
            self.wfile.write(body)
        except OSError:
            return  # nobody reads an answer that is too large to its end

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.asked, server.base = [], f"http://127.0.0.1:{server.server_port}"  # type: ignore[attr-defined]
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def env(tmp_path: Path, **more: str) -> dict[str, str]:
    return {"ZIDANE_ACP_HOME": str(tmp_path / "home"), **more}


def written(tmp_path: Path, text: str) -> None:
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "config.toml").write_text(text)


def table(out: str) -> dict[str, list[str]]:
    rows = [line.split("\t") for line in out.splitlines()]
    return {row[0]: row[1:] for row in rows}


# Without asking ------------------------------------------------------------------------------------


def test_what_can_be_chosen_by_keys(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    keys = env(tmp_path, OPENAI_API_KEY=KEY, GROQ_API_KEY=KEY)
    assert run_models((), environment=keys, terminal=False) == 0
    out = capsys.readouterr().out
    rows = table(out)
    assert list(rows)[:2] == ["gpt-6-sol", "gpt-6-luna"]
    assert rows["gpt-6-sol"] == ["openai", "1.05M", "33k", "$2 / $10", "default"]
    assert rows["openai/gpt-oss-20b"] == ["groq", "131k", "8k", "$0.075 / $0.3", ""]
    assert KEY not in out and not (tmp_path / "home").exists()


def test_without_a_key_there_is_offline(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_models((), environment=env(tmp_path), terminal=False) == 0
    assert list(table(capsys.readouterr().out)) == ["offline"]
    assert run_models((), environment=env(tmp_path), refresh=True, terminal=False) == 1
    assert "no key was found" in capsys.readouterr().err


def test_one_provider_and_the_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    written(
        tmp_path,
        'default_model = "own"\n[[models]]\nid = "own"\nprovider = "openai"\nprice = {input=1, output=2}\n',
    )
    keys = env(tmp_path, OPENAI_API_KEY=KEY, ANTHROPIC_API_KEY=KEY)
    assert run_models(("--provider=openai",), environment=keys, terminal=False) == 0
    rows = table(capsys.readouterr().out)
    assert list(rows) == ["gpt-6-sol", "gpt-6-luna", "own"]
    assert rows["own"] == ["openai", "", "", "$1 / $2", "default"]


def test_for_programs_there_is_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_models((), environment=env(tmp_path, OPENAI_API_KEY=KEY), as_json=True) == 0
    first, second = json.loads(capsys.readouterr().out)
    assert (first["value"], first["provider"], first["default"], second["default"]) == (
        "gpt-6-sol",
        "openai",
        True,
        False,
    )
    assert first["price"] == {"input": 2, "output": 10, "cachedRead": 0.2, "cachedWrite": 2.5}
    assert first["contextWindow"] == 1_050_000 and first["canBeChosen"]


def test_a_terminal_gets_a_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_models((), environment=env(tmp_path, OPENAI_API_KEY=KEY), terminal=True) == 0
    out = capsys.readouterr().out
    assert "Price in / out" in out and "US dollars for a million tokens" in out and "--refresh" in out


def test_wrong_settings_are_wrong_usage(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_models(("--provider=nobody",), environment=env(tmp_path)) == 2
    assert "no provider named nobody" in capsys.readouterr().err
    assert run_models((), environment=env(tmp_path, ZIDANE_ACP_THINKING="lots")) == 2
    assert run_command(["models", "--provider", "nobody", "--home", str(tmp_path)]) == 2


# Asking --------------------------------------------------------------------------------------------


def test_the_providers_are_asked_and_their_answers_kept(
    server: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    written(
        tmp_path,
        f'[providers.mine]\nkind = "anthropic"\nbase_url = "{server.base}/claude"\nkey_variable = "MY_GATE"\n'
        'headers = { X-Team = "MY_TEAM" }\n[[models]]\nid = "m"\nprovider = "mine"\n',
    )
    keys = env(
        tmp_path, OPENAI_API_KEY=KEY, OPENAI_BASE_URL=f"{server.base}/openai", MY_GATE="gate", MY_TEAM="team"
    )
    assert run_models((), environment=keys, refresh=True, terminal=False) == 0
    rows = table(capsys.readouterr().out)
    assert rows["gpt-6-sol"][-1] == "default" and rows["m"][-1] == ""
    assert rows["gpt-4o"] == ["openai", "128k", "16k", "$2.5 / $10", "offered"]
    assert rows["gpt-other"] == ["openai", "", "", "", "offered"]
    # Of a server of one's own only what it says itself is known.
    assert rows["claude-large"] == ["mine", "5k", "", "", "offered"]
    asked = dict(server.asked)
    assert asked["/openai/models"]["authorization"] == f"Bearer {KEY}"
    claude = asked["/claude/v1/models?limit=1000"]
    assert (claude["x-api-key"], claude["X-Team"], claude["anthropic-version"]) == (
        "gate",
        "team",
        "2023-06-01",
    )

    path = path_of(Settings(home=str(tmp_path / "home")))
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert KEY not in path.read_text() and "gate" not in path.read_text()
    # Later they are there without a request.
    count = len(server.asked)
    assert run_models((), environment=keys, terminal=True) == 0
    out = capsys.readouterr().out
    assert "gpt-other" in out and "Asked: openai just now, mine just now." in " ".join(out.split())
    assert len(server.asked) == count
    # And only those of providers that would be asked.
    assert run_models((), environment=env(tmp_path, OPENAI_API_KEY=KEY), terminal=False) == 0
    assert "claude-large" not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("path", "why"),
    [
        ("refuses", "it refused the key (HTTP 401)"),
        ("breaks", "it answered HTTP 500"),
        ("odd", "it answers no list of models"),
        ("large", "its answer has more than 16 MiB"),
    ],
)
def test_a_failure_is_a_line_and_keeps_what_was_known(
    path: str, why: str, server: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    good = env(tmp_path, OPENAI_API_KEY=KEY, OPENAI_BASE_URL=f"{server.base}/openai")
    assert run_models((), environment=good, refresh=True, terminal=False) == 0
    capsys.readouterr()
    bad = {**good, "OPENAI_BASE_URL": f"{server.base}/{path}"}
    assert run_models((), environment=bad, refresh=True, terminal=False) == 1
    shown = capsys.readouterr()
    assert shown.err == f"OpenAI could not be asked for its models: {why}.\n"
    assert "gpt-other" in shown.out and KEY not in shown.err


def test_nobody_there_and_a_key_that_no_header_takes(
    server: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    server.server_close()
    for key in (KEY, "sk-\u00e9\n-swordfish"):
        keys = env(tmp_path, OPENAI_API_KEY=key, OPENAI_BASE_URL=f"{server.base}/openai")
        assert run_models((), environment=keys, refresh=True, terminal=False) == 1
        err = capsys.readouterr().err
        assert "it cannot be reached (" in err and "swordfish" not in err


def test_a_list_that_cannot_be_kept_is_said(
    server: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("")
    keys = {
        "ZIDANE_ACP_HOME": str(tmp_path / "file" / "home"),
        "OPENAI_API_KEY": KEY,
        "OPENAI_BASE_URL": f"{server.base}/openai",
    }
    assert run_models((), environment=keys, refresh=True, terminal=False) == 1
    assert "The list of models cannot be kept" in capsys.readouterr().err


@pytest.mark.parametrize(
    "text", ["", "[]", '{"version": 2, "providers": {}}', '{"providers": {"a": 3}}', "\x00"]
)
def test_a_kept_list_of_another_form_is_none(text: str, tmp_path: Path) -> None:
    (tmp_path / "models.json").write_text(text)
    assert kept(Settings(home=str(tmp_path))) == {}
    good = '{"version": 1, "providers": {"a": {"at": 5.0, "models": [{"id": "x"}]}}}'
    (tmp_path / "models.json").write_text(good)
    assert kept(Settings(home=str(tmp_path))) == {"a": Offer(5.0, (ListedModel("x"),))}


def test_numbers_in_few_characters() -> None:
    assert [size(tokens) for tokens in (None, 512, 8192, 131_072, 1_000_000, 1_050_000)] == [
        "",
        "512",
        "8k",
        "131k",
        "1M",
        "1.05M",
    ]
    assert cost(None) == "" and cost(Price(input=0.075, output=3)) == "$0.075 / $3"


def test_what_others_named_does_nothing_on_the_terminal(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "home").mkdir()
    offers = {
        "version": 1,
        "providers": {"openai": {"at": 0, "models": [{"id": "a\x1b[2J\tb\n", "name": "x"}]}},
    }
    (tmp_path / "home" / "models.json").write_text(json.dumps(offers))
    for terminal in (True, False):
        assert run_models((), environment=env(tmp_path, OPENAI_API_KEY=KEY), terminal=terminal) == 0
        out = capsys.readouterr().out
        assert "\x1b[2J" not in out and "a␛[2J b" in out
    assert os.listdir(tmp_path / "home") == ["models.json"]
