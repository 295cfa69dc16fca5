"""On which line a key stands."""

import tomllib

import pytest

from zidane_acp.config.paths import Path, dotted
from zidane_acp.config.places import Places, split_key

TEXT = '''# a comment with [brackets] and "quotes
top = 1
  "quoted key" = "# no comment"   # one
dotted.inner . deep = 2
long = """
[not.a.table]
key = 3 \\""" still
""" # end
raw = \'\'\'
x = "\'\'\'
list = [ # first
  "]", \'[\',
  { a = 1, b = "}" },
]
inline = { a = { b = 1 } }

[table]
x = 1
[table.sub]
y = 1
[ "odd table" . \'x.y\' ]
z = 1
[[models]]
id = "a"
[models.price]
input = 1
[[models]]
id = "b"
[[models.options]]
id = "o"
[[models.options]]
id = "p"
'''
LINES: list[tuple[Path, int]] = [
    (("top",), 2),
    (("quoted key",), 3),
    (("dotted",), 4),
    (("dotted", "inner", "deep"), 4),
    (("long",), 5),
    (("raw",), 9),
    (("list",), 11),
    (("list", 2, "b"), 11),
    (("inline", "a", "b"), 15),
    (("table",), 17),
    (("table", "x"), 18),
    (("table", "sub"), 19),
    (("table", "sub", "y"), 20),
    (("odd table", "x.y", "z"), 22),
    (("models", 0), 23),
    (("models", 0, "id"), 24),
    (("models", 0, "price", "input"), 26),
    (("models", 0, "nothing"), 23),
    (("models", 1, "id"), 28),
    (("models", 1, "options", 0, "id"), 30),
    (("models", 1, "options", 1, "id"), 32),
    (("nothing",), 1),
    ((), 1),
]


@pytest.mark.parametrize(("path", "line"), LINES)
def test_lines(path: Path, line: int) -> None:
    assert tomllib.loads(TEXT)
    assert Places(TEXT).line(path) == line


def test_a_text_with_other_line_ends_and_a_mark_has_the_same_lines() -> None:
    assert Places("\ufeff" + TEXT).line(("models", 1, "id")) == 28
    assert Places("a = 1\n\n\n  \n b = 2").line(("b",)) == 5


@pytest.mark.parametrize(
    ("text", "keys"),
    [
        ("a", ("a",)),
        ("a.b-c.d_1", ("a", "b-c", "d_1")),
        ('a."b.c".d', ("a", "b.c", "d")),
        ("a.'b c'", ("a", "b c")),
        ('"a\\"b\\u00e9\\t"', ('a"bé\t',)),
        ("", None),
        ("a.", None),
        (".a", None),
        ("a b", None),
        ("a..b", None),
        ('"a', None),
    ],
)
def test_a_key_with_dots_is_split(text: str, keys: tuple[str, ...] | None) -> None:
    assert split_key(text) == keys
    if keys is not None:
        assert split_key(dotted(keys)) == keys


def test_a_path_is_said_as_a_user_would_write_it() -> None:
    assert dotted(("mcp", "my files", "args", 1)) == 'mcp."my files".args[1]'
    assert dotted(('a"\\b', "é")) == '"a\\"\\\\b"."é"'
