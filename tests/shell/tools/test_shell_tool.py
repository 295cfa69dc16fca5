"""`shell`: output as it comes, and an end that leaves nothing behind."""

import os
import sys
from collections.abc import Callable
from typing import Any

import anyio
import anyio.lowlevel
import pytest
from hypothesis import given
from hypothesis import strategies as st

from zidane_acp.tools import shell as shell_module
from zidane_acp.tools.collected import Collected
from zidane_acp.tools.local import LocalTools
from zidane_core.data.tools import ToolResult
from zidane_core.models.providers import HIDDEN_VARIABLES, PROVIDERS

pytestmark = pytest.mark.anyio
Space = Any


def raw(
    code: int | None, name: str | None = None, late: bool = False, truncated: bool = False
) -> dict[str, object]:
    return {"exitCode": code, "signal": name, "timedOut": late, "truncated": truncated}


def alive(pid: int) -> bool:
    """Whether a process runs; a dead one that nobody has reaped yet does not."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return file.read().rpartition(b")")[2].split()[0] not in (b"Z", b"X")
    except OSError:
        return False


async def until(holds: Callable[[], bool]) -> None:
    with anyio.fail_after(15):
        while not holds():  # noqa: ASYNC110  the file system and other processes have no events
            await anyio.sleep(0.01)


@pytest.mark.parametrize(
    ("command", "text", "expected"),
    [
        ("echo hi", "hi\n", raw(0)),
        ("true", "[The command gave no output.]", raw(0)),
        ("echo out; echo err >&2; exit 3", "out\nerr\n[Exit code 3.]", raw(3)),
        ("printf x; exit 1", "x\n[Exit code 1.]", raw(1)),
        ("kill -9 $$", "[The command was ended by SIGKILL.]", raw(None, "SIGKILL")),
        ("printf 'a\\377b\\303'", "a\ufffdb\ufffd", raw(0)),
        ("cat; echo end", "end\n", raw(0)),
        ("test -t 0 || test -t 1 || echo none", "none\n", raw(0)),
        ("exec >&- 2>&-; exit 4", "[Exit code 4.]", raw(4)),
        ("nonexistent-command 2>/dev/null", "[Exit code 127.]", raw(127)),
    ],
)
async def test_results(space: Space, command: str, text: str, expected: dict[str, object]) -> None:
    result = await space.run("shell", command=command)
    assert result.content[0].text == text
    assert result.raw == expected
    assert result.failed == (expected["exitCode"] != 0)
    shown = "".join(space.reported)
    assert shown == (
        "" if text.startswith("[") else text.partition("[")[0].removesuffix("\n" if "x\n[" in text else "")
    )


async def test_runs_in_its_folder(space: Space) -> None:
    (space.root / "sub").mkdir()
    assert await space.text("shell", command="pwd", cwd="sub") == f"{space.root}/sub\n"
    assert "does not exist" in await space.refusal("shell", command="pwd", cwd="none")
    preview = await space.prepare("shell", command="cat x", cwd="sub")
    assert [path.real for path in preview.paths] == [f"{space.root}/sub"]


async def test_paths_of_a_command_are_resolved_in_its_folder(space: Space) -> None:
    import msgspec

    (space.root / "sub").mkdir()
    (space.root / "sub" / "up").symlink_to("../..")
    call = space.call("shell", {"command": "cat x up/y", "cwd": "sub"}, "prepare")
    preview = await space.tools.run(
        msgspec.structs.replace(call, paths=("x", "up/y", f"{space.root}/sub/up/../x")), lambda _: None
    )
    assert [path.inside for path in preview.paths] == [True, True, False, False]


async def test_output_comes_while_the_command_runs(space: Space) -> None:
    """The command waits for a file that appears only when its first output was reported."""
    space.on_report = lambda text: (space.root / "go").touch()
    assert await space.text(
        "shell", command="echo first; while ! test -e go; do :; done; echo second", timeout=20
    )
    assert "".join(space.reported) == "first\nsecond\n"
    assert len(space.reported) == 2


async def test_a_character_in_two_pieces_is_one(space: Space) -> None:
    space.on_report = lambda text: (space.root / "go").touch()
    command = "printf 'a\\303'; while ! test -e go; do :; done; printf '\\251'"
    assert await space.text("shell", command=command, timeout=20) == "aé"
    assert space.reported == ["a", "é"]


async def test_keys_are_not_inherited(space: Space, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET_API_KEY", "hush")
    monkeypatch.setenv("OTHER", "seen")
    text = await space.text("shell", command='echo "${SECRET_API_KEY-unset} $OTHER $ZIDANE_ACP_CALL"')
    assert text.startswith("unset seen ")
    assert len(text.split()) == 3


async def test_a_host_gives_the_environment_and_a_command_is_judged_by_it(space: Space) -> None:
    (space.root / "bin").mkdir()
    (space.root / "bin" / "ls").write_text("#!/bin/sh\necho mine\n", "utf-8")
    (space.root / "bin" / "ls").chmod(0o755)
    given = {"PATH": f"{space.root}/bin:/usr/bin:/bin", "SECRET_API_KEY": "hush", "WORD": "told"}

    async def told() -> dict[str, str]:
        return given

    space.tools = LocalTools(hidden_variables=("SECRET_API_KEY",), environment=told)
    assert await space.text("shell", command="echo $WORD${SECRET_API_KEY-}; ls") == "told\nmine\n"
    # The program that the name stands for lies where the model may have put it.
    assert not (await space.prepare("shell", command="ls")).harmless
    refused = await space.run("shell", granted=False, command="ls")
    assert refused.failed and "has changed" in refused.content[0].text  # type: ignore[union-attr]
    given["PATH"] = "/usr/bin:/bin"
    assert (await space.prepare("shell", command="ls")).harmless


async def test_no_key_of_a_model_provider_is_inherited(space: Space, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also those of providers that this program does not know."""
    known = {row.key_variable for row in PROVIDERS.values() if row.key_variable}
    others = {"ANTHROPIC_AUTH_TOKEN", "GEMINI_API_KEY", "GOOGLE_API_KEY", "AZURE_OPENAI_API_KEY", "HF_TOKEN"}
    for name in known | others:
        monkeypatch.setenv(name, "hush")
    monkeypatch.setenv("GITHUB_TOKEN", "seen")
    tools = LocalTools(hidden_variables=HIDDEN_VARIABLES)
    result = await tools.run(space.call("shell", {"command": "env"}), lambda _: None)
    await tools.aclose()
    assert isinstance(result, ToolResult)
    assert "hush" not in result.content[0].text  # type: ignore[union-attr]
    assert "GITHUB_TOKEN=seen" in result.content[0].text  # type: ignore[union-attr]


