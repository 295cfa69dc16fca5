"""The tool `search`: ripgrep where it is installed, else a walk here and the matching in a child process.

Both children write the same format and both are killed when the limit is reached, time is up or the call is
cancelled. Folders are walked by handle here and in our own child; ripgrep walks by path, so that what it finds is
looked at again.
"""

import contextlib
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import aclosing
from typing import Final, NamedTuple

import anyio
import anyio.abc

from zidane_acp.tools import match_lines
from zidane_acp.tools.arguments import integer, passable, text
from zidane_acp.tools.denied import denied_by
from zidane_acp.tools.globs import compiled
from zidane_acp.tools.guard import Guard
from zidane_acp.tools.handles import entry, listable, opened
from zidane_acp.tools.paths import checked, path_argument, relative, shown
from zidane_acp.tools.processes import started
from zidane_acp.tools.results import Refused, said
from zidane_acp.tools.walk import walk
from zidane_core.agent.work import RunTool
from zidane_core.bounded import bounded
from zidane_core.data.tools import ResolvedPath, ToolResult

SECONDS: Final = 30.0
ROOM: Final = 64 * 1024
WIDTH: Final = 400
_LINE_ROOM: Final = 1 << 16
_STDERR_ROOM: Final = 4096

_RIPGREP_FLAGS: Final = (
    "--no-config",
    "--color=never",
    "--no-heading",
    "--with-filename",
    "--line-number",
    "--null",
    "--no-messages",
    "--hidden",
    "--no-require-git",
    "--no-ignore-dot",
    "--no-ignore-global",
    "--no-ignore-exclude",
    "--glob=!.git",
    "--sort=path",
)


class _Place(NamedTuple):
    """Where to search: the real folder, a file in it or None for all, the absolute folder to show, and what denies an
    absolute path there."""

    folder: str
    file: str | None
    show: str
    roots: tuple[str, ...]
    denied: Callable[[str], str]

    @property
    def path(self) -> ResolvedPath:
        """The folder as a path."""
        return ResolvedPath(self.show, self.folder, True)


class _Match(NamedTuple):
    path: str  # with surrogates for bytes that are no UTF-8, so that it can be opened
    line: str
    text: str


class _Child(NamedTuple):
    """A child to run: its arguments and the bytes for its standard input."""

    arguments: tuple[str, ...]
    stdin: bytes


class _Ended(NamedTuple):
    """How the child ended: whether the limit cut it, time ran out, and what it complained about."""

    matches: tuple[_Match, ...]
    more: bool
    late: bool
    problem: str


def _place(call: RunTool) -> _Place:
    path = checked(call, path_argument(call))
    show, denied = shown(path, call.cwd), denied_by(call.denied, call.roots)
    if os.path.isdir(path.real):
        return _Place(path.real, None, show, call.roots, denied)
    if not os.path.isfile(path.real):
        raise Refused(f"There is no file or folder {path.given}.")
    folder, name = os.path.split(path.real)
    return _Place(folder, name, os.path.dirname(show), call.roots, denied)


def _ripgrep(program: str, pattern: str, place: _Place) -> _Child:
    return _Child((program, *_RIPGREP_FLAGS, "--", pattern, os.path.join(".", place.file or "")), b"")


def _python(pattern: str, place: _Place, stopped: Callable[[], bool]) -> _Child:
    if not sys.executable:
        raise Refused("Searching needs ripgrep here; install it, so that `rg` is found.")
    with listable(place.path, place.roots) as top:
        found = (one.path for one in walk(top, place.folder, stopped, denied=place.denied) if not one.folder)
        paths = [place.file] if place.file else found
        listed = b"".join(os.fsencode(path) + b"\0" for path in paths)
    return _Child((sys.executable, "-I", "-S", match_lines.__file__, pattern), listed)


async def _pieces(stream: anyio.abc.ByteReceiveStream) -> AsyncGenerator[bytes]:
    """The lines of a stream, each cut to a bound that holds while it is read."""
    pending = b""
    async for chunk in stream:
        *lines, last = chunk.split(b"\n")
        for line in lines:
            yield (pending + line)[:_LINE_ROOM]
            pending = b""
        pending = (pending + last)[:_LINE_ROOM]
    if pending:
        yield pending


def _match(line: bytes) -> _Match | None:
    """A line of the child's output; None for its other remarks (binary files)."""
    path, nul, rest = line.partition(b"\0")
    number, colon, found = rest.partition(b":")
    if not nul or not colon or not number.isdigit():
        return None
    name = os.fsdecode(path).removeprefix("./")
    shortened = found.decode("utf-8", "replace").removesuffix("\r")
    return _Match(
        name, number.decode(), shortened if len(shortened) <= WIDTH else shortened[: WIDTH - 1] + "…"
    )


async def _start(child: _Child, place: _Place, environment: Mapping[str, str]) -> anyio.abc.Process:
    """The child in its folder, which is opened as it was found: a link that took its place is refused."""
    with listable(place.path, place.roots) as top:
        by_handle = isinstance(top, int) and sys.platform == "linux"
        folder = f"/proc/self/fd/{top}" if by_handle else place.folder
        return await started(child.arguments, folder, environment, stdin=subprocess.PIPE)


