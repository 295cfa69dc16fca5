"""acpx against the installed program: single turns, and named sessions over many of its processes."""

import json
import os
import shlex
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final

from node_packages import ACPX, NODE_22, install, node
from sse_server import SseServer
from stage import PATIENCE, Failed, Stage, answers, before_answer, program, sent, wait_for
from with_typescript import ENDLESS, REFUSED, WRITE

NO_SESSION: Final = 4  # the exit code of acpx where a name has no open session
NOTED: Final = (
    b'data: {"choices":[{"index":0,"delta":{"content":"Noted."},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n'
)


class Acpx:
    """acpx with one agent, in one stage."""

    def __init__(self, stage: Stage, agent: list[str], *flags: str) -> None:
        on_linux_x64 = sys.platform == "linux" and os.uname().machine == "x86_64"
        where = install(ACPX, *((NODE_22,) if on_linux_x64 else ()))
        program = [node(22), str(where / "node_modules" / "acpx" / "dist" / "cli.js")]
        self._stage, self._node = stage, node(22)
        self._command = [*program, "--agent", shlex.join(agent), "--cwd", str(stage.work), *flags]

    def start(self, *words: str) -> "subprocess.Popen[str]":
        print(f"$ acpx {shlex.join(words)}", flush=True)
        return subprocess.Popen(
            [*self._command, *words],
            env=self._stage.environment(str(Path(self._node).parent)),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            cwd=self._stage.work,
        )

    def run(self, *words: str, code: int = 0) -> str:
        """All that a command says; it must end with this code."""
        process = self.start(*words)
        said = output(process)
        if process.returncode != code:
            raise Failed(f"acpx ended with {process.returncode} instead of {code}")
        return said


