"""The built-in tools as data (ring 2). The executors live in the shell under the same names."""

from zidane_core.data.tools import ToolSpec


def _object(properties: dict[str, object], *required: str) -> dict[str, object]:
    """A JSON schema of an object; what else a model adds to it is ignored."""
    return {"type": "object", "properties": properties, "required": list(required)}


def _string(description: str, least: int = 0) -> dict[str, object]:
    field: dict[str, object] = {"type": "string", "description": description}
    return {**field, "minLength": least} if least else field


def _integer(description: str, most: int) -> dict[str, object]:
    return {"type": "integer", "minimum": 1, "maximum": most, "description": description}


_PATH = "Path of the file, absolute or relative to the working folder."
_FOLDER = "Folder to look in, absolute or relative to the working folder. Default: the working folder."
_MANY = 1_000_000_000


def _replacement() -> dict[str, object]:
    return {
        "old_string": _string("The exact text to replace, with enough lines around it to be unique.", 1),
        "new_string": _string("The text to put in its place."),
        "replace_all": {
            "type": "boolean",
            "description": "Replace every occurrence. Default false: the text must occur exactly once.",
        },
    }


def _plan_entry() -> dict[str, object]:
    return {
        "content": _string("What is to be done, in one short sentence.", 1),
        "status": {"type": "string", "enum": ["pending", "in_progress", "completed"]},
        "priority": {"type": "string", "enum": ["high", "medium", "low"]},
    }


READ_FILE = ToolSpec(
    name="read_file",
    description=(
        "Read a text file, or look at an image (png, jpeg, gif, webp). For a long file give the first line "
        "(`line`, counted from 1) and the number of lines (`limit`). Long output is cut, and says where to read on."
    ),
    schema=_object(
        {
            "path": _string(_PATH, 1),
            "line": _integer("First line to read, counted from 1.", _MANY),
            "limit": _integer("How many lines to read at most.", _MANY),
        },
        "path",
    ),
    kind="read",
    access="read",
    changes=False,
    title="Read {path}",
    path_arguments=("path",),
    line_argument="line",
    subject="path",
    prepare="paths",
)

WRITE_FILE = ToolSpec(
    name="write_file",
    description=(
        "Write a whole file: makes a new one, with the folders it needs, or replaces all of an existing one. "
        "To change a part of a file use `edit`."
    ),
    schema=_object(
        {"path": _string(_PATH, 1), "content": _string("The complete new content.")}, "path", "content"
    ),
    kind="edit",
    access="write",
    title="Write {path}",
    path_arguments=("path",),
    subject="path",
    prepare="content",
)

EDIT = ToolSpec(
    name="edit",
    description=(
        "Replace a piece of text in a file. `old_string` must be copied exactly from the file, white space "
        "included, and must occur once unless `replace_all` is set. Line endings and encoding are kept."
    ),
    schema=_object({"path": _string(_PATH, 1), **_replacement()}, "path", "old_string", "new_string"),
    kind="edit",
    access="write",
    title="Edit {path}",
    path_arguments=("path",),
    subject="path",
    prepare="content",
)

MULTI_EDIT = ToolSpec(
    name="multi_edit",
    description=(
        "Make several replacements in one file, one after the other, each on the result of the one before. "
        "All are made or none."
    ),
    schema=_object(
        {
            "path": _string(_PATH, 1),
            "edits": {
                "type": "array",
                "minItems": 1,
                "description": "The replacements, in order.",
                "items": _object(_replacement(), "old_string", "new_string"),
            },
        },
        "path",
        "edits",
    ),
    kind="edit",
    access="write",
    title="Edit {path}",
    path_arguments=("path",),
    subject="path",
    prepare="content",
)

LIST_FILES = ToolSpec(
    name="list_files",
    description=(
        "List the files and folders below a folder; folders end with a slash. What .gitignore names is left out."
    ),
    schema=_object(
        {"path": _string(_FOLDER), "depth": _integer("How many levels to list. Default 2.", 64)},
    ),
    kind="read",
    access="read",
    changes=False,
    title="List {path}",
    path_arguments=("path",),
    subject="path",
    prepare="paths",
)

