"""One round: prompts, a kill, and everything that must hold afterwards."""

import random
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, NamedTuple

import orphans
import rules
import shapes
import stored
from agent import PATIENCE, Agent, Broken, Trigger
from busy import busy
from sessions import Session, State, replayed, turns_of
from shapes import SHAPES, Shape

FILE: Final = "sessions.db"
OLD: Final = 0.5
"""How often a round works on a session of an earlier one."""

TWO: Final = 5
"""Every so many rounds there are two agents."""

BUSY: Final = 0.3
"""How often another program works in the file while one agent does."""

RECENT: Final = 40
"""How many sessions back that may be; older ones stay as they are, which is looked at, too."""

IN_USE: Final = {"kind": "in_use"}
SETTLED: Final = 0.3
"""Seconds that a command which never ends has run before its round counts as over."""


class Length(NamedTuple):
    """How long the prompts of a shape take, in seconds and frames."""

    seconds: float
    frames: int


@dataclass
class Course:
    """What lives over all rounds."""

    folder: Path
    seed: int
    token: str
    sessions: list[Session] = field(default_factory=list)
    made: int = 0
    lengths: dict[str, Length] = field(default_factory=dict)

    @property
    def home(self) -> Path:
        return self.folder / "home"


@dataclass
class Round:
    """One round and what was found in it."""

    course: Course
    number: int
    shape: Shape
    chance: random.Random
    trigger: Trigger
    busy: bool = False
    told: str = ""
    found: list[str] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    agents: list[Agent] = field(default_factory=list)

    @property
    def mark(self) -> str:
        """The start of its marks."""
        return f"{self.course.token}{self.number:05d}"

    def script(self, name: str) -> Path:
        return self.course.folder / "scripts" / f"{self.number:05d}-{name}.json"

    def start(self, name: str, script: Path) -> Agent:
        """An agent of this round, initialized; everything that it can say may be in a replay."""
        self.texts += shapes.texts(script)
        log = self.course.folder / "logs" / f"{self.number:05d}-{name}.log"
        # The first one is killed; the others have marks of their own, since they live on.
        agent = Agent(script, self.course.home, f"{self.mark}{len(self.agents)}", log)
        self.agents.append(agent)
        agent.initialize()
        return agent


def begin(course: Course, number: int) -> Round:
    """What is done in a round. The first of each shape goes to its end, which tells how long it takes."""
    shape, chance = SHAPES[number % len(SHAPES)], random.Random(f"{course.seed}:{number}")
    length = course.lengths.get(shape.name)
    if length is None:
        return Round(course, number, shape, chance, Trigger("end"))
    busy = number % TWO != TWO - 1 and chance.random() < BUSY
    # An answer that comes before its save is seen where the save has to wait.
    kind = chance.choice(("time", "frame", "answer", "answer" if busy else "time"))
    amounts = {
        "time": chance.uniform(0, length.seconds),
        "frame": chance.randint(1, length.frames),
        "answer": chance.randint(1, shape.prompts - shape.hangs),
    }
    return Round(course, number, shape, chance, Trigger(kind, amounts[kind]), busy)


def play(one: Round) -> None:
    """A round from its first prompt to the last look."""
    try:
        touched = _two_agents(one) if one.number % TWO == TWO - 1 else _one_agent(one)
        _look(one, touched)
    except Broken as problem:
        one.found.append(str(problem))
    finally:
        for agent in one.agents:
            agent.close()
    for agent in one.agents:
        if left := orphans.left(agent.mark, agent.children):
            one.found.append(f"{agent.log.name}: processes are left: {left}")
        if "Traceback" in (said := agent.log.read_text(errors="replace")):
            one.found.append(f"{agent.log.name} has a traceback: {said[-600:]}")


# The kill ------------------------------------------------------------------------------------------


def _one_agent(one: Round) -> list[Session]:
    """One or two sessions, new ones or earlier ones, with all their prompts sent at once."""
    count = one.chance.choice((1, 2))
    agent = one.start("killed", shapes.write(one.script("killed"), one.shape, count, f"{one.mark}0"))
    touched = _chosen(one, agent, count)
    begin = len(agent.seen)
    with busy(one.course.home / FILE, one.busy):
        agent.arm(one.trigger)
        prompts = {session.id: _prompts(one, agent, session) for session in touched}
        _kill(one, agent, [asked for each in prompts.values() for asked in each], begin)
    for session in touched:
        session.turns += turns_of(agent, session.id, prompts[session.id], begin)
    return touched


