"""The session without a terminal: the answer on stdout, short lines about the rest on stderr."""

import os
import sys
from collections.abc import Awaitable, Callable
from typing import Final, TextIO

import anyio

from zidane_acp.chat.policy import BY_POLICY
from zidane_acp.chat.safe_text import clip, line, neutral, output
from zidane_acp.chat.standing import Standing
from zidane_acp.chat.updates import (
    Card,
    Changed,
    Compaction,
    Notice,
    Option,
    Output,
    Plan,
    Question,
    Said,
    Update,
)
from zidane_acp.chat.words import compaction_text

WIDTH: Final = 160
MARKS: Final = {"completed": "✓", "in_progress": "▸"}
Ask = Callable[[Question], Awaitable[Option | None]]
Refusal = Callable[[Question], str]


class PlainView:
    """A View that writes plain text. `reader_gone` is set once nobody reads the answer any more."""

    def __init__(
        self,
        ask: Ask | None = None,
        refusal: Refusal = lambda _: BY_POLICY,
        out: TextIO = sys.stdout,
        err: TextIO = sys.stderr,
    ) -> None:
        """`refusal` says why a question was refused."""
        self._ask = ask
        self._refusal = refusal
        self._out = out
        self._err = err
        self._cards: dict[str, Card] = {}
        self._at_line_start = True
        self._paragraph = ""
        self.reader_gone = anyio.Event()

    def show(self, update: Update) -> None:
        if isinstance(update, Said):
            if update.kind == "agent":
                self._say(update)
        elif isinstance(update, Card):
            self._card(update)
        elif isinstance(update, Plan):
            steps = "; ".join(f"{MARKS.get(step.status, '○')} {line(step.content)}" for step in update.steps)
            self.note(f"plan: {steps}")
        elif isinstance(update, Notice):
            self.note(f"{line(update.severity)}: {line(update.text)}")
        elif isinstance(update, Changed):
            self.note("; ".join(line(words) for words in update.words))
        elif isinstance(update, Compaction) and update.ended:
            self.note(compaction_text(update))

    def stands(self, standing: Standing) -> None:
        """What is set is not the answer; only changes are noted."""

    async def ask(self, question: Question) -> Option | None:
        return None if self._ask is None else await self._ask(question)

    def decided(self, question: Question, option: Option | None) -> None:
        title = clip(line(question.card.title or "Tool call"), WIDTH)
        if option is None or not option.kind.startswith("allow"):
            self.note(f"refused: {title} ({self._refusal(question)})")
        else:
            self.note(f"allowed by --permission: {title}")

    def note(self, text: str) -> None:
        """A short line on stderr."""
        print(text, file=self._err, flush=True)

    def finish(self) -> None:
        """End the last line."""
        if not self._at_line_start:
            self._write("\n")

    def _say(self, update: Said) -> None:
        if not update.text:
            return
        if self._paragraph != update.message and self._paragraph:
            self._write("\n\n" if not self._at_line_start else "\n")
        self._paragraph = update.message
        self._write(neutral(update.text))

    def _write(self, text: str) -> None:
        if self.reader_gone.is_set():
            return
        try:
            self._out.write(text)
            self._out.flush()
        except BrokenPipeError:
            self.reader_gone.set()
            # What is still buffered must not fail again when the interpreter closes the stream.
            os.dup2(os.open(os.devnull, os.O_WRONLY), self._out.fileno())
            return
        self._at_line_start = text.endswith("\n")

    def _card(self, update: Card) -> None:
        before = self._cards.get(update.id)
        card = self._cards[update.id] = update if before is None else before.changed(update)
        if not card.ended or (before is not None and before.ended):
            return
        title = clip(line(card.title or "Tool call"), WIDTH)
        if card.status == "completed":
            self.note(f"✓ {title}")
        else:
            texts = (output(item.text).strip() for item in card.content or () if isinstance(item, Output))
            why = next((text.split("\n")[0] for text in texts if text), "")
            self.note(clip(f"✗ {title}" + (f": {why}" if why else ""), WIDTH * 2))
