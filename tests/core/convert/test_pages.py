"""Conversations as text, Markdown and HTML: what is shown, and that no text of others acts."""

import base64
import re
from collections.abc import Iterator
from html.parser import HTMLParser

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from support.sample_session import ABOUT, png, sample

from zidane_acp.sessions.markdown import stands_alone
from zidane_core.convert.html_page import POLICY, html_page
from zidane_core.convert.html_parts import escaped, picture_uri
from zidane_core.convert.markdown_page import markdown_page
from zidane_core.convert.markdown_text import code, fenced, plain, tame
from zidane_core.convert.text_page import OUTPUT_LINES, text_page
from zidane_core.convert.transcript import About, Card, transcript
from zidane_core.data import history
from zidane_core.data.content import Audio, Document, Image, Link, Part, Text
from zidane_core.data.history import Entry
from zidane_core.data.tools import Diff, Location, PlanEntry
from zidane_core.faults import Fault

HOSTILE = (
    "</style><script>alert(1)</script>",
    "</title></pre></details></main><img src=x onerror=alert(1)>",
    '"\' onmouseover="alert(1)',
    "javascript:alert(1)",
    "<!--",
    "]]><![CDATA[ <svg/onload=alert(1)>",
    "&lt;script&gt;&#x3c;script&#x3e;",
    "\x1b]0;taken\x07\x1b[2J\x9b31m\x00\x08\r\x7f\u202egnp.exe\u2066",
    "```\n</code>\n~~~",
)


def everywhere(text: str) -> tuple[Entry, ...]:
    """A log with the text in every field that holds text of others."""
    parts: tuple[Part, ...] = (
        Text(text),
        Image(text, text, text),
        Image("image/png", uri=text),
        Audio(text, "", text),
        Document(text, text, text, text),
        Document(text, text, text),
        Link(text, text, text, text, text),
    )
    raw: dict[str, object] = {text: text, "list": [text, {text: text}], "number": 1}
    return (
        history.UserSaid(text, parts, 1),
        history.TextSaid(text, text),
        history.Thinking(text, text),
        history.CallMade(
            call=text,
            name=text,
            arguments=text,
            title=text,
            kind="read",
            locations=(Location(text, 1),),
            raw=raw,
        ),
        history.ResultMade(
            call=text,
            name=text,
            content=parts,
            failed=True,
            shown=parts,
            diffs=(Diff(text, text, text + text), Diff(text, None, text)),
            raw=raw,
        ),
        history.CallMade(call="other", name=text, arguments=text, title="", kind="other", raw=raw),
        history.ResultMade(call="other", name=text, content=(), failed=False, raw=raw),
        history.PlanSet((PlanEntry(text, "in_progress"), PlanEntry(text, "completed"))),
        history.SettingChanged(text, text),
        history.NoticeGiven(text, "warning", text),
        history.Compacted(1, text, text),
        history.InterruptMade(text, (text,)),
        history.TurnEnded(1, fault=Fault(1, text)),
    )


def about(text: str) -> About:
    return About(session=text, title=text, cwd=text, when=text)


def as_text(text: str) -> str:
    """A stand-in for the shell's Markdown: everything is text."""
    return f"<p>{escaped(text)}</p>"


class Strict(HTMLParser):
    """Reads a page and keeps its elements; an element that is not closed, or closed twice, is an error."""

    EMPTY = ("meta", "img")

    def __init__(self, page: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.texts: list[str] = []
        self.feed(page)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in self.EMPTY:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data)

    def handle_comment(self, data: str) -> None:
        raise AssertionError("a comment")


ALLOWED = {
    "html", "head", "meta", "title", "style", "body", "header", "main", "section", "div", "span", "p", "h1", "h2",
    "dl", "dt", "dd", "ul", "li", "details", "summary", "pre", "figure", "figcaption", "table", "tr", "td", "b",
    "a", "img",
}  # fmt: skip


def judge_html(page: str) -> Strict:
    """What must hold for every page, whatever the texts are."""
    read = Strict(page)
    assert {tag for tag, _attributes in read.elements} <= ALLOWED
    assert page.count("<style>") == page.count("</style>") == page.count("<title>") == 1
    for tag, attributes in read.elements:
        assert set(attributes) <= {"class", "lang", "charset", "http-equiv", "content", "name", "open", "colspan",
                                   "href", "rel", "src", "alt", "aria-hidden"}  # fmt: skip
        if tag == "a":
            assert (
                re.match(r"(https?://|mailto:)", attributes["href"] or "")
                and attributes["rel"] == "noreferrer"
            )
        if tag == "img":
            assert re.fullmatch(r"data:image/(png|jpeg|gif|webp);base64,[\w+/=]+", attributes["src"] or "")
    judge_plain(page)
    return read


