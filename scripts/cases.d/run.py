"""Runs the recorded cases against the installed zidane-acp and holds each one against its rules (scripts/cases)."""

import argparse
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT / "tests")]

from outside.schema_check import problems, read_log  # noqa: E402  # the path comes first
from rules import RULES, lives  # noqa: E402
from sse_server import SseServer  # noqa: E402
from transcript import Broken, Transcript  # noqa: E402

HERE: Final = Path(__file__).parent
PATIENCE: Final = 600.0
FAULTY_PORT: Final = 39218  # provider.py of case 12 has it built in
BROKEN_ON_PURPOSE: Final = frozenset(
    {"01"}
)  # its client sends what no schema allows, so answers fit to nothing


def program() -> str:
    found = shutil.which("zidane-acp", path=str(Path(sys.executable).parent))
    if found is None:
        sys.exit("zidane-acp is not installed beside this Python; run scripts/test once.")
    return found


@contextmanager
def faulty_provider(case: Path) -> Iterator[str]:
    """The mock endpoint of a case, as its own process."""
    with subprocess.Popen([sys.executable, str(case / "provider.py")], stderr=subprocess.DEVNULL) as process:
        try:
            deadline = time.monotonic() + 20
            while True:
                with socket.socket() as probe:
                    if probe.connect_ex(("127.0.0.1", FAULTY_PORT)) == 0:
                        break
                if process.poll() is not None or time.monotonic() > deadline:
                    raise Broken(f"the mock provider did not start on port {FAULTY_PORT}")
                time.sleep(0.05)
            yield f"http://127.0.0.1:{FAULTY_PORT}/v1"
        finally:
            process.terminate()


def compatible(base_url: str) -> list[str]:
    return ["--provider", "openai-compatible", "--base-url", base_url, "--model", "m"]


def run(number: str, case: Path, folder: Path) -> Transcript:
    """One case, whole: the agent with the right flags, and what it left behind."""
    turns = case / "turns.json"
    if (case / "provider.py").exists():
        with faulty_provider(case) as base_url:
            return replayed(case, folder, "-", compatible(base_url), ())
    if (case / "provider-1.sse").exists():
        with SseServer((case / "provider-1.sse").read_bytes()) as server:
            seen = replayed(case, folder, "-", compatible(server.base_url), ())
            return Transcript(seen.frames, seen.printed, seen.work, tuple(server.asked))
    if turns.exists():
        return replayed(case, folder, str(turns), ["--provider", "replay"], ())
    return replayed(case, folder, "-", ["--provider", "offline"], ())


def replayed(
    case: Path, folder: Path, turns: str, flags: list[str], asked: tuple[Mapping[str, Any], ...]
) -> Transcript:
    scratch, home, log = folder / "scratch", folder / "home", folder / "frames.log"
    scratch.mkdir()
    home.mkdir()
    agent = [sys.executable, str(HERE / "launch.py"), str(log), turns, "--", program(), *flags]
    kept = {
        k: v for k, v in os.environ.items() if not k.endswith("_API_KEY") and not k.startswith("ZIDANE_ACP_")
    }
    environment = kept | {
        "ACP_SCRATCH": str(scratch),
        "ZIDANE_ACP_HOME": str(home),
        "OPENAI_API_KEY": "sk-never-to-be-shown",
        "OPENAI_COMPATIBLE_API_KEY": "sk-never-to-be-shown",
        "NO_PROXY": "127.0.0.1",
        "no_proxy": "127.0.0.1",
        "LANG": "C",
        "PYTHONUTF8": "0",
    }
    command = [sys.executable, str(case.parent / "replay.py"), str(case), "--", *agent]
    # replay.py prints characters of every language; its own output needs UTF-8 whatever the agent is given.
    done = subprocess.run(
        command,
        env=environment | {"PYTHONIOENCODING": "utf-8:backslashreplace"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=PATIENCE,
        check=False,
    )
    [work] = scratch.iterdir()
    return Transcript(read_log(log), done.stdout.decode("utf-8", "replace"), work, asked)


def judged(number: str, seen: Transcript) -> str | None:
    """What is wrong, or None."""
    try:
        lives(seen)
        RULES[number](seen)
    except Broken as broken:
        return str(broken)
    wrong = () if number in BROKEN_ON_PURPOSE else problems(seen.frames)
    return wrong[0] if wrong else None


def main() -> int:
    parser = argparse.ArgumentParser(prog="scripts/cases", description=__doc__)
    parser.add_argument(
        "numbers", nargs="*", metavar="NUMBER", help=f"some of {', '.join(RULES)}; default: all"
    )
    parser.add_argument(
        "--folder", type=Path, default=ROOT.parent / "shared" / "cases", help="where the cases are"
    )
    parser.add_argument(
        "--verbose", action="store_true", help="print every transcript, not only of what failed"
    )
    chosen = parser.parse_args()
    if not chosen.folder.is_dir():
        print(f"There are no cases at {chosen.folder}; name their folder with --folder.")
        return 0
    unknown = [number for number in chosen.numbers if number not in RULES]
    if unknown:
        parser.error(f"no rules for case {unknown[0]}; there are {', '.join(RULES)}")
    failures = 0
    for number in chosen.numbers or RULES:
        case = next(chosen.folder.glob(f"{number}-*"), None)
        if case is None:
            print(f"{number}: not in {chosen.folder}")
            failures += 1
            continue
        with tempfile.TemporaryDirectory(prefix=f"zidane-case-{number}-") as folder:
            try:
                seen = run(number, case, Path(folder))
                wrong = judged(number, seen)
            except Broken as broken:
                seen, wrong = None, str(broken)
        if seen is not None and (chosen.verbose or wrong):
            print(seen.printed.rstrip())
        print(f"{case.name}: {'ok' if wrong is None else f'FAILED: {wrong}'}", flush=True)
        failures += wrong is not None
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
