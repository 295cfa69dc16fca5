"""Reading commands in folders that lay traps: git settings that name programs, and programs that stand in for others."""

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from zidane_acp.tools.repository import SETTINGS, hardened, is_plain
from zidane_core.data.tools import Preview, ToolResult

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed on this machine"),
]
Space = Any


@pytest.fixture(autouse=True)
def own_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    """The settings of whoever runs the tests stay out of it."""
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    for name in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{name}_NAME", "Name")
        monkeypatch.setenv(f"GIT_{name}_EMAIL", "name@example.org")


def git(folder: Path, *arguments: str) -> None:
    subprocess.run(["git", *arguments], cwd=folder, check=True, capture_output=True)


def repository(folder: Path) -> Path:
    folder.mkdir(exist_ok=True)
    git(folder, "init", "-q")
    (folder / "f").write_text("one\n")
    git(folder, "add", ".")
    git(folder, "commit", "-qm", "first")
    (folder / "f").write_text("two\n")
    return folder


def trap(folder: Path) -> Path:
    """A program that leaves a mark beside the workspace when it is run."""
    program = folder.parent / "trap"
    program.write_text(f"#!/bin/sh\ntouch {folder.parent}/sprung\ncat\n")
    program.chmod(0o755)
    return program


def fsmonitor(folder: Path, program: Path) -> None:
    git(folder, "config", "core.fsmonitor", str(program))


def external_diff(folder: Path, program: Path) -> None:
    git(folder, "config", "diff.external", str(program))


def text_conversion(folder: Path, program: Path) -> None:
    git(folder, "config", "diff.trap.textconv", str(program))
    (folder / ".gitattributes").write_text("f diff=trap\n")


def diff_driver(folder: Path, program: Path) -> None:
    git(folder, "config", "diff.trap.command", str(program))
    (folder / ".gitattributes").write_text("f diff=trap\n")


def clean_filter(folder: Path, program: Path) -> None:
    git(folder, "config", "filter.trap.clean", str(program))
    (folder / ".gitattributes").write_text("f filter=trap\n")


def included(folder: Path, program: Path) -> None:
    (folder / "settings").write_text(f"[core]\n fsmonitor = {program}\n")
    git(folder, "config", "include.path", "../settings")


def worktree_settings(folder: Path, program: Path) -> None:
    git(folder, "config", "extensions.worktreeConfig", "true")
    git(folder, "config", "--worktree", "core.fsmonitor", str(program))


def index_hook(folder: Path, program: Path) -> None:
    shutil.copy(program, folder / ".git" / "hooks" / "post-index-change")
    os.utime(folder / "f", (1, 1))


def hook_folder(folder: Path, program: Path) -> None:
    (folder / "hooks").mkdir()
    shutil.copy(program, folder / "hooks" / "post-index-change")
    git(folder, "config", "core.hooksPath", "hooks")
    os.utime(folder / "f", (1, 1))


def submodule(folder: Path, program: Path) -> None:
    inner = repository(folder / "inner")
    git(folder, "add", "inner")
    fsmonitor(inner, program)


def bare_in_the_open(folder: Path, program: Path) -> None:
    shutil.move(folder / ".git", folder.parent / "away")
    for entry in (folder.parent / "away").iterdir():
        shutil.move(entry, folder / entry.name)
    (folder / "config").write_text(
        f"[core]\n repositoryformatversion = 0\n worktree = .\n fsmonitor = {program}\n"
    )


def one_line(folder: Path, program: Path) -> None:
    with (folder / ".git" / "config").open("a") as file:
        file.write(f"[core] fsmonitor = {program}\n")


def continued(folder: Path, program: Path) -> None:
    with (folder / ".git" / "config").open("a") as file:
        file.write(f"[core]\n checkStat = a\\\n[color]\nFSMonitor={program}\n")


TRAPS: dict[Callable[[Path, Path], None], str] = {
    fsmonitor: "git status",
    external_diff: "git diff",
    text_conversion: "git diff",
    diff_driver: "git diff",
    clean_filter: "git status",
    included: "git status",
    worktree_settings: "git status",
    index_hook: "git describe --always --dirty",
    hook_folder: "git describe --always --dirty",
    submodule: "git status",
    bare_in_the_open: "git status",
    one_line: "git status",
    continued: "git status",
}


async def prepared(space: Space, command: str) -> Preview:
    return await space.prepare("shell", command=command)  # type: ignore[no-any-return]


