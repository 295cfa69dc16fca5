"""The user's config file: where it is, what it gives, and what is said of mistakes."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from msgspec.structs import replace
from platformdirs import user_config_path
from support.process import Process

from zidane_acp.config import Config, config_path, read_config
from zidane_acp.config.file import config_of
from zidane_acp.config.place import LONGEST
from zidane_acp.config.records import UiTable, UserFile
from zidane_acp.options import StdioOptions
from zidane_acp.settings import FLAGS, Settings, parse
from zidane_acp.wiring import options_of
from zidane_core.data.mcp import McpServerConfig
from zidane_core.data.models import ModelOption, OptionValue, Price
from zidane_core.data.rules import Denials
from zidane_core.models.providers import PROVIDERS

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
    found = config_of(WHOLE, "f")
    assert (found.mcp_servers, found.warnings, found.file) == (SERVERS, (), "f")
    for text in ("", "\ufeff[mcp]\n"):
        empty = config_of(text.encode(), "f")
        assert empty == replace(Config(), file="f", user=UserFile())


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[mcp.a]\ncommand='x'\ncolor=1", ["f, line 3: there is no setting mcp.a.color; it is not used."]),
        (
            "[model]\nname='x'",
            ["f, line 1: there is no setting model (did you mean models?); it is not used."],
        ),
        ("mcp=3", ["f, line 1: mcp must be a table; it is not used."]),
        ("[mcp]\na=3", ["f, line 2: mcp.a must be a table; it is not used."]),
        ("[mcp.a]", ["f, line 1: mcp.a needs either command or url; the server is not used."]),
        (
            "[mcp.a]\ncommand='x'\nurl='y'",
            ["f, line 1: mcp.a needs either command or url; the server is not used."],
        ),
        (
            "[mcp.a]\ncommand='x'\nargs=['y', 7777]",
            ["f, line 3: mcp.a.args[1] must be text; the server is not used."],
        ),
        (
            "[mcp.a]\nurl='x'\ntransport='swordfish'",
            ["f, line 3: mcp.a.transport must be streamable-http or sse; the server is not used."],
        ),
        (
            "[mcp.a]\nurl='x'\nheaders={A=7777}",
            ["f, line 3: mcp.a.headers must be a table, each value text; the server is not used."],
        ),
        (
            "[mcp.a]\ncommand='x'\nheaders={A='swordfish'}",
            ["f, line 3: mcp.a.headers has no meaning beside command."],
        ),
        ("[mcp.a]\nurl='x'\nargs=['y']", ["f, line 3: mcp.a.args has no meaning beside url."]),
        ("[mcp.a]\nenabled=false\nurl='x'\ncommand='y'", []),
        ("max_rounds=0", ["f, line 1: max_rounds must be a whole number of at least 1; it is not used."]),
        ("max_rounds=true", ["f, line 1: max_rounds must be a whole number of at least 1; it is not used."]),
        (
            "thinking='swordfish'",
            ["f, line 1: thinking must be off, minimal, low, medium or high; it is not used."],
        ),
        (
            "Thinking='low'",
            ["f, line 1: there is no setting Thinking (did you mean thinking?); it is not used."],
        ),
        ("require_login='yes'", ["f, line 1: require_login must be true or false; it is not used."]),
        ("mode=1979-05-27", ["f, line 1: mode must be text that is not empty; it is not used."]),
        (
            "[ui]\npast_turns='7777'",
            ["f, line 2: ui.past_turns must be a whole number of at least 1; it is not used."],
        ),
        ("[agents.x]\na=1", ["f, line 1: agents is kept for a later release; it is not used."]),
        (
            "[permissions]\ndeny_paths='x'",
            ["f, line 2: permissions.deny_paths must be a list of texts; it is not used."],
        ),
        (
            "[providers.a]\nbase_url='http://x'\nkey_variable='sk-swordfish'",
            [
                "f, line 3: providers.a.key_variable must be the name of an environment variable; the provider is not used."
            ],
        ),
        (
            "[providers.a]\nbase_url='x'",
            [
                "f, line 2: providers.a.base_url must be a whole http or https address; the provider is not used."
            ],
        ),
        (
            "[providers.a]",
            ["f, line 1: providers.a is no known provider, so it needs base_url; the provider is not used."],
        ),
        (
            "[providers.offline]",
            ["f, line 1: providers.offline is embedded and has no settings; the provider is not used."],
        ),
        (
            "[providers.'a/b']\nbase_url='http://x'",
            ['f, line 1: providers."a/b" must have a name without a slash; the provider is not used.'],
        ),
        (
            "[providers.openai]\nkind='openai'",
            ["f, line 2: providers.openai.kind has no meaning for a known provider."],
        ),
        ("[[models]]\nname='x'", ["f, line 1: models[0] needs id; it is not used."]),
        ("[[models]]\nid=''", ["f, line 2: models[0].id must be text that is not empty; it is not used."]),
        (
            "[[models]]\nid='a'\n[[models]]\nid='b'\nprice={input=1}",
            ["f, line 5: models[1].price needs output; the price is not used."],
        ),
        (
            "[[models]]\nid='a'\n[[models.options]]\nid='o'",
            ["f, line 3: models[0].options[0] needs either on and off, or values; the option is not used."],
        ),
        (
            "[[models]]\nid='a'\n[[models.options]]\nid='o'\non={}\ndefault='swordfish'",
            [
                "f, line 6: models[0].options[0].default of a switch must be true or false; the option is not used."
            ],
        ),
        (
            "[[models]]\nid='a'\n[[models.options]]\nid='o'\ndefault='swordfish'\nvalues=[{value='x'}]",
            ["f, line 5: models[0].options[0].default must be one of the values; the option is not used."],
        ),
        (
            "[[models]]\nid='a'\n[[models.options]]\nid='o'\nvalues=[{value='x'},{value='x'}]",
            ["f, line 3: models[0].options[0] has one value twice; the option is not used."],
        ),
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
            assert warning.startswith("f ERROR g, line ") and warning.isprintable() and len(warning) < 600


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
    assert read_config(Settings(config=str(tmp_path / "full"))).warnings == ()


def test_where_the_file_is(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert config_path(Settings(config="/a/b.toml", home="/h")) == Path("/a/b.toml")
    assert config_path(Settings(home="/h")) == Path("/h/config.toml")
    for value in (str(tmp_path), "", " "):
        monkeypatch.setenv("XDG_CONFIG_HOME", value)
        theirs = user_config_path("zidane-acp", appauthor=False) / "config.toml"
        assert config_path(Settings(), os.environ) == theirs
    found = parse((), {"ZIDANE_ACP_CONFIG": "/c.toml"})
    assert isinstance(found, Settings) and config_path(found) == Path("/c.toml")


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    assert read_config(Settings(home=str(tmp_path))) == Config()
    asked = tmp_path / "no.toml"
    assert read_config(Settings(config=str(asked))).warnings == (
        f"There is no config file {asked}; nothing was read.",
    )
    assert "cannot be read: it is no regular file" in read_config(Settings(config=str(tmp_path))).warnings[0]


def test_the_servers_come_into_the_options() -> None:
    options = options_of(Settings(provider="offline"), {}, config_of(WHOLE, "f"))
    assert isinstance(options, StdioOptions)
    assert options.server.mcp_servers == SERVERS and options.server.mcp_within == 5.0


def test_without_a_file_nothing_is_loaded(tmp_path: Path) -> None:
    code = (
        "import sys; from zidane_acp.config import read_config; from zidane_acp.settings import Settings\n"
        f"read_config(Settings(home={str(tmp_path)!r})); read_config(Settings())\n"
        "print(sorted({'tomllib', 'tomlkit', 'platformdirs', 'mcp', 'difflib', 'zidane_acp.config.records'} & sys.modules.keys()))"
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
    assert (
        f"WARNING zidane_acp.config: {file}, line 4: there is no setting mcp.a.color; it is not used." in said
    )
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


# What the rest of the program gets -----------------------------------------------------------------

ALL = b"""
provider = "openai"
default_model = "mine/large"
mode = "plan"
thinking = "high"
max_rounds = 7
require_login = true
mcp_wait = 0
sequential_tools = true
plain_titles = true
allow_private_fetch = true
log_level = "debug"
log_file = "/tmp/log"
max_frame = 2048
[permissions]
policy = "allow-edits"
deny_paths = ["**/.env"]
deny_commands = ["git push"]
read_only_commands = false
trust_read_only = true
[ui]
thoughts = false
past_turns = 3
[providers.mine]
kind = "anthropic"
base_url = "http://127.0.0.1:1"
key_variable = "MY_GATE"
title = "My gateway"
headers = { X-Team = "MY_TEAM" }
[providers.xai]
enabled = false
[providers.anthropic]
base_url = "http://127.0.0.1:2"
[[models]]
id = "large"
provider = "mine"
model = "claude-large"
price = { input = 1, output = 2.5, cached_read = 0.1 }
[[models.options]]
id = "fast"
name = "Fast"
default = true
on = { speed = "fast" }
[[models.options]]
id = "tier"
[[models.options.values]]
value = "a"
name = "A"
description = "the first"
body = { tier = { a = 1 } }
[[models.options.values]]
value = "b"
"""


def test_all_that_a_file_can_say() -> None:
    config = config_of(ALL, "f")
    assert config.warnings == ()
    assert config.settings == {
        "provider": "openai",
        "mode": "plan",
        "thinking": "high",
        "max_rounds": 7,
        "permission": "allow-edits",
        "trust_read_only": True,
        "mcp_wait": 0,
        "sequential_tools": True,
        "plain_titles": True,
        "allow_private_fetch": True,
        "log_level": "debug",
        "log_file": "/tmp/log",
        "max_frame": 2048,
    }
    assert {flag.field for flag in FLAGS if flag.key} == set(config.settings)
    assert config.require_login and not config.read_only_commands and config.default_model == "mine/large"
    assert config.denials == Denials(("**/.env",), ("git push",))
    assert (config.named, config.off) == (("mine", "anthropic"), ("xai",))
    assert config.headers["mine"] == {"X-Team": "MY_TEAM"} and config.hidden == ("MY_GATE", "MY_TEAM")
    mine = config.rows["mine"]
    assert (mine.family, mine.title, mine.configured_url) == ("anthropic", "My gateway", "http://127.0.0.1:1")
    assert (mine.key_variable, mine.key_optional, mine.auth) == ("MY_GATE", False, "x-api-key")
    assert config.rows["anthropic"] == replace(PROVIDERS["anthropic"], configured_url="http://127.0.0.1:2")
    assert config.user is not None and config.user.ui == UiTable(thoughts=False, past_turns=3)


def test_a_models_options_become_those_of_the_core() -> None:
    (model,) = config_of(ALL, "f").models
    assert (model.id, model.provider, model.model) == ("large", "mine", "claude-large")
    assert model.price == Price(input=1, output=2.5, cached_read=0.1)
    assert model.options == (
        ModelOption(
            id="fast",
            name="Fast",
            values=(OptionValue("on", "On", "", '{"speed":"fast"}'), OptionValue("off", "Off")),
            default="on",
            switch=True,
        ),
        ModelOption(
            id="tier",
            name="tier",
            values=(OptionValue("a", "A", "the first", '{"tier":{"a":1}}'), OptionValue("b", "b")),
            default="a",
        ),
    )


@pytest.mark.parametrize("name", ["api_key", "API_KEY", "key", "token", "secret"])
def test_a_key_in_the_file_is_refused_with_the_way_to_do_it(name: str) -> None:
    config = config_of(f"[providers.anthropic]\n{name} = 'sk-ant-swordfish'\n".encode(), "f")
    (warning,) = config.warnings
    assert warning.startswith(f"f, line 2: providers.anthropic.{name} does not belong here")
    assert "`zidane-acp login anthropic`" in warning and "key_variable" in warning
    assert "swordfish" not in repr(config) and config.named == ()


def test_a_server_is_never_started_with_some_of_its_arguments() -> None:
    config = config_of(b"[mcp.a]\ncommand = 'rm'\nargs = [7, '/']\n[mcp.b]\ncommand = 'b'\n", "f")
    assert [server.name for server in config.mcp_servers] == ["b"]


def test_one_bad_value_leaves_out_the_whole_of_a_provider_and_only_the_field_of_a_model() -> None:
    config = config_of(
        b"[providers.openai]\nbase_url = 3\n[[models]]\nid = 'x'\nimages = 3\nname = 'X'\n", "f"
    )
    assert config.named == () and config.rows["openai"] == PROVIDERS["openai"]
    (model,) = config.models
    assert (model.id, model.name, model.images) == ("x", "X", None)
    assert len(config.warnings) == 2
