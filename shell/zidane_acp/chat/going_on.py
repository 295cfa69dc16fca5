"""What the client says about sessions that are gone on with: what was left out, what goes on, and how to go on."""

import shlex
from typing import Final

from zidane_acp.chat.link import PROGRAM, Launch
from zidane_acp.chat.opening import Opened, can_list, can_reopen
from zidane_acp.chat.past import Past
from zidane_acp.chat.safe_text import clip, line, neutral
from zidane_acp.chat.wanted import same_folder
from zidane_acp.sessions.ages import local

TITLE: Final = 80
NONE_HERE: Final = "There is no session of this folder yet; this is a new one."


def list_command(launch: Launch) -> str:
    """The command that lists the sessions; empty for the agents of others."""
    return shlex.join((PROGRAM, "sessions", "list", *_home(launch))) if launch.own else ""


def left_out_line(launch: Launch, session: str, past: Past) -> str:
    """What of a long conversation is not shown, and where all of it is; empty when nothing is missing."""
    parts = (
        _counted(past.turns_left_out, "earlier turn"),
        _counted(past.steps_left_out, "earlier step") + " of this turn" if past.steps_left_out else "",
    )
    missing = " and ".join(part for part in parts if part)
    if not missing:
        return ""
    words = (PROGRAM, "sessions", "show", session, *_home(launch))
    where = f"; `{neutral(shlex.join(words))}` shows all" if launch.own else ""
    return f"… {missing} not shown{where} …"


def continued_line(launch: Launch, opened: Opened, title: str, messages: int) -> str:
    """Which session goes on: its title, its length, its age, and its folder where that is another one."""
    listed = opened.listed
    time = listed.updated if listed is not None else None
    parts = (
        clip(line(title), TITLE) or "a session without a title",
        _counted(messages, "message"),
        f"from {local(time.timestamp())}" if time is not None else "",
        "" if same_folder(opened.cwd, launch.cwd) else f"in {line(opened.cwd)}",
        "" if opened.replayed else "which the agent does not show again",
    )
    return f"— continued: {', '.join(part for part in parts if part)} —"


def farewell(launch: Launch, opened: Opened, title: str) -> tuple[str, ...]:
    """The session's title and how to go on with it later; nothing when the agent cannot."""
    if not (launch.kept and opened.id and can_reopen(opened.agent)):
        return ()
    # An agent with a list tells the folder itself.
    folder = () if can_list(opened.agent) else ("--cwd", opened.cwd)
    agent = () if launch.own else ("--", *launch.command)
    words = (PROGRAM, "chat", "--resume", opened.id, *folder, *launch.typed, *agent)
    named = (f"Conversation: {clip(line(title), TITLE)}",) if line(title) else ()
    return (*named, f"Continue with: {neutral(shlex.join(words))}")


def _home(launch: Launch) -> tuple[str, ...]:
    return tuple(flag for flag in launch.typed if flag.startswith("--home="))


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}" if number else ""
