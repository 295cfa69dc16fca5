"""The environment of the login shell: when it is asked for, how it is joined, and that it never holds anything up."""

import os
import stat
import sys
from collections.abc import Mapping
from pathlib import Path

import anyio
import pytest
from support.process import alive

from zidane_acp.environment import is_bare, joined, shell_of
from zidane_acp.login_shell import LoginShell

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="there is no login shell")


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.mark.parametrize(
    ("env", "platform", "bare"),
    [
        ({"PATH": "/usr/bin:/bin"}, "linux", True),
        ({"PATH": "/usr/bin:/bin:/usr/sbin:/sbin"}, "darwin", True),
        ({"PATH": "/usr/local/bin/:/usr/bin"}, "linux", True),
        ({}, "darwin", True),
        ({"PATH": "/usr/bin:/bin", "TERM": "dumb"}, "darwin", True),
        ({"PATH": "/usr/bin:/bin", "TERM": "xterm-256color"}, "linux", False),
        ({"PATH": "/usr/bin:/home/me/.local/bin"}, "linux", False),
        ({"PATH": "/opt/homebrew/bin:/usr/bin:/bin"}, "darwin", False),
        ({"PATH": "/usr/bin:/bin"}, "win32", False),
    ],
)
def test_when_an_environment_is_bare(env: Mapping[str, str], platform: str, bare: bool) -> None:
    assert is_bare(env, platform) is bare


@pytest.mark.parametrize(
    ("env", "asked", "result"),
    [
        ({"PATH": "/bin"}, {"PATH": "/opt/bin:/bin:/x"}, {"PATH": "/bin:/opt/bin:/x"}),
        ({}, {"PATH": "/opt/bin"}, {"PATH": "/opt/bin"}),
        ({"PATH": "/bin", "A": "mine"}, {"A": "theirs", "B": "b"}, {"PATH": "/bin", "A": "mine", "B": "b"}),
        ({"PATH": "/bin", "A": ""}, {"A": "theirs"}, {"PATH": "/bin", "A": ""}),
        (
            {"PATH": "/bin", "HOME": "/me"},
            {"HOME": "/you", "PWD": "/", "OLDPWD": "/", "SHLVL": "2", "_": "x", "TERM": "dumb"},
            {"PATH": "/bin", "HOME": "/me"},
        ),
        ({"PATH": "/bin"}, {"HOME": "/you", "BASH_FUNC_f%%": "() { :; }"}, {"PATH": "/bin"}),
        ({"PATH": "bin:/bin:"}, {"PATH": "relative:/x"}, {"PATH": "bin:/bin::/x"}),
    ],
)
def test_nothing_that_is_there_is_replaced(
    env: Mapping[str, str], asked: Mapping[str, str], result: Mapping[str, str]
) -> None:
    assert joined(env, asked) == result


def script(folder: Path, text: str, name: str = "bash") -> str:
    """A program with the name of a shell."""
    path = folder / name
    path.write_text(f"#!/bin/sh\n{text}\n", "utf-8")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return str(path)


def test_only_a_known_shell_is_asked(tmp_path: Path) -> None:
    known, unknown = script(tmp_path, "", "zsh"), script(tmp_path, "", "nologin")
    assert shell_of({"SHELL": known}) == known
    assert shell_of({"SHELL": unknown}) != unknown
    assert shell_of({"SHELL": str(tmp_path / "missing" / "bash")}) != str(tmp_path / "missing" / "bash")
    assert shell_of({"SHELL": "zsh"}) != "zsh"


def bare(home: Path, shell: str = "/bin/sh", **more: str) -> dict[str, str]:
    return {"PATH": "/usr/bin:/bin", "HOME": str(home), "SHELL": shell, **more}


@pytest.mark.anyio
async def test_a_real_shell_tells_what_its_profile_sets(tmp_path: Path) -> None:
    (tmp_path / ".profile").write_text(
        "echo noise\nexport PATH=$PATH:/opt/mine/bin WORD='two words\nand lines' PATH_OF_MINE=/x\n", "utf-8"
    )
    env = bare(tmp_path, KEPT="as it is", HIDDEN_KEY="secret")
    shell = LoginShell(env, hidden=("HIDDEN_KEY",))
    await shell.ask()
    found = await shell.environment()
    assert found["PATH"].startswith("/usr/bin:/bin") and found["PATH"].endswith(":/opt/mine/bin")
    assert (found["WORD"], found["KEPT"], found["HOME"]) == (
        "two words\nand lines",
        "as it is",
        str(tmp_path),
    )
    assert "HIDDEN_KEY" not in shell.told and found["HIDDEN_KEY"] == "secret"


@pytest.mark.anyio
async def test_a_shell_is_not_asked_where_the_environment_is_not_bare(tmp_path: Path) -> None:
    asked = tmp_path / "asked"
    env = bare(tmp_path, script(tmp_path, f"touch {asked}"), TERM="xterm")
    shell = LoginShell(env)
    await shell.ask()
    assert await shell.environment() is env
    assert not asked.exists()


@pytest.mark.anyio
@pytest.mark.parametrize("text", ["exit 3", "echo no marks", "kill -9 $$", "yes | head -c 3000000"])
async def test_a_shell_that_tells_nothing_leaves_all_as_it_is(text: str, tmp_path: Path) -> None:
    env = bare(tmp_path, script(tmp_path, text))
    shell = LoginShell(env)
    await shell.ask()
    assert await shell.environment() is env


@pytest.mark.anyio
async def test_a_shell_that_hangs_is_ended_with_all_of_its_group(tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    hanging = script(tmp_path, f"sleep 1000 &\necho $$ $! > {pids}\nwait")
    shell = LoginShell(bare(tmp_path, hanging), limit=0.3)
    with anyio.fail_after(5):
        await shell.ask()
    numbers = [int(word) for word in pids.read_text("utf-8").split()]
    assert len(numbers) == 2
    with anyio.fail_after(5):
        while any(alive(number) for number in numbers):
            await anyio.lowlevel.checkpoint()


@pytest.mark.anyio
async def test_who_needs_the_environment_waits_for_the_shell_but_not_beyond_its_limit(tmp_path: Path) -> None:
    env = bare(tmp_path)
    (tmp_path / ".profile").write_text("export WORD=told\n", "utf-8")
    shell = LoginShell(env, limit=20)
    found: list[Mapping[str, str]] = []

    async def wait() -> None:
        found.append(await shell.environment())

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(wait)
        await anyio.wait_all_tasks_blocked()
        assert not found
        await shell.ask()
    assert found[0]["WORD"] == "told"
    never_asked = LoginShell(env, limit=0.05)
    with anyio.fail_after(5):
        assert await never_asked.environment() is env


@pytest.mark.anyio
async def test_it_is_asked_once(tmp_path: Path) -> None:
    count = tmp_path / "count"
    shell = LoginShell(bare(tmp_path, script(tmp_path, f"echo x >> {count}")))
    await shell.ask()
    await shell.ask()
    assert count.read_text("utf-8") == "x\n"


@pytest.mark.anyio
async def test_a_cancelled_question_leaves_no_process(tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    os.mkfifo(pids)
    shell = LoginShell(bare(tmp_path, script(tmp_path, f"echo $$ > {pids}\nsleep 1000")), limit=60)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(shell.ask)
        number = int(await anyio.to_thread.run_sync(lambda: pids.read_text("utf-8")))
        tasks.cancel_scope.cancel()
    assert not alive(number)