def _prompts(one: Round, agent: Agent, session: Session) -> dict[int, str]:
    """Send all prompts of the round's shape: their texts by their numbers."""
    texts = [f"prompt {number} of round {one.number}" for number in range(one.shape.prompts)]
    return {agent.prompt(session.id, text): text for text in texts}


def _chosen(one: Round, agent: Agent, count: int) -> list[Session]:
    """Sessions that are open in the agent: new ones, or earlier ones, whose replay is as it was."""
    chance, chosen = one.chance, list[Session]()
    for _ in range(count):
        earlier = [session for session in one.course.sessions[-RECENT:] if session not in chosen]
        if earlier and chance.random() < OLD:
            session = chance.choice(earlier)
            if replayed(agent, session) != session.base:
                one.found.append(
                    f"{session.id} was replayed in another way than at the end of its last round"
                )
        else:
            session = _made(one, agent)
        chosen.append(session)
    return chosen


def _made(one: Round, agent: Agent) -> Session:
    cwd = one.course.folder / "work" / str(one.course.made)
    cwd.mkdir()
    made = agent.result("session/new", cwd=str(cwd), mcpServers=[])
    session = Session(made["sessionId"], cwd)
    one.course.made += 1
    one.course.sessions.append(session)
    return session


def _kill(one: Round, agent: Agent, prompts: list[int], begin: int) -> None:
    """Let it work until its trigger comes, at the latest until nothing more will come, and kill it."""
    armed = agent.seen[begin - 1].at
    over = Over(one.shape, agent, begin, prompts)
    agent.wait(over, "the end of the prompts")
    if one.shape.hangs:
        agent.gone(SETTLED)
    if one.trigger.kind == "time":
        agent.gone(one.trigger.amount)
    agent.look_and_kill()
    agent.child.wait()
    if not agent.gone(PATIENCE):
        one.found.append("somebody still holds the killed agent's output")
    if one.trigger.kind == "end":
        length = Length(agent.killed_at - armed, len(agent.seen) - begin)
        one.course.lengths.setdefault(one.shape.name, length)
    if left := orphans.left(agent.mark, agent.children):
        one.found.append(f"processes live on {orphans.WITHIN:g} s after the kill: {left}")
    answered = sum(agent.has_answered(asked) for asked in prompts)
    busily = ", the file being busy" if one.busy else ""
    one.told = (
        f"{one.shape.name}{busily}, killed {one.trigger}, {answered} of {len(prompts)} prompts answered"
    )


class Over:
    """Whether nothing more will come: every prompt has its answer, or the command that never ends is running."""

    def __init__(self, shape: Shape, agent: Agent, begin: int, prompts: list[int]) -> None:
        self._shape, self._agent, self._at, self._prompts = shape, agent, begin, prompts
        self._hanging: set[str] = set()
        self._hangs = False

    def __call__(self) -> bool:
        return self._does_hang() or all(map(self._agent.has_answered, self._prompts))

    def _does_hang(self) -> bool:
        if not self._shape.hangs:
            return False
        while self._at < len(self._agent.seen):
            update = self._agent.seen[self._at].frame.get("params", {}).get("update", {})
            if update.get("sessionUpdate") == "tool_call" and shapes.NEVER in str(update.get("rawInput")):
                self._hanging.add(update["toolCallId"])
            self._hangs |= update.get("toolCallId") in self._hanging and update.get("status") == "in_progress"
            self._at += 1
        return self._hangs


# Two agents ----------------------------------------------------------------------------------------


