"""Measures the installed zidane-acp beside its peers and prints one table (scripts/bench)."""

import argparse
import json
import statistics
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final, NamedTuple

sys.path[:0] = [str(Path(__file__).parents[1] / "node.d")]

from node_packages import NodeMissing  # noqa: E402  # its folder is put on the path above
from peers import Connection, Peer, clock, echo_agents, program, provider, resident, started  # noqa: E402

OURS: Final = "zidane-acp"


class Row(NamedTuple):
    """One line of the table: a measure of one agent, its value, the goal it has (as text) and whether it holds."""

    measure: str
    agent: str
    value: float
    unit: str
    goal: str = ""
    holds: bool | None = None


class Bench:
    """The agents, a scratch folder and the sizes of the runs."""

    def __init__(self, scratch: Path, peers: Sequence[Peer], base_url: str, scale: float) -> None:
        self.scratch, self.peers, self.scale = scratch, peers, scale
        self.offline = Peer(OURS, (program(), "--provider", "offline"))
        http = ("--provider", "openai-compatible", "--base-url", base_url, "--model", "m")
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

    def replay(self, chunks: int) -> Peer:
        """Our agent with a scripted answer of so many chunks."""
        script = self.scratch / f"chunks-{chunks}.json"
        turns = [{"text": "ok~"}, {"text": "piece~ of text ", "repeat": chunks}]
        script.write_text(json.dumps({"turns": turns}), encoding="utf-8")
        return Peer(OURS, (program(), "--provider", "replay", "--script", str(script)))


def cold_start(bench: Bench) -> list[Row]:
    """Spawn to the answer of `initialize`, in ms, the agents taking turns so that the machine's mood hits all."""
    agents = (bench.offline, *bench.peers)
    found: dict[str, list[float]] = {agent.name: [] for agent in agents}
    for run in range(bench.times(15) + 1):
        for agent in agents:
            home = bench.home()
            begin = clock()
            with started(agent.command, home) as connection:
                connection.request("initialize", {"protocolVersion": 1, "clientCapabilities": {}})
                if run:  # the first round fills the file caches
                    found[agent.name].append((clock() - begin) * 1000)
    medians = {name: statistics.median(values) for name, values in found.items()}
    ours = medians[OURS]
    limits = {"TypeScript SDK echo": 0.7, "Python SDK echo": 0.2}
    rows = [Row("cold start", OURS, ours, "ms")]
    for peer in bench.peers:
        ratio, limit = ours / medians[peer.name], limits.get(peer.name)
        goal = f"ours is {ratio:.2f} of it" + (f", at most {limit:g}" if limit else "")
        rows.append(
            Row("cold start", peer.name, medians[peer.name], "ms", goal, ratio <= limit if limit else None)
        )
    return rows


def memory(bench: Bench) -> list[Row]:
    """Resident memory after `initialize` and after a first turn over HTTP, in MiB."""
    rows: list[Row] = []
    for agent in (bench.http, *bench.peers):
        home = bench.home()
        with started(agent.command, home) as connection:
            connection.request("initialize", {"protocolVersion": 1, "clientCapabilities": {}})
            first = resident(connection.process.pid)
            answer, _ = connection.request("session/new", {"cwd": str(home), "mcpServers": []})
            connection.prompt(answer["result"]["sessionId"], "hello")
            second = resident(connection.process.pid)
        ours = agent.name == OURS
        limit = ("at most 32", first <= 32) if ours else ("", None)
        rows.append(Row("memory after initialize", agent.name, first, "MiB", *limit))
        limit = ("at most 55", second <= 55) if ours else ("", None)
        rows.append(Row("memory after a first turn", agent.name, second, "MiB", *limit))
    return sorted(rows, key=lambda row: row.measure)


def small_prompts(bench: Bench) -> list[Row]:
    """A small prompt, in ms: ours through the loopback server, the peers' own echo; and growth over a session."""
    rows: list[Row] = []
    for agent in (bench.http, *bench.peers):
        home, durations = bench.home(), list[float]()
        with started(agent.command, home) as connection:
            session = connection.open(home)
            for number in range(bench.times(200)):
                begin = clock()
                connection.prompt(session, f"hello {number}")
                durations.append((clock() - begin) * 1000)
        ours, part = agent.name == OURS, max(1, len(durations) // 5)
        median = statistics.median(durations)
        grown = statistics.median(durations[-part:]) / statistics.median(durations[1 : part + 1])
        rows.append(Row("small prompt, median", agent.name, median, "ms", *_at_most(10, median, ours)))
        rows.append(Row("small prompt, p99", agent.name, _percentile(durations, 0.99), "ms"))
        rows.append(
            Row("last fifth of the prompts to the first", agent.name, grown, "x", *_at_most(1.3, grown, ours))
        )
    return sorted(rows, key=lambda row: row.measure)


def _at_most(limit: float, value: float, ours: bool) -> tuple[str, bool | None]:
    return (f"at most {limit:g}", value <= limit) if ours else ("", None)


def _percentile(values: Sequence[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))]


def _seconds(bench: Bench, agent: Peer, chunks: int) -> tuple[float, int]:
    """The time of one prompt that is answered by so many chunks, after a small one (imports, connections).

    Also how many message frames it came in: chunks that wait for the pipe may be merged.
    """
    home = bench.home()
    with started(agent.command, home) as connection:
        session = connection.open(home)
        connection.prompt(session, "warm up~")
        before = connection.updates
        return _timed(connection, session, chunks), connection.updates - before


