"""What a replay must show of everything that was seen before: nothing acknowledged is lost, and nothing stays open."""

import itertools
from collections.abc import Iterable
from typing import Any, Final

from sessions import Session, State, Turn
from support.folding import fold

SLACK: Final = 0.5
"""Seconds before a kill from which on what was only shown, and not acknowledged, may be lost."""

SLACK_IF_BUSY: Final = 1.5
"""The same where another program works in the file."""

INTERRUPTED: Final = "interrupted"
"""A word in the result of a call that was cut."""

USER: Final = "user_message_chunk "
PLACELESS: Final = frozenset({"plan", "current_mode_update", "session_info_update"})
FINAL: Final = ("completed", "failed")


def problems(session: Session, replay: list[State], texts: list[str], slack: float) -> list[str]:
    """What is wrong with a replay. `texts` is all that the scripted models of the session could say."""
    placed = [state for state in replay if state[0] not in PLACELESS]
    base = [state for state in session.base if state[0] not in PLACELESS]
    found = [f"the replay has a card that is {state['status']}: {key}" for key, state in _open(placed)]
    if placed[: len(base)] != base:
        return [*found, f"what was replayed before is another now: {_difference(base, placed)}"]
    groups = _groups(placed[len(base) :])
    for turn in sorted(session.turns, key=lambda turn: turn.over):
        if turn.answered and turn.error is not None and not turn.refused:
            found.append(f"{turn.prompt!r} was answered by {turn.error}")
        elif turn.refused:
            if any(_prompt_of(group) == turn.prompt for group in groups):
                found.append(f"{turn.prompt!r} was refused and is stored all the same")
        elif groups and _prompt_of(groups[0]) == turn.prompt:
            group = groups.pop(0)[1:]
            found += _answered(turn, group) if turn.acknowledged else _cut(turn, group, texts, slack)
        elif turn.acknowledged or turn.shown():
            what = "acknowledged" if turn.acknowledged else "begun"
            found.append(f"{turn.prompt!r} was {what} and is not in the replay")
    found += [f"the replay has more than was asked: {group[0]}" for group in groups]
    return found + _last_states(session, replay)


def _open(placed: list[State]) -> Iterable[State]:
    return (s for s in placed if s[0].startswith("tool ") and s[1].get("status") not in FINAL)


def _groups(placed: list[State]) -> list[list[State]]:
    """Each prompt with what follows it."""
    groups: list[list[State]] = []
    for state in placed:
        if state[0].startswith(USER) or not groups:
            groups.append([])
        groups[-1].append(state)
    return groups


def _prompt_of(group: list[State]) -> str:
    return _text(group[0][1]) if group[0][0].startswith(USER) else ""


def _text(contents: Any) -> str:
    return "".join(content.get("text", "") for content in contents)


def _difference(wanted: list[State], found: list[State]) -> str:
    pairs = itertools.zip_longest(wanted, found)
    one, two = next(pair for pair in pairs if pair[0] != pair[1])
    return f"\n    wanted {one!s:.800}\n    found  {two!s:.800}"


# A turn --------------------------------------------------------------------------------------------


def _answered(turn: Turn, group: list[State]) -> list[str]:
    """The turn had its answer: a replay shows exactly what its client saw."""
    shown = [state for state in turn.shown() if state[0] not in PLACELESS]
    if shown == group:
        return []
    return [f"{turn.prompt!r} was acknowledged and is another now: {_difference(shown, group)}"]


def _cut(turn: Turn, group: list[State], texts: list[str], slack: float) -> list[str]:
    """The turn had no answer: what was seen some time before the kill is there, and what is there was meant."""
    found: list[str] = []
    early, all_of_it, there = dict(turn.shown(turn.killed_at - slack)), dict(turn.shown()), dict(group)
    order = [key for key in all_of_it if key in there]
    if order != [key for key, _ in group if key in all_of_it]:
        found.append(f"{turn.prompt!r} was cut and has another order now: {list(there)} instead of {order}")
    for key, state in early.items():
        if key not in PLACELESS and key not in there:
            found.append(f"{turn.prompt!r} was cut and lost what was long seen: {key} {state!s:.300}")
    for key, state in there.items():
        if key.startswith("tool "):
            found += _card(turn, key, state, early.get(key, {}), all_of_it.get(key, {}))
        else:
            found += _said(
                turn, key, _text(state), _text(early.get(key, ())), _text(all_of_it.get(key, ())), texts
            )
    return found


def _said(turn: Turn, key: str, there: str, early: str, seen: str, texts: list[str]) -> list[str]:
    found: list[str] = []
    if not there.startswith(early):
        found.append(f"{turn.prompt!r} lost streamed text of {key}: {len(there)} of {len(early)} characters")
    if not (there.startswith(seen) or seen.startswith(there)):
        found.append(f"{turn.prompt!r} has another text of {key} than was seen: {there[-200:]!r}")
    if not any(text.startswith(there) for text in texts):
        found.append(f"{turn.prompt!r} has a text of {key} that no model said: {there[-200:]!r}")
    return found


def _card(turn: Turn, key: str, there: Any, early: Any, seen: Any) -> list[str]:
    if early.get("status") in FINAL and there != early:
        return [f"{turn.prompt!r} had a card that ended long ago: {key} was {early} and is {there}"]
    # One that ended in the last moment may not be stored, and is told as interrupted then, whatever it had ended as.
    told = seen.get("status") in FINAL and there["status"] == seen["status"]
    if told and there != seen and INTERRUPTED not in str(there):
        return [f"{turn.prompt!r} had a card that ended: {key} was {seen} and is {there}"]
    if there["status"] == "failed" and seen.get("status") != "failed" and INTERRUPTED not in str(there):
        return [f"{turn.prompt!r} has a card that failed and does not say that it was cut: {there}"]
    return []


def _last_states(session: Session, replay: list[State]) -> list[str]:
    """Plan, mode and title have their last value only: that of the last acknowledged turn, or one shown since."""
    there = dict(replay)
    possible = {key: [state] for key, state in session.base if key in PLACELESS}
    needed = set(possible)
    for turn in sorted(session.turns, key=lambda turn: turn.over):
        for key, state in turn.shown():
            if key in PLACELESS:
                needed |= {key} if turn.acknowledged else set()
                possible[key] = [state] if turn.acknowledged else [*possible.get(key, ()), *_all(turn, key)]
    found = [f"{key} is not in the replay" for key in sorted(needed) if key not in there]
    for key, states in possible.items():
        if key in there and there[key] not in states:
            found.append(f"{key} is {there[key]} and was {states[-1]}")
    return found


def _all(turn: Turn, kind: str) -> list[Any]:
    """Every value that a turn has shown of it."""
    return [fold([update])[0][1] for _, update in turn.updates if update["sessionUpdate"] == kind]
