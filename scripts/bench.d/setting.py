"""What every measure is given: the agents, a scratch folder and the sizes of the runs."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from peers import Peer, program

OURS: Final = "zidane-acp"


class Bench:
    """The agents, a scratch folder and the sizes of the runs."""

    def __init__(self, scratch: Path, peers: Sequence[Peer], base_url: str, scale: float) -> None:
        self.scratch, self.peers, self.scale = scratch, peers, scale
        self.offline = Peer(OURS, (program(), "--provider", "offline"))
        # A title from the model would come in the middle of a later turn and be counted with it.
        http = ("--provider", "openai-compatible", "--base-url", base_url, "--model", "m", "--plain-titles")
        self.http = Peer(OURS, (program(), *http))
        self._runs = 0

    def home(self) -> Path:
        """A fresh, empty folder for one process."""
        self._runs += 1
        folder = self.scratch / f"run-{self._runs}"
        folder.mkdir()
        return folder

    def times(self, number: int) -> int:
        """A number of repetitions, made smaller for a short run."""
        return max(2, round(number * self.scale))

    def replay(self, chunks: int, times: int = 1) -> Peer:
        """Our agent with a scripted answer of so many chunks, or with several of them."""
        script = self.scratch / f"chunks-{chunks}-{times}.json"
        turns = [{"text": "ok~"}, *[{"text": "piece~ of text ", "repeat": chunks}] * times]
        script.write_text(json.dumps({"turns": turns}), encoding="utf-8")
        return Peer(OURS, (program(), "--provider", "replay", "--script", str(script)))
