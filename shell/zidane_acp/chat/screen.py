"""The session on a terminal: what is finished is printed for good, what may still change is live below it."""

import time
from typing import Final, Literal

import anyio
from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.spinner import Spinner
from rich.text import Text

from zidane_acp.chat import view
from zidane_acp.chat.keyboard import Keyboard
from zidane_acp.chat.markdown_stream import blocks, split
from zidane_acp.chat.question_keys import hint, keys, pick
from zidane_acp.chat.safe_text import line, neutral
from zidane_acp.chat.updates import Card, Command, Commands, Notice, Option, Plan, Question, Said, Update

PAINT_EVERY: Final = 0.08
LIVE_TAIL: Final = 8000
"""Characters of a growing block that are rendered live; the whole block is rendered once it is finished."""


class _Words:
    """A message or a thought that may still grow."""

    def __init__(self, kind: Literal["agent", "thought"], message: str) -> None:
        self.kind = kind
        self.message = message
        self._text = ""
        self._new: list[str] = []
        self._parsed = 0

    def add(self, text: str) -> None:
        self._new.append(text)

    def take_finished(self) -> tuple[str, ...]:
        """The blocks that will not change any more, once."""
        self._join()
        if self.kind == "thought":
            finished, gap, self._text = self._text.rpartition("\n\n")
            return (finished,) if gap else ()
        # A huge block is not parsed again for every few characters.
        if len(self._text) > LIVE_TAIL and len(self._text) < self._parsed * 1.3:
            return ()
        self._parsed = len(self._text)
        done, self._text = split(self._text)
        return done

    def take_all(self) -> tuple[str, ...]:
        self._join()
        text, self._text = self._text, ""
        return (text,) if self.kind == "thought" else blocks(text)

    @property
    def tail(self) -> str:
        self._join()
        return self._text[-LIVE_TAIL:]

    def _join(self) -> None:
        if self._new:
            self._text += "".join(self._new)
            self._new.clear()


class _Call:
    """A tool call; its diff is not shown again when the question has shown it."""

    def __init__(self, card: Card) -> None:
        self.card = card
        self.diff_shown = False


