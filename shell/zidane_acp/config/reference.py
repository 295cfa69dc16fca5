"""`docs/configuration.md`, made from the records: `python -m zidane_acp.config.reference > docs/configuration.md`."""

import sys
from collections.abc import Iterator
from typing import Final

import msgspec

from zidane_acp.config.kinds import description, is_record, item_of, keys_of, kind_of, named_of, words
from zidane_acp.config.project import ProjectFile, ProjectPermissions
from zidane_acp.config.records import (
    McpTable,
    ModelTable,
    OptionTable,
    PermissionsTable,
    PriceTable,
    ProviderTable,
    UiTable,
    UserFile,
    ValueTable,
)
from zidane_acp.settings import FLAGS, Settings
from zidane_core.text import encode_json

HEAD: Final = """# Configuration

One TOML file holds what you do not want to type each time. None is needed: keys in the environment are enough.

`zidane-acp config path` prints where it is: the file of `--config` or `ZIDANE_ACP_CONFIG`, else `config.toml` in the folder of
`--home` or `ZIDANE_ACP_HOME` if that is set, else in the platform's folder of settings (`~/.config/zidane-acp` on Linux).

```toml
default_model = "anthropic/claude-opus-5-5"
thinking = "medium"

[permissions]
policy = "allow-edits"
deny_paths = ["**/.env"]

[providers.work]
base_url = "https://gateway.example/v1"
key_variable = "WORK_GATEWAY_KEY"

[[models]]
id = "large"
provider = "work"
model = "our-large-model"
context_window = 200000
price = { input = 2.0, output = 8.0 }

[[models.options]]
id = "fast"
name = "Fast"
on = { service_tier = "priority" }

[mcp.files]
command = "npx"
args = ["-y", "@modelcontextprotocol/server-filesystem", "."]
```

A flag beats its variable, the variable beats the project's file, that beats yours, and yours beats the default. A project's
file sets very little, see [below](#a-projects-file).

Nothing in the file stops a session from starting. An unknown key is a warning that names the nearest known one; a value that
does not fit is a warning that names the file, the line and the key. Either is left out, and the rest holds. Of a table that means something
else in part (a provider, an MCP server, a price, an option) all is left out. The warnings are in the log, in
`zidane-acp doctor`, and in `zidane-acp config check`.

A key of a provider has no place in the file: use its environment variable or `zidane-acp login`. The file names variables,
and child processes do not inherit those that it names in `[providers]`.

    zidane-acp config path                  where the file is
    zidane-acp config show [--origin]       the settings in force, and where each comes from; secrets are never shown
    zidane-acp config check [FILE]          each problem on a line, exit code 1 if there is one
    zidane-acp config set KEY VALUE         change one setting; comments stay, and what is wrong is refused

Each of them takes `--config FILE` and `--home DIR`. `KEY` is written with dots, such as `permissions.policy` or
`mcp.files.command`. Exit codes: 0, 1 for a problem, 2 for wrong usage.
"""

MODELS: Final = """A value of an option holds fields of the provider's request. They are merged into it field by field; lists and single values
are replaced. `model`, `messages`, `input` and `stream` cannot be changed in this way.
"""

FLAGS_ONLY: Final = """These flags have no key in the file: they say where it is, are for one run, or are said there in another way.
"""

PROJECT: Final = """`.zidane/config.toml` in a folder of the workspace is what its authors wish for sessions in it. It can make permission only
stricter, and it never sets commands, servers, keys, addresses, providers or models. What is wrong in it, or not for a
project to set, is a warning. A file of more than 64 KiB is not read.
"""

SECTIONS: Final[tuple[tuple[str, str, type[msgspec.Struct]], ...]] = (
    ("Top level", "", UserFile),
    ("`[permissions]`", "", PermissionsTable),
    ("`[providers.NAME]`", "", ProviderTable),
    ("`[[models]]`", "", ModelTable),
    ("`price` of a model", "", PriceTable),
    ("`[[models.options]]`", MODELS, OptionTable),
    ("`[[models.options.values]]`", "", ValueTable),
    ("`[mcp.NAME]`", "More is in [mcp.md](mcp.md).\n", McpTable),
    ("`[ui]`", "", UiTable),
)
WHY_NOT: Final = {
    "model": "`default_model` and `[[models]]`",
    "base-url": "`base_url` of a provider",
    "home": "the file may be in this folder",
    "config": "it names the file",
    "script": "for tests and demos",
    "trace": "for one run: it holds all that is said",
}


def page() -> str:
    """The whole page."""
    parts = [HEAD]
    for title, text, record in SECTIONS:
        parts.append(f"## {title}\n\n{record.__doc__}\n\n{text}{chr(10) if text else ''}{_table(record)}")
    parts.append(f"## Flags without a key\n\n{FLAGS_ONLY}\n{_flags()}")
    rules = (
        f"### `[permissions]` of a project\n\n{ProjectPermissions.__doc__}\n\n{_table(ProjectPermissions)}"
    )
    parts.append(f"## A project's file\n\n{PROJECT}\n{_table(ProjectFile)}\n{rules}")
    return "\n".join(parts)


def _table(record: type[msgspec.Struct]) -> str:
    return "".join(_rows(record))


def _rows(record: type[msgspec.Struct]) -> Iterator[str]:
    yield "| Key | Takes | Default | Meaning |\n| --- | --- | --- | --- |\n"
    plain = {field.name: field.default for field in msgspec.structs.fields(record)}
    for name, annotation, required in keys_of(record):
        if not _is_section(annotation):
            default = "needed" if required else _default(record, name, plain[name])
            yield f"| `{name}` | {words(annotation)} | {default} | {description(annotation)} |\n"


def _is_section(annotation: object) -> bool:
    """Whether a key has a table of its own on the page."""
    kind = kind_of(annotation).type
    inner = item_of(kind) or named_of(kind) or kind
    return is_record(kind_of(inner).type) and kind_of(inner).type is not PriceTable


def _default(record: type[msgspec.Struct], name: str, value: object) -> str:
    """The default as it would be written; of what stands in place of a flag the flag's."""
    key = f"permissions.{name}" if record is PermissionsTable else name if record is UserFile else ""
    flag = next((flag for flag in FLAGS if flag.key == key and key), None)
    found: object = value if flag is None else getattr(Settings(), flag.field)
    if found is None or found is msgspec.NODEFAULT or found in ("", (), {}):
        return ""
    return f"`{encode_json(found).decode()}`" if not isinstance(found, dict) else ""


def _flags() -> str:
    rows = (f"| `{flag.option}` | {WHY_NOT[flag.name]} |\n" for flag in FLAGS if not flag.key)
    return "| Flag | Instead |\n| --- | --- |\n" + "".join(rows)


if __name__ == "__main__":
    sys.stdout.write(page())