async def test_long_output_is_bounded(space: Space, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shell_module, "SHOWN_ROOM", 100_000)
    result = await space.run("shell", command="seq 1 200000")
    text = result.content[0].text
    assert text.startswith("1\n2\n")
    assert text.endswith("\n199999\n200000\n")
    assert "left out here]" in text
    assert len(text) < shell_module.ROOM + 200
    assert result.raw["truncated"]
    shown = "".join(space.reported)
    assert shown.endswith("[The output goes on and is not shown further.]\n")
    assert len(shown) < 300_000


async def test_timeout(space: Space) -> None:
    result = await space.run("shell", command="echo begun; sleep 1000 & echo $!; wait", timeout=0.5)
    lines = result.content[0].text.split("\n")
    assert lines[0] == "begun"
    assert lines[2].startswith("[The command was ended after 0.5 s.")
    assert result.failed
    assert result.raw["timedOut"]
    await until(lambda: not alive(int(lines[1])))


async def test_endless_output_does_not_hold_the_loop(space: Space) -> None:
    with anyio.fail_after(20):
        result = await space.run("shell", command="yes", timeout=0.3)
    assert result.raw["timedOut"]


async def test_a_pipe_that_is_never_empty_leaves_room_for_others(space: Space) -> None:
    others_ran = False
    reads = 0

    class Output:
        full = False

        def add(self, _: bytes) -> None:
            nonlocal reads
            reads += 1
            assert others_ran or reads < 1000, "reading holds the event loop"

    class Running:
        async def wait(self) -> None:
            await anyio.sleep_forever()

    async with anyio.create_task_group() as tasks:
        zero = os.open("/dev/zero", os.O_RDONLY)
        tasks.start_soon(shell_module._attend, Running(), zero, Output())
        for _ in range(5):
            await anyio.lowlevel.checkpoint()
        others_ran = True
        tasks.cancel_scope.cancel()
    os.close(zero)


