"""Stored blocks -> ACP blocks, and tool results -> the content of a card."""

import json
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from zidane_core.acp import wire
from zidane_core.convert.stored import session_content_to_acp_content
from zidane_core.convert.tool_result import tool_result_to_acp_content
from zidane_core.data.content import (
    Audio,
    Document,
    Hints,
    Image,
    Link,
    Part,
    StoredBlock,
    SystemNote,
    Text,
    Thinking,
)
from zidane_core.data.tools import Diff

SCHEMA = json.loads((Path(__file__).parents[2] / "data/acp-v1.json").read_text("utf-8"))


def text_resource(uri: str, text: str, mime_type: str | None = None) -> wire.EmbeddedResource:
    return wire.EmbeddedResource(resource=wire.TextResourceContents(uri=uri, text=text, mime_type=mime_type))


def blob_resource(uri: str, mime_type: str | None) -> wire.EmbeddedResource:
    return wire.EmbeddedResource(
        resource=wire.BlobResourceContents(uri=uri, blob="QQ==", mime_type=mime_type)
    )


@pytest.mark.parametrize(
    ("block", "wanted"),
    [
        (Text("a"), wire.TextContent(text="a")),
        (Thinking("hm"), wire.TextContent(text="hm")),
        (Image("image/png", "QQ==", "u"), wire.ImageContent(data="QQ==", mime_type="image/png", uri="u")),
        (
            Image("image/png", uri="file:///w/c%C3%A4t.png"),
            wire.ResourceLink(uri="file:///w/c%C3%A4t.png", name="cät.png", mime_type="image/png"),
        ),
        (Image("image/png"), wire.ResourceLink(uri="attachment:image", name="image", mime_type="image/png")),
        (Audio("audio/wav", "QQ=="), wire.AudioContent(data="QQ==", mime_type="audio/wav")),
        (Image("image/gif", "QQ==", "u", Hints(embedded=True)), blob_resource("u", "image/gif")),
        (Audio("audio/wav", "QQ==", "u", Hints(embedded=True)), blob_resource("u", "audio/wav")),
        (Audio("audio/wav", uri="u"), None),
        (SystemNote("secret"), None),
        (Document("file:///a", "a", "text/plain", "x"), text_resource("file:///a", "x", "text/plain")),
        (Document(None, "a b", None, ""), text_resource("attachment:a%20b", "")),
        (Document("u", "n", "application/pdf", None, "QQ=="), blob_resource("u", "application/pdf")),
        (Document("u", data="QQ=="), blob_resource("u", None)),
        (Document("file:///w/a.pdf"), wire.ResourceLink(uri="file:///w/a.pdf", name="a.pdf")),
        (Document(name="a.pdf"), wire.ResourceLink(uri="attachment:a.pdf", name="a.pdf")),
        (Document(), wire.ResourceLink(uri="attachment:document", name="document")),
        (
            Link("u", "n", "t", "d", "m", 5),
            wire.ResourceLink(uri="u", name="n", title="t", description="d", mime_type="m", size=5),
        ),
    ],
)
def test_stored_blocks(block: StoredBlock, wanted: wire.ContentBlock | None) -> None:
    assert session_content_to_acp_content([block]) == (() if wanted is None else (wanted,))


def test_stored_blocks_keep_their_order() -> None:
    found = session_content_to_acp_content([Text("a"), SystemNote("x"), Thinking("b"), Text("c")])
    assert [block.text for block in found if isinstance(block, wire.TextContent)] == ["a", "b", "c"]


def test_a_string_is_one_text_item() -> None:
    for text in ("", "a\nb"):
        assert tool_result_to_acp_content(text) == (wire.Content(content=wire.TextContent(text=text)),)
    assert tool_result_to_acp_content([]) == ()


@pytest.mark.parametrize(
    ("part", "wanted"),
    [
        (Text("a"), wire.Content(content=wire.TextContent(text="a"))),
        (
            Image("image/png", "QQ=="),
            wire.Content(content=wire.ImageContent(data="QQ==", mime_type="image/png")),
        ),
        (Image("image/png", uri="u"), wire.Content(content=wire.TextContent(text="[image: u, image/png]"))),
        (Audio("audio/wav"), wire.Content(content=wire.TextContent(text="[audio: audio/wav]"))),
        (Document(), wire.Content(content=wire.TextContent(text="[document]"))),
        (Document(name="a.pdf"), wire.Content(content=wire.TextContent(text="[document: a.pdf]"))),
        (Document("u", text="x"), wire.Content(content=text_resource("u", "x"))),
        (Link("u", "n"), wire.Content(content=wire.ResourceLink(uri="u", name="n"))),
        (Diff("/a", None, "x"), wire.Diff(path="/a", old_text=None, new_text="x")),
        (Diff("/a", "w", "x"), wire.Diff(path="/a", old_text="w", new_text="x")),
    ],
)
def test_blocks_map_one_to_one(part: Part | Diff, wanted: wire.ToolCallContent) -> None:
    assert tool_result_to_acp_content([part, Text("z")]) == (
        wanted,
        wire.Content(content=wire.TextContent(text="z")),
    )


def test_a_new_file_has_a_null_old_text_on_the_wire() -> None:
    (found,) = tool_result_to_acp_content([Diff("/a", None, "x")])
    assert json.loads(msgspec.json.encode(found)) == {
        "type": "diff",
        "path": "/a",
        "oldText": None,
        "newText": "x",
    }


WORD = st.text(max_size=4)
MAYBE = st.none() | WORD
STORED = st.one_of(
    st.builds(Text, WORD),
    st.builds(Thinking, WORD),
    st.builds(SystemNote, WORD),
    st.builds(Image, WORD, WORD, MAYBE),
    st.builds(Audio, WORD, WORD, MAYBE),
    st.builds(Document, MAYBE, MAYBE, MAYBE, MAYBE, WORD),
    st.builds(Link, WORD, WORD, MAYBE, MAYBE, MAYBE, st.none() | st.integers(0, 99)),
)
BLOCK = Draft202012Validator({"$ref": "#/$defs/ContentBlock", "$defs": SCHEMA["$defs"]})


@given(st.lists(STORED, max_size=4))
def test_whatever_is_stored_becomes_valid_blocks(blocks: list[StoredBlock]) -> None:
    for block in session_content_to_acp_content(blocks):
        BLOCK.validate(json.loads(msgspec.json.encode(block)))
