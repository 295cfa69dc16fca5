"""What a prompt needs before the model sees it (ring 2), one after the other.

The MCP servers that are still starting get a little time, and meanwhile the shell looks where the thread works; the user
says whether what the folders bring along may be used; a slash command is answered or filled in; files that links
name are read, from the disk and then from the editor, which may know better; pictures that are too large shrink. What the
model is given in the place of a part is an entry of the log, so that a later round and another program see the same.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

from msgspec.structs import replace

from zidane_core import lines
from zidane_core.agent import (
    model_names,
    moves,
    pages,
    permission,
    rounds,
    server_tools,
    servers,
    slash,
    slash_answers,
    trusting,
)
from zidane_core.agent.editor_files import NOTES, Seen, Standing, compare, digest, remembered
from zidane_core.agent.effects import AskPeer, DropPeer, Effect, Start, Stop
from zidane_core.agent.events import (
    Attachment,
    AttachmentsRead,
    Failed,
    JobOutcome,
    Key,
    LookedAround,
    Ok,
    PromptGot,
)
from zidane_core.agent.machines import problem_of
from zidane_core.agent.moves import Moved
from zidane_core.agent.peer import Dismissed, FileText, PeerAnswer, ReadFile
from zidane_core.agent.signals import give_up
from zidane_core.agent.state import Command, Gathering, Link, Options, Thread, Turn
from zidane_core.agent.work import GetMcpPrompt, LookAround, ReadAttachments, Wait
from zidane_core.data import content, history
from zidane_core.data.models import UserMessage
from zidane_core.data.project import Surroundings, UserCommand
from zidane_core.models.picture_size import excess_of

EDITOR_WITHIN: Final = 5.0
"""Seconds that the editor has for the texts of the files that a prompt names."""


def begin(options: Options, thread: Thread, turn: Turn) -> Moved:
    """The prompt of a turn is in the log; the servers that are due are tried again."""
    gathering = Gathering()
    looks: tuple[Effect, ...] = ()
    looked = thread.surroundings is not None or slash.is_aside(options, thread, _parts(thread))
    if options.project and not looked:
        thread, around = moves.key(thread)
        gathering, looks = Gathering(around=around), (Start(around, LookAround(thread.cwd)),)
    thread = replace(thread, turn=replace(turn, phase="gather", gathering=gathering))
    thread, tries = servers.retry(options, thread)
    return thread, (*looks, *tries)


def advance(options: Options, thread: Thread, turn: Turn) -> Moved:
    """The next thing to gather; the same thread while something is waited for."""
    gathering = turn.gathering
    return (thread, ()) if gathering is None else _STAGES[gathering.stage](options, thread, turn, gathering)


def _with(thread: Thread, turn: Turn, gathering: Gathering) -> Thread:
    return replace(thread, turn=replace(turn, gathering=gathering))


def _parts(thread: Thread) -> tuple[content.Part, ...]:
    """The prompt of the turn, as the model's view has it last."""
    final = pages.last(thread.view.messages)
    return final.parts if isinstance(final, UserMessage) else ()


# Servers that are starting -------------------------------------------------------------------------


def _servers(options: Options, thread: Thread, turn: Turn, gathering: Gathering) -> Moved:
    pending = servers.awaited(thread)
    if pending and gathering.wait:
        return thread, ()
    if not pending:
        stop: tuple[Effect, ...] = (Stop(gathering.wait),) if gathering.wait else ()
        return _with(thread, turn, replace(gathering, stage="trust", wait="")), stop
    thread, wait = moves.key(thread)
    patience = servers.patience(options, thread)
    return _with(thread, turn, replace(gathering, wait=wait)), (Start(wait, Wait(patience)),)


# What the folders bring along ----------------------------------------------------------------------


def _trust(options: Options, thread: Thread, turn: Turn, gathering: Gathering) -> Moved:
    if gathering.asking is not None:
        return thread, ()
    if slash.is_aside(options, thread, _parts(thread)):
        return _with(thread, turn, replace(gathering, stage="prompt")), ()
    if trusting.pending(thread):
        return trusting.ask(options, thread, turn, gathering)
    thread, told = trusting.tell(thread)
    return _with(thread, turn, replace(gathering, stage="prompt")), told


# A slash command -----------------------------------------------------------------------------------