@pytest.mark.parametrize("lay", TRAPS, ids=lambda lay: lay.__name__)
async def test_a_trap_is_asked_about(space: Space, lay: Callable[[Path, Path], None]) -> None:
    """Each is a real one: the program runs when the user allows the command."""
    command, sprung = TRAPS[lay], space.root.parent / "sprung"
    program = trap(space.root)
    repository(space.root)
    plain = await prepared(space, command)
    assert plain.harmless
    lay(space.root, program)
    sprung.unlink(missing_ok=True)  # git runs some of them already while they are laid
    assert not (await prepared(space, command)).harmless
    late: ToolResult = await space.run("shell", command=command, granted=False, preview=plain)
    assert late.failed
    assert "has changed since it was looked at" in late.content[0].text  # type: ignore[union-attr]
    assert not sprung.exists()
    await space.run("shell", command=command, preview=plain)
    assert sprung.exists(), "no trap: the test proves nothing"


OTHER_SETTINGS = [
    "core.sshCommand=x", "core.gitProxy=x", "core.worktree=/", "core.worktree=../..", "core.excludesFile=/etc/passwd",
    "core.alternateRefsCommand=x", "merge.x.driver=x", "includeIf.gitdir:/.path=x", "alias.status=!x", "gpg.program=x",
    "gpg.ssh.program=x", "format.pretty=%G?", "log.showSignature=true", "status.submoduleSummary=true", "diff.submodule=log",
    "remote.origin.uploadpack=x", "remote.origin.promisor=true", "extensions.partialClone=origin", "credential.helper=x",
    "lfs.customtransfer.x.path=x", "url.x.insteadOf=y", "blame.ignoreRevsFile=/etc/passwd", "mailmap.file=/etc/passwd",
    "core.hooksPath=~/x", "new.setting=1",
]  # fmt: skip


@pytest.mark.parametrize("setting", OTHER_SETTINGS)
async def test_other_settings_are_asked_about(space: Space, setting: str) -> None:
    key, _, value = setting.partition("=")
    git(repository(space.root), "config", key, value)
    assert not (await prepared(space, "git log -1")).harmless
    assert (await prepared(space, "ls")).harmless


USUAL_SETTINGS = [
    "user.email=a@example.org", "remote.origin.url=https://example.org/x.git", "branch.main.remote=origin",
    "remote.origin.fetch=+refs/heads/*:refs/remotes/origin/*", "branch.a b.vscode-merge-base=origin/main",
    "core.hooksPath=.husky/_", "core.autocrlf=input", "core.fileMode=false", "pull.rebase=true", "color.ui=auto",
    "lfs.https://example.org/x.git/info/lfs.access=basic", "extensions.worktreeConfig=true", "commit.gpgsign=true",
]  # fmt: skip


@pytest.mark.parametrize("setting", USUAL_SETTINGS)
async def test_usual_settings_run_without_a_question(space: Space, setting: str) -> None:
    key, _, value = setting.partition("=")
    git(repository(space.root), "config", key, value)
    (space.root / "deep" / "er").mkdir(parents=True)
    preview = await space.prepare("shell", command="git status --short", cwd="deep/er")
    assert preview.harmless
    result = await space.run(
        "shell", command="git status --short", cwd="deep/er", granted=False, preview=preview
    )
    assert result.content[0].text == " M ../../f\n"


async def test_comments_and_endings_of_a_config_are_understood(space: Space) -> None:
    repository(space.root)
    config = space.root / ".git" / "config"
    config.write_bytes(
        b'# c\r\n; d\r\n\r\n[core] ; e\r\n\trepositoryformatversion = 0 # f\r\n\tbare\r\n[Remote "o\\"x"]\r\n url=a\r\n'
    )
    assert (await prepared(space, "git status")).harmless
    for broken in (
        b"[core\n",
        b"[user]\n na me = x\n",
        b"[user]\n name = \xff\n",
        b"[user]\n name = a\x00b\n",
    ):
        config.write_bytes(broken)
        assert not (await prepared(space, "git status")).harmless
    config.unlink()
    os.mkfifo(config)
    assert not (await prepared(space, "git status")).harmless, "a pipe is not waited for"


