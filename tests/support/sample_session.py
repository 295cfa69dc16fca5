"""A conversation with one of everything, for the tests of its shown forms."""

import base64
import struct
import zlib

from zidane_core.convert.transcript import About
from zidane_core.data import history
from zidane_core.data.content import Document, Image, Link, Text
from zidane_core.data.history import Entry
from zidane_core.data.outcome import Usage
from zidane_core.data.tools import Diff, Location, PlanEntry
from zidane_core.faults import Fault

ABOUT = About(
    session="sess_84c677828385229e_1",
    title="Fix the total of the basket",
    cwd="/project",
    when="2026-03-01 10:30",
)

OLD = "".join(f"line {number}\n" for number in range(1, 12)) + "def total(items):\n    return sum(items)\n"
NEW = OLD.replace(
    "    return sum(items)\n",
    "    # <script> in a comment must stay a comment\n    return sum(item.price * item.count for item in items)\n",
)


def png(width: int = 96, height: int = 48) -> str:
    """A small picture, a slope of colour, as base64."""
    rows = b"".join(
        b"\0" + b"".join(bytes((60 + 2 * x, 110, 220 - 3 * y)) for x in range(width)) for y in range(height)
    )

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    data = (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", header)
        + chunk(b"IDAT", zlib.compress(rows))
        + chunk(b"IEND", b"")
    )
    return base64.b64encode(data).decode()


def sample(address: str = "https://example.com") -> tuple[Entry, ...]:
    """The log; pictures and links in it lead to `address`."""
    return (
        history.UserSaid(
            "m1",
            (
                Text(
                    "The total of the **basket** ignores the count. Can you fix it?\n\n- look at `basket.py`\n- run the tests"
                ),
                Image("image/png", png()),
                Image("image/svg+xml", base64.b64encode(b"<svg onload='x'/>").decode()),
                Document("file:///project/notes.txt", "notes.txt", "text/plain", "A note\nof two lines"),
                Link(f"{address}/issue/7", "issue 7"),
            ),
            1,
        ),
        history.Thinking("m2", "The count is *not* used. I read the file first."),
        history.PlanSet(
            (
                PlanEntry("Read basket.py", "completed"),
                PlanEntry("Use the count in total()", "in_progress"),
                PlanEntry("Run the tests"),
            )
        ),
        history.TextSaid("m3", "I will look at the file first."),
        history.CallMade(
            call="c1",
            name="read_file",
            arguments='{"path":"basket.py"}',
            title="Read basket.py:1-13",
            kind="read",
            locations=(Location("/project/basket.py", 1),),
            raw={"path": "basket.py", "limit": 13},
        ),
        history.ResultMade(call="c1", name="read_file", content=(), failed=False, shown=(Text(OLD),)),
        history.CallMade(
            call="c2",
            name="edit_file",
            arguments="{}",
            title="Edit basket.py",
            kind="edit",
            locations=(Location("/project/basket.py"),),
            raw={"path": "basket.py", "old_text": "return sum(items)", "new_text": "..."},
        ),
        history.ResultMade(
            call="c2",
            name="edit_file",
            content=(),
            failed=False,
            diffs=(
                Diff("/project/basket.py", OLD, NEW),
                Diff(
                    "/project/tests/test_count.py",
                    None,
                    "def test_count():\n    assert total([Item(2, 3)]) == 6\n",
                ),
            ),
            locations=(Location("/project/basket.py", 13),),
        ),
        history.CallMade(
            call="c3",
            name="run_command",
            arguments="{}",
            title="python -m pytest -q",
            kind="execute",
            raw={"command": "python -m pytest -q", "timeout": 60},
        ),
        history.ResultMade(
            call="c3",
            name="run_command",
            content=(),
            failed=True,
            shown=(
                Text(
                    "\x1b[31mE   NameError: name 'Item' is not defined\x1b[0m\n1 failed in 0.02s\nexit code 1"
                ),
            ),
        ),
        history.CallMade(
            call="c4",
            name="fetch",
            arguments="{}",
            title=f"Fetch {address}/docs",
            kind="fetch",
            raw={"url": address},
        ),
        history.NoticeGiven("m4", "warning", "The model is overloaded; trying again in 2 s."),
        history.TextSaid(
            "m5",
            "## What changed\n\n`total()` now uses the count:\n\n```python\nreturn sum(item.price * item.count for "
            "item in items)\n```\n\n| File | Change |\n|---|---|\n| `basket.py` | the sum |\n| `test_count.py` | new |"
            f"\n\n> The test still lacks an import.\n\n![chart]({address}/chart.png) and [a page]({address}/page) "
            "and [bad](javascript:alert(1)) <img src=x onerror=alert(1)>",
        ),
        history.SettingChanged("mode", "plan"),
        history.TurnEnded(1, "end_turn", usage=Usage(input=5210, output=842)),
        history.UserSaid("m6", (Text("Run them again."),), 2),
        history.Unread('{"type":"later","v":2}'),
        history.TurnEnded(2, fault=Fault(-32603, "The provider answered with status 500; try again later.")),
        history.UserSaid("m7", (Text("And now?"),), 3),
        history.TurnEnded(3, "cancelled"),
    )
