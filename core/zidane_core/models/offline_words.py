"""What the offline model says about itself, its commands, keys, models and editors (ring 1)."""

import difflib
from typing import Final

from zidane_core.models.offline_commands import BY_NAME, OFFLINE_COMMANDS, OfflineCommand
from zidane_core.models.offline_quoting import quoted
from zidane_core.models.providers import DETECTION_ORDER, PROVIDERS

KEY_VARIABLES: Final = tuple(
    (variable, name) for name in DETECTION_ORDER if (variable := PROVIDERS[name].key_variable) is not None
)
"""The variables that hold a key, in the order in which they are looked at, and the provider each one selects."""

EDITORS: Final = (
    ("zed", "Zed"),
    ("jetbrains", "JetBrains IDEs"),
    ("neovim", "Neovim with CodeCompanion"),
    ("emacs", "Emacs with agent-shell"),
    ("acpx", "acpx in a terminal"),
)
"""What `zidane-acp setup` takes, and the client each one is."""

SELF: Final = (
    "I am the built-in offline model of zidane-acp. I am **no language model**: I know a fixed set of commands "
    "that work on your files through the same tools and permission questions as a real model, and nothing else."
)


def _usage(command: OfflineCommand) -> str:
    return f"/{command.name} {command.hint}".rstrip()


def command_list() -> str:
    """All commands as a Markdown list."""
    return "\n".join(f"- `{_usage(command)}` {command.description}." for command in OFFLINE_COMMANDS) + "\n"


def _key_text(facts: str) -> str:
    found = f"{facts.strip()}\n\n" if facts.strip() else ""
    return (
        f"{found}To talk to a language model, set a key before the agent starts, for example "
        "`export ANTHROPIC_API_KEY=...` or `export OPENAI_API_KEY=...`; the first key found is used. "
        "Without a key, start a local [Ollama](https://ollama.com) and the agent with "
        "`--provider ollama --model NAME`. `/setup` tells more.\n"
    )


def help_text(facts: str = "") -> str:
    """The answer to /help."""
    return f"{SELF}\n\n{command_list()}\n{_key_text(facts)}"


def other_text(text: str, facts: str = "") -> str:
    """The answer to anything that is no command; it quotes the first line, so the user sees what was read."""
    line = next((line.strip() for line in text.splitlines() if line.strip()), "")
    said = (
        f"So I cannot answer this:\n\n> {_shortened(line)}"
        if line
        else "Your message has no text that I can read."
    )
    return f"{SELF} {said}\n\nWhat I can do:\n\n{command_list()}\n{_key_text(facts)}"


def _shortened(line: str, limit: int = 200) -> str:
    return line if len(line) <= limit else line[: limit - 1] + "…"


def unknown_text(name: str) -> str:
    """The answer to a slash command that does not exist."""
    near = difflib.get_close_matches(name, tuple(BY_NAME), n=1)
    hint = f" Did you mean `/{near[0]}`?" if near else ""
    return f"There is no command {quoted('/' + name)}.{hint} These exist:\n\n{command_list()}"


def malformed_text(name: str, problem: str) -> str:
    """The answer to a command that cannot be understood: what is wrong, the usage, an example."""
    command = BY_NAME[name]
    return (
        f"I cannot run this `/{name}`: {problem}.\n\n- Usage: `{_usage(command)}`\n- Example: `{command.example}`\n"
        + (
            '\nInside "double quotes", `\\n`, `\\t`, `\\"` and `\\\\` are escapes; '
            "inside 'single quotes' everything stands for itself.\n"
            if name in {"replace", "write"}
            else ""
        )
    )


def missing_tool_text(name: str, tool: str) -> str:
    """The answer to a command whose tool this session does not offer."""
    return f"`/{name}` needs the tool `{tool}`, which this session does not offer. `/help` lists the other commands.\n"


def setup_text(facts: str = "") -> str:
    """The answer to /setup. `facts` are sentences about this machine (Markdown), found by the shell."""
    keys = "\n".join(f"- `{variable}` selects `{provider}`" for variable, provider in KEY_VARIABLES)
    editors = "\n".join(f"- {name}: `zidane-acp setup {editor}`" for editor, name in EDITORS)
    machine = f"## This machine\n\n{facts.strip()}\n\n" if facts.strip() else ""
    return (
        f"{machine}## Keys\n\n"
        "Set one of these variables where the agent is started (your shell's profile, or the `env` of the agent "
        "in your editor's settings), then start a new session. The first one found is used:\n\n"
        f"{keys}\n\n"
        "A key is read from the environment only and never written or shown.\n\n"
        "## Models\n\n"
        "- `--provider NAME --model ID` selects by hand; `--model` may be repeated, the first one is the default.\n"
        "- A local Ollama needs no key: `--provider ollama --model NAME`; `OLLAMA_HOST` says where it listens.\n"
        "- Any other server that speaks OpenAI's protocol: "
        "`--provider openai-compatible --base-url URL --model ID`.\n"
        "- `--provider replay --script FILE` plays a prepared script, for tests and demos.\n\n"
        "## Editors\n\n"
        f"{editors}\n\n"
        "Each prints what to add to the client's settings. `zidane-acp chat` talks to the agent in a terminal, and "
        "`zidane-acp doctor` lists what was found on this machine.\n"
    )
