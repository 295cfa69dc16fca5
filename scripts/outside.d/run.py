"""Foreign clients against the installed zidane-acp: the TypeScript SDK and acpx (scripts/outside)."""

import argparse
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT / "scripts" / "node.d"), str(ROOT / "scripts" / "cases.d"), str(ROOT / "tests")]

from node_packages import NodeMissing  # noqa: E402  # the paths come first
from stage import Failed  # noqa: E402
from with_acpx import acpx, acpx_sessions  # noqa: E402
from with_typescript import hands, restart, settings, typescript  # noqa: E402

CLIENTS: Final[dict[str, Callable[[Path], None]]] = {
    "typescript": typescript,
    "restart": restart,
    "hands": hands,
    "settings": settings,
    "acpx": acpx,
    "acpx-sessions": acpx_sessions,
}


def main() -> int:
    parser = argparse.ArgumentParser(prog="scripts/outside", description=__doc__)
    parser.add_argument("clients", nargs="*", metavar="CLIENT", help=f"{', '.join(CLIENTS)}; default: all")
    chosen = parser.parse_args().clients or list(CLIENTS)
    unknown = [name for name in chosen if name not in CLIENTS]
    if unknown:
        parser.error(f"unknown client {unknown[0]}; there are {', '.join(CLIENTS)}")
    failures = 0
    for name in chosen:
        print(f"== {name}", flush=True)
        with tempfile.TemporaryDirectory(prefix="zidane-outside-") as folder:
            try:
                CLIENTS[name](Path(folder).resolve())
            except (Failed, NodeMissing) as problem:
                failures += 1
                print(f"FAILED: {problem}", flush=True)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
