"""Markdown of others as HTML: no markup of theirs, no picture, only links to the web and to mail."""

import re
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zidane_acp.sessions.markdown import render, stands_alone

PIECES = (
    "<script>", "</p>", "<img src=x>", "![a](https://example.com/a.png)", "[a](javascript:alert(1))", "[a](/b)", "`",
    "<javascript:alert(1)>", "<https://example.com/?a=b&c=\"d>", "[r]: data:text/html,x 'y\"z'", "[r]", "![r]", "\n\n", "> ",
    "- ", "|a|b|\n|-|-|\n", "\n    ", "```x\" onload=\"y\n", "\n", "&lt;b&gt;", "\\<b>", "[a](https://e.com 't\"<b>')", "# ", "*",
)  # fmt: skip


class Tags(HTMLParser):
    def __init__(self, html: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))


ALLOWED = {
    "h1", "h2", "h3", "h4", "h5", "h6", "p", "a", "em", "strong", "s", "code", "pre", "blockquote", "ul", "ol", "li",
    "hr", "br", "table", "thead", "tbody", "tr", "th", "td",
}  # fmt: skip


def judge(html: str) -> None:
    for tag, attributes in Tags(html).found:
        # What is no link is a plain span of its words.
        assert tag in ALLOWED or (tag == "span" and not attributes), html
        assert set(attributes) <= {"href", "rel", "title", "class", "start", "style"}, html
        assert attributes.get("style") in (None, "text-align:left", "text-align:center", "text-align:right")
        if tag == "a":
            assert attributes["rel"] == "noreferrer" and re.match(
                "(https?://|mailto:)", attributes["href"] or ""
            )


@given(st.lists(st.sampled_from(PIECES) | st.text(max_size=5), max_size=14).map("".join))
def test_only_text_and_structure_come_out(text: str) -> None:
    judge(render(text))


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("<b>x</b>", "<p>&lt;b&gt;x&lt;/b&gt;</p>\n"),
        (
            "![a *b*](https://example.com/c.png)",
            '<p><a href="https://example.com/c.png" rel="noreferrer">a b</a></p>\n',
        ),
        ("![](https://example.com/)", '<p><a href="https://example.com/" rel="noreferrer">image</a></p>\n'),
        ("![a](data:image/png;base64,AA==)", "<p>![a](data:image/png;base64,AA==)</p>\n"),
        ("[a](mailto:x@example.com)", '<p><a href="mailto:x@example.com" rel="noreferrer">a</a></p>\n'),
        ("[a](JavaScript:x)", "<p>[a](JavaScript:x)</p>\n"),
        ("[a](file:///etc/passwd)", "<p>[a](file:///etc/passwd)</p>\n"),
        ("[a](//example.com)", "<p>[a](//example.com)</p>\n"),
        (
            '[a](https://example.com "t\\"<i>")',
            '<p><a href="https://example.com" title="t&quot;&lt;i&gt;" rel="noreferrer">a</a></p>\n',
        ),
    ],
)
def test_links_and_pictures(text: str, wanted: str) -> None:
    assert render(text) == wanted


def test_tables_and_code_are_kept() -> None:
    assert "<td>1</td>" in render("|a|\n|-|\n|1|")
    assert render("```py\na < b\n```") == '<pre><code class="language-py">a &lt; b\n</code></pre>\n'


def test_deep_nesting_ends() -> None:
    judge(render("> " * 5000 + "x"))
    judge(render("[" * 5000))


@pytest.mark.parametrize(
    ("text", "tame"),
    [
        ("a *b* [c](https://example.com)", True),
        ("", True),
        ("- a\n  ```\n  b\n  ```", True),
        ("<b>", False),
        ("![a](b)", False),
        ("[a](javascript:x)", False),
        ("```\nopen", False),
        ("<!-- open", False),
        (">" * 70 + "a", False),
        ("- a", True),
    ],
)
def test_a_parser_says_what_stands_alone(text: str, tame: bool) -> None:
    assert stands_alone(text) is tame