def _prompt(options: Options, thread: Thread, turn: Turn, gathering: Gathering) -> Moved:
    if gathering.job:
        return thread, ()
    called = slash.called(options, thread, _parts(thread))
    on = _with(thread, turn, replace(gathering, stage="attachments"))
    if called is None:
        return on, ()
    command, rest = called
    if isinstance(command, UserCommand):
        return _stands_for(on, slash.expanded(command, rest)), ()
    if isinstance(command, Command):
        if command.name == "init":
            return _stands_for(on, f"{slash_answers.INIT}\n\n{rest}".strip()), ()
        return slash_answers.answer(options, thread, turn, command.name, rest)
    arguments = server_tools.arguments_of(command.prompt, rest)
    lacking = server_tools.lacking(command.prompt, arguments)
    if lacking:
        needs = f"/{command.name} needs {', '.join(lacking)}; the message was passed on as it is."
        return replace(on, notices=(*on.notices, needs)), ()
    thread, job = moves.key(thread)
    get = GetMcpPrompt(
        session=thread.id, server=command.server, prompt=command.prompt.name, arguments=arguments
    )
    return _with(thread, turn, replace(gathering, job=job)), (Start(job, get),)


def _stands_for(thread: Thread, text: str) -> Thread:
    """The model is given this text in the place of the command."""
    turn = thread.turn
    gathering = None if turn is None else turn.gathering
    if turn is None or gathering is None:
        return thread
    given = (*gathering.given, history.Given(0, (content.Text(text),)))
    return _with(thread, turn, replace(gathering, given=given))


def _prompted(
    options: Options, thread: Thread, turn: Turn, gathering: Gathering, outcome: JobOutcome
) -> Moved:
    gathering = replace(gathering, stage="attachments", job="")
    if isinstance(outcome, Ok) and isinstance(outcome.value, PromptGot) and outcome.value.parts:
        given = (*gathering.given, history.Given(0, outcome.value.parts))
        return _with(thread, turn, replace(gathering, given=given)), ()
    why = outcome.fault.message if isinstance(outcome, Failed) else "it said nothing."
    notice = f"The prompt of the MCP server could not be had: {why} The message was passed on as it is."
    return replace(_with(thread, turn, gathering), notices=(*thread.notices, notice)), ()


# Files and pictures --------------------------------------------------------------------------------


def _attachments(options: Options, thread: Thread, turn: Turn, gathering: Gathering) -> Moved:
    if gathering.job:
        return thread, ()
    model = model_names.chosen(options, thread)
    parts = tuple(enumerate(_parts(thread)))
    links = tuple(
        (at, part) for at, part in parts if isinstance(part, content.Link) and part.uri[:5].lower() == "file:"
    )
    images = tuple(
        (at, part)
        for at, part in parts
        if isinstance(part, content.Image) and model.images and excess_of(part, model.image_bytes) is not None
    )
    if not links and not images:
        return _with(thread, turn, replace(gathering, stage="done")), ()
    thread, job = moves.key(thread)
    read = ReadAttachments(
        cwd=thread.cwd,
        roots=thread.roots,
        links=links,
        images=images,
        image_bytes=model.image_bytes,
        images_taken=model.images,
        documents_taken=model.documents,
        denied=permission.denials_of(options, thread).paths,
    )
    return _with(thread, turn, replace(gathering, job=job)), (Start(job, read),)


def _attached(
    options: Options, thread: Thread, turn: Turn, gathering: Gathering, outcome: JobOutcome
) -> Moved:
    value = outcome.value if isinstance(outcome, Ok) else None
    found = value.attachments if isinstance(value, AttachmentsRead) else ()
    notices = tuple(attachment.notice for attachment in found if attachment.notice)
    thread = replace(thread, notices=(*thread.notices, *notices))
    named = tuple(attachment for attachment in found if attachment.path) if thread.abilities.reads else ()
    effects: list[Effect] = []
    asks: list[Link] = []
    for attachment in named:
        thread, key = moves.key(thread)
        effects.append(AskPeer(key, thread.id, ReadFile(attachment.path), turn.trace))
        asks.append(Link(str(attachment.position), key))
    wait = ""
    if asks:
        thread, wait = moves.key(thread)
        effects.append(Start(wait, Wait(EDITOR_WITHIN)))
    gathering = replace(gathering, stage="editor", job="", wait=wait, asks=tuple(asks), attachments=found)
    return _with(thread, turn, gathering), tuple(effects)


def _editor(options: Options, thread: Thread, turn: Turn, gathering: Gathering) -> Moved:
    if gathering.asks:
        return thread, ()
    stop: tuple[Effect, ...] = (Stop(gathering.wait),) if gathering.wait else ()
    given = tuple(history.Given(one.position, (one.part,)) for one in gathering.attachments)
    gathering = replace(gathering, stage="done", wait="", given=(*gathering.given, *given))
    return _with(thread, turn, gathering), stop


