"""What is read from the folders of a session: which files, how much of them, and never one that may do harm."""

import os
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from zidane_acp.ports import StoreProblem
from zidane_acp.project import commands, instructions, reading, roots
from zidane_acp.project.reading import read_project
from zidane_core.data.project import Project
from zidane_core.data.rules import Grant


class Kept:
    """Rules in memory; `problem` is raised by all of them."""

    def __init__(self, *folders: Path, problem: str = "") -> None:
        self.folders = frozenset(str(folder) for folder in folders)
        self.problem = problem
        self.asked: list[str] = []

    def trusted(self, folders: tuple[str, ...]) -> frozenset[str]:
        if self.problem:
            raise StoreProblem(self.problem)
        return self.folders & set(folders)

    def grants(self, folder: str) -> tuple[Grant, ...]:
        self.asked.append(folder)
        return (Grant("edits"),)

    def keep_grant(self, folder: str, grant: Grant) -> None: ...

    def keep_trust(self, folders: tuple[str, ...]) -> None: ...


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path.resolve() / "home"
    folder.mkdir()
    monkeypatch.setattr(reading, "home", lambda: str(folder))
    return folder


@pytest.fixture
def repository(home: Path) -> Path:
    folder = home / "repo"
    (folder / ".git").mkdir(parents=True)
    return folder


def write(path: Path, data: bytes | str = "text\n") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    return path


def read(*paths: Path, own: Path | None = None, rules: Kept | None = None) -> Project:
    return read_project(tuple(map(str, paths)), None if own is None else str(own), rules)


def names(project: Project, base: Path) -> list[str]:
    return [os.path.relpath(one.path, base) for one in project.instructions]


# Folders -------------------------------------------------------------------------------------------


def test_a_folder_belongs_to_the_nearest_repository_or_to_itself(home: Path, repository: Path) -> None:
    inner = repository / "vendor" / "inner"
    write(inner / ".git", "gitdir: /elsewhere/.git/worktrees/inner\n")
    deep = inner / "a" / "b"
    deep.mkdir(parents=True)
    plain = home / "plain" / "sub"
    plain.mkdir(parents=True)
    found = read(deep, repository / "vendor", plain, repository)
    assert found.folders == (str(inner), str(repository), str(plain))
    assert found.untrusted == found.folders


def test_no_repository_at_home_or_above_makes_everything_below_one_project(home: Path) -> None:
    (home / ".git").mkdir()
    (home.parent / ".git").mkdir()
    (home / "work").mkdir()
    assert read(home / "work").folders == (str(home / "work"),)
    assert read(home).folders == (str(home),)
    assert roots.repository_of("/", str(home)) in {None, "/"}


def test_a_link_to_a_folder_counts_as_what_it_leads_to(home: Path, repository: Path) -> None:
    (repository / "src").mkdir()
    link = home / "link"
    link.symlink_to(repository / "src")
    assert read(link, repository).folders == (str(repository),)


def test_trust_and_permissions_are_those_that_were_kept(home: Path, repository: Path) -> None:
    other = home / "other"
    other.mkdir()
    rules = Kept(repository)
    found = read(repository, other, rules=rules)
    assert (found.untrusted, found.grants, rules.asked) == (
        (str(other),),
        (Grant("edits"),),
        [str(repository)],
    )


def test_rules_that_cannot_be_read_trust_nothing_and_say_why(repository: Path) -> None:
    found = read(repository, rules=Kept(repository, problem="The file is damaged; remove it."))
    assert (found.untrusted, found.grants) == ((str(repository),), ())
    assert found.warnings == ("The file is damaged; remove it.",)


# Instructions --------------------------------------------------------------------------------------


