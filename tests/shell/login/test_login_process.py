"""Logging in with the program itself: over a page, in a terminal, by a pipe; and what the same process does then."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import pytest
from support.loopback import refusing, said, serving
from support.page_client import KEY, Browser
from support.process import COMMAND, Process
from support.terminal import Terminal

PROGRAM = COMMAND[:-1]
PAGES = {"elicitation": {"url": {}}}
OTHER = "sk-other-0123456789"

KEYRING = """
import keyring, json, os, pathlib
from keyring.backend import KeyringBackend
class Filed(KeyringBackend):
    priority = 9
    path = pathlib.Path(os.environ["FILED"])
    def _all(self):
        return json.loads(self.path.read_text()) if self.path.exists() else {}
    def get_password(self, service, username):
        return self._all().get(username)
    def set_password(self, service, username, password):
        self.path.write_text(json.dumps({**self._all(), username: password}))
    def delete_password(self, service, username):
        self.path.write_text(json.dumps({k: v for k, v in self._all().items() if k != username}))
keyring.set_keyring(Filed())
"""
"""A keyring of another process's memory, so to say: a file."""

HUNG = """
import keyring, threading
from keyring.backends import fail
class Hung(fail.Keyring):
    def get_password(self, service, username):
        threading.Event().wait()
Hung.__module__ = "hung"
keyring.set_keyring(Hung())
"""


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


def env(home: Path, **more: str) -> dict[str, str]:
    return {"ZIDANE_ACP_HOME": str(home), "PYTHON_KEYRING_BACKEND": "keyring.backends.fail.Keyring", **more}


def keys(home: Path) -> Any:
    path = home / "keys.json"
    return json.loads(path.read_bytes()) if path.exists() else None


def provider(answer: dict[str, Any]) -> Any:
    return answer["result"]["_meta"]["zidane"]["provider"]


def model(answer: Any) -> str:
    (value,) = [one["currentValue"] for one in answer["configOptions"] if one["id"] == "model"]
    return str(value)


NEW = {"cwd": "/", "mcpServers": []}


# By a page -----------------------------------------------------------------------------------------


def give_key(agent: Process, key: str = KEY, method: str = "openai-api-key") -> dict[str, Any]:
    """Ask for a login, open its page, give the key; gives the answer."""
    asked = agent.ask("authenticate", methodId=method)
    page = agent.until(lambda frame: frame.get("method") == "elicitation/create")
    assert page["params"]["requestId"] == asked and page["params"]["mode"] == "url"
    agent.send(id=page["id"], result={"action": "accept"})

    async def give() -> None:
        assert (await Browser(page["params"]["url"]).give(key)).status == 200

    anyio.run(give)
    done = agent.until(lambda frame: frame.get("method") == "elicitation/complete")
    assert done["params"] == {"elicitationId": page["params"]["elicitationId"]}
    return agent.until(lambda frame: frame.get("id") == asked and "method" not in frame)


def test_a_login_by_a_page_is_enough_for_the_same_process(home: Path, tmp_path: Path) -> None:
    trace = tmp_path / "trace"
    flags = ("--trace", str(trace), "--log-level", "debug")
    with Process(*flags, env=env(home)) as agent:
        first = agent.call("initialize", protocolVersion=1, clientCapabilities=PAGES)["result"]
        assert "logout" not in first["agentCapabilities"].get("auth", {})
        session = agent.call("session/new", **NEW)
        assert provider(session)["name"] == "offline"
        assert give_key(agent)["result"] == {}
        # The open session has the models, and its own as well, since nobody had chosen one.
        change = next(
            frame["params"]["update"]
            for frame in agent.seen
            if frame.get("params", {}).get("update", {}).get("sessionUpdate") == "config_option_update"
        )
        assert model(change) != "offline"
        again = agent.call("session/new", **NEW)
        assert provider(again)["name"] == "openai"
        assert provider(again)["source"] == f"OPENAI_API_KEY from {home / 'keys.json'}"
        assert keys(home) == {"keys": {"OPENAI_API_KEY": KEY}, "keyring": []}
        second = agent.call("initialize", protocolVersion=1, clientCapabilities=PAGES)["result"]
        assert second["agentCapabilities"]["auth"]["logout"] == {}
        assert agent.call("logout")["result"] == {}
        assert provider(agent.call("session/new", **NEW))["name"] == "offline"
        assert keys(home) is None
        assert agent.close() == 0
        assert agent.child.stderr is not None
        assert KEY not in agent.child.stderr.read().decode()
    assert KEY not in trace.read_text("utf-8")
    assert not any(KEY in json.dumps(frame) for frame in agent.seen)