GLOB = ToolSpec(
    name="glob",
    description=(
        "Find files by name: `*`, `?`, `[...]`, `{a,b}` and `**` for any number of folders. A pattern without "
        "a slash, such as `*.py`, is looked for at every depth. What .gitignore names is left out."
    ),
    schema=_object(
        {"pattern": _string("The pattern, such as `src/**/*.py`.", 1), "path": _string(_FOLDER)}, "pattern"
    ),
    kind="search",
    access="read",
    changes=False,
    title="Find {pattern}",
    path_arguments=("path",),
    subject="path",
    prepare="paths",
)

NO_TERMINAL = "There is no terminal and standard input is empty, so use flags that ask nothing."
"""What the model is told where commands run in processes of the agent."""

SHELL = ToolSpec(
    name="shell",
    description=(
        f"Run a command line with /bin/sh and give its output and exit code. {NO_TERMINAL} "
        "The command ends when its first process ends."
    ),
    schema=_object(
        {
            "command": _string("The command line.", 1),
            "timeout": {
                "type": "number",
                "minimum": 0.1,
                "maximum": 86_400,
                "description": "Seconds until the command is ended. Default 120.",
            },
            "cwd": _string("Folder to run in. Default: the working folder."),
        },
        "command",
    ),
    kind="execute",
    access="run",
    title="{command}",
    path_arguments=("cwd",),
    subject="command",
    prepare="paths",
)

UPDATE_PLAN = ToolSpec(
    name="update_plan",
    machine="plan",
    description=(
        "Show the user the plan of a task that has several steps, and keep it up to date: send all entries each "
        "time, with one of them in_progress while you work."
    ),
    schema=_object(
        {
            "entries": {
                "type": "array",
                "description": "The whole plan, in order.",
                "items": _object(_plan_entry(), "content", "status"),
            }
        },
        "entries",
    ),
    kind="think",
    access="none",
    changes=False,
    title="Update the plan",
)

SEARCH = ToolSpec(
    name="search",
    description=(
        "Search file contents for a regular expression, line by line; gives `path:line: text`. Case counts unless "
        "the pattern starts with (?i). What .gitignore names and binary files are left out."
    ),
    schema=_object(
        {
            "pattern": _string("The regular expression.", 1),
            "path": _string("File or folder to search in. Default: the working folder."),
            "glob": _string("Only files whose path fits this pattern, such as `*.py` or `src/**/*.ts`.", 1),
            "limit": _integer("How many matching lines to give at most. Default 100.", 10_000),
        },
        "pattern",
    ),
    kind="search",
    access="read",
    changes=False,
    title="Search {pattern}",
    path_arguments=("path",),
    subject="path",
    prepare="paths",
)

FETCH = ToolSpec(
    name="fetch",
    description=(
        "Get a public web page or file over http or https. HTML comes as Markdown, other text as it is, images as "
        "images. Addresses of this machine and of private networks are refused."
    ),
    schema=_object({"url": _string("The address, with http:// or https://.", 1)}, "url"),
    kind="fetch",
    access="fetch",
    changes=False,
    title="Fetch {url}",
    subject="url",
)

ASK_USER = ToolSpec(
    name="ask_user",
    description=(
        "Ask the user something that you need to know and cannot find out. Give `schema`, a flat JSON schema of an "
        "object, for a form with fields and choices; without it the user answers in free text. Never ask for secrets."
    ),
    schema=_object(
        {
            "message": _string("The question, complete in itself.", 1),
            "schema": {
                "type": "object",
                "description": (
                    "Fields of the types string (also with enum), number, integer, boolean, or array of choices."
                ),
            },
        },
        "message",
    ),
    kind="other",
    access="none",
    changes=False,
    title="Ask: {message}",
    machine="ask_user",
)

BASIC: tuple[ToolSpec, ...] = (
    READ_FILE,
    WRITE_FILE,
    EDIT,
    MULTI_EDIT,
    LIST_FILES,
    GLOB,
    SHELL,
    UPDATE_PLAN,
    ASK_USER,
)
"""The preset `basic`."""


def with_acp_defaults(preset: tuple[ToolSpec, ...]) -> tuple[ToolSpec, ...]:
    """The preset plus `search` and `fetch`; a tool of the preset wins over ours of the same name."""
    names = frozenset(spec.name for spec in preset)
    return preset + tuple(spec for spec in (SEARCH, FETCH) if spec.name not in names)


ACP_DEFAULT: tuple[ToolSpec, ...] = with_acp_defaults(BASIC)
"""The preset of the ACP server when the host names none."""
