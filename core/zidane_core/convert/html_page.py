"""A conversation -> one HTML page that needs nothing else: no script, no network, light and dark."""

from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Any, Final

from zidane_core.convert.html_card import card_html
from zidane_core.convert.html_parts import Markdown, escaped, folded, said_part
from zidane_core.convert.html_style import STYLE
from zidane_core.convert.transcript import (
    About,
    Answer,
    Card,
    Damaged,
    End,
    Notice,
    Plan,
    Prompt,
    Shown,
    Thought,
    damaged,
)
from zidane_core.convert.visible import line, neutral
from zidane_core.convert.wording import STEP_MARKS, UNREADABLE, ending, heading, tokens

POLICY: Final = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"

STEP_WORDS: Final[Mapping[str, str]] = MappingProxyType(
    {"completed": "done", "in_progress": "in progress", "pending": "to do"}
)


def html_page(about: About, shown: Iterable[Shown], markdown: Markdown) -> str:
    """The page. `markdown` must give safe HTML: it is the only HTML that is not made here."""
    items = tuple(shown)
    title = escaped(heading(about))
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">\n'
        '<meta name="referrer" content="no-referrer">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        f"<title>{title}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n"
        f"<header>\n<h1>{title}</h1>\n{_facts(about)}{_warning(damaged(items))}</header>\n<main>\n"
        + "".join(f"{made}\n" for item in items if (made := _SHOW[type(item)](item, markdown)))
        + "</main>\n</body>\n</html>\n"
    )


def _facts(about: About) -> str:
    facts = (("Folder", about.cwd), ("Date", about.when), ("Session", about.session))
    rows = (f"<div><dt>{name}</dt><dd>{escaped(line(value))}</dd></div>" for name, value in facts if value)
    return f"<dl>{''.join(rows)}</dl>\n"


def _warning(missing: int) -> str:
    if not missing:
        return ""
    words = "1 entry" if missing == 1 else f"{missing} entries"
    return f'<p class="notice warning">{words} of this session could not be read.</p>\n'


def _prompt(item: Prompt, markdown: Markdown) -> str:
    parts = "".join(said_part(part, markdown) for part in item.parts)
    return f'<section class="prompt"><h2>You</h2>{parts}</section>'


def _answer(item: Answer, markdown: Markdown) -> str:
    return f'<section class="answer md">{markdown(neutral(item.text))}</section>'


def _thought(item: Thought, markdown: Markdown) -> str:
    return folded("thought", "Thought", f'<div class="md">{markdown(neutral(item.text))}</div>')


def _card(item: Card, markdown: Markdown) -> str:
    return card_html(item)


def _plan(item: Plan, markdown: Markdown) -> str:
    done = sum(step.status == "completed" for step in item.steps)
    steps = "".join(
        f'<li class="{step.status}"><span class="box" aria-hidden="true">{STEP_MARKS[step.status]}</span>'
        f'<span class="step">{escaped(line(step.content))}</span>'
        f'<span class="hidden"> ({STEP_WORDS[step.status]})</span></li>'
        for step in item.steps
    )
    return f'<section class="plan"><h2>Plan <span>{done} of {len(item.steps)} done</span></h2><ul>{steps}</ul></section>'


def _notice(item: Notice, markdown: Markdown) -> str:
    return f'<p class="notice {item.severity}">{escaped(item.text)}</p>'


def _end(item: End, markdown: Markdown) -> str:
    words = " · ".join(word for word in (ending(item), tokens(item)) if word)
    css = "end failed" if item.fault else "end"
    return f'<div class="{css}"><span>{escaped(words)}</span></div>' if words else '<div class="end"></div>'


def _damaged(item: Damaged, markdown: Markdown) -> str:
    return f'<p class="notice damaged">{UNREADABLE}</p>'


# Any: each function takes the type of its key, which a dict type cannot say.
_SHOW: Final[Mapping[type[Shown], Callable[[Any, Markdown], str]]] = MappingProxyType(
    {
        Prompt: _prompt,
        Answer: _answer,
        Thought: _thought,
        Card: _card,
        Plan: _plan,
        Notice: _notice,
        End: _end,
        Damaged: _damaged,
    }
)
