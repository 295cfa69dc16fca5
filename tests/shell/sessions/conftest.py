"""A store with three sessions, and what stands on standard input."""

import sys
from collections.abc import Iterator
from io import BytesIO, TextIOWrapper

import pytest
from support.fake_store import DAY, FakeStore, entry


@pytest.fixture
def store() -> FakeStore:
    made = FakeStore()
    made.put("sess_aa_1", entry("one"), updated=1 * DAY, head='{"v":1,"title":"First"}')
    made.put("sess_ab_1", entry("two"), updated=3 * DAY, head='{"v":1,"roots":[]}', cwd="/other")
    made.put("sess_b_1", entry("three"), updated=2 * DAY, head="no json")
    return made


@pytest.fixture
def typed(monkeypatch: pytest.MonkeyPatch) -> Iterator[BytesIO]:
    """What stands on standard input."""
    data = BytesIO()
    monkeypatch.setattr(sys, "stdin", TextIOWrapper(data))
    yield data