def _timed(connection: Connection, session: str, chunks: int) -> float:
    begin = clock()
    came = connection.prompt(session, f"chunks {chunks}")
    seconds = clock() - begin
    if came != chunks:
        raise RuntimeError(f"{came} chunks came instead of {chunks}")
    return seconds


def always(peer: Peer) -> Callable[[int], Peer]:
    """The same agent for every number of chunks."""
    return lambda _: peer


class Rate(NamedTuple):
    """Chunks a second, the median of three runs, and the message frames of the last run."""

    rate: float
    frames: int


def _rate(bench: Bench, agent: Callable[[int], Peer], chunks: int) -> Rate:
    runs = [_seconds(bench, agent(chunks), chunks) for _ in range(3)]
    return Rate(chunks / statistics.median(seconds for seconds, _ in runs), runs[-1][1])


def chunks(bench: Bench) -> list[Row]:
    """20,000 chunks: how many a second arrive at the client, and in how many frames."""
    count = bench.times(20_000)
    rates = {peer.name: _rate(bench, always(peer), count) for peer in bench.peers}
    http, replay = _rate(bench, always(bench.http), count), _rate(bench, bench.replay, count)
    typescript = rates["TypeScript SDK echo"].rate
    what = f"{count:,} chunks"
    rows = [
        Row(what, f"{OURS}, over HTTP", http.rate, "chunks/s", "at least 20,000", http.rate >= 20_000),
        Row(
            what,
            f"{OURS}, replay",
            replay.rate,
            "chunks/s",
            f"at least {typescript:,.0f}",
            replay.rate >= typescript,
        ),
    ]
    for name, (rate, _) in rates.items():
        goal = f"ours over HTTP is {http.rate / rate:.2f} of it, replay {replay.rate / rate:.2f}"
        rows.append(Row(what, name, rate, "chunks/s", goal))
    all_rates = {f"{OURS}, over HTTP": http, f"{OURS}, replay": replay, **rates}
    return rows + [Row(f"frames of {what}", name, rate.frames, "frames") for name, rate in all_rates.items()]


def growth(bench: Bench) -> list[Row]:
    """What a chunk costs in an answer ten times as long: the quotient of the times per chunk."""
    small, large = bench.times(20_000), bench.times(200_000)
    rows: list[Row] = []
    agents: list[tuple[str, Callable[[int], Peer]]] = [
        (f"{OURS}, over HTTP", always(bench.http)),
        (f"{OURS}, replay", bench.replay),
        *((peer.name, always(peer)) for peer in bench.peers),
    ]
    for name, agent in agents:
        ratio = _rate(bench, agent, small).rate / _rate(bench, agent, large).rate
        limit = _at_most(1.3, ratio, name.startswith(OURS))
        rows.append(Row(f"cost of a chunk, {large:,} to {small:,}", name, ratio, "x", *limit))
    return rows


MEASURES: Final[dict[str, Callable[[Bench], list[Row]]]] = {
    "cold-start": cold_start,
    "memory": memory,
    "prompts": small_prompts,
    "chunks": chunks,
    "growth": growth,
}


def table(rows: Sequence[Row]) -> str:
    """The rows as text in columns."""
    marks = {True: "yes", False: "NO", None: ""}
    cells = [("measure", "agent", "value", "unit", "holds", "goal")] + [
        (
            r.measure,
            r.agent,
            f"{r.value:,.2f}" if r.value < 1000 else f"{r.value:,.0f}",
            r.unit,
            marks[r.holds],
            r.goal,
        )
        for r in rows
    ]
    widths = [max(len(row[column]) for row in cells) for column in range(6)]
    return "\n".join(
        "  ".join(
            cell.rjust(width) if column == 2 else cell.ljust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in cells
    )


def main() -> int:
    parser = argparse.ArgumentParser(prog="scripts/bench", description=__doc__)
    parser.add_argument(
        "measures", nargs="*", metavar="MEASURE", help=f"some of {', '.join(MEASURES)}; default: all"
    )
    parser.add_argument("--json", action="store_true", help="print JSON instead of the table")
    parser.add_argument("--short", action="store_true", help="a tenth of the repetitions: does it run at all")
    chosen = parser.parse_args()
    unknown = [name for name in chosen.measures if name not in MEASURES]
    if unknown:
        parser.error(f"unknown measure {unknown[0]}; there are {', '.join(MEASURES)}")
    rows: list[Row] = []
    with tempfile.TemporaryDirectory(prefix="zidane-bench-") as folder, provider() as base_url:
        try:
            peers = echo_agents()
        except NodeMissing as problem:
            sys.exit(f"The bench needs the TypeScript peer: {problem}")
        bench = Bench(Path(folder), peers, base_url, 0.1 if chosen.short else 1.0)
        for name in chosen.measures or MEASURES:
            print(f"measuring {name} ...", file=sys.stderr)
            rows += MEASURES[name](bench)
    if chosen.json:
        print(json.dumps([row._asdict() for row in rows], indent=1))
    else:
        print(table(rows))
    return 1 if any(row.holds is False for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
