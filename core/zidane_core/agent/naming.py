"""The title of a thread (ring 2): made from its first prompt, and made better once by the model.

The model is asked between turns, where a host allows it. Whatever goes wrong there leaves the title as it is.
"""

import re
from typing import Final, TypeGuard

from msgspec.structs import replace

from zidane_core.agent import model_names, moves, slash
from zidane_core.agent.effects import Effect, Start, Stop, Tell, TitleShown
from zidane_core.agent.events import JobOutcome, Ok, Progress
from zidane_core.agent.moves import Moved
from zidane_core.agent.state import Options, Thread
from zidane_core.agent.titles import shortened, visible
from zidane_core.agent.work import RunModel
from zidane_core.convert.hints import for_model
from zidane_core.data import history, models
from zidane_core.data.content import Part, Text
from zidane_core.data.outcome import Usage
from zidane_core.models.pricing import added

LENGTH: Final = 60
"""Characters of a title."""

EXCERPT: Final = 2000
"""Characters of the first prompt and of the first answer that the model sees."""

ASK: Final = (
    "Give this conversation a title of at most six words, in the language of the user. "
    "Answer with the title alone: one line, no quotes, no full stop."
)
_SPACE: Final = re.compile(r"\s+")
_ORNAMENT: Final = "\"'`*_#“”„«» "


def name(options: Options, thread: Thread) -> Moved:
    """Give a thread that has no title one from its first prompt that is more than a command to the agent itself."""
    if thread.title.text:
        return thread, ()
    first = next((entry for entry in thread.log if _is_prompt(entry, options, thread)), None)
    text = "" if first is None else from_prompt(first.parts)
    return _entitle(thread, history.TitleSet(text)) if text else (thread, ())


def _is_prompt(entry: history.Entry, options: Options, thread: Thread) -> TypeGuard[history.UserSaid]:
    return isinstance(entry, history.UserSaid) and not slash.is_aside(options, thread, for_model(entry.parts))


def from_prompt(parts: tuple[Part, ...]) -> str:
    """The first line with words in it, cut at a word; without text, what was given instead; '' for nothing."""
    for part in parts:
        if isinstance(part, Text):
            line = next((clean for line in part.text.splitlines() if (clean := _line(line))), "")
            if line:
                return _cut(line)
    named = (
        getattr(part, "name", None) or type(part).__name__ for part in parts if not isinstance(part, Text)
    )
    return _cut(_line(next(named, "")))


def _line(text: str) -> str:
    return visible(_SPACE.sub(" ", text[: LENGTH * 8]).strip().lstrip("#>*- ").rstrip(" .,:;"))


def _cut(line: str) -> str:
    if len(line) <= LENGTH:
        return line
    at_word = line[:LENGTH].rpartition(" ")[0].rstrip()
    return f"{at_word}…" if len(at_word) > LENGTH // 2 else shortened(line, LENGTH)


def _entitle(thread: Thread, entry: history.TitleSet) -> Moved:
    thread = replace(thread, title=replace(thread.title, text=entry.title))
    return moves.append_later(thread, entry), (Tell(thread.id, TitleShown(entry.title)),)


# By the model --------------------------------------------------------------------------------------


def ask(options: Options, thread: Thread) -> Moved:
    """Ask the model for a better title, once, after the first turn that it answered."""
    title = thread.title
    if not options.titles or title.asked or not title.text:
        return thread, ()
    prompt, answer = _excerpts(options, thread)
    if not prompt or not answer:
        return thread, ()
    model = model_names.chosen(options, thread)
    if not model.language:
        return thread, ()
    request = models.ModelRequest(
        model=model,
        system=ASK,
        messages=(models.UserMessage((Text(f"The user:\n{prompt}\n\nThe answer:\n{answer}\n\n{ASK}"),)),),
        max_tokens=min(model.max_output, 1024),
    )
    thread, job = moves.key(thread)
    thread = replace(thread, title=replace(title, asked=True, job=job, price=model.price))
    return thread, (Start(job, RunModel(request, f"{thread.id}/title")),)


def _excerpts(options: Options, thread: Thread) -> tuple[str, str]:
    prompt = answer = ""
    for entry in thread.log:
        if not prompt and _is_prompt(entry, options, thread):
            prompt = " ".join(part.text for part in for_model(entry.parts) if isinstance(part, Text))[
                :EXCERPT
            ]
        elif isinstance(entry, history.TextSaid) and prompt:
            answer = entry.text[:EXCERPT]
            break
    return prompt.strip(), answer.strip()


def progress(thread: Thread, batch: tuple[Progress, ...]) -> Thread:
    """The model says a title."""
    said = "".join(event.text for event in batch if isinstance(event, models.TextDelta))
    used = next((event.usage for event in reversed(batch) if isinstance(event, models.Used)), None)
    title = thread.title
    if not said and used is None:
        return thread
    title = replace(title, said=(title.said + said)[: LENGTH * 8], usage=used or title.usage)
    return replace(thread, title=title)


def ended(thread: Thread, outcome: JobOutcome) -> Moved:
    """It has said it, or failed. What it cost counts for the session either way."""
    said, cost = thread.title.said, added(thread.cost, thread.title.price, thread.title.usage)
    thread = replace(thread, cost=cost, title=replace(thread.title, job="", said="", usage=Usage()))
    better = _cut(next((line for raw in said.splitlines() if (line := _line(raw).strip(_ORNAMENT))), ""))
    if not isinstance(outcome, Ok) or not better or better == thread.title.text:
        return thread, ()
    return _entitle(thread, history.TitleSet(better, by_model=True))


def stop(thread: Thread) -> tuple[Effect, ...]:
    """The thread ends: nobody waits for a title."""
    return (Stop(thread.title.job),) if thread.title.job else ()