def test_from_the_repository_down_to_the_root_each_folder_has_one_file(home: Path, repository: Path) -> None:
    write(home / "AGENTS.md")  # above the repository
    write(repository / "AGENTS.md")
    write(repository / "CLAUDE.md")
    write(repository / "a" / "CLAUDE.md")
    write(repository / "a" / "b" / "AGENTS.md")
    write(repository / "a" / "b" / "c" / "AGENTS.md")  # below the root
    own = home / "config"
    write(own / "AGENTS.md")
    write(own / "CLAUDE.md")
    found = read(repository / "a" / "b", own=own)
    assert names(found, home) == [
        "config/AGENTS.md",
        "repo/AGENTS.md",
        "repo/a/CLAUDE.md",
        "repo/a/b/AGENTS.md",
    ]
    assert [one.folder for one in found.instructions] == ["", *[str(repository)] * 3]
    assert not found.warnings


def test_each_file_is_read_once_by_its_real_path(home: Path, repository: Path) -> None:
    write(repository / "docs" / "agents.md", "one\n")
    (repository / "AGENTS.md").symlink_to("docs/agents.md")
    (repository / "a").mkdir()
    (repository / "a" / "AGENTS.md").symlink_to("../docs/agents.md")
    (repository / "CLAUDE.md").symlink_to("AGENTS.md")
    found = read(repository / "a", repository)
    assert names(found, repository) == ["docs/agents.md"]


TEXTS: dict[str, tuple[bytes, str]] = {
    "plain": (b"a\n", "a\n"),
    "windows": (b"\xef\xbb\xbfa\r\nb\rc", "a\nb\nc"),
    "not ascii": ("käse 😀\n".encode(), "käse 😀\n"),
    "joined emoji": ("👩\u200d💻\n".encode(), "👩\u200d💻\n"),
}


@pytest.mark.parametrize("name", TEXTS)
def test_texts_as_they_are_used(repository: Path, name: str) -> None:
    data, text = TEXTS[name]
    write(repository / "AGENTS.md", data)
    (one,) = read(repository).instructions
    assert (one.text, one.size, one.cut) == (text, len(data), False)


def test_what_no_reader_sees_no_model_sees(repository: Path) -> None:
    hidden = "".join(chr(0xE0000 + ord(letter)) for letter in "obey")
    write(repository / "AGENTS.md", f"a\u202eb\u200b{hidden}c\n")
    found = read(repository)
    assert found.instructions[0].text == "abc\n"
    assert found.warnings == (f"{repository}/AGENTS.md holds invisible characters; they were left out.",)


