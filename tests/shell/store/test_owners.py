"""Whether an owner of a lease is still there."""

import os
import subprocess
import sys

import msgspec
import pytest

from zidane_acp.store import owners
from zidane_acp.store.owners import UNHEARD, Owner, enter, is_there, leave, started

NOW = 1_000_000.0


def told(owner: str) -> Owner:
    return msgspec.json.decode(owner, type=Owner)


def changed(owner: str, **fields: object) -> str:
    return msgspec.json.encode(msgspec.structs.replace(told(owner), **fields)).decode()


@pytest.fixture
def mine() -> str:
    """A token of this process, whose owner has left."""
    owner = enter()
    leave(owner)
    return owner


def test_an_owner_is_there_until_it_leaves() -> None:
    one, two = enter(), enter()
    assert one != two
    assert is_there(one, 0.0, NOW), "however long its lease was not renewed"
    leave(one)
    leave(one)
    assert not is_there(one, NOW, NOW)
    assert is_there(two, NOW, NOW)
    leave(two)


def test_a_process_that_runs_is_there_and_one_that_ended_is_not(mine: str) -> None:
    with subprocess.Popen((sys.executable, "-c", "input()"), stdin=subprocess.PIPE) as process:
        other = changed(mine, pid=process.pid, start=started(process.pid))
        assert is_there(other, 0.0, NOW), "however long its lease was not renewed"
        later = changed(other, start="another start")
        assert not is_there(later, NOW, NOW), "the number belongs to another process now"
    assert started(process.pid) is None
    assert not is_there(other, NOW, NOW)


@pytest.mark.skipif(not hasattr(os, "waitid"), reason="the system has no waitid to see a zombie by")
def test_a_process_that_ended_and_is_not_yet_reaped_is_not_there(mine: str) -> None:
    process = subprocess.Popen((sys.executable, "-c", "input()"), stdin=subprocess.PIPE)
    other = changed(mine, pid=process.pid, start=started(process.pid))
    process.kill()
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    assert not is_there(other, NOW, NOW)
    process.communicate()


@pytest.mark.skipif(
    not os.path.exists("/proc/self/stat"), reason="only /proc tells the name before the start"
)
def test_a_name_with_brackets_and_spaces_does_not_move_the_start() -> None:
    code = "open('/proc/self/comm', 'w').write('a) R 1 (b'); print('named', flush=True); input()"
    with subprocess.Popen(
        (sys.executable, "-c", code), stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        before = started(process.pid)
        assert process.stdout is not None and process.stdout.readline() == b"named\n"
        assert before and before.isdigit() and started(process.pid) == before


def test_an_earlier_boot_of_this_machine_is_over(mine: str) -> None:
    assert not is_there(changed(mine, boot="before"), NOW, NOW)


@pytest.mark.parametrize(
    "fields",
    [{"host": "elsewhere", "boot": "theirs"}, {"space": "a container"}, {"host": "elsewhere", "boot": ""}],
)
def test_what_cannot_be_looked_at_is_there_until_it_was_not_heard_of_for_long(
    fields: dict[str, str], mine: str
) -> None:
    other = changed(mine, **fields)
    assert is_there(other, NOW - UNHEARD, NOW)
    assert not is_there(other, NOW - UNHEARD - 1, NOW)
    assert is_there(other, NOW + 60, NOW), "clocks differ"
    assert not is_there(other, NOW + UNHEARD + 1, NOW), "but not by so much"


@pytest.mark.parametrize("text", ["", "nobody", "{}", '{"pid": "x"}'])
def test_an_owner_in_words_of_another_version_is_there_until_it_was_not_heard_of_for_long(text: str) -> None:
    assert is_there(text, NOW, NOW)
    assert not is_there(text, NOW - UNHEARD - 1, NOW)


def test_a_system_that_tells_no_starts_is_trusted_for_an_hour(
    mine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(owners, "started", lambda pid: "")
    other = changed(mine, pid=1, start="")
    assert is_there(other, NOW, NOW)
    assert not is_there(other, NOW - UNHEARD - 1, NOW)


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("Ss   Tue Jan  6 10:00:00 2026\n", "Tue Jan 6 10:00:00 2026"),
        ("Z    Tue Jan  6 10:00:00 2026\n", None),
        ("", None),
        (None, ""),
    ],
)
def test_the_words_of_ps(said: str | None, expected: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(owners, "_said", lambda words, environment: said)
    assert owners._started_by_ps(1) == expected


def test_ps_tells_one_process_apart_from_none(mine: str) -> None:
    if owners._said(("ps", "-o", "pid=", "-p", str(os.getpid())), dict(os.environ)) in (None, ""):
        pytest.skip("there is no ps here that knows -o and -p")
    start = owners._started_by_ps(os.getpid())
    assert start and start == owners._started_by_ps(os.getpid())
    with subprocess.Popen((sys.executable, "-c", "")) as process:
        pass
    assert owners._started_by_ps(process.pid) is None
