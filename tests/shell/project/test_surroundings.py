"""Where a session works: git is asked only where it runs nothing of the repository's own, and never waited for long."""

import os
import re
import subprocess
import sys
from pathlib import Path

import anyio
import pytest
from support.process import alive

from zidane_acp.project import surroundings
from zidane_acp.project.surroundings import look_around

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(sys.platform == "win32", reason="the shell is another one"),
]
USER = ("-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "commit.gpgsign=false")


def git(folder: Path, *words: str) -> None:
    subprocess.run(["git", *USER, *words], cwd=folder, check=True, capture_output=True)


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    folder = tmp_path.resolve() / "repo"
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main")
    (folder / "a").write_text("a")
    git(folder, "add", "a")
    git(folder, "commit", "-qm", "Begin\n\nmore")
    return folder


async def test_the_platform_the_date_and_the_repository(repository: Path) -> None:
    (repository / "a").write_text("b")
    (repository / "new").write_text("b")
    (repository / "src").mkdir()
    found = await look_around(str(repository / "src"))
    assert re.fullmatch(r"(Linux|macOS) .+; commands run in /bin/sh", found.platform)
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", found.date)
    assert found.repository == ('- branch: "main"\n- changed files: 1, new files: 1\n- last commit: "Begin"')


async def test_a_worktree_has_its_own_branch(repository: Path) -> None:
    git(repository, "worktree", "add", "-q", "-b", "side", "../side")
    found = await look_around(str(repository.parent / "side"))
    assert found.repository.startswith('- branch: "side"')


async def test_a_repository_without_a_commit(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q", "-b", "main")
    assert (
        await look_around(str(tmp_path))
    ).repository == '- branch: "main"\n- changed files: 0, new files: 0'


async def test_outside_of_a_repository_git_is_not_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def never(*_: object) -> str:
        raise AssertionError("git was asked")

    monkeypatch.setattr(surroundings, "_said", never)
    found = await look_around(str(tmp_path))
    assert found.repository == "" and found.platform


async def test_a_repository_that_names_programs_is_not_asked(repository: Path) -> None:
    mark = repository.parent / "ran"
    git(repository, "config", "core.fsmonitor", f"touch {mark}; false")
    assert (await look_around(str(repository))).repository == ""
    assert not mark.exists()


async def test_a_git_in_the_repository_is_not_run(repository: Path) -> None:
    mark = repository.parent / "ran"
    program = repository / "git"
    program.write_text(f"#!/bin/sh\ntouch {mark}\n")
    program.chmod(0o755)
    found = await look_around(
        str(repository), {**os.environ, "PATH": f"{repository}{os.pathsep}{os.environ['PATH']}"}
    )
    assert found.repository == "" and not mark.exists()


@pytest.mark.parametrize(
    ("program", "said"),
    [
        ("exec sleep 60", ""),
        ('case "$*" in *log*) echo Begin;; *) exec sleep 60;; esac', '- last commit: "Begin"'),
        ("trap '' TERM; sleep 60 & echo $! > $(dirname $0)/pid; wait", ""),
        ("exec cat /dev/zero", ""),
        ("exit 1", ""),
        ("echo '# branch.head main'; exit 1", ""),
    ],
    ids=["hangs", "is slow", "has a child", "never stops", "fails", "fails late"],
)
async def test_what_git_does_not_say_in_time_is_left_out(
    repository: Path, monkeypatch: pytest.MonkeyPatch, program: str, said: str
) -> None:
    monkeypatch.setattr(surroundings, "WITHIN", 0.4)
    place = repository.parent / "bin"
    place.mkdir()
    (place / "git").write_text(f"#!/bin/sh\necho $$ > {place}/pid\n{program}\n")
    (place / "git").chmod(0o755)
    with anyio.fail_after(5):
        found = await look_around(
            str(repository), {**os.environ, "PATH": f"{place}{os.pathsep}{os.environ['PATH']}"}
        )
    assert found.repository == said and found.platform
    with anyio.fail_after(5):
        while alive(int((place / "pid").read_text())):  # noqa: ASYNC110  another process has no event
            await anyio.sleep(0.01)


async def test_without_git_all_else_is_known(repository: Path) -> None:
    found = await look_around(str(repository), {"PATH": "/nowhere", "HOME": "/nowhere"})
    assert found.repository == "" and found.date


async def test_git_gets_no_key(repository: Path) -> None:
    place = repository.parent / "bin"
    place.mkdir()
    (place / "git").write_text(f"#!/bin/sh\nenv > {place}/env\n")
    (place / "git").chmod(0o755)
    path = f"{place}{os.pathsep}{os.environ['PATH']}"
    await look_around(str(repository), {**os.environ, "PATH": path, "OPENAI_API_KEY": "secret"})
    shared = (place / "env").read_text()
    assert "secret" not in shared and "GIT_OPTIONAL_LOCKS=0" in shared
