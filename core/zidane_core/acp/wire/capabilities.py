"""What the two sides can do (spec: initialization). Absent or null = no; an object, also {} = yes."""

import msgspec

from zidane_core.acp.wire.record import Wire


class Implementation(Wire, frozen=True, kw_only=True, gc=False):
    """Name and version of a program; `title` is for people."""

    name: str
    version: str
    title: str | None = None


class FileSystemCapabilities(Wire, frozen=True, kw_only=True, gc=False):
    """Which `fs/*` methods the client has."""

    read_text_file: bool = False
    write_text_file: bool = False


class BooleanConfigOptionCapabilities(Wire, frozen=True, kw_only=True, gc=False):
    """The client shows options of type boolean."""


class SessionConfigOptionsCapabilities(Wire, frozen=True, kw_only=True, gc=False):
    """Which kinds of config options the client shows, besides select."""

    boolean: BooleanConfigOptionCapabilities | None = None


class NoticeCapabilities(msgspec.Struct, frozen=True, gc=False):
    """The client shows notices."""


class CompactionCapabilities(msgspec.Struct, frozen=True, gc=False):
    """The client shows compactions."""


class ClientSessionCapabilities(Wire, frozen=True, kw_only=True, gc=False):
    """What the client shows of a session."""

    compaction: CompactionCapabilities | None = None
    config_options: SessionConfigOptionsCapabilities | None = None
    notices: NoticeCapabilities | None = None


class AuthCapabilities(Wire, frozen=True, kw_only=True, gc=False):
    """`terminal`: the client can run a login in a terminal."""

    terminal: bool = False


class ElicitationFormCapabilities(Wire, frozen=True, kw_only=True, gc=False):
    """The client shows forms."""


class ElicitationUrlCapabilities(Wire, frozen=True, kw_only=True, gc=False):
    """The client opens pages for the user."""


class ElicitationCapabilities(Wire, frozen=True, kw_only=True, gc=False):
    """Which ways of asking the client has; an empty object has none."""

    form: ElicitationFormCapabilities | None = None
    url: ElicitationUrlCapabilities | None = None


class ClientCapabilities(Wire, frozen=True, kw_only=True, gc=False):
    """What the client can do; decides which requests the agent may send back."""

    fs: FileSystemCapabilities = FileSystemCapabilities()
    terminal: bool = False
    session: ClientSessionCapabilities | None = None
    auth: AuthCapabilities = AuthCapabilities()
    elicitation: ElicitationCapabilities | None = None


class LogoutCapabilities(Wire, frozen=True, kw_only=True, gc=False):
    """The agent has `logout`."""


class AgentAuthCapabilities(Wire, frozen=True, kw_only=True, gc=False):
    """What the agent has around logging in."""

    logout: LogoutCapabilities | None = None


class PromptCapabilities(Wire, frozen=True, kw_only=True, gc=False):
    """Which prompt blocks the agent takes besides text and resource links."""

    image: bool = False
    audio: bool = False
    embedded_context: bool = False


class McpCapabilities(Wire, frozen=True, kw_only=True, gc=False):
    """Which MCP transports the agent takes besides stdio."""

    http: bool = False
    sse: bool = False


class SessionListCapabilities(Wire, frozen=True, kw_only=True, gc=False):
    """The agent has `session/list`."""


class SessionDeleteCapabilities(Wire, frozen=True, kw_only=True, gc=False):
    """The agent has `session/delete`."""


class SessionAdditionalDirectoriesCapabilities(Wire, frozen=True, kw_only=True, gc=False):
    """The agent takes more roots than the working folder."""


class SessionResumeCapabilities(Wire, frozen=True, kw_only=True, gc=False):
    """The agent has `session/resume`."""


class SessionCloseCapabilities(Wire, frozen=True, kw_only=True, gc=False):
    """The agent has `session/close`."""


class SessionCapabilities(Wire, frozen=True, kw_only=True, gc=False):
    """Which optional session methods the agent has."""

    list: SessionListCapabilities | None = None
    delete: SessionDeleteCapabilities | None = None
    additional_directories: SessionAdditionalDirectoriesCapabilities | None = None
    resume: SessionResumeCapabilities | None = None
    close: SessionCloseCapabilities | None = None


class AgentCapabilities(Wire, frozen=True, kw_only=True, gc=False):
    """What the agent can do."""

    load_session: bool = False
    prompt_capabilities: PromptCapabilities = PromptCapabilities()
    mcp_capabilities: McpCapabilities = McpCapabilities()
    session_capabilities: SessionCapabilities = SessionCapabilities()
    auth: AgentAuthCapabilities = AgentAuthCapabilities()
