"""The installed program is killed in the middle of turns, again and again over the same stored sessions."""

import subprocess
import sys
from pathlib import Path

import pytest

SEED = "100"
"""Its twenty rounds have kills late in a stream, behind an answer whose save had to wait, and in the endless command."""

CRASH = Path(__file__).parents[2] / "scripts" / "crash.d" / "run.py"


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL")
def test_what_was_acknowledged_survives_every_kill_and_no_process_is_left(tmp_path: Path) -> None:
    rounds = (sys.executable, str(CRASH), "--rounds", "20", "--seed", SEED, "-v", "--keep", str(tmp_path))
    done = subprocess.run(rounds, capture_output=True, text=True, timeout=110, check=False)
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