async def test_linked_worktrees_and_submodules(space: Space) -> None:
    main = repository(space.root / "main")
    git(main, "worktree", "add", "-q", "../tree")
    whole = repository(space.root / "whole")
    git(whole, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", f"{main}/.git", "sub")
    for folder in ("tree", "whole/sub"):
        assert (space.root / folder / ".git").is_file()
        assert (await space.prepare("shell", command="git status", cwd=folder)).harmless
    assert not (await space.prepare("shell", command="git status", cwd="whole")).harmless, "runs git in sub"
    fsmonitor(main, trap(space.root))
    assert not (await space.prepare("shell", command="git status", cwd="tree")).harmless


@pytest.mark.parametrize("how", ["gitfile", "link", "objects", "alternates", "commondir"])
async def test_the_history_of_another_repository_is_not_read(space: Space, how: str) -> None:
    """A folder can point its repository to a private one somewhere else."""
    private = repository(space.root.parent / "private")
    if how == "gitfile":
        (space.root / ".git").write_text(f"gitdir: {private}/.git\n")
    elif how == "link":
        (space.root / ".git").symlink_to(private / ".git")
    else:
        repository(space.root)
        assert (await prepared(space, "git log")).harmless
    own = space.root / ".git"
    if how == "objects":
        shutil.rmtree(own / "objects" / "pack")
        (own / "objects" / "pack").symlink_to(private / ".git" / "objects" / "pack")
    elif how == "alternates":
        (own / "objects" / "info" / "alternates").write_text(f"{private}/.git/objects\n")
    elif how == "commondir":
        (own / "commondir").write_text(f"{private}/.git\n")
    assert not (await prepared(space, "git log")).harmless


def test_no_repository_is_plain_and_an_unknown_place_is_not(tmp_path: Path) -> None:
    repository(tmp_path / "w")
    assert is_plain(str(tmp_path), {})
    assert is_plain(str(tmp_path / "w"), {})
    (tmp_path / "w" / "deep").mkdir()
    (tmp_path / "HEAD").touch()
    assert is_plain(str(tmp_path / "w" / "deep"), {}), "git looks no further than the first repository"
    (tmp_path / "w" / ".git" / "HEAD").write_text("no branch")
    assert not is_plain(str(tmp_path / "w" / "deep"), {})
    assert not is_plain(str(tmp_path / "w"), {"GIT_DIR": "/elsewhere"})


def test_the_settings_on_top_come_after_those_of_the_user(tmp_path: Path) -> None:
    folder = repository(tmp_path / "w")
    fsmonitor(folder, trap(folder))
    given = {
        **os.environ,
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": "user.name",
        "GIT_CONFIG_VALUE_0": "Given",
    }
    for key, value in {**SETTINGS, "user.name": "Given"}.items():
        shown = subprocess.run(
            ["git", "config", "--get", key], cwd=folder, env=hardened(given), capture_output=True, check=True
        )
        assert shown.stdout.decode() == f"{value}\n"


@pytest.mark.parametrize("path", ["{root}/bin", "", ".", "bin"])
async def test_a_program_from_the_folder_is_asked_about(
    space: Space, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    for folder in (space.root / "bin", space.root):
        folder.mkdir(exist_ok=True)
        shutil.copy(trap(space.root), folder / "ls")
    assert (await prepared(space, "ls")).harmless
    monkeypatch.setenv("PATH", f"{path.format(root=space.root)}{os.pathsep}{os.environ['PATH']}")
    assert not (await prepared(space, "ls")).harmless
    assert (await prepared(space, "cat bin/ls")).harmless, "another program"


async def test_a_link_made_after_the_look_is_refused(space: Space) -> None:
    """`ln -s` ran between: what was a file of the workspace is now one of somebody else."""
    secret = space.root.parent / "secret"
    secret.write_text("secret")
    path = str(space.root / "x")
    call = msgspec.structs.replace(space.call("shell", {"command": "cat x"}), paths=(str(space.root), path))
    preview = await space.tools.run(msgspec.structs.replace(call, stage="prepare"), lambda _: None)
    assert all(found.inside for found in preview.paths)
    (space.root / "x").symlink_to(secret)
    run = msgspec.structs.replace(call, preview=preview)
    refused = await space.tools.run(run, lambda _: None)
    assert refused.failed
    assert refused.content[0].text.startswith(f"{path} now lies outside the workspace ({secret})")
    allowed = await space.tools.run(msgspec.structs.replace(run, granted=True), lambda _: None)
    assert allowed.content[0].text == "secret"