def judge_plain(text: str) -> None:
    """No control character but line ends and tabs, and none that changes the order of others."""
    assert re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", text) is None


@pytest.mark.parametrize("text", HOSTILE)
def test_no_text_acts_on_an_html_page(text: str) -> None:
    judge_html(html_page(about(text), transcript(everywhere(text)), as_text))


@given(st.text())
def test_no_text_at_all_acts_on_any_page(text: str) -> None:
    shown = transcript(everywhere(text))
    judge_html(html_page(about(text), shown, as_text))
    judge_plain(text_page(about(text), shown))
    judge_plain(markdown_page(about(text), shown, stands_alone))


@pytest.mark.parametrize("text", HOSTILE)
def test_no_control_character_reaches_text_or_markdown(text: str) -> None:
    judge_plain(text_page(about(text), transcript(everywhere(text))))
    judge_plain(markdown_page(about(text), transcript(everywhere(text)), stands_alone))


def tokens_of(markdown: str) -> Iterator[tuple[str, str]]:
    """All tokens of a document with the address of those that have one, read with raw HTML allowed."""
    reader = MarkdownIt("commonmark", {"html": True, "maxNesting": 100}).enable("table")
    reader.validateLink = lambda url: True  # type: ignore[method-assign]
    for token in reader.parse(markdown):
        for one in (token, *(token.children or ())):
            yield one.type, str(one.attrs.get("href") or one.attrs.get("src") or "")


def judge_markdown(page: str) -> None:
    """What must hold for every document: no HTML, no picture, no link but to the web, and nothing swallowed."""
    found = list(tokens_of(page))
    assert not {kind for kind, _address in found} & {"html_block", "html_inline", "image"}
    assert all(
        re.match("https?://|mailto:", address) for kind, address in found if kind == "link_open" and address
    )
    # What one text leaves open ends with it: the end of the last turn is still read as itself.
    assert found[-1][0] == "hr"


@pytest.mark.parametrize("text", HOSTILE)
def test_a_markdown_page_holds_no_html_no_picture_and_no_strange_link(text: str) -> None:
    judge_markdown(markdown_page(about(text), transcript(everywhere(text)), stands_alone))


@given(st.text(alphabet="`~ a\n<>[]()!*_\\-|:&;1.#\t", max_size=40) | st.text())
@example("\\`<b>`")
@example("` \n `<b>`")
@example("- `a\n- <b>`")
@example("|a|b|\n|-|-|\n|`a|<b>`|")
@example("<https://a`b> <b>`")
@example("> ```\n<b>")
@example("- x\n  ```\n<b>\n  <i>\n```\n<b>")
@example("[x]: \n javascript:a\n\n[x]")
@example("[a](\njavascript:a)")
@example(">" * 120 + "<b>")
def test_no_text_fools_the_markdown_page(text: str) -> None:
    entries = (
        history.UserSaid("m", (Text(text),), 1),
        history.TextSaid("m", text),
        history.TurnEnded(1, "end_turn"),
    )
    judge_markdown(markdown_page(about(text), transcript(entries), stands_alone))


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("a ![x](https://example.com/y.png) b", "a [x](https://example.com/y.png) b"),
        ("`![x](y)` and `<b>`", "`![x](y)` and `<b>`"),
        ("<b>bold</b> a < b, <https://example.com>", "&lt;b>bold&lt;/b> a < b, <https://example.com>"),
        ("```py\n<b>", "```py\n<b>\n```"),
        ("~~~\n```\n", "~~~\n```\n~~~"),
        ("```\n<b>\n```\n<b>", "```\n<b>\n```\n&lt;b>"),
        ("- ```\n  <b>", "- ```\n  <b>\n```"),
        ("[x](javascript:alert)", "[x\\](javascript:alert)"),
        ("[x](<javascript:alert>)", "[x\\](&lt;javascript:alert>)"),
        ("[x](&#106;avascript:alert)", "[x\\](&#106;avascript:alert)"),
        ("[x]: data:text/html,x", "[x\\]: data:text/html,x"),
        ("[x](docs/a.md#b) [y](http://example.com/a:b)", "[x](docs/a.md#b) [y](http://example.com/a:b)"),
        ("\n\na\n\n", "a"),
    ],
)
def test_markdown_of_others_is_tamed(text: str, wanted: str) -> None:
    assert tame(text) == wanted


