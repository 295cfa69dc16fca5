"""What the folders of a thread bring along is used once the user trusts them (ring 2).

Instructions and commands in files are words of whoever wrote them. The first prompt of a thread asks once for all of
them; the answer holds while the thread is open, and longer if the user wants it remembered.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from msgspec.structs import replace

from zidane_core.agent import calls, moves
from zidane_core.agent.effects import AskPeer, DropPeer, Effect, Start
from zidane_core.agent.events import Failed, JobOutcome, Key, Ok
from zidane_core.agent.moves import Moved
from zidane_core.agent.peer import AskPermission, PermissionChoice
from zidane_core.agent.question import ALLOW_ALWAYS, ALLOW_ONCE, REJECT_ONCE, Decision
from zidane_core.agent.state import Asking, Gathering, Options, Thread, Turn
from zidane_core.agent.titles import relative, shortened, visible
from zidane_core.agent.work import KeepTrust
from zidane_core.data import history
from zidane_core.data.content import Text
from zidane_core.data.project import Instructions, Project, UserCommand
from zidane_core.data.tools import Location

NAME: Final = "trust"
"""The name of the card's call; no tool has it."""


def brought(options: Options, thread: Thread, project: Project) -> Thread:
    """The thread with what was found in its folders; of those that it trusts already all is in force."""
    if not options.project:
        # Looked at only for the permissions that are kept for the project.
        project = Project(folders=project.folders, grants=project.grants)
    untrusted = tuple(folder for folder in project.untrusted if folder not in thread.trust.given)
    return replace(thread, project=replace(project, untrusted=untrusted))


def instructions(thread: Thread) -> tuple[Instructions, ...]:
    """The instructions that are in force, in the order in which they are given."""
    project = thread.project or Project()
    return tuple(one for one in project.instructions if one.folder not in project.untrusted)


def commands(thread: Thread) -> tuple[UserCommand, ...]:
    """The commands in files that are in force; of one name the first."""
    project = thread.project or Project()
    trusted = frozenset(project.folders) - frozenset(project.untrusted)
    found = [one for one in project.commands if one.source == "user" or one.folder in trusted]
    first = {one.name: one for one in reversed(found)}
    return tuple(first[name] for name in dict.fromkeys(one.name for one in found))


# The question --------------------------------------------------------------------------------------


def pending(thread: Thread) -> tuple[str, ...]:
    """The folders that the user is still to be asked about, since they have something to use."""
    project = thread.project or Project()
    used = {one.folder for one in project.instructions} | {one.folder for one in project.commands}
    return tuple(
        folder for folder in project.untrusted if folder in used and folder not in thread.trust.asked
    )


def ask(options: Options, thread: Thread, turn: Turn, gathering: Gathering) -> Moved:
    """Show what there is on a card, and ask whether it may be used."""
    project, folders = thread.project or Project(), pending(thread)
    read = [one.path for one in project.instructions if one.folder in folders]
    named = tuple(one for one in project.commands if one.folder in folders)
    thread, call = calls.fresh_id(thread)
    thread, key = moves.key(thread)
    raw: dict[str, object] = {
        "folders": list(folders),
        "instructions": read,
        "commands": [f"/{one.name}" for one in named],
    }
    entry = history.CallMade(
        call=call,
        name=NAME,
        arguments="{}",
        title=_title(folders, bool(read), bool(named)),
        kind="other",  # many clients allow reading without a word
        locations=tuple(Location(path) for path in (*read, *(one.path for one in named))),
        raw=raw,
        aside=True,
    )
    thread, opened = calls.open_card(thread, entry)
    question = AskPermission(
        call=call,
        name=NAME,
        title=entry.title,
        kind=entry.kind,
        raw_input=raw,
        locations=entry.locations,
        choices=_choices(options, folders),
    )
    asking = Asking(ask=key, call=call, folders=folders, always=options.remembers)
    thread = replace(thread, turn=replace(turn, gathering=replace(gathering, asking=asking)))
    return thread, (*opened, AskPeer(key, thread.id, question, trace=turn.trace))


def _title(folders: tuple[str, ...], texts: bool, named: bool) -> str:
    what = " and ".join(word for word, there in (("instructions", texts), ("commands", named)) if there)
    return shortened(f"Use the {what} of {_shown(folders)}")


def _shown(folders: tuple[str, ...]) -> str:
    return ", ".join(visible(folder) for folder in folders)


