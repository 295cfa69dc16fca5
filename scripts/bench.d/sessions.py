"""The measures of stored sessions: loading a long one, listing many, and what saving costs a turn."""

import statistics
import subprocess
import tempfile
from pathlib import Path
from typing import Any, Final

from fill import SHOWN, a_long_session, many_sessions
from peers import INITIALIZE, Connection, Peer, clock, environment, peak, program, resident, started, worked
from rows import Row, at_most
from setting import OURS, Bench

FOLDERS: Final = 10
RUNS: Final = 5
TURNS: Final = 10
"""Long turns in one run of `saving`, so that what is not the turn does not count."""

PAIRS: Final = 9
"""Runs of `saving` with and without: their difference is a few hundredths."""


def loading(bench: Bench) -> list[Row]:
    """`session/load` of a long session: the time until all is sent, and the memory that the agent takes for it."""
    home, messages = bench.home(), bench.times(10_000)
    session = a_long_session(home, home, messages)
    size = _exported(home, session) / 2**20
    seconds, grown = list[float](), list[float]()
    for _ in range(RUNS):
        with started(bench.offline.command, home) as connection:
            _awake(connection)
            before = resident(connection.process.pid)
            _forget_the_peak(connection.process.pid)
            told, begin = connection.told, clock()
            _request(connection, "session/load", sessionId=session, cwd=str(home), mcpServers=[])
            seconds.append(clock() - begin)
            wanted, came = -(-messages // SHOWN) * SHOWN, connection.told - told
            if came < wanted:
                raise RuntimeError(f"{came} updates came instead of {wanted}")
            if (most := peak(connection.process.pid)) is not None:
                grown.append(most - before)
    what = f"load of {messages:,} messages"
    rows = [
        Row(what, OURS, statistics.median(seconds), "s", *at_most(1.5, statistics.median(seconds))),
        Row(f"{what}, exported", OURS, size, "MiB"),
    ]
    if grown:
        most = statistics.median(grown)
        rows.append(Row(f"{what}, memory", OURS, most, "MiB"))
        rows.append(Row(f"{what}, memory to exported", OURS, most / size, "x", *at_most(2, most / size)))
    return rows


def listing(bench: Bench) -> list[Row]:
    """Pages of `session/list` over many stored sessions, in ms: the first and the last, of all and of one folder."""
    home, count = bench.home(), bench.times(50_000)
    folders = [home / str(number) for number in range(FOLDERS)]
    many_sessions(home, folders, count)
    rows: list[Row] = []
    with started(bench.offline.command, home) as connection:
        _awake(connection)
        choices: dict[str, dict[str, str]] = {"all": {}, "one folder": {"cwd": str(folders[0])}}
        for name, chosen in choices.items():
            cursors, listed = _walked(connection, chosen)
            if listed != (wanted := count // (FOLDERS if chosen else 1)):
                raise RuntimeError(f"{listed} sessions were listed instead of {wanted}")
            for page, cursor in (("first", {}), ("last", {"cursor": cursors[-1]})):
                taken = _page_time(connection, {**chosen, **cursor})
                what = f"list of {count:,}, {page} page of {name}"
                rows.append(Row(what, OURS, taken, "ms", *at_most(20, taken)))
    return rows


def saving(bench: Bench) -> list[Row]:
    """CPU of the agent for turns of 20,000 chunks that are saved, and for the same where no state can be kept."""
    chunks = bench.times(20_000)
    rows: list[Row] = []
    for name, agent in ((f"{OURS}, over HTTP", bench.http), (f"{OURS}, replay", bench.replay(chunks, TURNS))):
        kept, lost = list[float](), list[float]()
        for _ in range(bench.times(PAIRS)):
            home = bench.home()
            kept.append(_work(agent, home, chunks))
            lost.append(_work(agent, home, chunks, keeps=False))
        saved, unsaved = statistics.median(kept), statistics.median(lost)
        what = f"CPU of a turn of {chunks:,} chunks"
        rows.append(Row(f"{what}, saved", name, saved * 1000, "ms"))
        rows.append(Row(f"{what}, not saved", name, unsaved * 1000, "ms"))
        rows.append(
            Row(f"{what}, saved to not saved", name, saved / unsaved, "x", *at_most(1.1, saved / unsaved))
        )
    return rows


# How -----------------------------------------------------------------------------------------------


def _request(connection: Connection, method: str, **params: Any) -> dict[str, Any]:
    answer, _ = connection.request(method, params)
    if "result" not in answer:
        raise RuntimeError(f"{method} was answered by {answer}")
    return answer["result"]


def _awake(connection: Connection) -> None:
    """Initialized, with the loop and the store imported, as an agent is that has done anything."""
    connection.request("initialize", INITIALIZE)
    _request(connection, "session/list")


def _exported(home: Path, session: str) -> int:
    """Bytes of `zidane-acp sessions export`."""
    command = (program(), "sessions", "export", session)
    done = subprocess.run(command, env=dict(environment(home)), capture_output=True, check=True)
    return len(done.stdout)


def _forget_the_peak(pid: int) -> None:
    """Let the peak begin anew, where the system can: the start is not what is measured."""
    try:
        Path(f"/proc/{pid}/clear_refs").write_text("5")
    except OSError:
        return


def _walked(connection: Connection, chosen: dict[str, str]) -> tuple[list[str], int]:
    """All cursors of a list, and how many sessions its pages have."""
    cursors, listed, place = list[str](), 0, dict[str, str]()
    while True:
        page = _request(connection, "session/list", **chosen, **place)
        listed += len(page["sessions"])
        if not page.get("nextCursor"):
            return cursors, listed
        cursors.append(page["nextCursor"])
        place = {"cursor": page["nextCursor"]}


def _page_time(connection: Connection, params: dict[str, str]) -> float:
    taken: list[float] = []
    for _ in range(20):
        begin = clock()
        _request(connection, "session/list", **params)
        taken.append((clock() - begin) * 1000)
    return statistics.median(taken)


def _work(agent: Peer, home: Path, chunks: int, keeps: bool = True) -> float:
    """CPU seconds of a long turn; without a folder for its state the agent goes on in memory."""
    with tempfile.TemporaryDirectory(dir=home) as place:
        nowhere = Path(place) / "no-folder"
        nowhere.write_text("not a folder", encoding="utf-8")
        command = agent.command if keeps else (*agent.command, "--home", str(nowhere))
        with started(command, Path(place)) as connection:
            session = connection.open(home)
            connection.prompt(session, "warm up~")
            before = worked(connection.process.pid)
            for _ in range(TURNS):
                if (came := connection.prompt(session, f"chunks {chunks}")) != chunks:
                    raise RuntimeError(f"{came} chunks came instead of {chunks}")
            return (worked(connection.process.pid) - before) / TURNS
