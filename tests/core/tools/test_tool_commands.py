"""What is read-only, what can be granted by prefix: every doubt must come out as None."""

import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zidane_core.agent.commands import covers, prefix, read_only_paths, shown_prefix, simple_words


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("ls", ("ls",)),
        ("  ls\t-la  'a b' \"c d\"e\\ f ", ("ls", "-la", "a b", "c de f")),
        ("git show HEAD~1 HEAD^", ("git", "show", "HEAD~1", "HEAD^")),
        ('echo "a\\"b" \'$x\'', ("echo", 'a"b', "$x")),
        ("echo '' a#b", ("echo", "", "a#b")),
        ("make CC=gcc", ("make", "CC=gcc")),
    ],
)
def test_simple_words(line: str, words: tuple[str, ...]) -> None:
    assert simple_words(line) == words


@pytest.mark.parametrize(
    "line",
    [
        "", "  ", "a; b", "a && b", "a || b", "a | b", "a &", "a > b", "a < b", "a 2>&1", "(a)", "a `b`", "a $(b)",
        'a "$(b)"', 'a "`b`"', "a $b", 'a "$b"', "a ${b}", "a *", "a ?", "a [b]", "a {b,c}", "a ~", "a ~/b",
        "a # b", "#a", "a\nb", "a 'b\nc'", "X=1 a", "X+=1 a", "a \\", "a 'b", 'a "b', 'a "b\\', "if", "! a", "time a",
        "a\x00b", "a \x1b", "a \u00a0b", "'' a", "a x=~", "a !b", "a \udc80",
    ],
)  # fmt: skip
def test_no_simple_words(line: str) -> None:
    assert simple_words(line) is None
    assert read_only_paths(line) is None
    assert prefix(line) is None
    assert not covers(("a",), line)


@given(st.text(st.sampled_from("ab '\"\\~#=$-*"), max_size=12))
def test_words_are_those_of_a_shell(line: str) -> None:
    words = simple_words(line)
    if words is not None:
        assert list(words) == shlex.split(line)


@given(st.lists(st.text(st.characters(exclude_categories=["Cc", "Cs"]), min_size=1), min_size=1, max_size=4))
def test_quoted_words_come_back(words: list[str]) -> None:
    assert simple_words(shlex.join(["echo", *words])) == ("echo", *words)


@pytest.mark.parametrize(
    ("line", "paths"),
    [
        ("ls", ()),
        ("ls -la src /etc", ("src", "/etc")),
        ("pwd", ()),
        ("cat -n a b", ("a", "b")),
        ("cat -- -x", ("-x",)),
        ("cat -", ()),
        ("cat a -n", ("a", "-n")),
        ("head -20 a", ("a",)),
        ("tail -n 5 a", ("a", "5")),
        ("wc -l a", ("a",)),
        ("stat a", ("a",)),
        ("file a", ("a",)),
        ("du -sh .", (".",)),
        ("which python", ()),
        ("echo -e 'rm -rf'", ()),
        ("date +%F", ()),
        ("sed -n '1,20p' a", ("a",)),
        ("grep -rn 'x y' src", ("src",)),
        ("grep -e x a", ("a", "x")),
        ("grep --include=*.py x a", None),
        ("grep '--include=*.py' x a", ("a",)),
        ("rg -n foo", ()),
        ("rg foo src -g '*.py'", ("src", "*.py", "-g")),
        ("rg --files src", ("src",)),
        ("find . -name '*.py' -not -path './x/*'", (".",)),
        ("find / -newer /etc/passwd", ("/", "/etc/passwd")),
        ("git status --short", ()),
        ("git --no-pager diff --stat HEAD~1", ("HEAD~1",)),
        ("git diff -U /etc/passwd a", ("a", "/etc/passwd")),
        ("git diff -- /etc/passwd", ("/etc/passwd",)),
        ("git log --oneline -5", ()),
        ("git log --since '2 weeks ago' -- a", ("a", "2 weeks ago")),
        ("git show HEAD:a", ("HEAD:a",)),
        ("git branch", ()),
        ("git branch --list 'x*'", ()),
        ("git rev-parse --abbrev-ref HEAD", ("HEAD",)),
        ("git stash list", ()),
        ("git remote -v", ()),
    ],
)  # fmt: skip
def test_read_only(line: str, paths: tuple[str, ...] | None) -> None:
    assert read_only_paths(line) == paths