def test_a_key_that_is_refused_is_asked_for_again_and_the_next_one_works(home: Path) -> None:
    with serving(lambda _: refusing(401, "wrong key") if served.keys[-1] == KEY else said("ok")) as served:
        with Process(env=env(home, OPENAI_BASE_URL=served.url)) as agent:
            first = agent.call("initialize", protocolVersion=1, clientCapabilities=PAGES)["result"]
            session = agent.call("session/new", **NEW)["result"]["sessionId"]
            assert give_key(agent)["result"] == {}
            asked = agent.prompt(session, "hello")
            error = agent.until(lambda frame: frame.get("id") == asked)["error"]
            assert (error["code"], error["data"]["kind"]) == (-32000, "auth")
            assert error["data"]["authMethods"] == first["authMethods"]
            assert give_key(agent, OTHER)["result"] == {}
            asked = agent.prompt(session, "hello")
            answer = agent.until(lambda frame: frame.get("id") == asked)
            assert answer["result"]["stopReason"] == "end_turn"
        assert KEY in served.keys and served.keys[-1] == OTHER
    assert keys(home)["keys"] == {"OPENAI_API_KEY": OTHER}


@pytest.mark.parametrize("before", [True, False])
def test_a_kept_key_is_hidden_wherever_it_would_be_written(home: Path, tmp_path: Path, before: bool) -> None:
    key, trace, log = "wordswithoutashape", tmp_path / "trace", tmp_path / "log"
    if before:
        logged_in(home, key=key)
    with Process(
        "--trace", str(trace), "--log-file", str(log), "--log-level", "debug", env=env(home)
    ) as agent:
        agent.call("initialize", protocolVersion=1, clientCapabilities=PAGES)
        assert before or give_key(agent, key)["result"] == {}
        # A client that tells what it must not know.
        assert agent.call(f"tell/{key}")["error"]["code"] == -32601
        agent.close()
    written = trace.read_text("utf-8") + log.read_text("utf-8")
    assert "tell/[hidden]" in written and key not in written


def test_a_withdrawn_login_ends_and_its_page_is_gone(home: Path) -> None:
    with Process(env=env(home)) as agent:
        agent.call("initialize", protocolVersion=1, clientCapabilities=PAGES)
        asked = agent.ask("authenticate", methodId="openai-api-key")
        page = agent.until(lambda frame: frame.get("method") == "elicitation/create")
        agent.send(method="$/cancel_request", params={"requestId": asked})
        gone = agent.until(lambda frame: frame.get("method") == "$/cancel_request")
        assert gone["params"] == {"requestId": page["id"]}
        answer = agent.until(lambda frame: frame.get("id") == asked)
        assert answer["error"]["code"] == -32800

        async def give() -> None:
            with pytest.raises(OSError):
                await Browser(page["params"]["url"]).give()

        anyio.run(give)


def test_the_end_does_not_wait_for_a_login(home: Path) -> None:
    with Process(env=env(home)) as agent:
        agent.call("initialize", protocolVersion=1, clientCapabilities=PAGES)
        agent.ask("authenticate", methodId="openai-api-key")
        agent.until(lambda frame: frame.get("method") == "elicitation/create")
        assert agent.close() == 0


# The gate ------------------------------------------------------------------------------------------


