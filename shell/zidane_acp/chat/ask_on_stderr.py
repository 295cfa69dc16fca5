"""A permission question during `chat -p` on a terminal: it goes to stderr, stdout is for the answer."""

from rich.console import Console
from rich.text import Text

from zidane_acp.chat import view
from zidane_acp.chat.keyboard import Keyboard
from zidane_acp.chat.question_keys import keys, pick
from zidane_acp.chat.safe_text import line
from zidane_acp.chat.updates import Option, Question


async def ask_on_stderr(question: Question) -> Option | None:
    """The user's choice by a single key."""
    console = Console(stderr=True, highlight=False)
    console.print(view.question(question))
    chosen = keys(question.options)
    console.print(
        Text("  " + "   ".join(f"[{key}] {line(option.name)}" for key, option in chosen.items()), "yellow")
    )
    keyboard = Keyboard()
    with keyboard.quiet():
        keyboard.keep_typed()
        while key := await keyboard.key():
            option = pick(chosen, key)
            if option is not None:
                console.print(Text(f"  → {line(option.name)}", "dim"))
                return option
    return None