def _straight(place: _Place, paths: frozenset[str]) -> frozenset[str]:
    """The paths that lead to a file without any link."""
    return frozenset(path for path in paths if _is_straight(place, path))


def _is_straight(place: _Place, path: str) -> bool:
    try:
        found = ResolvedPath(path, os.path.join(place.folder, path), True)
        with entry(found, place.roots) as there, opened(there, path):
            return True
    except (OSError, Refused):
        return False


@contextlib.asynccontextmanager
async def _watched(guard: Guard, process: anyio.abc.Process) -> AsyncGenerator[None]:
    """The child, killed at the end, and by the guard if the agent does not live to see it."""
    with guard.watched(process.pid):
        async with process:
            yield


async def _run(
    child: _Child,
    place: _Place,
    environment: Mapping[str, str],
    fits: Callable[[str], bool],
    limit: int,
    guard: Guard,
) -> _Ended:
    matches: list[_Match] = []
    complaint = bytearray()
    more, late = False, False
    guard.start()
    process = await _start(child, place, environment)
    async with _watched(guard, process):
        stdin, stdout, stderr = process.stdin, process.stdout, process.stderr
        if stdin is None or stdout is None or stderr is None:
            raise Refused("The search could not be started.")
        errors = stderr

        async def feed() -> None:
            try:
                await stdin.send(child.stdin)
                await stdin.aclose()
            except (anyio.BrokenResourceError, anyio.ClosedResourceError):
                pass  # the child has ended already and says why on stderr

        async def listen() -> None:
            async for chunk in errors:
                complaint.extend(chunk[: _STDERR_ROOM - len(complaint)])

        with anyio.move_on_after(SECONDS) as scope:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(feed)
                tasks.start_soon(listen)
                async with aclosing(_pieces(stdout)) as lines:
                    async for line in lines:
                        match = _match(line)
                        if match is None or not fits(match.path):
                            continue
                        if len(matches) >= limit:
                            more = True
                            break
                        matches.append(match)
                if more:
                    tasks.cancel_scope.cancel()
        late = scope.cancelled_caught
        if more or late:
            with contextlib.suppress(ProcessLookupError):  # it may have ended by itself
                process.kill()
        await process.wait()
        broken = process.returncode == 2 and not matches
    problem = complaint.decode("utf-8", "replace").strip() if broken else ""
    return _Ended(tuple(matches), more, late, problem)


async def search(
    call: RunTool, environment: Mapping[str, str], use_ripgrep: bool, guard: Guard
) -> ToolResult:
    """Lines that match, as `path:line: text`, paths relative to the working folder where they lie in it."""
    stop = threading.Event()
    pattern, limit = text(call, "pattern"), integer(call, "limit", 100)
    program = shutil.which("rg") if use_ripgrep else None

    def prepare() -> tuple[_Place, _Child]:
        place = _place(call)
        made = _ripgrep(program, pattern, place) if program else _python(pattern, place, stop.is_set)
        return place, made

    passable(pattern, "pattern")
    wanted = compiled(text(call, "glob")) if text(call, "glob") else None
    try:
        with anyio.fail_after(SECONDS):
            place, child = await anyio.to_thread.run_sync(prepare, abandon_on_cancel=True)
    except TimeoutError:
        raise Refused(f"The search was ended after {SECONDS:g} s; name a smaller folder.") from None
    finally:
        stop.set()

    def fits(path: str) -> bool:
        # ripgrep knows nothing of what is denied; what it found there is left out here.
        return (wanted is None or wanted.fullmatch(path) is not None) and not place.denied(
            os.path.join(place.folder, path)
        )

    ended = await _run(child, place, environment, fits, limit, guard)
    if program:
        paths = frozenset(match.path for match in ended.matches)
        kept = await anyio.to_thread.run_sync(_straight, place, paths, abandon_on_cancel=True)
        ended = ended._replace(matches=tuple(match for match in ended.matches if match.path in kept))
    return _result(ended, place, call.cwd, limit)


def _legible(path: str) -> str:
    return os.fsencode(path).decode("utf-8", "replace")


def _result(ended: _Ended, place: _Place, cwd: str, limit: int) -> ToolResult:
    if ended.problem:
        raise Refused(f"The search failed: {ended.problem}")
    lines = (
        f"{relative(os.path.join(place.show, _legible(match.path)), cwd)}:{match.line}: {match.text}"
        for match in ended.matches
    )
    notes = {
        f"[There are more than {limit} matches; narrow the search or raise the limit.]": ended.more,
        f"[The search was ended after {SECONDS:g} s; narrow it.]": ended.late,
    }
    told = [bounded("\n".join(lines), ROOM), *(note for note, holds in notes.items() if holds)]
    said_text = "\n".join(part for part in told if part) or "No matches."
    raw: dict[str, object] = {"count": len(ended.matches), "truncated": ended.more or ended.late}
    return said(said_text, failed=ended.late and not ended.matches, raw=raw)
