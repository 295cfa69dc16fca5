"""What the user denied: paths and commands, in whatever spelling."""

import time

import pytest

from zidane_core.agent.denials import denied_argument, denied_line, denied_path, path_rules, sweeps
from zidane_core.data.rules import Denials

ROOTS = ("/project", "/other")
PATHS = (
    "secrets/**",
    "*.pem",
    "/etc/**",
    ".env",
    "/home/u/.ssh",
    "deep/*/x",
    "**/hidden/*.txt",
    "a[0-9].bin",
)


@pytest.mark.parametrize(
    ("path", "rule"),
    [
        ("/project/secrets/key", "secrets/**"),
        ("/project/secrets", "secrets/**"),
        ("/other/secrets/a/b/c", "secrets/**"),
        ("secrets/key", "secrets/**"),
        ("./a/../secrets//key", "secrets/**"),
        ("/project/src/secrets/key", ""),
        ("/project/secrets.txt", ""),
        ("/elsewhere/secrets/key", ""),
        ("/project/a/b/k.pem", "*.pem"),
        ("/elsewhere/k.pem", "*.pem"),
        ("/project/k.pem.txt", ""),
        ("/project/k.pem/inside", "*.pem"),
        ("/etc/passwd", "/etc/**"),
        ("//etc/passwd", "/etc/**"),
        ("/project/etc/passwd", ""),
        ("/project/.env", ".env"),
        ("/project/sub/.env", ".env"),
        ("/project/.env.example", ""),
        ("/home/u/.ssh/id", "/home/u/.ssh"),
        ("/home/u/.sshd", ""),
        ("/project/deep/a/x", "deep/*/x"),
        ("/project/deep/a/b/x", ""),
        ("/tmp/a/hidden/b.txt", "**/hidden/*.txt"),
        ("/tmp/a/hidden/b.md", ""),
        ("/project/a1.bin", "a[0-9].bin"),
        ("/project/ab.bin", ""),
        ("secrets\\key", "secrets/**"),
    ],
)
def test_a_path(path: str, rule: str) -> None:
    assert denied_path(path_rules(PATHS, ROOTS), path, "/project") == rule


def test_a_name_does_not_count_above_the_roots() -> None:
    rules = path_rules(("work", "**/lib/*.c"), ("/work/lib/project", "/other"))
    assert denied_path(rules, "/work/lib/project/a.c") == ""
    assert denied_path(rules, "/work/lib/project/work/a.py") == "work"
    assert denied_path(rules, "/work/lib/project/lib/a.c") == "**/lib/*.c"
    assert denied_path(rules, "/work/elsewhere") == "work"
    assert denied_path(rules, "/other/lib/a.c") == "**/lib/*.c"


def test_a_pattern_of_nothing_denies_nothing_and_one_of_the_top_everything() -> None:
    assert denied_path(path_rules(("", "  ", "/"), ROOTS), "/project/a") == ""
    assert denied_path(path_rules(("**",), ROOTS), "/project/a") == "**"
    assert denied_path(path_rules(("/**",), ROOTS), "/project/a") == "/**"


LINES = Denials(
    (*PATHS, "C:/keys/**"),
    ("git push", "rm -rf *", "curl", "docker run --privileged", "npm publish", "mkfs*"),
)


@pytest.mark.parametrize(
    "line",
    [
        "git push",
        "git push origin main",
        "  git   push",
        "git -C sub push",
        "git -c a=b --no-pager push",
        "git --git-dir x push",
        "/usr/bin/git push",
        "g''it pu\"\"sh",
        "\\git push",
        "git \\\n push",
        "git${IFS}push",
        "$'\\x67it' push",
        "$GIT push",
        "A=1 B=2 git push",
        "sudo -u me git push",
        "env A=1 git push",
        "env -S 'git push'",
        "timeout 5 git push",
        "nohup git push &",
        "true; git push",
        "true&&git push",
        "false || git push",
        "a | git push",
        "(git push)",
        "{ git push; }",
        "! git push",
        "if true; then git push; fi",
        "for b in a b; do git push origin $b; done",
        "echo $(git push)",
        'echo "$(git "push")"',
        "echo `git push`",
        "echo ${A:-$(git push)}",
        "diff <(git push) a",
        ">out git push",
        "git >out push",
        "git push 2>&1 >/dev/null",
        "sh -c 'git push'",
        '/bin/bash -lc "cd a && git push"',
        "bash -c \"bash -c 'git push'\"",
        "eval git push",
        "eval 'git push'",
        "echo git push | sh",
        "echo 'git push' | bash",
        "bash <<< 'git push'",
        "bash <<END\ngit push\nEND",
        "ssh host git push",
        "xargs -n1 git push",
        "true\ngit push",
        "rm -rf x",
        "rm -fr x",
        "rm -r -f x",
        "rm -R -f x",
        "rm -rvf x",
        "rm x -rf",
        "rm --recursive --force x",
        "rm --recurs -f x",
        "find . -name x -exec rm -rf {} +",
        "curl https://example.com",
        "c\\url x",
        "docker run -it --privileged x",
        "docker --debug run --privileged=true x",
        "npm --silent publish",
        "mkfs.ext4 /dev/x",
    ],
)
def test_a_denied_command(line: str) -> None:
    assert denied_line(LINES, line, "/project", ROOTS)


