"""Foreign clients against the installed zidane-acp: the TypeScript SDK and acpx (scripts/outside)."""

import argparse
import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT / "scripts" / "node.d"), str(ROOT / "tests")]

from node_packages import ACPX, NODE_22, TYPESCRIPT_SDK, NodeMissing, install, node, place  # noqa: E402  # paths first
from outside.schema_check import problems, read_log  # noqa: E402

PATIENCE: Final = 120.0
TEE: Final = ROOT / "tests" / "outside" / "tee.py"
WRITE: Final = {"tool": "write_file", "args": {"path": "hello.txt", "content": "hi\n"}}
REFUSED: Final = {"tool": "write_file", "args": {"path": "no.txt", "content": "no\n"}}
ENDLESS: Final = {"text": "tick ", "repeat": 100_000, "delay_ms": 1}


class Failed(Exception):
    """A client did not get what it has to; the message says what."""


class Stage:
    """One run: a work folder, a replay script, and the command of the agent with a tee in front."""

    def __init__(self, folder: Path, turns: list[dict[str, Any]]) -> None:
        self.work, self.log, self.home = folder / "work", folder / "frames.log", folder / "home"
        self.work.mkdir()
        self.home.mkdir()
        script = folder / "script.json"
        script.write_text(json.dumps({"turns": turns}), encoding="utf-8")
        program = shutil.which("zidane-acp", path=str(Path(sys.executable).parent))
        if program is None:
            raise Failed("zidane-acp is not installed beside this Python; run scripts/test once.")
        agent = [program, "--provider", "replay", "--script", str(script)]
        self.command = [sys.executable, str(TEE), str(self.log), "--", *agent]

    def environment(self, *path: str) -> Mapping[str, str]:
        state = {"ZIDANE_ACP_HOME": str(self.home), "HOME": str(self.home)}
        return {**os.environ, **state, "PATH": os.pathsep.join((*path, os.environ.get("PATH", "")))}

    def check(self) -> None:
        """Every frame against the schema, or what is wrong with the first ones."""
        frames = read_log(self.log)
        wrong = problems(frames)
        if not frames or wrong:
            raise Failed("\n".join(wrong[:10]) or "no frame was seen")
        print(f"ok: {len(frames)} frames, all valid")


def typescript(folder: Path) -> None:
    """The client of typescript_client.mjs."""
    install(TYPESCRIPT_SDK)
    stage = Stage(
        folder,
        [
            {"text": "I write it. ", **WRITE},
            {"text": "It is written."},
            REFUSED,
            {"text": "Not written."},
            ENDLESS,
            {"text": "Still here."},
        ],
    )
    client = place(ROOT / "scripts" / "outside.d" / "typescript_client.mjs")
    command = [node(20), str(client), str(stage.work), *stage.command]
    done = subprocess.run(command, env=dict(stage.environment()), timeout=PATIENCE, check=False)
    if done.returncode != 0:
        raise Failed("the TypeScript client was not content")
    stage.check()


def acpx(folder: Path) -> None:
    """acpx: one turn that is allowed, one that is refused, and one that is interrupted."""
    on_linux_x64 = sys.platform == "linux" and os.uname().machine == "x86_64"
    where = install(ACPX, *((NODE_22,) if on_linux_x64 else ()))
    node_22 = node(22)
    program = [node_22, str(where / "node_modules" / "acpx" / "dist" / "cli.js")]

    def turn(name: str, turns: list[dict[str, Any]], *flags: str) -> tuple[Stage, "subprocess.Popen[str]"]:
        part = folder / name
        part.mkdir()
        stage = Stage(part, turns)
        agent = ["--agent", shlex.join(stage.command), "--cwd", str(stage.work), *flags]
        command = [*program, *agent, "exec", f"please {name} it"]
        print(f"$ acpx --agent ... {' '.join(flags)} exec 'please {name} it'", flush=True)
        process = subprocess.Popen(
            command,
            env=dict(stage.environment(str(Path(node_22).parent))),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            cwd=stage.work,
        )
        return stage, process

    def output(process: "subprocess.Popen[str]") -> str:
        try:
            said, _ = process.communicate(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            process.kill()
            raise Failed(f"acpx did not end within {PATIENCE:g} s") from None
        print(said.rstrip(), flush=True)
        return said

    stage, process = turn("allow", [WRITE, {"text": "It is written."}], "--approve-all")
    said = output(process)
    if process.returncode != 0 or "It is written." not in said:
        raise Failed(f"acpx ended with {process.returncode} and did not show the answer")
    if not (stage.work / "hello.txt").exists():
        raise Failed("hello.txt was not written")
    stage.check()

    stage, process = turn("refuse", [REFUSED, {"text": "Not written."}], "--deny-all")
    output(process)  # acpx ends with a code of its own when all was denied
    if (stage.work / "no.txt").exists():
        raise Failed("no.txt was written although it was refused")
    if stop_reason(stage) != "end_turn":
        raise Failed(f"the refused turn ended with {stop_reason(stage)}")
    stage.check()

    stage, process = turn("interrupt", [ENDLESS], "--approve-all")
    wait_for(lambda: stage.log.exists() and "tick" in stage.log.read_text(encoding="utf-8"), "the first text")
    process.send_signal(signal.SIGINT)
    output(process)
    sent = [json.loads(frame.line).get("method") for frame in read_log(stage.log) if frame.direction == "in"]
    if "session/cancel" not in sent:
        raise Failed("acpx sent no session/cancel when it was interrupted")
    if stop_reason(stage) != "cancelled":
        raise Failed(f"the interrupted turn ended with {stop_reason(stage)}")
    stage.check()


def stop_reason(stage: Stage) -> str | None:
    """The stop reason of the last turn in the log."""
    answers = [json.loads(frame.line) for frame in read_log(stage.log) if '"stopReason"' in frame.line]
    return answers[-1]["result"]["stopReason"] if answers else None


def wait_for(happened: Callable[[], bool], what: str) -> None:
    """Looks every 20 ms: another process writes the log, there is nothing to wait on."""
    deadline = time.monotonic() + PATIENCE
    while not happened():
        if time.monotonic() > deadline:
            raise Failed(f"{what} did not come within {PATIENCE:g} s")
        time.sleep(0.02)


CLIENTS: Final[dict[str, Callable[[Path], None]]] = {"typescript": typescript, "acpx": acpx}


def main() -> int:
    parser = argparse.ArgumentParser(prog="scripts/outside", description=__doc__)
    parser.add_argument("clients", nargs="*", metavar="CLIENT", help=f"{' or '.join(CLIENTS)}; default: both")
    chosen = parser.parse_args().clients or list(CLIENTS)
    unknown = [name for name in chosen if name not in CLIENTS]
    if unknown:
        parser.error(f"unknown client {unknown[0]}; there are {', '.join(CLIENTS)}")
    failures = 0
    for name in chosen:
        print(f"== {name}", flush=True)
        with tempfile.TemporaryDirectory(prefix="zidane-outside-") as folder:
            try:
                CLIENTS[name](Path(folder))
            except (Failed, NodeMissing) as problem:
                failures += 1
                print(f"FAILED: {problem}", flush=True)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