@pytest.mark.parametrize("data", [b"", b"\n \n", b"\xef\xbb\xbf"])
def test_a_file_without_a_word_is_none(repository: Path, data: bytes) -> None:
    write(repository / "AGENTS.md", data)
    assert read(repository) == Project(folders=(str(repository),), untrusted=(str(repository),))


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"line\n" * 10_000, b"line\n" * (instructions.FILE_ROOM // 5)),
        (b"x" * 50_000, b"x" * instructions.FILE_ROOM),
        (b"x" + "é".encode() * 50_000, b"x" + "é".encode() * ((instructions.FILE_ROOM - 1) // 2)),
    ],
    ids=["lines", "one line", "in a character"],
)
def test_a_long_file_is_cut_at_the_end_of_a_line_if_it_has_one(
    repository: Path, data: bytes, text: bytes
) -> None:
    write(repository / "AGENTS.md", data)
    (one,) = read(repository).instructions
    assert (one.text.encode(), one.size, one.cut) == (text, len(data), True)


def test_where_the_room_is_short_the_nearest_to_the_root_win(home: Path, repository: Path) -> None:
    large = b"x" * 39 + b"\n"
    for folder in (repository, repository / "a", repository / "a" / "b", repository / "a" / "b" / "c"):
        write(folder / "AGENTS.md", large * 1000)
    own = home / "config"
    write(own / "AGENTS.md", large)
    found = read(repository / "a" / "b" / "c", own=own)
    assert names(found, repository) == [
        "../config/AGENTS.md",
        "a/AGENTS.md",
        "a/b/AGENTS.md",
        "a/b/c/AGENTS.md",
    ]
    assert sum(len(one.text) for one in found.instructions) <= instructions.ROOM
    assert found.warnings == (
        f"{repository}/AGENTS.md is not used: the instructions have more than 96 KiB together.",
    )


def _pipe(place: Path, outside: Path) -> None:
    os.mkfifo(place)


def _folder(place: Path, outside: Path) -> None:
    place.mkdir()


def _device(place: Path, outside: Path) -> None:
    place.symlink_to("/dev/zero")


def _out(place: Path, outside: Path) -> None:
    place.symlink_to(write(outside / "secret"))


def _circle(place: Path, outside: Path) -> None:
    place.symlink_to(place.name)


def _socket(place: Path, outside: Path) -> None:
    made = socket.socket(socket.AF_UNIX)
    here = os.getcwd()
    os.chdir(place.parent)  # the name of a socket is short
    try:
        made.bind(place.name)
    finally:
        os.chdir(here)
        made.close()


def _latin(place: Path, outside: Path) -> None:
    place.write_bytes(b"caf\xe9\n")


def _binary(place: Path, outside: Path) -> None:
    place.write_bytes(b"a\0b\n")


BAD: dict[str, tuple[Callable[[Path, Path], None], str]] = {
    "pipe": (_pipe, "is no regular file"),
    "folder": (_folder, "is no regular file"),
    "device": (_device, "is a link that leads out of its folder"),
    "out": (_out, "is a link that leads out of its folder"),
    "circle": (_circle, "is a link that leads out of its folder"),
    "socket": (_socket, "is no regular file"),
    "latin": (_latin, "is not UTF-8"),
    "binary": (_binary, "is no text"),
}


@pytest.mark.timeout(10)
@pytest.mark.parametrize("name", BAD)
def test_what_is_no_ordinary_text_is_left_out_and_named(home: Path, repository: Path, name: str) -> None:
    make, problem = BAD[name]
    make(repository / "AGENTS.md", home)
    write(repository / "src" / "AGENTS.md")
    found = read(repository / "src")
    assert names(found, repository) == ["src/AGENTS.md"]
    assert found.warnings == (f"{repository}/AGENTS.md {problem}; it is not used.",)


@pytest.mark.timeout(10)
@pytest.mark.parametrize("name", sorted(BAD.keys() - {"folder"}))
def test_the_same_of_a_command(home: Path, repository: Path, name: str) -> None:
    make, problem = BAD[name]
    place = repository / ".zidane" / "commands"
    place.mkdir(parents=True)
    make(place / "bad.md", home)
    write(place / "good.md")
    found = read(repository)
    assert [one.name for one in found.commands] == ["good"]
    assert found.warnings == (f"{place}/bad.md {problem}; the command is not used.",)


def test_a_link_to_nothing_is_no_file(repository: Path) -> None:
    (repository / "AGENTS.md").symlink_to("missing")
    write(repository / "CLAUDE.md")
    found = read(repository)
    assert names(found, repository) == ["CLAUDE.md"] and not found.warnings


def test_a_file_of_the_user_may_be_a_link_to_anywhere(home: Path, repository: Path) -> None:
    own = home / "config"
    (own / "commands").mkdir(parents=True)
    (own / "AGENTS.md").symlink_to(write(home / "dotfiles" / "agents.md"))
    (own / "commands" / "x.md").symlink_to(write(home / "dotfiles" / "x.md"))
    found = read(repository, own=own)
    assert names(found, home) == ["dotfiles/agents.md"]
    assert [one.name for one in found.commands] == ["x"] and not found.warnings


# Commands ------------------------------------------------------------------------------------------


def test_commands_of_the_user_and_of_each_folder_by_name(home: Path, repository: Path) -> None:
    own, other = home / "config", home / "other"
    write(own / "commands" / "b.md", "---\ndescription: B\nargument-hint: [x]\n---\nDo $1.\r\n")
    write(own / "commands" / "a.md", "First line\n\nmore")
    write(own / ".zidane" / "commands" / "no.md")
    write(repository / ".zidane" / "commands" / "git" / "fix.md")
    write(repository / ".zidane" / "commands" / "fix.MD")
    write(repository / ".zidane" / "commands" / "u\u0308ben.md")
    write(repository / ".zidane" / "commands" / "deep" / "er" / "no.md")
    write(repository / ".zidane" / "commands" / "no.txt")
    write(repository / "src" / ".zidane" / "commands" / "no.md")
    write(other / ".zidane" / "commands" / "fix.md")
    found = read(repository / "src", other, own=own)
    assert [(one.name, one.source, one.folder) for one in found.commands] == [
        ("a", "user", ""),
        ("b", "user", ""),
        ("fix", "project", str(repository)),
        ("git:fix", "project", str(repository)),
        ("üben", "project", str(repository)),
        ("fix", "project", str(other)),
    ]
    first, second = found.commands[:2]
    assert (first.template, first.description, first.hint) == ("First line\n\nmore", "First line", "")
    assert (second.template, second.description, second.hint) == ("Do $1.", "B", "[x]")
    assert second.path == str(own / "commands" / "b.md") and not found.warnings


def test_names_that_cannot_be_typed_are_left_out(repository: Path) -> None:
    place = repository / ".zidane" / "commands"
    for name in ("a b.md", "a\nb.md", "a\u200bb.md", "x" * 65 + ".md", "a$b.md"):
        write(place / name)
    write(place / ".hidden.md")
    write(place / "b c" / "ok.md")
    found = read(repository)
    assert not found.commands and len(found.warnings) == 6
    assert all("is not used: a command's name has letters" in one for one in found.warnings)
    assert not any("\n" in one or "\u202e" in one for one in found.warnings)


def test_a_command_is_never_cut(repository: Path) -> None:
    place = repository / ".zidane" / "commands"
    write(place / "large.md", "x" * (commands.FILE_ROOM + 1))
    write(place / "fits.md", "x" * commands.FILE_ROOM)
    write(place / "empty.md", "---\ndescription: a\n---\n")
    found = read(repository)
    assert [one.name for one in found.commands] == ["fits"]
    assert [one.partition(".md ")[2] for one in found.warnings] == [
        "is empty; the command is not used.",
        "has more than 64 KiB; the command is not used.",
    ]


def test_there_is_an_end_to_files_and_to_text(repository: Path) -> None:
    place = repository / ".zidane" / "commands"
    for number in range(commands.MOST_FILES + 2):
        write(place / f"{number:03}.md")
    found = read(repository)
    assert len(found.commands) == commands.MOST_FILES and len(found.warnings) == 1
    for number in range(commands.MOST_FILES):
        write(place / f"{number:03}.md", "x" * commands.FILE_ROOM)
    found = read(repository)
    assert len(found.commands) == commands.ROOM // commands.FILE_ROOM
    assert found.warnings[0].endswith("016.md on they are not used.")


def test_there_is_an_end_to_names(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(commands, "MOST_NAMES", 2)
    place = repository / ".zidane" / "commands"
    for name in ("a", "b", "c"):
        write(place / f"{name}.md")
    found = read(repository)
    assert len(found.commands) == 2
    assert found.warnings == (f"{place} has more than 2 names; the rest is not looked at.",)


@pytest.mark.parametrize("where", [".zidane", ".zidane/commands", ".zidane/commands/sub"])
def test_a_folder_of_commands_that_is_a_link_out_of_the_project_gives_none(
    home: Path, repository: Path, where: str
) -> None:
    outside = home / "outside"
    for place in (outside, outside / "commands"):
        write(place / "a.md")
    link = repository / where
    link.parent.mkdir(parents=True, exist_ok=True)
    link.symlink_to(outside)
    assert not read(repository).commands
