"""The line where the user types: how the session stands above it, history, completion of the agent's slash commands."""

import os
from collections.abc import Callable, Iterable
from pathlib import Path

from prompt_toolkit import PromptSession
from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document
from prompt_toolkit.filters import has_completions
from prompt_toolkit.formatted_text import FormattedText
from prompt_toolkit.history import FileHistory, History, InMemoryHistory
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent

from zidane_acp.chat.safe_text import clip, line
from zidane_acp.chat.standing import Standing
from zidane_acp.chat.status_line import status_line
from zidane_acp.chat.updates import Command

PLACEHOLDER = "Ask something · / lists commands · Ctrl-D leaves"


class SlashCompleter(Completer):
    """Completes `/name` at the start of the text, and behind the name of an option its values."""

    def __init__(self, commands: Callable[[], tuple[Command, ...]], standing: Callable[[], Standing]) -> None:
        self._commands = commands
        self._standing = standing

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterable[Completion]:
        typed = document.text_before_cursor
        name, gap, value = typed[1:].partition(" ")
        if not typed.startswith("/") or any(character.isspace() for character in name + value):
            return
        if gap:
            yield from self._values(name, value)
            return
        for command in self._commands():
            if command.name.startswith(typed[1:]):
                hint = f" {line(command.hint)}" if command.hint else ""
                yield Completion(
                    f"/{command.name}" + (" " if command.hint else ""),
                    start_position=-len(typed),
                    display=clip(f"/{line(command.name)}{hint}", 40),
                    display_meta=clip(line(command.description), 80),
                )

    def _values(self, name: str, value: str) -> Iterable[Completion]:
        if all(command.name != name for command in self._commands()):
            return
        named = (one for one in self._standing().options if name in (one.id, one.name.lower()))
        for choice in (choice for option in named for choice in option.choices):
            if value in choice.id:
                yield Completion(
                    choice.id,
                    start_position=-len(value),
                    display=clip(line(choice.id), 40),
                    display_meta=clip(line(choice.name), 80),
                )


class PromptLine:
    """Reads prompts. None means that the user wants to leave."""

    def __init__(
        self,
        folder: Path,
        commands: Callable[[], tuple[Command, ...]],
        standing: Callable[[], Standing],
        next_mode: Callable[[], None],
    ) -> None:
        """`next_mode` is what Shift-Tab does."""
        self._standing = standing
        self._session: PromptSession[str] = PromptSession(
            history=open_history(folder),
            completer=SlashCompleter(commands, standing),
            key_bindings=_bindings(next_mode),
            complete_while_typing=True,
            multiline=False,
        )

    async def read(self, typed: str = "") -> str | None:
        """The next prompt, with `typed` already in it. Ctrl-C clears the line, on an empty line it leaves."""
        while True:
            try:
                return await self._session.prompt_async(
                    self._before,
                    default=typed,
                    placeholder=self._placeholder,
                    handle_sigint=False,
                )
            except EOFError:
                return None
            except KeyboardInterrupt:
                if not self._session.default_buffer.text:
                    return None
                typed = ""

    def redraw(self) -> None:
        """The session stands in another way."""
        if self._session.app.is_running:
            self._session.app.invalidate()

    def _before(self) -> FormattedText:
        sign = ("bold ansicyan", "› ")
        app = self._session.app
        # The line is for the one who types; a prompt that was sent stands alone.
        status = "" if app.is_done else status_line(self._standing(), self._columns() - 1)
        return FormattedText([("ansibrightblack", f"{status}\n"), sign] if status else [sign])

    def _placeholder(self) -> FormattedText:
        # Behind the sign, on the same line.
        return FormattedText([("ansibrightblack", clip(PLACEHOLDER, self._columns() - 3))])

    def _columns(self) -> int:
        return self._session.app.output.get_size().columns

    def leave(self) -> None:
        """Give up waiting, because the agent has ended; `read` gives what was typed so far."""
        if self._session.app.is_running:
            self._session.app.exit(result=self._session.default_buffer.text)


def open_history(folder: Path) -> History:
    """The history file, readable by its owner only; in memory when the folder cannot be used."""
    path = folder / "chat_history"
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600))
    except OSError:
        return InMemoryHistory()
    return FileHistory(str(path))


def _bindings(next_mode: Callable[[], None]) -> KeyBindings:
    bindings = KeyBindings()

    def new_line(event: KeyPressEvent) -> None:
        event.current_buffer.insert_text("\n")

    def shift_tab(event: KeyPressEvent) -> None:
        next_mode()

    bindings.add("escape", "enter")(new_line)
    # In the list of commands it goes one back.
    bindings.add("s-tab", filter=~has_completions)(shift_tab)
    return bindings
