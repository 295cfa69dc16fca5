"""Servers that break the rules: what they cost is bounded, and a call always has a result."""

import sys
import time
from pathlib import Path

import pytest
from support.mcp_bench import Bench, text_of
from support.process import alive

from zidane_core.data.mcp import McpServerConfig

RAW = str(Path(__file__).parents[2] / "support" / "raw_mcp.py")


def raw(*words: str, env: tuple[tuple[str, str], ...] = ()) -> McpServerConfig:
    return McpServerConfig(
        name="tests", transport="stdio", command=sys.executable, args=(RAW, *words), env=env
    )


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("how", "said"), [("latin", "caf\ufffd"), ("lone", "\ufffd"), ("array", "in an array"), ("plain", "ok")]
)
async def test_a_broken_answer_is_mended(bench: Bench, how: str, said: str) -> None:
    await bench.connect(raw(how))
    assert await bench.text("good") == said


@pytest.mark.anyio
async def test_an_answer_that_cannot_be_read_fails_its_call(bench: Bench) -> None:
    await bench.connect(raw("deep"))
    assert "its answer could not be read" in await bench.failure("good")


@pytest.mark.anyio
async def test_a_list_without_end_and_a_long_one_end(bench: Bench) -> None:
    offer = await bench.connect(raw("endless"))
    assert [tool.name for tool in offer.tools] == ["good"]
    await bench.stop()
    offer = await bench.connect(raw("many"))
    assert len(offer.tools) == 1000
    assert "500 tools or prompts more than the 1000 that are taken" in offer.remarks[0]


@pytest.mark.anyio
async def test_a_list_that_is_none_of_the_protocol_is_called_that(bench: Bench) -> None:
    problem = await bench.problem(raw("malformed"))
    assert problem == "The MCP server tests could not be started: what it answered is none of the protocol."


@pytest.mark.anyio
async def test_noise_without_end_and_a_line_without_end_are_given_up(bench: Bench) -> None:
    assert "its output is no protocol" in await bench.problem(raw("junk"))
    assert "it sent a line of more than 64 MiB" in await bench.problem(raw("long"))


@pytest.mark.anyio
async def test_a_storm_of_changes_is_listed_now_and_then(bench: Bench, tmp_path: Path) -> None:
    listed = tmp_path / "listed"
    await bench.connect(raw("storm", env=(("LISTED", str(listed)),)))
    await bench.until(lambda: len(bench.offers) >= 3)
    assert listed.read_text().count("tools/list") <= len(bench.offers) + 1


@pytest.mark.anyio
async def test_no_part_of_a_secret_is_told(bench: Bench) -> None:
    secret = 'BEGIN-of-it "quoted" and\n' + "q" * 300 + "-END\nlast-line-of-it"
    problem = await bench.problem(raw("secrets", env=(("SECRET", secret),)))
    for part in ("BEGIN-of-it", "-END", "last-line-of-it", "qqqqqqqq"):
        assert part not in problem
    assert "exit code 3" in problem


@pytest.mark.anyio
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc to see that processes are gone")
async def test_what_has_left_its_group_and_environment_ends_with_the_server(
    bench: Bench, tmp_path: Path
) -> None:
    place = tmp_path / "pid"
    await bench.connect(raw("daemon", str(place)))
    deadline = time.monotonic() + 10
    while not (place.exists() and place.read_text()):
        assert time.monotonic() < deadline
        text_of(await bench.call("good"))
    pid = int(place.read_text())
    assert alive(pid)
    await bench.stop()
    assert not alive(pid)
