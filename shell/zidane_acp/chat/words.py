"""What the client itself says: the first line, errors, stop reasons."""

import re
from collections.abc import Iterable, Mapping
from typing import Final

from zidane_acp.chat.connection import RpcError
from zidane_acp.chat.login import AUTH_REQUIRED, wanted_text
from zidane_acp.chat.opening import Opened
from zidane_acp.chat.safe_text import line
from zidane_acp.chat.updates import Compaction
from zidane_acp.fields import child, objects, text

USAGE: Final = 2
VARIABLE: Final = re.compile(r"[A-Z][A-Z0-9_]+")
STOPPED: Final[Mapping[str, str]] = {
    "max_tokens": "The answer was cut at the model's token limit; say “continue” to go on.",
    "max_turn_requests": "The turn reached its limit of model rounds; say “continue” to go on.",
    "refusal": "The model refused to answer this.",
    "cancelled": "Cancelled.",
}
COMPACTIONS: Final[Mapping[str | None, str]] = {
    "completed": "The conversation was shortened for the model.",
    "cancelled": "Shortening the conversation was cancelled.",
    "failed": "The conversation could not be shortened.",
}
NEXT: Final[Mapping[str, str]] = {
    "auth": "`zidane-acp doctor` shows which keys are found.",
    "billing": "Check the account at the provider, or choose another one with --provider.",
    "network": "`zidane-acp doctor --online` shows what can be reached.",
    "context_overflow": "Start a new chat, or ask about fewer files.",
}


def first_line(opened: Opened) -> str:
    """Agent, provider, model, and where the key came from, as far as the agent says."""
    info = child(opened.agent, "agentInfo")
    name = " ".join(word for word in (text(info, "name") or "agent", text(info, "version")) if word)
    provider = child(opened.session, "_meta", "zidane", "provider") or child(
        opened.agent, "_meta", "zidane", "provider"
    )
    source = text(provider, "source")
    if VARIABLE.fullmatch(source):
        source = f"key from {source}" if source.endswith("KEY") else f"from {source}"
    parts = (name, text(provider, "name"), text(provider, "model") or _model(opened), source)
    # The offline provider's only model bears its name: once is enough.
    return line(" · ".join(dict.fromkeys(part for part in parts if part)))


def _model(opened: Opened) -> str:
    for option in objects(opened.session, "configOptions"):
        if text(option, "category") == "model":
            return text(option, "currentValue")
    return ""


def error_text(error: RpcError, agent: Iterable[str] = ()) -> str:
    """One plain sentence, with the next step where the agent gave none; `agent` is the command that starts the agent."""
    if error.code == AUTH_REQUIRED:
        return wanted_text(error, agent)
    message = line(error.message) or f"The agent reported error {error.code} without a message."
    details = error.data.get("details")
    if isinstance(details, str) and details and details not in message:
        message = f"{message.rstrip('.')}: {line(details)}"
    step = NEXT.get(text(error.data, "kind"), "")
    return f"{message} {step}" if step and step not in message else message


def compaction_text(item: Compaction) -> str:
    """How the shortening of the conversation stands, in one sentence."""
    words = COMPACTIONS.get(item.status, "Shortening the conversation …")
    return f"{words} {line(item.error)}" if item.error else words


def usage_problem(own: bool, exit_code: int | None, last_words: tuple[str, ...]) -> str | None:
    """What our own agent said about wrong flags before it left with the usage code."""
    if own and exit_code == USAGE and last_words:
        return line(last_words[-1]).removeprefix("zidane-acp: ")
    return None


def ended_text(exit_code: int | None, last_words: tuple[str, ...]) -> str:
    """The agent is gone: how, and its last words."""
    how = (
        ""
        if exit_code is None
        else f" with exit code {exit_code}"
        if exit_code >= 0
        else f" by signal {-exit_code}"
    )
    said = "".join(f"\n  {line(word)}" for word in last_words[-8:] if word.strip())
    step = " Its last words:" + said if said else " Run it with --log-level debug to see more."
    return f"The agent has ended{how}.{step}"
