"""Kills the installed zidane-acp in the middle of turns, round by round over the same stored sessions, and looks at
what is left: no process, nothing acknowledged lost, every session whole and able to go on (scripts/crash)."""

import argparse
import os
import random
import shutil
import sys
import tempfile
import time
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT / "tests")]

from rounds import Course, Round, begin, play  # noqa: E402  # the path comes first

ENOUGH: Final = 3
"""Rounds that fail before no more is tried."""


def prepared(folder: Path) -> Path:
    """The folder with what the rounds need in it; one that has been used before is begun anew."""
    for name in ("home", "work", "scripts", "logs"):
        shutil.rmtree(folder / name, ignore_errors=True)
        (folder / name).mkdir(parents=True)
    return folder


def run(course: Course, rounds: int, verbose: bool) -> list[Round]:
    """The rounds that failed."""
    failed: list[Round] = []
    for number in range(rounds):
        one, began = begin(course, number), time.monotonic()
        play(one)
        if verbose or one.found:
            verdict = "FAILED" if one.found else "ok"
            print(f"round {number}: {one.told}, {time.monotonic() - began:.1f} s: {verdict}", flush=True)
        if one.found:
            failed.append(one)
            for problem in one.found:
                print(f"  {problem}", flush=True)
        if len(failed) == ENOUGH:
            break
    return failed


def main() -> int:
    parser = argparse.ArgumentParser(prog="scripts/crash", description=__doc__)
    parser.add_argument("--rounds", type=int, default=200, metavar="N", help="how many kills; default: 200")
    parser.add_argument("--seed", type=int, metavar="S", help="what decides when; default: another each time")
    parser.add_argument("--keep", type=Path, metavar="DIR", help="work in this folder and keep it")
    parser.add_argument("-v", "--verbose", action="store_true", help="a line for each round")
    chosen = parser.parse_args()
    seed = chosen.seed if chosen.seed is not None else random.randrange(1_000_000)
    folder = prepared((chosen.keep or Path(tempfile.mkdtemp(prefix="zidane-crash-"))).resolve())
    course = Course(folder, seed, str(os.getpid()))
    began = time.monotonic()
    failed = run(course, chosen.rounds, chosen.verbose)
    seconds = time.monotonic() - began
    if not failed:
        print(f"{chosen.rounds} rounds, {course.made} sessions, {seconds:.0f} s, seed {seed}: all is well")
        if chosen.keep is None:
            shutil.rmtree(folder)
        return 0
    again = f"scripts/crash --seed {seed} --rounds {failed[0].number + 1}"
    print(f"{len(failed)} rounds failed, the first is round {failed[0].number}; again: {again}")
    print(f"what is left is in {folder}")
    return 1


if __name__ == "__main__":
    sys.exit(main())
