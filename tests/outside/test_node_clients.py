"""The official TypeScript client and acpx against the installed program (the optional Node group)."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

OUTSIDE = Path(__file__).parents[2] / "scripts" / "outside"


@pytest.mark.node
@pytest.mark.timeout(600)
@pytest.mark.parametrize("client", ["typescript", "restart", "hands", "settings", "acpx", "acpx-sessions"])
def test_an_unmodified_client_completes_its_conversation(client: str) -> None:
    env = {**os.environ, "ZIDANE_PYTHON": sys.executable}
    done = subprocess.run(
        [OUTSIDE, client], env=env, capture_output=True, text=True, timeout=580, check=False
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
