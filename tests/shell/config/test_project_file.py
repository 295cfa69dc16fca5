"""A project's file: what it may choose, and that nothing in it raises, hangs or gets power."""

import time

import pytest

from zidane_acp.config.project import LONGEST, MOST_PATTERNS, MOST_WARNINGS, project_settings
from zidane_core.data.project import ProjectSettings
from zidane_core.data.rules import Denials

NOTHING = ProjectSettings()


def warnings(text: str | bytes) -> tuple[str, ...]:
    settings, said = project_settings(text if isinstance(text, bytes) else text.encode(), "f")
    assert settings == NOTHING
    return said


def test_what_a_project_may_choose() -> None:
    text = b"""
default_model = "anthropic/claude-opus-5-5"
mode = "plan"
thinking = "high"
[permissions]
policy = "read-only"
deny_paths = ["secrets/**"]
deny_commands = ["git push", "npm publish"]
"""
    assert project_settings(text, "f") == (
        ProjectSettings(
            default_model="anthropic/claude-opus-5-5",
            mode="plan",
            thinking="high",
            policy="read-only",
            denials=Denials(("secrets/**",), ("git push", "npm publish")),
        ),
        (),
    )
    assert project_settings(b"", "f") == (NOTHING, ())


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[mcp.x]\ncommand='evil'", "f, line 1: a project cannot set mcp; it is not used."),
        (
            "[providers.anthropic]\nbase_url='http://evil'",
            "f, line 1: a project cannot set providers; it is not used.",
        ),
        (
            "\n[[models]]\nid='x'",
            "f, line 2: a project cannot set models; it is not used.",
        ),
        ("provider='x'", "f, line 1: a project cannot set provider; it is not used."),
        ("[agents.x]\ngraph='evil:main'", "f, line 1: a project cannot set agents; it is not used."),
        ("commands = ['x']", "f, line 1: a project cannot set commands; it is not used."),
        ("require_login = false", "f, line 1: a project cannot set require_login; it is not used."),
        (
            "allow_private_fetch = true",
            "f, line 1: a project cannot set allow_private_fetch; it is not used.",
        ),
        ("log_file = '/tmp/x'", "f, line 1: a project cannot set log_file; it is not used."),
        (
            "[permissions]\ntrust_read_only = true",
            "f, line 2: a project cannot set permissions.trust_read_only; it is not used.",
        ),
        (
            "[permissions]\nread_only_commands = true",
            "f, line 2: a project cannot set permissions.read_only_commands; it is not used.",
        ),
        (
            "thinkin = 'low'",
            "f, line 1: a project cannot set thinkin (did you mean thinking?); it is not used.",
        ),
        ("mode = 3", "f, line 1: mode must be text that is not empty; it is not used."),
        ("permissions = 3", "f, line 1: permissions must be a table; it is not used."),
        (
            "[permissions]\npolicy = 'sure'",
            "f, line 2: permissions.policy must be ask, allow-edits, allow-all or read-only; it is not used.",
        ),
    ],
)
def test_everything_else_is_a_warning(text: str, said: str) -> None:
    assert warnings(text) == (said,)


def test_the_rest_of_a_file_with_mistakes_holds() -> None:
    text = b"mode = 'plan'\nprovider = 'x'\n[permissions]\ndeny_paths = ['a', 3, '']\npolicy = 7\n"
    settings, said = project_settings(text, "f")
    assert settings == ProjectSettings(mode="plan", denials=Denials(("a",)))
    assert len(said) == 4


HOSTILE: dict[str, bytes] = {
    "binary": bytes(range(256)) * 10,
    "zeros": b"\0" * 1000,
    "not UTF-8": b"mode = '\xff'",
    "deep arrays": b"x = " + b"[" * 20_000,
    "closed deep arrays": b"x = " + b"[" * 20_000 + b"]" * 20_000,
    "deep tables": b"x = " + b"{a=" * 10_000,
    "a key of dots": b"a" + b".a" * 30_000 + b" = 1",
    "a quoted key of dots": b'"a"' + b'."a"' * 15_000 + b" = 1",
    "a header of dots": b"[a" + b".a" * 30_000 + b"]",
    "a dotted key inside": b"x = { a" + b".a" * 30_000 + b" = 1 }",
    "a huge number": b"x = " + b"9" * 60_000,
    "many tables": b"[[a]]\n" * 10_000,
    "many keys": b"\n".join(b"a%d = 1" % number for number in range(7_000)),
    "many dotted keys": b"\n".join(b"a.b%d.c.d.e = 1" % number for number in range(3_500)),
    "quotes": b'"' * 60_000,
    "open text": b'mode = """' + b"\\" * 60_000,
    "a word": b"a" * 60_000,
    "too large": b"#" * (LONGEST + 1),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_what_a_stranger_wrote_never_raises_and_never_takes_long(name: str) -> None:
    began = time.monotonic()
    said = warnings(HOSTILE[name])
    assert time.monotonic() - began < 5
    assert said and len(said) <= MOST_WARNINGS + 1
    assert all(line.startswith("f") and line.isprintable() and len(line) < 600 for line in said)


def test_names_of_the_file_do_nothing_in_a_log() -> None:
    (said,) = warnings('"x\\nERROR: \\u001b[2J\\u202e' + "y" * 5000 + '" = 1')
    assert said.isprintable() and len(said) < 400
    settings, said_of_name = project_settings(b"mode=3", "f\nERROR")
    assert settings == NOTHING and said_of_name[0].startswith("f ERROR, line 1")


def test_only_so_many_warnings_and_patterns() -> None:
    said = warnings("\n".join(f"a{number} = 1" for number in range(30)))
    assert len(said) == MOST_WARNINGS + 1 and said[-1] == "f: 20 more problems are left out."
    many = "[permissions]\ndeny_paths = [" + "'x'," * (MOST_PATTERNS + 5) + "]"
    settings, _ = project_settings(many.encode(), "f")
    assert len(settings.denials.paths) == MOST_PATTERNS


def test_a_file_that_was_cut_off_from_a_large_one_is_not_read_in_part() -> None:
    assert warnings(HOSTILE["too large"]) == ("f has more than 64 KiB; nothing of it is used.",)
