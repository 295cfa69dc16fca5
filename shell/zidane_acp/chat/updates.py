"""What an agent says, as records: `session/update` and permission requests, read leniently."""

from collections.abc import Callable, Mapping
from typing import Final, Literal, TypeAlias

import msgspec

from zidane_acp.chat import told
from zidane_acp.chat.told import Told
from zidane_acp.fields import JsonObject, child, objects, text
from zidane_core.text import is_array


class Said(msgspec.Struct, frozen=True, gc=False):
    """A piece of the answer, or of the thinking, or of the user's own text (replayed)."""

    kind: Literal["agent", "thought", "user"]
    text: str
    message: str = ""


class Output(msgspec.Struct, frozen=True, gc=False):
    """Text that a tool call shows."""

    text: str


class FileDiff(msgspec.Struct, frozen=True, gc=False):
    """A change of a file; `old` is None for a new file."""

    path: str
    old: str | None
    new: str


CardContent: TypeAlias = Output | FileDiff


class Card(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A tool call, or what changed of it: None leaves a field as it was."""

    id: str
    name: str | None = None
    title: str | None = None
    kind: str | None = None
    status: str | None = None
    content: tuple[CardContent, ...] | None = None
    raw_input: JsonObject | None = None

    def changed(self, update: "Card") -> "Card":
        """The card after an update."""
        return Card(
            id=self.id,
            name=self.name if update.name is None else update.name,
            title=self.title if update.title is None else update.title,
            kind=self.kind if update.kind is None else update.kind,
            status=self.status if update.status is None else update.status,
            content=self.content if update.content is None else update.content,
            raw_input=self.raw_input if update.raw_input is None else update.raw_input,
        )

    @property
    def ended(self) -> bool:
        return self.status in ("completed", "failed")


class Step(msgspec.Struct, frozen=True, gc=False):
    """A step of the plan."""

    content: str
    status: str


class Plan(msgspec.Struct, frozen=True, gc=False):
    """The whole plan."""

    steps: tuple[Step, ...]


class Command(msgspec.Struct, frozen=True, gc=False):
    """A slash command, its name without the slash."""

    name: str
    description: str
    hint: str


class Commands(msgspec.Struct, frozen=True, gc=False):
    """All slash commands."""

    commands: tuple[Command, ...]


class Notice(msgspec.Struct, frozen=True, gc=False):
    """Something the user should know."""

    severity: str
    text: str


class Changed(msgspec.Struct, frozen=True, gc=False):
    """What is set to something else from now on, each as `Name: value`."""

    words: tuple[str, ...]


class Compaction(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The conversation is shortened for the model, or what changed of that: None leaves a field as it was.

    `more` is one more piece of the summary.
    """

    id: str
    status: str | None = None
    summary: str | None = None
    more: str = ""
    error: str | None = None

    def changed(self, update: "Compaction") -> "Compaction":
        """The compaction after an update."""
        summary = self.summary if update.summary is None else update.summary
        return Compaction(
            id=self.id,
            status=self.status if update.status is None else update.status,
            summary=(summary or "") + update.more if update.more else summary,
            error=self.error if update.error is None else update.error,
        )

    @property
    def ended(self) -> bool:
        return self.status in ("completed", "failed", "cancelled")


Update: TypeAlias = Said | Card | Plan | Commands | Notice | Changed | Compaction


class Title(msgspec.Struct, frozen=True, gc=False):
    """What the agent calls the session, empty for nothing. It is no part of the conversation."""

    text: str


class Option(msgspec.Struct, frozen=True, gc=False):
    """An option of a permission question."""

    id: str
    name: str
    kind: str


class Question(msgspec.Struct, frozen=True, gc=False):
    """A permission question about a tool call."""

    card: Card
    options: tuple[Option, ...]


def read_update(update: JsonObject) -> Update | Title | Told | None:
    """The record of an update; None for kinds that this client does not show."""
    reader = READERS.get(text(update, "sessionUpdate"))
    return None if reader is None else reader(update)


def read_question(params: JsonObject) -> Question:
    """The question of a `session/request_permission`."""
    options = (
        Option(text(item, "optionId"), text(item, "name") or text(item, "optionId"), text(item, "kind"))
        for item in objects(params, "options")
    )
    return Question(_card(child(params, "toolCall")), tuple(option for option in options if option.id))


def _said(kind: Literal["agent", "thought", "user"]) -> Callable[[JsonObject], Said]:
    def read(update: JsonObject) -> Said:
        return Said(kind, block_text(child(update, "content")), text(update, "messageId"))

    return read


def block_text(block: JsonObject) -> str:
    """What a terminal can show of a content block."""
    kind = text(block, "type")
    if kind == "text":
        return text(block, "text")
    if kind == "resource_link":
        return f"<{text(block, 'uri')}>"
    if kind == "resource":
        resource = child(block, "resource")
        return text(resource, "text") or f"<{text(resource, 'uri')}>"
    return f"[{kind or 'content'}]"


def _card(update: JsonObject) -> Card:
    raw = update.get("rawInput")
    content = update.get("content")
    return Card(
        id=text(update, "toolCallId"),
        name=text(update, "name") or None,
        title=text(update, "title") or None,
        kind=text(update, "kind") or None,
        status=text(update, "status") or None,
        content=_contents(update) if is_array(content) else None,
        raw_input=child(update, "rawInput") if raw is not None else None,
    )


def _contents(update: JsonObject) -> tuple[CardContent, ...]:
    return tuple(_content(item) for item in objects(update, "content"))


def _content(item: JsonObject) -> CardContent:
    kind = text(item, "type")
    if kind == "diff":
        old = item.get("oldText")
        return FileDiff(text(item, "path"), old if isinstance(old, str) else None, text(item, "newText"))
    if kind == "terminal":
        return Output(f"[terminal {text(item, 'terminalId')}]")
    return Output(block_text(child(item, "content")))


def _plan(update: JsonObject) -> Plan:
    entries = objects(update, "entries")
    return Plan(tuple(Step(text(entry, "content"), text(entry, "status", "pending")) for entry in entries))


def _commands(update: JsonObject) -> Commands:
    found = objects(update, "availableCommands")
    return Commands(
        tuple(
            Command(text(item, "name"), text(item, "description"), text(child(item, "input"), "hint"))
            for item in found
            if text(item, "name")
        )
    )


def _notice(update: JsonObject) -> Notice:
    words = (text(update, "title"), text(update, "description"))
    return Notice(text(update, "severity", "info"), ": ".join(word for word in words if word))


def _compaction(update: JsonObject) -> Compaction:
    summary = "".join(block_text(block) for block in objects(update, "summary"))
    return Compaction(
        id=text(update, "compactionId"),
        status=text(update, "status") or None,
        summary=summary if is_array(update.get("summary")) else None,
        error=text(update, "error") or None,
    )


def _summary_piece(update: JsonObject) -> Compaction:
    return Compaction(id=text(update, "compactionId"), more=block_text(child(update, "content")))


def _title(update: JsonObject) -> Title | None:
    # Absent means unchanged, null means that there is none any more.
    return Title(text(update, "title")) if "title" in update else None


READERS: Final[Mapping[str, Callable[[JsonObject], Update | Title | Told | None]]] = {
    "agent_message_chunk": _said("agent"),
    "agent_thought_chunk": _said("thought"),
    "user_message_chunk": _said("user"),
    "tool_call": _card,
    "tool_call_update": _card,
    "plan": _plan,
    "available_commands_update": _commands,
    "notice": _notice,
    "compaction_update": _compaction,
    "compaction_summary_chunk": _summary_piece,
    "session_info_update": _title,
    **told.READERS,
}