@given(st.text(alphabet="`~ a\n<>[]()!*_\\"))
def test_code_and_plain_text_are_read_back_as_they_were(text: str) -> None:
    reader = MarkdownIt("commonmark")
    [block] = reader.parse(fenced(text))
    assert block.type == "fence" and block.content.rstrip("\n") == text.rstrip("\n")
    shown = " ".join(text.split())
    if shown:
        inline = reader.parseInline("x " + code(text))[0].children or []
        assert [(one.type, one.content) for one in inline if one.type != "text"] == [("code_inline", shown)]
        inline = reader.parseInline("x " + plain(text))[0].children or []
        assert "".join(one.content for one in inline) == f"x {shown}"


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (base64.b64decode(png()), "image/png"),
        (b"\xff\xd8\xff\xe0 jpeg", "image/jpeg"),
        (b"GIF87a..", "image/gif"),
        (b"GIF89a..", "image/gif"),
        (b"RIFF\0\0\0\0WEBPVP8 ", "image/webp"),
    ],
)
def test_a_picture_is_embedded_by_what_it_is(data: bytes, kind: str) -> None:
    stored = base64.b64encode(data).decode()
    assert picture_uri(Image("image/svg+xml", stored)) == f"data:{kind};base64,{stored}"


@pytest.mark.parametrize(
    "data",
    [
        "",
        "no base64!",
        'iVBORw0KGgo="><script>',
        png()[:-3],
        png() + "\n",
        base64.b64encode(b"<svg xmlns='http://www.w3.org/2000/svg'/>").decode(),
        base64.b64encode(b"RIFF\0\0\0\0WAVE").decode(),
        "é",
    ],
)
def test_anything_else_is_only_named(data: str) -> None:
    assert picture_uri(Image("image/png", data)) is None


def test_the_page_of_a_conversation_has_all_of_it() -> None:
    page = html_page(ABOUT, transcript(sample()), as_text)
    read = judge_html(page)
    classes = [attributes.get("class") for _tag, attributes in read.elements]
    for wanted, count in (("prompt", 3), ("answer md", 2), ("thought", 1), ("card completed", 2), ("card failed", 1),
                          ("card interrupted", 1), ("plan", 1), ("notice warning", 2), ("notice damaged", 1),
                          ("end failed", 1), ("diff", 2), ("new", 5), ("gone", 2)):  # fmt: skip
        assert classes.count(wanted) == count, wanted
    assert dict(read.elements[3][1]) == {"http-equiv": "Content-Security-Policy", "content": POLICY}
    assert "1 entry of this session could not be read." in page
    assert "5,210 tokens in, 842 out" in page
    assert sum(tag == "img" for tag, _attributes in read.elements) == 1
    assert '<td class="n">13</td><td class="n"></td>' in page


def test_the_text_of_a_conversation_has_all_of_it() -> None:
    page = text_page(ABOUT, transcript(sample()))
    for line in (
        "Fix the total of the basket",
        "› - run the tests",
        "  ~ The count is *not* used. I read the file first.",
        "  ▸ Use the count in total()",
        "✓ Edit basket.py (edit)",
        "    -    return sum(items)",
        "✗ python -m pytest -q (execute, failed)",
        "    E   NameError: name 'Item' is not defined",
        "◌ Fetch https://example.com/docs (fetch, interrupted)",
        "· warning: The model is overloaded; trying again in 2 s.",
        "· An entry that this version cannot read stands here.",
        "— Cancelled.",
    ):
        assert line in page.splitlines(), line


def test_long_output_loses_its_middle_in_the_text_only() -> None:
    card = Card(title="x", status="completed", output=(Text("\n".join(map(str, range(100)))),))
    page = text_page(ABOUT, (card,))
    assert f"    … {100 - OUTPUT_LINES} more lines …\n" in page and "\n    50\n" not in page
    assert "\n50\n" in markdown_page(ABOUT, (card,), stands_alone) and "\n50\n" in html_page(
        ABOUT, (card,), as_text
    )


def test_a_session_without_title_is_named_by_its_id() -> None:
    assert text_page(About(session="sess_1"), ()) == "Session sess_1\nsess_1\n"