def test_a_required_login_gates_sessions_until_there_is_a_key(home: Path) -> None:
    home.mkdir()
    (home / "config.toml").write_text("require_login = true\n", "utf-8")
    with Process(env=env(home)) as agent:
        first = agent.call(
            "initialize", protocolVersion=1, clientCapabilities={**PAGES, "auth": {"terminal": True}}
        )
        gated = agent.call("session/new", **NEW)["error"]
        assert (gated["code"], gated["message"]) == (-32000, "Authentication required")
        assert gated["data"]["authMethods"] == first["result"]["authMethods"]
        assert give_key(agent)["result"] == {}
        assert provider(agent.call("session/new", **NEW))["name"] == "openai"
    with Process(env=env(home, XAI_API_KEY=KEY)) as agent:
        agent.call("initialize", protocolVersion=1)
        assert provider(agent.call("session/new", **NEW))["name"] == "openai", (
            "the kept key comes in its turn"
        )
    (home / "keys.json").unlink()
    with Process(env=env(home, XAI_API_KEY=KEY)) as agent:
        agent.call("initialize", protocolVersion=1)
        assert provider(agent.call("session/new", **NEW))["name"] == "xai"


# In a terminal, and by a pipe ----------------------------------------------------------------------


def run(home: Path, *words: str, text: str = "", **more: str) -> "subprocess.CompletedProcess[str]":
    kept = {name: value for name, value in os.environ.items() if not name.endswith("_API_KEY")}
    return subprocess.run(
        (*PROGRAM, *words),
        input=text,
        capture_output=True,
        text=True,
        env={**kept, **env(home, **more)},
        timeout=60,
    )


def logged_in(home: Path, name: str = "openai", key: str = KEY) -> None:
    assert run(home, "login", name, "--key-from-stdin", text=key).returncode == 0


def test_a_key_from_a_pipe_is_kept_and_never_told(home: Path) -> None:
    done = run(home, "login", "openai", "--key-from-stdin", text=f"{KEY}\n")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == f"The key of OpenAI is kept in {home / 'keys.json'}.\n"
    assert keys(home)["keys"] == {"OPENAI_API_KEY": KEY}
    noted = run(home, "login", "openai", text=f"{OTHER}\n", OPENAI_API_KEY=KEY)
    assert noted.returncode == 0 and "is used before the key that is kept" in noted.stdout
    assert KEY not in noted.stdout and OTHER not in noted.stdout


@pytest.mark.parametrize(
    ("words", "text", "code", "told"),
    [
        (("login",), "", 1, "The input ended before a key was given"),
        (("login", "openai"), "", 1, "The input ended before a key was given"),
        (("login", "openai", "--key-from-stdin"), "short", 1, "Nothing was kept."),
        (("login", "openai"), "a b c d e f\n" * 3, 1, "No usable key was given"),
        (("login",), "9\n0\nnonsense\n", 1, "No provider was chosen"),
        (("login", "--key-from-stdin"), KEY, 2, "Name the provider"),
        (("login", "nonsense"), KEY, 2, "choose one of anthropic, openai"),
        (("logout", "nonsense"), "", 2, "choose one of anthropic, openai"),
        (("--login", "--nonsense"), "", 2, "no flag --nonsense"),
        (("--login",), "", 1, "The input ended before a key was given"),
    ],
)
def test_a_login_that_cannot_be_done(
    home: Path, words: tuple[str, ...], text: str, code: int, told: str
) -> None:
    done = run(home, *words, text=text)
    assert done.returncode == code and told in done.stderr
    assert keys(home) is None
    assert "Traceback" not in done.stderr and not (text.strip() and text.strip() in done.stderr)


@pytest.mark.parametrize(
    "words",
    [
        ("--login",),
        ("serve", "--login"),
        ("serve", "--permission", "ask", "--login", "--max-rounds=3"),
        ("--login", "--log-level", "debug"),
    ],
)
def test_the_flag_works_at_every_place(home: Path, words: tuple[str, ...]) -> None:
    done = run(home, *words, text=f"2\n{KEY}\n")
    assert (done.returncode, done.stderr) == (0, "")
    assert keys(home)["keys"] == {"OPENAI_API_KEY": KEY}


