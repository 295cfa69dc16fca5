"""The editors as a table: where the entry goes, what it looks like, and what to do afterwards.

Formats: Zed and JetBrains `agent_servers`, CodeCompanion `adapters.acp`, agent-shell
`agent-shell-agent-configs`, acpx `agents`.
"""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

import msgspec

Entry = dict[str, object]
TITLE: Final = "Zidane"


class JsonFile(msgspec.Struct, frozen=True, gc=False):
    """A settings file in JSON: its path below the home folder, and the keys that lead to our entry."""

    path: str
    keys: tuple[str, ...]
    entry: Callable[[Sequence[str]], Entry]


class Editor(msgspec.Struct, frozen=True, gc=False):
    """An editor: `file` when its settings can be written, `snippet` for all, and the next step in one sentence."""

    name: str
    title: str
    place: str
    snippet: Callable[[Sequence[str]], str]
    next_step: str
    file: JsonFile | None = None


def zed_entry(command: Sequence[str]) -> Entry:
    return {"type": "custom", "command": command[0], "args": list(command[1:]), "env": {}}


def jetbrains_entry(command: Sequence[str]) -> Entry:
    return {"command": command[0], "args": list(command[1:]), "env": {}}


def acpx_entry(command: Sequence[str]) -> Entry:
    # acpx splits `command` at blanks; a path with blanks needs its newer `argv` form.
    if any(" " in word for word in command):
        return {"argv": list(command)}
    return {"command": " ".join(command)}


def as_json(file: JsonFile) -> Callable[[Sequence[str]], str]:
    def snippet(command: Sequence[str]) -> str:
        entry: Entry = file.entry(command)
        for key in reversed(file.keys):
            entry = {key: entry}
        return json.dumps(entry, indent=2, ensure_ascii=False)

    return snippet


def quoted(word: str) -> str:
    """A string literal that Lua and Emacs Lisp read alike."""
    return '"' + word.replace("\\", "\\\\").replace('"', '\\"') + '"'


def neovim_snippet(command: Sequence[str]) -> str:
    words = ", ".join(map(quoted, command))
    return f"""require("codecompanion").setup({{
  adapters = {{
    acp = {{
      zidane = function()
        local helpers = require("codecompanion.adapters.acp.helpers")
        return {{
          name = "zidane",
          formatted_name = "{TITLE}",
          type = "acp",
          roles = {{ llm = "assistant", user = "user" }},
          opts = {{ vision = true }},
          commands = {{ default = {{ {words} }} }},
          defaults = {{ mcpServers = {{}}, timeout = 20000 }},
          parameters = {{
            protocolVersion = 1,
            clientCapabilities = {{ fs = {{ readTextFile = true, writeTextFile = true }} }},
            clientInfo = {{ name = "CodeCompanion.nvim", version = "1.0.0" }},
          }},
          handlers = {{
            setup = function() return true end,
            auth = function() return true end,
            form_messages = function(self, messages, capabilities)
              return helpers.form_messages(self, messages, capabilities)
            end,
            on_exit = function() end,
          }},
        }}
      end,
    }},
  }},
  interactions = {{ chat = {{ adapter = "zidane" }} }},
}})"""


def emacs_snippet(command: Sequence[str]) -> str:
    arguments = " ".join(map(quoted, command[1:]))
    params = f"'({arguments})" if arguments else "nil"
    return f"""(with-eval-after-load 'agent-shell
  (add-to-list
   'agent-shell-agent-configs
   (agent-shell-make-agent-config
    :identifier 'zidane
    :mode-line-name "{TITLE}"
    :buffer-name "{TITLE}"
    :shell-prompt "{TITLE}> "
    :shell-prompt-regexp "{TITLE}> "
    :client-maker (lambda (buffer)
                    (agent-shell--make-acp-client
                     :command {quoted(command[0])}
                     :command-params {params}
                     :context-buffer buffer)))))"""


ZED: Final = JsonFile(".config/zed/settings.json", ("agent_servers", TITLE), zed_entry)
JETBRAINS: Final = JsonFile(".jetbrains/acp.json", ("agent_servers", TITLE), jetbrains_entry)
ACPX: Final = JsonFile(".acpx/config.json", ("agents", "zidane"), acpx_entry)

EDITORS: Final[tuple[Editor, ...]] = (
    Editor(
        "zed",
        "Zed",
        "~/" + ZED.path,
        as_json(ZED),
        f"Open the agent panel, press + and choose {TITLE}.",
        ZED,
    ),
    Editor(
        "jetbrains",
        "JetBrains IDEs",
        "~/" + JETBRAINS.path,
        as_json(JETBRAINS),
        f"Open the AI Chat and choose {TITLE} in the list of agents.",
        JETBRAINS,
    ),
    Editor(
        "neovim",
        "Neovim (CodeCompanion)",
        "your Neovim configuration (init.lua); merge it with a setup call that is already there",
        neovim_snippet,
        "Restart Neovim and run :CodeCompanionChat.",
    ),
    Editor(
        "emacs",
        "Emacs (agent-shell)",
        "your Emacs init file",
        emacs_snippet,
        f"Evaluate it, run M-x agent-shell and choose {TITLE}.",
    ),
    Editor(
        "acpx",
        "acpx",
        "~/" + ACPX.path,
        as_json(ACPX),
        "Run: acpx zidane exec 'what is in this folder?'",
        ACPX,
    ),
)


def find(name: str) -> Editor | None:
    """The editor of that name."""
    return next((editor for editor in EDITORS if editor.name == name.lower()), None)


def settings_file(editor: Editor, home: Path) -> Path | None:
    """Where the editor keeps its settings, None when there is no JSON file to write."""
    return None if editor.file is None else home / editor.file.path
