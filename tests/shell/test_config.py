"""The user's config file: where it is, what it gives, and what is said of mistakes."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from platformdirs import user_config_path
from support.process import Process

from zidane_acp.config import LONGEST, Config, config_of, config_path, read_config
from zidane_acp.options import StdioOptions
from zidane_acp.settings import Settings, parse
from zidane_acp.wiring import options_of
from zidane_core.data.mcp import McpServerConfig

WHOLE = b"""
[mcp.files]
command = "npx"
args = ["-y", "files"]
env = { LEVEL = "warn" }

[mcp.issues]
url = "https://x/mcp"
headers = { Authorization = "Bearer swordfish" }

[mcp."older one"]
url = "https://x/sse"
transport = "sse"

[mcp.off]
command = "off"
enabled = false
"""
SERVERS = (
    McpServerConfig(
        name="files", transport="stdio", command="npx", args=("-y", "files"), env=(("LEVEL", "warn"),)
    ),
    McpServerConfig(
        name="issues",
        transport="streamable-http",
        url="https://x/mcp",
        headers=(("Authorization", "Bearer swordfish"),),
    ),
    McpServerConfig(name="older one", transport="sse", url="https://x/sse"),
)


def test_what_a_file_gives() -> None:
    assert config_of(WHOLE, "f") == Config(SERVERS)
    assert config_of(b"", "f") == Config()
    assert config_of("\ufeff[mcp]\n".encode(), "f") == Config()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[mcp.a]\ncommand='x'\ncolor=1", ["f: there is no setting mcp.a.color; it is not used."]),
        ("[model]\nname='x'", ["f: there is no setting model; it is not used."]),
        ("mcp=3", ["f: mcp must be a table such as [mcp.files]; it is not used."]),
        ("[mcp]\na=3", ["f: mcp.a must be a table; it is not used."]),
        ("[mcp.a]", ["f: mcp.a needs either command or url; the server is not used."]),
        ("[mcp.a]\ncommand='x'\nurl='y'", ["f: mcp.a needs either command or url; the server is not used."]),
        (
            "[mcp.a]\ncommand='x'\nargs=['y', 7777]",
            ["f: mcp.a.args[1]: expected str, got int; the server is not used."],
        ),
        (
            "[mcp.a]\nurl='x'\ntransport='swordfish'",
            ["f: mcp.a.transport must be streamable-http or sse; the server is not used."],
        ),
        (
            "[mcp.a]\nurl='x'\nheaders={A=7777}",
            ["f: mcp.a.headers[...]: expected str, got int; the server is not used."],
        ),
        (
            "[mcp.a]\ncommand='x'\nheaders={A='swordfish'}",
            ["f: mcp.a.headers has no meaning beside command."],
        ),
        ("[mcp.a]\nurl='x'\nargs=['y']", ["f: mcp.a.args has no meaning beside url."]),
        ("swordfish", ["The config file f is no TOML (at end of document); nothing of it is used."]),
    ],
)
def test_mistakes_are_warnings_without_values(text: str, said: list[str]) -> None:
    config = config_of(text.encode(), "f")
    assert list(config.warnings) == said
    assert "swordfish" not in repr(config.warnings) and "7777" not in repr(config.warnings)


def test_the_rest_of_a_file_with_mistakes_holds() -> None:
    config = config_of(WHOLE + b"[mcp.bad]\nargs=1\n[mcp.good]\ncommand='g'\nx=1\n", "f")
    assert [server.name for server in config.mcp_servers] == ["files", "issues", "older one", "good"]
    assert len(config.warnings) == 2
    (warning,) = config_of(b"\xff", "f").warnings
    assert warning == "The config file f is not UTF-8; nothing of it is used."


@pytest.mark.parametrize(
    "text",
    [f"a = {'9' * 5000}", f"a = {'[' * 5000}", f"a = {'{b=' * 5000}", f"a = {'[' * 5000}{']' * 5000}"],
    ids=["digits", "open", "tables", "arrays"],
)
def test_what_python_refuses_is_a_warning(text: str) -> None:
    config = config_of(f"{text}\n[mcp.a]\ncommand='x'\n".encode(), "f")
    assert config.mcp_servers == () and len(config.warnings) == 1
    assert config.warnings[0].startswith("The config file f ") and len(config.warnings[0]) < 200


def test_names_of_the_file_stay_on_one_line_and_do_nothing() -> None:
    name = '"a\\nERROR zidane_acp: \\u001b[2J\\u202e' + "x" * 5000 + '"'
    for text in (f"{name} = 1", f"[mcp.{name}]", f"[mcp.{name}]\ncommand='x'\n{name}=1", f"[mcp]\n{name}=1"):
        config = config_of(text.encode(), "f\nERROR g")
        assert len(config.warnings) == 1
        for warning in config.warnings:
            assert warning.startswith("f ERROR g: ") and warning.isprintable() and len(warning) < 600


@pytest.mark.skipif(sys.platform == "win32", reason="a pipe in the file system")
def test_only_a_regular_file_of_some_size_is_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "large").write_bytes(b"#" * (LONGEST + 1))
    (tmp_path / "full").write_bytes(b"#" * LONGEST)
    said = {
        "pipe": "cannot be read: it is no regular file.",
        "/dev/zero": "cannot be read: it is no regular file.",
        "large": "cannot be read: it has more than 1 MiB.",
        "a\0b": "cannot be read: its name holds a zero byte.",
    }
    for name, why in said.items():
        (warning,) = read_config(Settings(config=str(tmp_path / name))).warnings
        assert warning.startswith("The config file ") and warning.endswith(why)
    assert read_config(Settings(config=str(tmp_path / "full"))) == Config()


def test_where_the_file_is(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert config_path(Settings(config="/a/b.toml", home="/h")) == Path("/a/b.toml")
    assert config_path(Settings(home="/h")) == Path("/h/config.toml")
    for value in (str(tmp_path), "", " "):
        monkeypatch.setenv("XDG_CONFIG_HOME", value)
        theirs = user_config_path("zidane-acp", appauthor=False) / "config.toml"
        assert config_path(Settings(), os.environ) == theirs
    assert parse((), {"ZIDANE_ACP_CONFIG": "/c.toml"}) == Settings(config="/c.toml")


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    assert read_config(Settings(home=str(tmp_path))) == Config()
    asked = tmp_path / "no.toml"
    assert read_config(Settings(config=str(asked))).warnings == (
        f"There is no config file {asked}; nothing was read.",
    )
    assert "cannot be read: it is no regular file" in read_config(Settings(config=str(tmp_path))).warnings[0]


def test_the_servers_come_into_the_options() -> None:
    options = options_of(Settings(provider="offline"), {}, Config(SERVERS))
    assert isinstance(options, StdioOptions)
    assert options.server.mcp_servers == SERVERS and options.server.mcp_within == 5.0


def test_without_a_file_nothing_is_loaded(tmp_path: Path) -> None:
    code = (
        "import sys; from zidane_acp.config import read_config; from zidane_acp.settings import Settings\n"
        f"read_config(Settings(home={str(tmp_path)!r})); read_config(Settings())\n"
        "print(sorted({'tomllib', 'platformdirs', 'mcp'} & sys.modules.keys()))"
    )
    env = {**os.environ, "XDG_CONFIG_HOME": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, timeout=20)
    assert (done.stdout, done.stderr) == ("[]\n", "")


def test_the_agent_tells_of_mistakes_in_its_log(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text("[mcp.a]\ncommand='x'\nenv={A='swordfish'}\ncolor='swordfish'\n")
    with Process("--provider", "offline", "--config", str(file)) as agent:
        agent.session(tmp_path)
        assert agent.close() == 0
        assert agent.child.stderr is not None
        said = agent.child.stderr.read().decode()
    assert f"WARNING zidane_acp.config: {file}: there is no setting mcp.a.color; it is not used." in said
    assert "swordfish" not in said


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"x = " + b"1" * 5000, "too large to read"),
        (b"x = " + b"[" * 5000, "too large to read"),
        (b"x = \xff", "is not UTF-8"),
    ],
)
def test_what_python_cannot_read_is_a_warning(data: bytes, why: str) -> None:
    (warning,) = config_of(data, "config.toml").warnings
    assert why in warning


def test_what_is_no_file_of_a_reasonable_size_is_not_read(tmp_path: Path) -> None:
    pipe, large = tmp_path / "pipe", tmp_path / "large"
    os.mkfifo(pipe)
    large.write_bytes(b"# comment\n" * 200_000)
    for path in (pipe, large, tmp_path, Path("/dev/zero")):
        found = read_config(Settings(config=str(path)))
        assert len(found.warnings) == 1 and not found.mcp_servers, path


def test_a_name_in_the_file_cannot_forge_a_line_of_the_log() -> None:
    (warning,) = config_of(b'[mcp."a\\n\\u001b[31mX"]\nenabled = 7\n', "config.toml").warnings
    assert "\n" not in warning and "\x1b" not in warning
