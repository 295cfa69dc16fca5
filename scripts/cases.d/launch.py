"""Starts the agent of one case; replay.py calls it once the case's scratch folder exists.

    python launch.py LOG TURNS -- AGENT [ARGUMENT...]

In TURNS (a neutral model script, or `-`) the scratch folder is put in place of {{dir}}, and the result is given to
the agent with `--script`. Every frame goes to LOG.
"""

import json
import os
import sys
from pathlib import Path

TEE = Path(__file__).parents[2] / "tests" / "outside" / "tee.py"


def main(log: str, turns: str, command: list[str]) -> None:
    [work] = Path(os.environ["ACP_SCRATCH"]).iterdir()  # the only folder in it: replay.py has just made it
    if turns != "-":
        script = Path(log).with_name("script.json")
        text = Path(turns).read_text(encoding="utf-8")
        script.write_text(text.replace("{{dir}}", json.dumps(str(work))[1:-1]), encoding="utf-8")
        command += ["--script", str(script)]
    os.execv(sys.executable, [sys.executable, str(TEE), log, "--", *command])


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[4:])
