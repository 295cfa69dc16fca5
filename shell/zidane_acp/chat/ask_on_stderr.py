"""A permission question during `chat -p` on a terminal: it goes to stderr, stdout is for the answer."""

from rich.console import Console
from rich.text import Text

from zidane_acp.chat import view
from zidane_acp.chat.keyboard import Keyboard
from zidane_acp.chat.question_keys import hint, keys, pick
from zidane_acp.chat.safe_text import line
from zidane_acp.chat.updates import Option, Question


async def ask_on_stderr(question: Question) -> Option | None:
    """The user's choice by a single key."""
    console = Console(stderr=True, highlight=False)
    chosen = keys(question.options)
    keyboard = Keyboard()
    with keyboard.quiet():
        # Only what is typed once the question is shown can answer it.
        keyboard.keep_typed()
        console.print(view.question(question))
        console.print(Text(hint(chosen), "yellow"))
        while key := await keyboard.key():
            option = pick(chosen, key)
            if option is not None:
                console.print(Text(f"  → {line(option.name)}", "dim"))
                return option
    return None