def _edited(thread: Thread, attachment: Attachment, text: str) -> tuple[Thread, Attachment]:
    """What the editor shows of a file, as many lines of it as were asked for; or what the disk has, where the editor is
    known to be behind. The model is told when the two differ."""
    part = attachment.part
    first = attachment.first or 1
    limit = 0 if attachment.last is None else attachment.last - first + 1
    found = lines.cut(text, first, limit).value_or(None)
    if not isinstance(part, content.Document) or found is None:
        return thread, attachment
    standing: Standing = "unsaved"
    if attachment.digest:
        now = Seen(digest(text), attachment.digest)
        standing = compare(now, thread.seen.get(attachment.path), thread.commanded)
        thread = replace(thread, seen=remembered(thread.seen, attachment.path, now))
    given = part.text or "" if standing == "stale" else lines.marked(found)
    note = NOTES[standing]
    whole = f"{given}\n{note}" if note else given
    return thread, replace(attachment, part=replace(part, text=whole))


def _done(options: Options, thread: Thread, turn: Turn, gathering: Gathering) -> Moved:
    if gathering.around:
        return thread, ()
    turn = replace(turn, gathering=None)
    if gathering.given:
        thread = moves.append(thread, history.Attached(gathering.given))
    return rounds.start(options, replace(thread, turn=turn), turn)


# Any: the stages have the same shape; the table only says which is which.
_STAGES: Final[Mapping[str, Callable[[Options, Thread, Turn, Gathering], Moved]]] = MappingProxyType(
    {
        "servers": _servers,
        "trust": _trust,
        "prompt": _prompt,
        "attachments": _attachments,
        "editor": _editor,
        "done": _done,
    }
)
_ENDED: Final[Mapping[str, Callable[[Options, Thread, Turn, Gathering, JobOutcome], Moved]]] = (
    MappingProxyType({"prompt": _prompted, "attachments": _attached})
)


# What was waited for -------------------------------------------------------------------------------


def is_of(turn: Turn, key: Key) -> bool:
    """Whether a job or a question belongs to what a prompt needs."""
    gathering = turn.gathering
    if gathering is None or not key:
        return False
    return key in {gathering.wait, gathering.job, gathering.around, *(link.key for link in gathering.asks)}


def ended(options: Options, thread: Thread, turn: Turn, key: Key, outcome: JobOutcome) -> Moved:
    """A job of it ended."""
    gathering = turn.gathering
    if gathering is None:
        return thread, ()
    if key == gathering.job:
        return _ENDED[gathering.stage](options, thread, turn, gathering, outcome)
    if key == gathering.around:
        value = outcome.value if isinstance(outcome, Ok) else None
        # What cannot be seen now is not looked for again: the beginning of all requests stays the same.
        found = value.surroundings if isinstance(value, LookedAround) else Surroundings(platform="", date="")
        return replace(_with(thread, turn, replace(gathering, around="")), surroundings=found), ()
    thread = _with(thread, turn, replace(gathering, wait="", asks=()))
    if gathering.stage == "servers":
        return servers.waited(thread), ()
    late = f"it did not answer within {EDITOR_WITHIN:g} s"
    return give_up(thread, "files", late), tuple(DropPeer(link.key) for link in gathering.asks)


def answered(thread: Thread, turn: Turn, key: Key, answer: PeerAnswer) -> Moved:
    """The editor answered for one file. What it does not have stays as the disk has it."""
    gathering = turn.gathering
    link = None if gathering is None else next((one for one in gathering.asks if one.key == key), None)
    if gathering is None or link is None:
        return thread, ()
    asks = tuple(one for one in gathering.asks if one is not link)
    attachments = gathering.attachments
    if isinstance(answer, FileText):
        made: list[Attachment] = []
        for one in attachments:
            if str(one.position) == link.tag:
                thread, one = _edited(thread, one, answer.text)
            made.append(one)
        attachments = tuple(made)
    thread = _with(thread, turn, replace(gathering, asks=asks, attachments=attachments))
    if isinstance(answer, FileText | Dismissed):
        return thread, ()
    # The file is on the disk: a client that cannot read it cannot read any.
    return give_up(thread, "files", problem_of(answer)), ()


def stop(thread: Thread, turn: Turn) -> Moved:
    """Nothing of it is wanted any more."""
    gathering = turn.gathering
    if gathering is None:
        return thread, ()
    jobs = tuple(Stop(key) for key in (gathering.wait, gathering.job, gathering.around) if key)
    asks = tuple(DropPeer(link.key) for link in gathering.asks)
    thread, closed = trusting.withdraw(thread, gathering)
    return replace(thread, turn=replace(turn, gathering=None)), (*jobs, *asks, *closed)