async def test_output_that_is_not_kept_is_read_with_pauses(
    space: Space, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What never stops writing is held up, so that no core is busy; what ends comes to its end all the same."""
    pauses = 0

    async def counted(seconds: float) -> None:
        nonlocal pauses
        assert seconds == shell_module.PAUSE
        pauses += 1
        await anyio.lowlevel.checkpoint()

    monkeypatch.setattr(shell_module, "pause", counted)
    monkeypatch.setattr(shell_module, "SHOWN_ROOM", 100_000)
    size = 20_000_000
    result = await space.run("shell", command=f"head -c {size} /dev/zero | tr '\\0' x; echo end")
    assert result.content[0].text.endswith("x" * 1000 + "end\n")
    reads = (size - shell_module.SHOWN_ROOM) / shell_module._WIDE
    assert pauses >= reads, "a read without a pause, or of more than was agreed"
    pauses = 0
    await space.run("shell", command="seq 1 1000")
    assert pauses == 0


LEAVERS = {
    "child": "sleep 1000 & echo $! >> pids; wait",
    "ignores SIGTERM": "trap '' TERM; sleep 1000 & echo $! >> pids; echo $$ >> pids; wait; wait",
    "own session": "setsid sh -c 'echo $$ >> pids; exec sleep 1000' & wait",
    "own session, deaf": "setsid sh -c \"trap '' TERM; echo \\$\\$ >> pids; while :; do sleep 1; done\" & wait",
    "daemon": f"{sys.executable} daemon.py; sleep 1000",
    "stopped": "sleep 1000 & echo $! >> pids; kill -STOP $!; wait",
    "cleaned environment": "env -i setsid sh -c 'echo $$ >> pids; exec sleep 1000' & wait",
}
DAEMON = """
import os, signal, time
if os.fork():
    os._exit(0)
os.setsid()
if os.fork():
    os._exit(0)
signal.signal(signal.SIGTERM, signal.SIG_IGN)
null = os.open(os.devnull, os.O_RDWR)
for number in (0, 1, 2):
    os.dup2(null, number)
with open("pids", "a") as file:
    file.write(f"{os.getpid()}\\n")
time.sleep(1000)
"""


@pytest.mark.skipif(not os.path.exists("/proc/self/stat"), reason="looks at processes through /proc")
@pytest.mark.parametrize("how", LEAVERS)
async def test_cancel_ends_the_whole_family(space: Space, how: str) -> None:
    (space.root / "daemon.py").write_text(DAEMON)
    pids = space.root / "pids"
    expected = 2 if how == "ignores SIGTERM" else 1

    def written() -> list[int]:
        return [int(pid) for pid in pids.read_text().split()] if pids.exists() else []

    ended = False

    async def run() -> None:
        nonlocal ended
        try:
            await space.run("shell", command=LEAVERS[how])
        except anyio.get_cancelled_exc_class():
            # All are gone before the cancellation comes back out of the call.
            ended = not any(map(alive, written()))
            raise

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(run)
        await until(lambda: len(written()) == expected and all(map(alive, written())))
        tasks.cancel_scope.cancel()
    assert ended


@pytest.mark.skipif(not os.path.exists("/proc/self/stat"), reason="looks at processes through /proc")
async def test_something_in_the_background_holds_nothing_up(space: Space) -> None:
    """It keeps the pipe, and writes to it later without harm; only closing the tools ends it."""
    command = (
        "sh -c 'while ! test -e go; do sleep 0.01; done; "
        "i=0; while test $i -lt 3000; do echo 0123456789012345678901234567890123456789; i=$((i+1)); done; "
        "echo $? > wrote; exec sleep 1000' & echo $!"
    )
    with anyio.fail_after(20):
        text = await space.text("shell", command=command)
    pid = int(text)
    assert alive(pid)
    (space.root / "go").touch()
    await until((space.root / "wrote").exists)  # more than a pipe holds: someone reads on
    assert alive(pid)
    await space.tools.aclose()
    assert not alive(pid)


@pytest.mark.skipif(not os.path.exists("/proc/self/fd"), reason="counts open files through /proc")
async def test_no_descriptor_stays_open(space: Space) -> None:
    await space.run("shell", command="true")
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(3):
        await space.run("shell", command="echo x; exit 1")
        await space.run("shell", command="sleep 1000", timeout=0.1)
    assert len(os.listdir("/proc/self/fd")) <= before  # a reader of an earlier test may have closed its own


async def test_what_no_program_can_be_given(space: Space) -> None:
    assert "cannot be passed" in await space.refusal("shell", command="echo a\0b")
    assert "cannot be passed" in await space.refusal("shell", command="echo \ud800")


@given(st.lists(st.text(st.sampled_from("aé€😀\n"), max_size=6), max_size=12), st.integers(2, 30))
def test_collected_is_exact_within_its_room(pieces: list[str], room: int) -> None:
    collected = Collected(room)
    for piece in pieces:
        collected.add(piece.encode())
    text = "".join(pieces)
    shown = collected.text()
    assert "\ufffd" not in shown, "cut inside a character"
    if len(text.encode()) <= room // 2 * 2:
        assert shown == text
        assert not collected.truncated
        return
    if not collected.truncated:
        return
    head, _, rest = shown.partition("\n[")
    note, _, tail = rest.partition(" left out here]\n")
    assert text.startswith(head)
    assert text.endswith(tail)
    assert int(note.split(" ")[0].replace(",", "")) == len(text.encode()) - len(head.encode()) - len(
        tail.encode()
    )
    assert len(head.encode()) <= room // 2
    assert len(tail.encode()) <= room // 2