def output(process: "subprocess.Popen[str]") -> str:
    try:
        said, _ = process.communicate(timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        process.kill()
        raise Failed(f"acpx did not end within {PATIENCE:g} s") from None
    print(said.rstrip(), flush=True)
    return said


def acpx(folder: Path) -> None:
    """acpx: one turn that is allowed, one that is refused, and one that is interrupted."""
    with turn(folder, "allow", [WRITE, {"text": "It is written."}], "--approve-all") as (stage, process):
        said = output(process)
        if process.returncode != 0 or "It is written." not in said:
            raise Failed(f"acpx ended with {process.returncode} and did not show the answer")
        if not (stage.work / "hello.txt").exists():
            raise Failed("hello.txt was not written")

    with turn(folder, "refuse", [REFUSED, {"text": "Not written."}], "--deny-all") as (stage, process):
        output(process)  # acpx ends with a code of its own when all was denied
        if (stage.work / "no.txt").exists():
            raise Failed("no.txt was written although it was refused")
        if stop_reason(stage) != "end_turn":
            raise Failed(f"the refused turn ended with {stop_reason(stage)}")

    with turn(folder, "interrupt", [ENDLESS], "--approve-all") as (stage, process):
        wait_for(
            lambda: any("tick" in log.read_text("utf-8") for log in stage.log.iterdir()), "the first text"
        )
        process.send_signal(signal.SIGINT)
        output(process)
        if "session/cancel" not in sent(stage.connections()[0]):
            raise Failed("acpx sent no session/cancel when it was interrupted")
        if stop_reason(stage) != "cancelled":
            raise Failed(f"the interrupted turn ended with {stop_reason(stage)}")


@contextmanager
def turn(
    folder: Path, name: str, turns: list[dict[str, Any]], flag: str
) -> Iterator[tuple[Stage, "subprocess.Popen[str]"]]:
    """One turn in a session that acpx forgets afterwards, just started; its frames are checked at the end."""
    stage = Stage(folder / name)
    with stage.nothing_left():
        process = Acpx(stage, stage.replaying(*turns), flag).start("exec", f"please {name} it")
        try:
            yield stage, process
        finally:
            process.kill()  # does nothing when it has ended
    stage.check()


def stop_reason(stage: Stage) -> str | None:
    """The stop reason of the last turn."""
    [frames] = stage.connections()
    reasons: list[str] = [answer["result"]["stopReason"] for answer in answers(frames, "session/prompt")]
    return reasons[-1] if reasons else None


def acpx_sessions(folder: Path) -> None:
    """A named session of acpx over several of its processes, several agents, a close, and a resume."""
    stage = Stage(folder)
    with SseServer(NOTED) as model:
        flags = [
            "--provider",
            "openai-compatible",
            "--base-url",
            model.base_url,
            "--model",
            "m",
            "--plain-titles",
        ]
        owners = Owners(stage)
        try:
            with stage.nothing_left(owners.processes):
                converse(stage, Acpx(stage, stage.agent(*flags)), owners)
        finally:
            owners.tidy()
        asked = [json.dumps(body) for body in model.asked]
    prompts = ["the word is heron", "and the colour is grey", "say both", "say them again"]
    for number, body in enumerate(asked):
        missing = [prompt for prompt in prompts[: number + 1] if prompt not in body]
        if missing:
            raise Failed(f"the model request {number + 1} does not know {missing}")
    if len(asked) != len(prompts) or "Noted." not in asked[1]:
        raise Failed(f"the model was asked {len(asked)} times, or not told its own answer")
    print("ok: every model request had all the prompts before it", flush=True)
    exported = subprocess.run(
        [program(), "sessions", "export", "last"],
        env=stage.environment(),
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=True,
    ).stdout
    places = [exported.find(prompt) for prompt in prompts]
    if places != sorted(places) or -1 in places:
        raise Failed("the stored session does not have the prompts in their order")
    for frames in stage.connections():
        if "session/resume" in sent(frames) and (shown := before_answer(frames, "session/resume")):
            raise Failed(f"session/resume showed something before its answer: {shown}")
    stage.check()


class Owners:
    """The processes that acpx leaves in the background to keep an agent ("queue owners"), known by their locks."""

    def __init__(self, stage: Stage) -> None:
        self._queues = stage.home / ".acpx" / "queues"
        self._seen: dict[int, Path] = {}  # process id -> its socket

    def look(self) -> int:
        """How many there are now."""
        locks = list(self._queues.glob("*.lock"))
        for lock in locks:
            with suppress(FileNotFoundError):  # ended meanwhile
                told = json.loads(lock.read_text("utf-8"))
                self._seen[told["pid"]] = Path(told["socketPath"])
        return len(locks)

    def processes(self) -> set[int]:
        """All that were ever seen."""
        self.look()
        return set(self._seen)

    def tidy(self) -> None:
        """acpx makes a folder for its sockets outside of its home, and leaves it."""
        for socket in self._seen.values():
            with suppress(OSError):
                socket.parent.rmdir()


def converse(stage: Stage, client: Acpx, owners: Owners) -> None:
    def agents() -> list[list[str]]:
        return [sent(frames) for frames in stage.connections()]

    def gone() -> bool:
        return owners.look() == 0

    # The agent that prompts is another one than that of the new session, and finds it although nothing was said.
    made = client.run("sessions", "new", "--name", "talk")
    client.run("--ttl", "1", "prompt", "-s", "talk", "the word is heron")
    expect(agents()[-1], ["initialize", "session/resume", "session/prompt"])
    wait_for(gone, "the end of the idle owner")

    # The next owner starts another agent; the one after that keeps it.
    client.run("prompt", "-s", "talk", "and the colour is grey")
    expect(agents()[-1], ["initialize", "session/resume", "session/prompt"])
    before = len(agents())
    client.run("prompt", "-s", "talk", "say both")
    expect(agents()[-1], ["initialize", "session/resume", "session/prompt", "session/prompt"])
    if len(agents()) != before:
        raise Failed("the agent that was kept was not used")

    listed = client.run("sessions", "list")
    expect(agents()[-1], ["initialize", "session/list"])
    session = listed.split()[0]
    if session not in made:
        raise Failed("the session that is listed is another one than that which was made")
    if "the word is heron" not in listed:
        raise Failed("the list does not show the title")
    client.run("sessions", "close", "talk")
    expect(agents()[before - 1][-1:], ["session/close"])
    wait_for(gone, "the end of the owner after the close")

    # A closed session is found no more by its name; by its id it goes on.
    client.run("prompt", "-s", "talk", "nobody hears", code=NO_SESSION)
    client.run("sessions", "new", "--name", "talk", "--resume-session", session)
    client.run("prompt", "-s", "talk", "say them again")
    expect(agents()[-1], ["initialize", "session/resume", "session/prompt"])
    client.run("sessions", "close", "talk")
    for methods in agents():
        print(f"-- an agent was sent: {', '.join(methods)}", flush=True)


def expect(methods: list[str], wanted: list[str]) -> None:
    if methods != wanted:
        raise Failed(f"acpx sent {', '.join(methods)} instead of {', '.join(wanted)}")