def test_the_flag_takes_the_provider_and_the_folder_of_its_line(home: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    done = run(home, "serve", "--provider", "xai", "--login", "--home", str(other), text=f"{KEY}\n")
    assert done.returncode == 0
    assert keys(home) is None and keys(other)["keys"] == {"XAI_API_KEY": KEY}


@pytest.fixture
def terminals(home: Path, tmp_path: Path) -> Iterator[Any]:
    made: list[Terminal] = []

    def start(*words: str) -> Terminal:
        made.append(Terminal((*PROGRAM, *words), home, tmp_path))
        return made[-1]

    yield start
    for terminal in made:
        terminal.close()


@pytest.mark.skipif(sys.platform == "win32", reason="there are no pseudo terminals")
@pytest.mark.parametrize("words", [("--login",), ("login",), ("serve", "--model", "m", "--login")])
def test_a_login_in_a_terminal_shows_no_key(home: Path, terminals: Any, words: tuple[str, ...]) -> None:
    terminal = terminals(*words)
    terminal.until("Provider (number or name): ")
    terminal.type("openai\r")
    terminal.until("(it is not shown): ")
    terminal.type("short\r")
    terminal.until("copy it alone and whole")
    terminal.until("(it is not shown): ")
    terminal.type(f"{KEY}\r")
    terminal.until("is kept in ")
    assert terminal.exit_code() == 0
    assert KEY not in terminal.raw
    assert keys(home)["keys"] == {"OPENAI_API_KEY": KEY}


@pytest.mark.skipif(sys.platform == "win32", reason="there are no pseudo terminals")
@pytest.mark.parametrize("words", [("login", "openai"), ("serve", "--provider", "openai", "--login")])
def test_ctrl_c_ends_a_login(home: Path, terminals: Any, words: tuple[str, ...]) -> None:
    terminal = terminals(*words)
    terminal.until("(it is not shown): ")
    terminal.type("\x03")
    assert terminal.exit_code() == 130
    assert keys(home) is None and "Traceback" not in terminal.seen


def test_a_running_agent_finds_the_key_that_a_terminal_kept(home: Path) -> None:
    with Process(env=env(home)) as agent:
        agent.call("initialize", protocolVersion=1)
        error = agent.call("authenticate", methodId="openai-api-key")["error"]
        assert error["code"] == -32000 and error["data"]["variable"] == "OPENAI_API_KEY"
        assert "zidane-acp login openai" in error["message"]
        logged_in(home)
        assert agent.call("authenticate", methodId="openai-api-key")["result"] == {}
        assert provider(agent.call("session/new", **NEW))["name"] == "openai"


def test_logout_forgets_one_or_all(home: Path) -> None:
    logged_in(home)
    logged_in(home, "xai")
    assert run(home, "logout", "groq").stdout.startswith("No key is kept")
    assert run(home, "logout", "xai").stdout == "Forgotten: XAI_API_KEY.\n"
    assert keys(home)["keys"] == {"OPENAI_API_KEY": KEY}
    done = run(home, "logout", OPENAI_API_KEY=OTHER)
    assert done.returncode == 0 and done.stdout.startswith("Forgotten: OPENAI_API_KEY.\n")
    assert "OPENAI_API_KEY is set in the environment" in done.stdout
    assert keys(home) is None


def test_doctor_tells_where_a_key_is(home: Path) -> None:
    logged_in(home)
    told = run(home, "doctor", XAI_API_KEY=OTHER).stdout
    assert f"OPENAI_API_KEY (in {home / 'keys.json'}), XAI_API_KEY" in told
    assert KEY not in told and OTHER not in told


# The keyring ---------------------------------------------------------------------------------------


def test_a_key_of_the_keyring_is_there_for_the_first_session(home: Path, tmp_path: Path) -> None:
    filed = str(tmp_path / "filed")
    with Process(env=env(home, FILED=filed), before=KEYRING) as agent:
        agent.call("initialize", protocolVersion=1, clientCapabilities=PAGES)
        assert give_key(agent)["result"] == {}
        assert keys(home) == {"keys": {}, "keyring": ["OPENAI_API_KEY"]}
    with Process(env=env(home, FILED=filed), before=KEYRING) as agent:
        first = agent.call("initialize", protocolVersion=1)["result"]
        assert first["agentCapabilities"]["auth"]["logout"] == {}
        told = provider(agent.call("session/new", **NEW))
        assert (told["name"], told["source"]) == ("openai", "OPENAI_API_KEY from the system keyring")
        assert agent.call("logout")["result"] == {}
    assert json.loads(Path(filed).read_text("utf-8")) == {}


def test_a_keyring_that_hangs_holds_up_neither_the_start_nor_the_end(home: Path) -> None:
    home.mkdir()
    (home / "keys.json").write_text('{"keyring": ["OPENAI_API_KEY"]}', "utf-8")
    with Process(env=env(home), before=HUNG) as agent:
        agent.call("initialize", protocolVersion=1)
        assert provider(agent.call("session/new", **NEW))["name"] == "offline"
        assert agent.close() == 0
        assert agent.child.stderr is not None
        assert "did not answer within 2 seconds" in agent.child.stderr.read().decode()


# The login shell -----------------------------------------------------------------------------------

DOCK = pytest.mark.skipif(sys.platform == "win32", reason="there is no login shell")


def from_dock(home: Path, profile: str, *flags: str) -> Process:
    """An agent that an editor started which was started from a dock."""
    (home.parent / ".profile").write_text(f"{profile}\n", "utf-8")
    bare = {"PATH": "/usr/bin:/bin", "HOME": str(home.parent), "SHELL": "/bin/sh", **env(home)}
    return Process(*flags, env=bare, bare=True)


@DOCK
def test_a_key_of_the_login_shell_brings_its_models(home: Path) -> None:
    with from_dock(home, f"export OPENAI_API_KEY={KEY}") as agent:
        agent.call("initialize", protocolVersion=1)
        first = agent.call("session/new", **NEW)["result"]
        if model(first) == "offline":
            assert model(agent.update("config_option_update")) != "offline"
        told = provider(agent.call("session/new", **NEW))
        assert (told["name"], told["source"]) == ("openai", "OPENAI_API_KEY from the login shell")
        assert agent.close() == 0


@DOCK
def test_a_command_finds_the_programs_of_the_login_shell_and_no_key(home: Path, tmp_path: Path) -> None:
    (tmp_path / "mine").write_text('#!/bin/sh\necho "found $WORD [$OPENAI_API_KEY]"\n', "utf-8")
    (tmp_path / "mine").chmod(0o755)
    script = tmp_path / "script.json"
    turns = [{"tool": "shell", "args": {"command": "mine"}}, {"text": "done"}]
    script.write_text(json.dumps({"turns": turns}), "utf-8")
    profile = f"export PATH=$PATH:{tmp_path} WORD=told OPENAI_API_KEY={KEY}"
    with from_dock(home, profile, "--permission", "allow-all", "--script", str(script)) as agent:
        session = agent.session(tmp_path)
        agent.prompt(session, "go")
        done = agent.update("tool_call_update", status="completed")
        assert "found told []" in json.dumps(done)


@DOCK
def test_an_mcp_server_is_found_on_the_path_of_the_login_shell_and_gets_no_key(
    home: Path, tmp_path: Path
) -> None:
    told = tmp_path / "told"
    (tmp_path / "mine").write_text(f'#!/bin/sh\necho "found $WORD [$OPENAI_API_KEY]" > {told}\n', "utf-8")
    (tmp_path / "mine").chmod(0o755)
    profile = f"export PATH=$PATH:{tmp_path} WORD=told OPENAI_API_KEY={KEY}"
    with from_dock(home, profile, "--provider", "offline") as agent:
        agent.call("initialize", protocolVersion=1)
        servers = [{"name": "mine", "command": "mine", "args": [], "env": []}]
        session = agent.call("session/new", cwd=str(tmp_path), mcpServers=servers)["result"]["sessionId"]
        asked = agent.prompt(session, "hello")
        agent.until(lambda frame: frame.get("id") == asked)
    assert told.read_text("utf-8") == "found told []\n"


@DOCK
def test_a_login_shell_that_hangs_holds_up_no_answer(home: Path) -> None:
    with from_dock(home, "sleep 1000") as agent:
        session = agent.session(home.parent)
        asked = agent.prompt(session, "hello")
        answer = agent.until(lambda frame: frame.get("id") == asked)
        assert answer["result"]["stopReason"] == "end_turn"
        assert agent.close() == 0
