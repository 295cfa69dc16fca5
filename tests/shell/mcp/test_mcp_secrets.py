"""What a server wrote to standard error before it ended is told without a secret, however it is spelled or cut."""

import sys

import pytest
from support.mcp_bench import Bench

from zidane_acp.mcp.child import TAIL
from zidane_core.data.mcp import McpServerConfig

pytestmark = [pytest.mark.anyio, pytest.mark.parametrize("anyio_backend", ["asyncio"])]
SECRET = 'SECRET-head "quoted" \\ and / more-SECRET-tail'
KEY = "-----BEGIN KEY-----\nSECRET-one-abcdefgh\nSECRET-two\nSECRET-last-line"
WRITE = "import sys,os,json,urllib.parse\ns=os.environ['S']\nsys.stderr.write({})\nsys.exit(3)"


@pytest.mark.parametrize("secret", [SECRET, KEY, "SECRET-\u00e9\u20ac-SECRET"])
@pytest.mark.parametrize(
    "written",
    [
        "s",
        "'key: ' + s + '\\n\\n'",
        "json.dumps({'k': s})",
        "json.dumps({'k': s}, ensure_ascii=False)",
        "repr(s)",
        "urllib.parse.quote(s)",
        "urllib.parse.quote(s, safe='')",
        "urllib.parse.urlencode({'k': s})",
    ],
)
async def test_every_spelling_is_hidden(bench: Bench, written: str, secret: str) -> None:
    await told(bench, written, secret)


@pytest.mark.parametrize("end", ["", "\\n", "\\nlast words"])
@pytest.mark.parametrize("kept", range(1, len(SECRET), 5))
async def test_no_half_of_a_secret_is_told(bench: Bench, kept: int, end: str) -> None:
    """The buffer is cut in the middle of a secret, in a line without an end and in one with."""
    after = TAIL - kept - len(end.encode().decode("unicode_escape"))
    problem = await told(bench, f"'p' * 5000 + s + 'q' * {after} + '{end}'", SECRET)
    assert problem.endswith(": last words." if "last" in end else " [...].")


async def told(bench: Bench, written: str, secret: str) -> str:
    problem = await bench.problem(
        McpServerConfig(
            name="x",
            transport="stdio",
            command=sys.executable,
            args=("-S", "-c", WRITE.format(written)),
            env=(("S", secret), ("PYTHONUTF8", "1")),
        )
    )
    assert problem.startswith("The MCP server x could not be started: it ended with exit code 3: ")
    for piece in ("SECRET", "more-", "tail", "one-abc", "quoted", "head"):
        assert piece not in problem
    return problem