@pytest.mark.parametrize(
    "line",
    [
        "rm a", "touch a", "make", "python x", "env", "sh -c ls", "xargs ls", "sudo ls", "/bin/ls", "./ls", "tee a",
        "cat a > b", "ls; rm a", "ls && rm a", "ls $(rm a)", "ls `rm a`", "ls\nrm a", "X=1 ls", "ls *",
        "git -c core.pager=x diff", "git -C /x diff", "git --git-dir=x log", "git --exec-path=x status",
        "git diff --output=x", "git diff --output x", "git diff --outp=x", "git diff --ext-diff", "git diff --no-index a b",
        "git diff --textconv", "git show --submodule=diff", "git diff --submodule", "git log --show-signature", "git log --format=%G?", "git log --format '%GS'",
        "git log '--pretty=%h %G?'", "git grep -Ox y", "git grep x",
        "git branch x", "git branch -v x", "git branch -d x", "git branch -D x", "git branch -m x", "git branch -l x",
        "git tag x", "git tag -d x", "git tag -s x", "git stash", "git stash drop", "git stash pop", "git remote add a b",
        "git remote update", "git push", "git fetch", "git commit", "git checkout a", "git config x y", "git", "git -p log",
        "git reflog expire", "git bisect run x", "git blame --contents x y",
        "rg --pre x y", "rg --pre=x y", "rg -L x", "rg --follow x", "rg -z x", "rg --search-zip x", "rg -f x", "rg --ignore-file x y",
        "rg --hostname-bin x y", "grep -R x", "grep -f x y", "grep --file=x y", "grep -rf x y", "grep --dereference-recursive x",
        "find . -exec rm x", "find . -execdir x", "find . -ok x", "find . -delete", "find . -fprint x", "find . -fprintf x y",
        "find . -fls x", "find -L .", "find . -follow", "find . -files0-from x", "find . -name", "find . -name a -o -delete",
        "sort a", "sort -o a b", "sort -oa b", "uniq a b", "wc --files0-from=a", "du --files0-from=a", "du -L",
        "date -s 1", "date --set=1", "date 01010000", "date -f x", "hostname x", "file -C -m x", "file -f x", "file -z x",
        "tree -o x", "tree -R", "sed -i s/a/b/ x", "sed -n 1p", "sed -n 'w x' a", "sed -n '1e' a", "sed -n 1,2p -i a",
        "sed 1d x", "tail -f x", "tail -F x", "less x", "diff a b", "sha256sum -c x", "awk 1 x", "cat --files x", "which -x y",
    ],
)  # fmt: skip
def test_not_known_to_be_read_only(line: str) -> None:
    assert read_only_paths(line) is None


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("git diff x", ("git", "diff")),
        ("git log --oneline", ("git", "log")),
        ("git commit -m 'a b'", ("git", "commit")),
        ("npm run test", ("npm", "run", "test")),
        ("npm run test -- --watch", ("npm", "run", "test")),
        ("npm test", ("npm", "test")),
        ("cargo test x", ("cargo", "test")),
        ("go test ./...", ("go", "test")),
        ("make test", ("make", "test")),
        ("pytest -q tests", ("pytest",)),
        ("touch a", None),
        ("rm -rf a", None),
        ("python x.py", None),
        ("python3 -m pytest", None),
        ("sh -c ls", None),
        ("bash x", None),
        ("sudo git diff", None),
        ("env git diff", None),
        ("xargs git diff", None),
        ("npx x", None),
        ("npm install x", None),
        ("npm run test --prefix /x", None),
        ("npm run", None),
        ("npm run $x", None),
        ("git -c a=b diff", None),
        ("git diff --output=x", None),
        ("git push", None),
        ("git config a b", None),
        ("git diff | sh", None),
        ("make", None),
        ("make -f x test", None),
        ("make test SHELL=x", None),
        ("make test -- SHELL=x", None),
        ("go test -exec x", None),
        ("curl x", None),
    ],
)
def test_prefix(line: str, words: tuple[str, ...] | None) -> None:
    assert prefix(line) == words


@pytest.mark.parametrize(
    ("granted", "line", "covered"),
    [
        (("git", "diff"), "git diff", True),
        (("git", "diff"), "git diff a b", True),
        (("git", "diff"), "git difftool", False),
        (("git", "diff"), "git status", False),
        (("git", "diff"), "git diff; rm x", False),
        (("git", "diff"), "git diff && rm x", False),
        (("git", "diff"), "git diff > x", False),
        (("git", "diff"), "git diff $(x)", False),
        (("git", "diff"), "git diff --output=x", False),
        (("npm", "run", "test"), "npm run test -- -x", True),
        (("npm", "run", "test"), "npm run test --prefix /x", False),
        (("npm", "run", "test"), "npm run tests", False),
        (("make", "test"), "make test SHELL=x", False),
        (("touch",), "touch a", True),
        ((), "touch a", False),
    ],
)
def test_covers(granted: tuple[str, ...], line: str, covered: bool) -> None:
    assert covers(granted, line) is covered


def test_shown_prefix() -> None:
    assert shown_prefix(("npm", "run", "a b")) == "npm run 'a b' *"
