"""The transcripts of tests/golden, taken by the bare core."""

from pathlib import Path

import pytest
from support.golden import GOLDEN, lines, through_the_core

FILES = sorted(GOLDEN.glob("*.txt"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_the_core_says_what_the_transcript_says(path: Path) -> None:
    assert through_the_core(path) == [f"{kind} {text}" for kind, text in lines(path)]


def test_there_are_transcripts() -> None:
    assert len(FILES) >= 4