@pytest.mark.parametrize(
    "line",
    [
        "cat secrets/key",
        "cat ./secrets/key",
        "cat 'secrets'/key",
        "cat s\\ecrets/key",
        "cat src/../secrets/key",
        "cat /project/secrets/key",
        "cat $PWD/secrets/key",
        'cat "${PWD}/secrets/key"',
        "cat $(pwd)/secrets/key",
        "cat {secrets,other}/key",
        "cat sec*/key",
        "cat */key",
        "cat ?ecrets/key",
        "cat [s]ecrets/key",
        "rm -r *",
        "cat secrets/*",
        "cat<secrets/key",
        "echo x > secrets/key",
        "echo x >>secrets/key",
        "tar -cf- secrets",
        "grep -fsecrets/words a",
        "prog --file=secrets/key",
        "curlish -d @secrets/key",
        "PATHS=secrets/key prog",
        "git show HEAD:secrets/key",
        "cd secrets && cat key",
        "cd src && cat ../secrets/key",
        "make -C src ../secrets/key",
        "python -c \"print(open('secrets/key').read())\"",
        "node -e 'fs.readFileSync(\"secrets/key\")'",
        "sh -c 'cat secrets/key'",
        "secrets/run.sh",
        "cat ~/.ssh/id",
        "cat $HOME/.ssh/id",
        "cat ~u/.ssh/id",
        "cat k.pem",
        "cat *.pem",
        "cat .e*",
        "cat .en?",
        "cat /etc/passwd",
        "cat /project/../etc/passwd",
        "scp host:secrets/key .",
        "cat a1.bin",
    ],
)
def test_a_line_that_names_a_denied_path(line: str) -> None:
    assert denied_line(Denials(PATHS), line, "/project", ROOTS)


@pytest.mark.parametrize(
    "line",
    [
        "git status",
        "git commit -m push",
        "git commit -m 'git push later'",
        "git log push",
        "git pushx",
        "git stash",
        "echo git push",
        "rm x",
        "rm -r x",
        "rm -f x",
        "docker run x",
        "npm publisher",
        "grep push a",
        "cat secret",
        "cat src/secrets.py",
        "cat .env.example",
        "ls $HOME",
        "cat $FILE",
        "for f in *.py; do wc -l $f; done",
        "pip install pem",
        "git commit -m 'tell of secrets and keys'",
        "python -m pytest -q",
        "",
        "'",
        "$(",
        "`",
        "((",
        "a\x00b",
    ],
)
def test_a_line_that_is_not_denied(line: str) -> None:
    assert denied_line(LINES, line, "/project", ROOTS) == ""


def test_a_line_in_another_folder() -> None:
    denied = Denials(("secrets/**",))
    assert denied_line(denied, "cat ../secrets/key", "/project/src", ROOTS)
    # Whatever folder it would run in, from a root it is denied: the line may go there.
    assert denied_line(denied, "cat secrets/key", "/project/src", ROOTS)
    assert not denied_line(denied, "cat ../key", "/project/src", ROOTS)


@pytest.mark.parametrize(
    ("arguments", "rule"),
    [
        ({"path": "secrets/key"}, "secrets/**"),
        ({"where": {"files": ["a", "/project/secrets/key"]}}, "secrets/**"),
        ({"uri": "file:///project/secrets/key"}, "secrets/**"),
        ({"uri": "file:///project/secr%65ts/key"}, "secrets/**"),
        ({"command": "git", "args": ["-C", "a b", "push"]}, "git push"),
        ({"run": {"cmd": "sh", "argv": ["-c", "git push"]}}, "git push"),
        ({"command": "git push"}, "git push"),
        ({"cmd": ["git", "-C", "x", "push"]}, "git push"),
        ({"Command": "cat secrets/key"}, "secrets/**"),
        ({"text": "git push"}, ""),
        ({"text": "one\nsecrets/key"}, ""),
        ({"path": "src/key", "count": 3, "on": True, "none": None}, ""),
    ],
)
def test_arguments_of_tools_that_others_run(arguments: dict[str, object], rule: str) -> None:
    denied = Denials(("secrets/**",), ("git push",))
    assert denied_argument(denied, arguments, "/project", ROOTS) == rule


@pytest.mark.parametrize(
    ("line", "swept"),
    [
        ("grep -r x .", True),
        ("grep -nR x", True),
        ("grep --recursive x .", True),
        ("rg x", True),
        ("git diff", True),
        ("git show HEAD", True),
        ("git status", False),
        ("grep x a", False),
        ("ls", False),
    ],
)
def test_a_command_that_reads_what_it_does_not_name(line: str, swept: bool) -> None:
    assert sweeps(line) is swept


@pytest.mark.parametrize(
    "line",
    [
        "sh -c " * 2000 + "x",
        "$(" * 3000,
        "`" * 3001,
        "{a,b}" * 200,
        "cat " + "$a/b/" * 300,
        "cat " + "*/" * 300 + "x",
        "x " * 20000,
        "eval 'eval \"" * 300,
        "cd a;" * 300,
    ],
    ids=lambda line: line[:8],
)
def test_a_line_that_is_meant_to_take_long_does_not(line: str) -> None:
    begun = time.process_time()
    denied_line(LINES, line, "/project", ROOTS)
    assert time.process_time() - begun < 2
