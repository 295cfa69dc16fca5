"""Measures the installed zidane-acp beside its peers and prints one table (scripts/bench)."""

import argparse
import json
import statistics
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Final, NamedTuple

sys.path[:0] = [str(Path(__file__).parents[1] / "node.d")]

from hands import client_edit, servers, terminals  # noqa: E402
from node_packages import NodeMissing  # noqa: E402  # its folder is put on the path above
from peers import Connection, Peer, clock, echo_agents, provider, resident, started  # noqa: E402
from rows import Row, at_most, percentile, table  # noqa: E402
from sessions import listing, loading, saving  # noqa: E402
from setting import OURS, Bench  # noqa: E402


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
        rows.append(Row("small prompt, median", agent.name, median, "ms", *at_most(10, median, ours)))
        rows.append(Row("small prompt, p99", agent.name, percentile(durations, 0.99), "ms"))
        rows.append(
            Row("last fifth of the prompts to the first", agent.name, grown, "x", *at_most(1.3, grown, ours))
        )
    return sorted(rows, key=lambda row: row.measure)


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
        limit = at_most(1.3, ratio, name.startswith(OURS))
        rows.append(Row(f"cost of a chunk, {large:,} to {small:,}", name, ratio, "x", *limit))
    return rows


MEASURES: Final[dict[str, Callable[[Bench], list[Row]]]] = {
    "cold-start": cold_start,
    "memory": memory,
    "prompts": small_prompts,
    "chunks": chunks,
    "growth": growth,
    "load": loading,
    "list": listing,
    "saving": saving,
    "servers": servers,
    "client-edit": client_edit,
    "terminals": terminals,
}


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
