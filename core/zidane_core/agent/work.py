"""What can be started: the jobs that a `Start` names (ring 2)."""

from typing import Literal, TypeAlias

import msgspec

from zidane_core.data.content import Image, Link
from zidane_core.data.mcp import McpServerConfig
from zidane_core.data.models import ModelChoice, ModelRequest
from zidane_core.data.rules import Grant
from zidane_core.data.stored import Place
from zidane_core.data.tools import Preview


class RunModel(msgspec.Struct, frozen=True, gc=False, tag="run_model"):
    """One model round."""

    request: ModelRequest
    session: str = ""


class RunTool(msgspec.Struct, frozen=True, kw_only=True, gc=False, tag="run_tool"):
    """Prepare (reads only) or run one tool call.

    `arguments` fit the tool's schema. `cwd` is absolute; file tools resolve relative paths against it and
    stay in `roots` unless `outside` was granted. `preview` is what prepare found; run checks it again. `granted`
    False: the call runs without a question only because it is harmless, so its paths are checked once more. `denied` are
    patterns of paths (`denials.path_rules`) that are neither touched nor found.
    """

    stage: Literal["prepare", "run"]
    name: str
    arguments: dict[str, object]
    session: str
    call: str
    cwd: str
    roots: tuple[str, ...]
    paths: tuple[str, ...] = ()
    preview: Preview | None = None
    outside: bool = False
    granted: bool = False
    denied: tuple[str, ...] = ()


class RunMcpServer(msgspec.Struct, frozen=True, kw_only=True, gc=False, tag="run_mcp_server"):
    """Connect a server of a session and keep it. What it offers comes as progress (`McpOffer`), first when it is
    connected and again whenever that changes; questions come as `Asked`. Ends when the server is lost, or `within`
    seconds have passed before it was connected."""

    session: str
    config: McpServerConfig
    cwd: str
    roots: tuple[str, ...]
    within: float


class RunMcpCall(msgspec.Struct, frozen=True, kw_only=True, gc=False, tag="run_mcp_call"):
    """One call on a connected server of a session; what the server says of its progress comes as `ToolOutput`."""

    session: str
    server: str
    tool: str
    arguments: dict[str, object]


class GetMcpPrompt(msgspec.Struct, frozen=True, kw_only=True, gc=False, tag="get_mcp_prompt"):
    """A prompt of a connected server, with its arguments filled in."""

    session: str
    server: str
    prompt: str
    arguments: dict[str, str]


class LookAtFile(msgspec.Struct, frozen=True, gc=False, tag="look_at_file"):
    """Where the argument `path` of a call leads, and what the disk has there; outside of the roots nothing is read."""

    call: RunTool


class ReadAttachments(msgspec.Struct, frozen=True, kw_only=True, gc=False, tag="read_attachments"):
    """Read the files that links of a prompt name, and shrink pictures that are too large.

    `links` and `images` are parts by their position in the prompt. `image_bytes` is what the model takes of one
    picture, before base64; `images_taken` and `documents_taken` say what it takes at all. `denied` is as in `RunTool`.
    """

    cwd: str
    roots: tuple[str, ...]
    links: tuple[tuple[int, Link], ...] = ()
    images: tuple[tuple[int, Image], ...] = ()
    image_bytes: int
    images_taken: bool = True
    documents_taken: bool = False
    denied: tuple[str, ...] = ()


class RunGraph(msgspec.Struct, frozen=True, gc=False, tag="run_graph"):
    """Run or resume a named agent's graph; `payload` is JSON text."""

    agent: str
    thread: str
    payload: str
    resume: bool = False


class RunHook(msgspec.Struct, frozen=True, gc=False, tag="run_hook"):
    """Ask a host's hook about a call; `payload` is JSON text."""

    hook: Literal["gate", "transform", "context"]
    payload: str


class RunFactory(msgspec.Struct, frozen=True, gc=False, tag="run_factory"):
    """Make the provider of a model that was selected, if it is not there yet."""

    model: ModelChoice


class CheckPaths(msgspec.Struct, frozen=True, gc=False, tag="check_paths"):
    """Look whether these folders of a thread exist and can be opened, the working folder first; with `project` also what
    they bring along."""

    paths: tuple[str, ...]
    project: bool = False


class LookAround(msgspec.Struct, frozen=True, gc=False, tag="look_around"):
    """See where a thread works: the platform, the date, the state of the repository."""

    cwd: str


class KeepGrant(msgspec.Struct, frozen=True, gc=False, tag="keep_grant"):
    """Remember a permission for the project that has this folder."""

    folder: str
    grant: Grant


class KeepTrust(msgspec.Struct, frozen=True, gc=False, tag="keep_trust"):
    """Remember that these folders (`Project.folders`) are trusted."""

    folders: tuple[str, ...]


class LogIn(msgspec.Struct, frozen=True, gc=False, tag="log_in"):
    """Log in by one of the agent's own methods; with `pages` the user can be shown a page, by an `Asked` of the kind `elicit`."""

    method: str
    pages: bool = False


class LogOut(msgspec.Struct, frozen=True, gc=False, tag="log_out"):
    """Forget what logins have kept."""


class FindThread(msgspec.Struct, frozen=True, gc=False, tag="find_thread"):
    """Look for a stored session."""

    session: str


class LoadThread(msgspec.Struct, frozen=True, gc=False, tag="load_thread"):
    """Read the entries of a stored session; they come as progress, piece by piece."""

    session: str


class DeleteThread(msgspec.Struct, frozen=True, gc=False, tag="delete_thread"):
    """Remove a stored session; one that is not there is no failure."""

    session: str


class ListThreads(msgspec.Struct, frozen=True, gc=False, tag="list_threads"):
    """Read stored sessions, the newest first, behind a place of the list."""

    cwd: str | None = None
    after: Place | None = None
    limit: int = 50


class Wait(msgspec.Struct, frozen=True, gc=False, tag="wait"):
    """End after so many seconds."""

    seconds: float


class Rest(msgspec.Struct, frozen=True, gc=False, tag="rest"):
    """End after so many seconds in which a thread was idle; nobody waits for it."""

    seconds: float


class Tick(msgspec.Struct, frozen=True, gc=False, tag="tick"):
    """Report every so many seconds until stopped."""

    seconds: float


What: TypeAlias = (
    RunModel
    | RunTool
    | RunMcpServer
    | RunMcpCall
    | GetMcpPrompt
    | LookAtFile
    | ReadAttachments
    | RunGraph
    | RunHook
    | RunFactory
    | CheckPaths
    | LookAround
    | KeepGrant
    | KeepTrust
    | LogIn
    | LogOut
    | FindThread
    | LoadThread
    | DeleteThread
    | ListThreads
    | Wait
    | Rest
    | Tick
)