def _choices(options: Options, folders: tuple[str, ...]) -> tuple[PermissionChoice, ...]:
    once = PermissionChoice(ALLOW_ONCE, "Use them in this session", "allow_once")
    trust = f"Trust {'this folder' if len(folders) == 1 else 'these folders'} from now on"
    always = (PermissionChoice(ALLOW_ALWAYS, trust, "allow_always"),) if options.remembers else ()
    return (once, *always, PermissionChoice(REJECT_ONCE, "Do not use them", "reject_once"))


def of_key(turn: Turn, key: Key) -> Asking | None:
    """The open question of this key."""
    asking = None if turn.gathering is None else turn.gathering.asking
    return asking if asking is not None and asking.ask == key else None


# The answer ----------------------------------------------------------------------------------------


def heard(thread: Thread, turn: Turn) -> Thread:
    """The question was answered: there is nothing left to withdraw, and its card is still open."""
    gathering = turn.gathering
    if gathering is None or gathering.asking is None:
        return thread
    asking = replace(gathering.asking, ask="")
    return replace(thread, turn=replace(turn, gathering=replace(gathering, asking=asking)))


def decided(options: Options, thread: Thread, asking: Asking, decision: Decision) -> Moved:
    """Use it from now on, or not in this session."""
    given = decision.kind in {"once", "always"}
    thread, effects = _closed(thread, asking, _WORDS[decision.kind], failed=not given)
    trust = replace(thread.trust, asked=(*thread.trust.asked, *asking.folders))
    thread = _without_question(replace(thread, trust=trust))
    if not given:
        shown = _shown(asking.folders)
        refused = (
            f"The instructions and commands of {shown} are not used in this session; a new one asks again."
        )
        return replace(thread, notices=(*thread.notices, refused)), effects
    trust = replace(trust, given=(*trust.given, *asking.folders))
    thread = replace(thread, trust=trust)
    if thread.project is not None:
        thread = brought(options, thread, thread.project)
    if decision.kind != "always":
        return thread, effects
    thread, job = moves.key(thread)
    thread = replace(thread, trust=replace(trust, job=job))
    return thread, (*effects, Start(job, KeepTrust(asking.folders)))


_WORDS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "once": "They are used in this session.",
        "always": "They are used, now and in later sessions.",
        "refused": "They are not used.",
    }
)


def _without_question(thread: Thread) -> Thread:
    turn = thread.turn
    if turn is None or turn.gathering is None:
        return thread
    return replace(thread, turn=replace(turn, gathering=replace(turn.gathering, asking=None)))


def _closed(thread: Thread, asking: Asking, text: str, *, failed: bool) -> Moved:
    entry = history.ResultMade(
        call=asking.call,
        name=NAME,
        content=(),
        failed=failed,
        shown=(Text(text),),
        raw={"error": text} if failed else {"output": text},
    )
    return calls.close_card(thread, entry)


def withdraw(thread: Thread, gathering: Gathering) -> Moved:
    """The turn is over before an answer: nothing is decided, and the next prompt asks again."""
    asking = gathering.asking
    if asking is None:
        return thread, ()
    dropped: tuple[Effect, ...] = (DropPeer(asking.ask),) if asking.ask else ()
    thread, closed = _closed(thread, asking, "The question was not answered.", failed=True)
    return thread, (*dropped, *closed)


def kept(thread: Thread, outcome: JobOutcome) -> Thread:
    """The answer is remembered, or could not be."""
    thread = replace(thread, trust=replace(thread.trust, job=""))
    if isinstance(outcome, Ok):
        return thread
    why = f" {outcome.fault.message}" if isinstance(outcome, Failed) else ""
    return replace(thread, notices=(*thread.notices, f"{NOT_KEPT}{why}"))


NOT_KEPT: Final = "Your trust could not be remembered; the next session will ask again."


# What is told --------------------------------------------------------------------------------------


def tell(thread: Thread) -> Moved:
    """What was read, and what was left out; each sentence once while the thread is open."""
    project = thread.project or Project()
    read = instructions(thread)
    said = f"Instructions read: {', '.join(_as_read(project, one) for one in read)}." if read else ""
    effects: tuple[Effect, ...] = ()
    if said and said not in thread.warned:
        thread, effects = moves.notice(
            replace(thread, warned=(*thread.warned, said)), "info", said, "instructions"
        )
    new = tuple(warning for warning in project.warnings if warning not in thread.warned)
    return replace(thread, warned=(*thread.warned, *new), notices=(*thread.notices, *new)), effects


def _as_read(project: Project, one: Instructions) -> str:
    name = visible(relative(one.path, one.folder) if one.folder in project.folders[:1] else one.path)
    size = f"{one.size} bytes" if one.size < 1024 else f"{round(one.size / 1024)} KiB"
    return f"{name} ({size}, shortened)" if one.cut else f"{name} ({size})"