def _two_agents(one: Round, second_prompts: int = 2) -> list[Session]:
    """Two agents have the same session open; the one whose turn runs is killed, and the other goes on."""
    first = one.start("killed", shapes.write_quick(one.script("killed"), 1, one.shape, f"{one.mark}0"))
    [session] = _chosen(one, first, 1)
    begin, quick = len(first.seen), f"quick prompt of round {one.number}"
    asked = first.prompt(session.id, quick)
    first.answer(asked)
    second = one.start("second", shapes.write_quick(one.script("second"), second_prompts))
    if replayed(second, session) is None:
        one.found.append(f"{session.id} is not there for a second agent")
    begin_of_second, begin_of_prompts = len(second.seen), len(first.seen)
    first.arm(one.trigger)
    prompts = _prompts(one, first, session)
    running, between = next(iter(prompts)), f"prompt in between of round {one.number}"
    first.wait(lambda: len(first.seen) > begin_of_prompts, "the first update of a turn")
    others = {second.prompt(session.id, between): between}
    answer = second.answer(next(iter(others)))
    was_running = not first.killed_at and not first.has_answered(running)
    if was_running and (answer is None or answer.frame.get("error", {}).get("data") != IN_USE):
        one.found.append(f"a prompt to a session in use was answered by {answer and answer.frame}")
    _kill(one, first, list(prompts), begin_of_prompts)
    after = f"prompt of the other agent after the kill of round {one.number}"
    others[second.prompt(session.id, after)] = after
    taken = second.answer(list(others)[1])
    if taken is None or "result" not in taken.frame:
        one.found.append(f"the other agent could not go on: {taken and taken.frame}")
    session.turns += turns_of(first, session.id, {asked: quick, **prompts}, begin)
    session.turns += turns_of(second, session.id, others, begin_of_second)
    one.found += _compared(one, session, replayed(second, session))
    one.told += f", two agents ({'refused' if was_running else 'not refused'} in between)"
    return [session]


# The look afterwards -------------------------------------------------------------------------------


def _look(one: Round, touched: list[Session]) -> None:
    """A new agent lists and loads every session, and goes on with those of the round."""
    agent = one.start("after", shapes.write_quick(one.script("after"), len(touched)))
    listed = _listed(agent)
    for session in list(one.course.sessions):
        if session.id not in listed and any(turn.acknowledged for turn in session.turns):
            one.found.append(f"{session.id} was acknowledged and is not in the list")
        if session.base and session.id not in listed:
            one.found.append(f"{session.id} was stored and is not in the list")
        replay = replayed(agent, session)
        one.found += _compared(one, session, replay)
        if replay is None:
            one.course.sessions.remove(session)
        elif session in touched:
            one.found += _gone_on(one, agent, session, replay)
    if unknown := listed - {session.id for session in one.course.sessions}:
        one.found.append(f"the list has sessions that cannot be loaded or were never made: {unknown}")


def _compared(one: Round, session: Session, replay: list[State] | None) -> list[str]:
    if replay is None:
        return [f"{session.id} cannot be loaded"] if session.is_promised else []
    if not session.turns:
        same = replay == session.base
        return [] if same else [f"{session.id} was not touched, and its replay is another now"]
    slack = rules.SLACK_IF_BUSY if one.busy else rules.SLACK
    return [f"{session.id}: {problem}" for problem in rules.problems(session, replay, one.texts, slack)]


def _gone_on(one: Round, agent: Agent, session: Session, replay: list[State]) -> list[str]:
    """A further prompt; what is stored then is whole, and the next replay shows it all."""
    file = one.course.home / FILE
    found = stored.problems(file, session.id, whole=False)
    begin, text = len(agent.seen), f"further prompt of round {one.number}"
    asked = agent.prompt(session.id, text)
    answer = agent.answer(asked)
    if answer is None or "result" not in answer.frame:
        session.base, session.turns = replay, []
        return [*found, f"a further prompt was answered by {answer and answer.frame}"]
    session.base, session.turns = replay, turns_of(agent, session.id, {asked: text}, begin)
    again = replayed(agent, session)
    found += stored.problems(file, session.id, whole=True) + _compared(one, session, again)
    session.base, session.turns = again or replay, []
    return [f"{session.id}, gone on with: {problem}" for problem in found]


def _listed(agent: Agent) -> set[str]:
    """The ids of all pages of the list."""
    ids, cursor = set[str](), {}
    while True:
        page = agent.result("session/list", **cursor)
        ids |= {session["sessionId"] for session in page["sessions"]}
        if not page.get("nextCursor"):
            return ids
        cursor = {"cursor": page["nextCursor"]}
