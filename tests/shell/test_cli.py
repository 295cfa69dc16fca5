"""The command line from outside: which words lead where, exit codes, and what the start imports."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from zidane_acp import masking
from zidane_acp.doctor import Finding, findings, keys, provider, reach, run_doctor, state
from zidane_acp.login.key_store import KeyStore
from zidane_acp.main import main
from zidane_acp.settings import FLAGS, Settings
from zidane_core import __version__

PROGRAM = (sys.executable, "-P", "-m", "zidane_acp.main")
HEAVY = ("typer", "rich", "pydantic", "httpx2", "sqlite3", "prompt_toolkit", "argparse")


def clean_environment(**extra: str) -> dict[str, str]:
    names = ("PATH", "HOME", "LANG", "TMPDIR", "ZIDANE_ACP_HOME")
    kept = {name: value for name, value in os.environ.items() if name in names}
    return {**kept, "PYTHONUTF8": "1", **extra}


def run(
    *words: str, stdin: str = "", cwd: Path | None = None, **env: str
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        (*PROGRAM, *words),
        input=stdin,
        capture_output=True,
        text=True,
        timeout=60,
        cwd=cwd,
        env=clean_environment(**env),
        check=False,
    )


def test_version_and_help() -> None:
    assert run("--version").stdout == f"zidane-acp {__version__}\n"
    assert run("serve", "--help").returncode == 0
    shown = run("chat", "--help").stdout
    assert all(flag.option in shown for flag in FLAGS)
    for command in ("serve", "chat", "config", "models", "setup", "doctor"):
        assert command in run("--help").stdout


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("frob",), "No such command 'frob'"),
        (("serve", "--agent", "x"), "There is no flag --agent in this version"),
        (("--permission", "x"), "--permission takes ask"),
        (("chat", "--permission", "x", "-p", "hi"), "--permission takes ask"),
        (("chat", "--frob"), "No such option: --frob"),
        (("chat", "-p", "hi", "--cwd", "/no/such/folder"), "--cwd names no folder"),
        (
            ("chat", "-p", "hi", "--provider", "x", "--", "agent"),
            "--provider is a flag of the built-in agent",
        ),
        (("chat", "-p", "hi", "--provider", "nope"), "There is no provider named nope"),
        (("setup",), "Missing argument"),
        (("chat",), "There is no prompt"),
    ],
)
def test_wrong_usage_is_one_sentence_and_two(words: tuple[str, ...], said: str) -> None:
    done = run(*words)
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def initialize() -> str:
    return (
        json.dumps({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"protocolVersion": 1}})
        + "\n"
    )


@pytest.mark.parametrize("words", [(), ("serve",), ("--provider", "offline"), ("serve", "--model=x")])
def test_bare_flags_and_serve_speak_acp(words: tuple[str, ...]) -> None:
    done = run(*words, stdin=initialize())
    assert done.returncode == 0
    assert json.loads(done.stdout)["result"]["protocolVersion"] == 1


def test_the_start_imports_nothing_heavy() -> None:
    done = subprocess.run(
        (
            sys.executable,
            "-P",
            "-c",
            "import sys; sys.argv = ['zidane-acp', 'serve']\n"
            "from zidane_acp.main import main\n"
            "code = main()\n"
            f"print([name for name in {HEAVY!r} if name in sys.modules], file=sys.stderr)",
        ),
        input=initialize(),
        capture_output=True,
        text=True,
        timeout=60,
        env=clean_environment(),
        check=True,
    )
    assert json.loads(done.stdout)["id"] == 0
    assert done.stderr.strip().splitlines()[-1] == "[]"


def test_a_module_of_the_opened_project_is_not_ours(tmp_path: Path) -> None:
    for name in ("zidane_acp", "zidane_core", "msgspec"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text("raise SystemExit('hijacked')")
    done = run("chat", "-p", "/plan A; B", cwd=tmp_path)
    assert (done.returncode, "hijacked" in done.stderr) == (0, False), done.stderr


def test_a_terminal_and_no_words_open_the_chat(monkeypatch: pytest.MonkeyPatch) -> None:
    called: list[object] = []
    monkeypatch.setattr("zidane_acp.main._on_terminal", lambda: True)
    monkeypatch.setattr("zidane_acp.chat.command.run_chat", lambda options: called.append(options) or 0)
    assert main([]) == 0
    assert len(called) == 1


# doctor --------------------------------------------------------------------------------------------


def test_doctor_names_keys_and_never_shows_them(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    env = {"OPENAI_API_KEY": "sk-very-secret-value", "ZIDANE_ACP_HOME": str(tmp_path)}
    assert run_doctor(environment=env) == 0
    shown = capsys.readouterr().out
    assert "Keys: found OPENAI_API_KEY" in shown
    assert "Provider: openai" in shown and "(OPENAI_API_KEY)" in shown
    assert "secret" not in shown


def test_doctor_without_keys_is_no_failure(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert run_doctor(environment={"ZIDANE_ACP_HOME": str(tmp_path)}) == 0
    shown = capsys.readouterr().out
    assert "none found; set one of ANTHROPIC_API_KEY, OPENAI_API_KEY" in shown
    assert "Provider: offline" in shown


@pytest.mark.parametrize(
    ("env", "about"),
    [
        ({"ZIDANE_ACP_PROVIDER": "anthropic"}, "Provider"),
        ({"ZIDANE_ACP_PROVIDER": "nope"}, "Provider"),
        ({"ZIDANE_ACP_PERMISSION": "nope"}, "Settings"),
        ({"ZIDANE_ACP_HOME": "/dev/null/x"}, "State"),
    ],
)
def test_doctor_fails_on_what_stops_the_agent(
    env: dict[str, str], about: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert run_doctor(environment={"ZIDANE_ACP_HOME": str(tmp_path), **env}) == 1
    bad = [
        finding.about
        for finding in findings({"ZIDANE_ACP_HOME": str(tmp_path), **env}, False)
        if finding.verdict == "bad"
    ]
    assert bad == [about]


def test_doctor_asks_the_network_only_when_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    asked: list[str] = []
    monkeypatch.setattr(
        "zidane_acp.doctor.reach", lambda name, *_: asked.append(name) or Finding("good", name, "")
    )
    env = {"ZIDANE_ACP_HOME": str(tmp_path), "GROQ_API_KEY": "x" * 20}
    list(findings(env, False))
    assert asked == []
    list(findings(env, True))
    assert asked == ["groq", "ollama"]


def test_doctor_says_what_cannot_be_reached() -> None:
    # Port 9 of loopback refuses at once.
    finding = reach("groq", {}, "http://127.0.0.1:9/v1")
    assert finding.verdict == "bad" and "cannot be reached" in finding.text
    assert reach("ollama", {"OLLAMA_HOST": "127.0.0.1:9"}).verdict == "note"


def test_doctors_parts(tmp_path: Path) -> None:
    assert keys({"XAI_API_KEY": " "}, KeyStore(tmp_path)).verdict == "note"
    assert provider(Settings(provider="ollama", models=("m",)), {}).verdict == "good"
    assert not (tmp_path / "a/b").exists()
    assert state(tmp_path / "a/b").text.endswith("(made on first use)")
    assert not (tmp_path / "a").exists()


# log -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "Authorization: Bearer abcdefgh12345678",
        "x-api-key: abcdefgh12345678",
        '{"api_key": "abcdefgh12345678"}',
        "https://h/?api_key=abcdefgh12345678&x=1",
        "key sk-ant-abcdefgh12345678 is wrong",
        "my own abcdefgh12345678 here",
    ],
)
def test_keys_are_masked(text: str) -> None:
    masked = masking.mask(text, ("my own abcdefgh12345678",))
    assert "abcdefgh12345678" not in masked and masking.MASK in masked


def test_ordinary_words_are_not_masked() -> None:
    text = "the basic thing: ask-for-a-long-hyphenated-word, bearer of news, path /a/b/c"
    assert masking.mask(text) == text


def test_secret_variables_are_found_by_name() -> None:
    env = {"A_API_KEY": "0123456789", "GH_TOKEN": "abcdefghij", "SHORT_TOKEN": "abc", "PATH": "/usr/bin:/bin"}
    assert set(masking.secret_values(env)) == {"0123456789", "abcdefghij"}
    assert "/usr/bin:/bin" in masking.secret_values(env, ("PATH", "NOT_SET", "SHORT_TOKEN"))
    assert "abc" not in masking.secret_values(env, ("SHORT_TOKEN",))


def test_the_log_goes_to_a_private_file_and_is_masked(tmp_path: Path) -> None:
    path = tmp_path / "log"
    code = (
        "import logging; from zidane_acp.log import configure; from zidane_acp.descriptors import open_appending\n"
        f"configure('info', open_appending({str(path)!r}))\n"
        "logging.getLogger('x').debug('quiet')\n"
        "logging.getLogger('x').info('key is %s', 'swordfish-1234')\n"
    )
    done = subprocess.run(
        (sys.executable, "-c", code),
        capture_output=True,
        env=clean_environment(MY_API_KEY="swordfish-1234"),
        check=True,
    )
    assert (done.stdout, done.stderr) == (b"", b"")
    assert "key is [hidden]" in path.read_text() and "quiet" not in path.read_text()
    assert path.stat().st_mode & 0o777 == 0o600
