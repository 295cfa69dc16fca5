"""What is never written without a question."""

import pytest

from zidane_core.agent.guarded import EXCEPTIONS, NAMES, PATTERNS, is_guarded, names_guarded

OWN = ("/home/u/.local/state/zidane-acp", "/home/u/.config/zidane-acp")


@pytest.mark.parametrize(
    "path",
    [
        "/project/.git/config",
        "/project/.GIT/hooks/x",
        "/project/sub/.git",
        "/project/.zidane/config.toml",
        "/project/.env",
        "/project/.env.local",
        "/project/sub/.Env.Production",
        "/home/u/.ssh/config",
        "/home/u/.ssh/authorized_keys",
        "/home/u/.aws/credentials",
        "/home/u/.kube/config",
        "/home/u/.npmrc",
        "/home/u/.pypirc",
        "/home/u/.netrc",
        "/project/id_rsa",
        "/project/id_ed25519.pub",
        "/project/server.pem",
        "/project/SERVER.KEY",
        "/project/a.p12",
        "/home/u/.local/state/zidane-acp/sessions.db",
        "/home/u/.local/state/zidane-acp",
        "/home/u/.config/zidane-acp/config.toml",
        "C:\\project\\.git\\config",
    ],
)
def test_guarded(path: str) -> None:
    assert is_guarded(path, OWN)


@pytest.mark.parametrize(
    "path",
    [
        "/project/a.py",
        "/project/.github/workflows/ci.yml",
        "/project/.gitignore",
        "/project/git/config",
        "/project/.env.example",
        "/project/env",
        "/project/keys.py",
        "/project/key",
        "/project/pem",
        "/home/u/.local/state/zidane-acp-notes/a",
        "/home/u/.config/other",
    ],
)
def test_not_guarded(path: str) -> None:
    assert not is_guarded(path, OWN)


def test_every_name_of_the_tables_is_known() -> None:
    for name in (*NAMES, *(pattern.replace("*", "x") for pattern in PATTERNS)):
        assert is_guarded(f"/project/{name}", ()), name
    assert not [name for name in EXCEPTIONS if is_guarded(f"/project/{name}", ())]


@pytest.mark.parametrize(
    "line",
    [
        "rm -rf .git",
        "rm -rf ./.git/",
        "echo x >> .git/hooks/pre-commit",
        "cd .git && rm HEAD",
        "cp key ~/.ssh/id_rsa",
        "tee $HOME/.ssh/config",
        "sh -c 'echo A=1 > .env'",
        "cat a > '.env'",
        "rm .e*",
        "mv a server.pem",
        "python -c \"open('.env', 'w')\"",
        "rm /home/u/.local/state/zidane-acp/rules.db",
        "sqlite3 ../home/u/.local/state/zidane-acp/rules.db",
        "git config --file=.git/config a b",
    ],
)
def test_a_line_that_names_one(line: str) -> None:
    assert names_guarded(line, "/project", OWN)


@pytest.mark.parametrize(
    "line", ["make test", "rm *", "git commit -m x", "cp a .env.example", "echo $HOME", "rm -rf x"]
)
def test_a_line_that_names_none(line: str) -> None:
    assert not names_guarded(line, "/project", OWN)