class Screen:
    """A View on a terminal; `thoughts` says whether those of the model are shown."""

    def __init__(self, console: Console, keyboard: Keyboard, folder: str, *, thoughts: bool = True) -> None:
        self._console = console
        self._folder = folder
        self._thoughts = thoughts
        self._keyboard = keyboard
        self._items: list[_Words | _Call | Notice] = []
        self._plan: Plan | None = None
        self._live: Live | None = None
        self._spinner = Spinner("dots", style="cyan")
        self._began = 0.0
        self._doing = "working"
        self._last_printed = ""
        self.commands: tuple[Command, ...] = ()

    # What the client calls ---------------------------------------------------------------------

    def show(self, update: Update) -> None:
        if isinstance(update, Said):
            if self._thoughts or update.kind != "thought":
                self._said(update)
        elif isinstance(update, Card):
            self._card(update)
        elif isinstance(update, Plan):
            self._plan = update
        elif isinstance(update, Commands):
            self.commands = update.commands
        else:
            self._items.append(update)

    async def ask(self, question: Question) -> Option | None:
        call = self._call(question.card.id)
        if call is not None:
            question = Question(call.card.changed(question.card), question.options)
            call.diff_shown = True
        self._flush()
        self._stop_live()
        self._keyboard.keep_typed()
        self._print("question", view.question(question, self._folder))
        chosen = keys(question.options)
        self._console.print(Text(hint(chosen), style="yellow"))
        try:
            option = await self._key(chosen)
        except anyio.get_cancelled_exc_class():
            self._answered("cancelled")
            raise
        self._answered(option.name if option else "no answer")
        self._start_live()
        return option

    def decided(self, question: Question, option: Option | None) -> None:
        title = line(question.card.title or "Tool call")
        self._items.append(
            Notice("info", f"{title}: {option.name if option else 'cancelled'} (by --permission)")
        )

    # What the conversation calls ---------------------------------------------------------------

    async def run_turn(self) -> None:
        """Paint until cancelled; `end_turn` follows."""
        self._began, self._doing = time.monotonic(), "working"
        self._start_live()
        while True:
            self._paint()
            await anyio.sleep(PAINT_EVERY)

    def end_turn(self) -> None:
        """Print what is left for good."""
        self._flush(everything=True)
        self._stop_live()
        if self._plan is not None:
            self._print("plan", view.plan(self._plan))
            self._plan = None

    def cancelling(self) -> None:
        self._doing = "cancelling; Ctrl-C again leaves"
        self._paint()

    def prompted(self, text: str) -> None:
        """A prompt of an earlier day."""
        self._print("prompted", view.prompt(text))

    def work_in(self, folder: str) -> None:
        """Paths are shown relative to this folder from now on."""
        self._folder = folder

    def tell(self, text: str, style: str = "", *, to_copy: bool = False) -> None:
        """The client's own words; what is to be copied is left to the terminal to wrap."""
        self._print("client", Text(text, style=style), whole=to_copy)

    def gap(self) -> None:
        """An empty line before the prompt."""
        self._console.print()
        self._last_printed = "prompt"

    # Inside ------------------------------------------------------------------------------------

    def _said(self, update: Said) -> None:
        if update.kind == "user" or not update.text:
            return
        text = neutral(update.text)
        last = self._items[-1] if self._items else None
        if isinstance(last, _Words) and last.kind == update.kind and last.message == update.message:
            last.add(text)
            return
        words = _Words(update.kind, update.message)
        words.add(text)
        self._items.append(words)

    def _card(self, update: Card) -> None:
        call = self._call(update.id)
        if call is None:
            self._items.append(_Call(update))
        else:
            call.card = call.card.changed(update)

    def _call(self, number: str) -> _Call | None:
        return next(
            (item for item in self._items if isinstance(item, _Call) and item.card.id == number), None
        )

    async def _key(self, chosen: dict[str, Option]) -> Option | None:
        while key := await self._keyboard.key():
            option = pick(chosen, key)
            if option is not None:
                return option
        return None

    def _answered(self, name: str) -> None:
        self._console.print(Text(f"  → {line(name)}", style="dim"))

    def _flush(self, everything: bool = False) -> None:
        """Print from the first item on what will not change any more."""
        while self._items:
            item = self._items[0]
            last = len(self._items) == 1
            if isinstance(item, _Words):
                done = everything or not last
                self._words(item, item.take_all() if done else item.take_finished())
                if not done:
                    return
            elif isinstance(item, _Call):
                if not (everything or item.card.ended):
                    return
                self._print("card", view.card(item.card, self._folder, diffs=not item.diff_shown))
            else:
                self._print("notice", view.notice(item))
            del self._items[0]

    def _words(self, item: _Words, texts: tuple[str, ...]) -> None:
        for text in texts:
            if text.strip():
                self._print(item.kind, view.said(text) if item.kind == "agent" else view.thought(text))

    def _print(self, kind: str, what: RenderableType, *, whole: bool = False) -> None:
        if not (kind == self._last_printed and kind in ("card", "notice", "client")):
            self._console.print()
        self._console.print(what, soft_wrap=whole)
        self._last_printed = kind

    def _paint(self) -> None:
        self._flush()
        if self._live is not None:
            self._live.update(self._live_part(), refresh=True)

    def _live_part(self) -> RenderableType:
        parts: list[RenderableType] = []
        for item in self._items:
            if isinstance(item, _Words):
                parts.append(view.said(item.tail) if item.kind == "agent" else view.thought(item.tail))
            elif isinstance(item, _Call):
                parts.append(
                    view.card(item.card, self._folder, diffs=not item.diff_shown, live=not item.card.ended)
                )
            else:
                parts.append(view.notice(item))
        if self._plan is not None:
            parts.append(view.plan(self._plan))
        seconds = int(time.monotonic() - self._began)
        self._spinner.update(text=Text(f"{self._doing} · {seconds} s · Ctrl-C stops", style="dim"))
        height = max(self._console.height - 3, 3)
        spaced = [part for one in parts for part in (Text(""), one)]
        return Group(view.Tail(spaced, height), self._spinner) if parts else self._spinner

    def _start_live(self) -> None:
        self._live = Live(console=self._console, auto_refresh=False, transient=True)
        self._live.start()

    def _stop_live(self) -> None:
        if self._live is not None:
            self._live.stop()
            self._live = None
