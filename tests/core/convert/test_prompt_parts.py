"""Prompt blocks -> parts and warnings."""

import pytest

from zidane_core.acp import wire
from zidane_core.convert.prompt import acp_prompt_to_prompt_parts
from zidane_core.data.content import Audio, Document, Hints, Image, Link, Part, Text

TEXT = wire.TextResourceContents(uri="file:///w/a%20b.py", text="x = 1", mime_type="text/x-python")

EMBEDDED = Hints(embedded=True)


def blob(data: str, mime_type: str | None) -> wire.EmbeddedResource:
    return wire.EmbeddedResource(
        resource=wire.BlobResourceContents(uri="file:///w/f", blob=data, mime_type=mime_type)
    )


@pytest.mark.parametrize(
    ("block", "part"),
    [
        (wire.TextContent(text="hi"), Text("hi")),
        (wire.TextContent(text=""), Text("")),
        (wire.ImageContent(data="QQ==", mime_type="image/png", uri="u"), Image("image/png", "QQ==", "u")),
        (wire.AudioContent(data="QQ==", mime_type="audio/wav"), Audio("audio/wav", "QQ==")),
        (
            wire.ResourceLink(uri="u", name="n", title="t", description="d", mime_type="m", size=5),
            Link("u", "n", "t", "d", "m", 5),
        ),
        (
            wire.EmbeddedResource(resource=TEXT),
            Document("file:///w/a%20b.py", "a b.py", "text/x-python", "x = 1"),
        ),
        (blob("QQ==", "application/pdf"), Document("file:///w/f", "f", "application/pdf", None, "QQ==")),
        (blob("QQ==", None), Document("file:///w/f", "f", None, None, "QQ==")),
        (blob("QQ==", "image/gif"), Image("image/gif", "QQ==", "file:///w/f", EMBEDDED)),
        (blob("QQ==", "audio/mpeg"), Audio("audio/mpeg", "QQ==", "file:///w/f", EMBEDDED)),
    ],
)
def test_what_converts_without_a_warning(block: wire.PromptBlock, part: Part) -> None:
    found = acp_prompt_to_prompt_parts([block])
    assert found.parts == (part,)
    assert found.warnings == ()


@pytest.mark.parametrize(
    ("block", "names"),
    [
        (
            wire.ImageContent(data="", mime_type="image/png", uri="file:///w/cat.png"),
            ["cat.png", "image/png"],
        ),
        (wire.ImageContent(data="", mime_type="image/png"), ["image/png"]),
        (wire.AudioContent(data="", mime_type="audio/wav"), ["audio/wav"]),
        (blob("", "application/pdf"), ["file:///w/f", "application/pdf"]),
        (wire.UnknownBlock("zzz", '{"type":"zzz","say":"hello"}'), ["zzz", "hello"]),
    ],
)
def test_what_becomes_text_with_one_warning(block: wire.PromptBlock, names: list[str]) -> None:
    found = acp_prompt_to_prompt_parts([block])
    (part,) = found.parts
    assert isinstance(part, Text)
    assert all(name in part.text for name in names)
    assert len(found.warnings) == 1


def test_order_and_warnings_of_many_blocks() -> None:
    image = wire.ImageContent(data="", mime_type="image/png")
    found = acp_prompt_to_prompt_parts([wire.TextContent(text="a"), image, wire.TextContent(text="b"), image])
    assert [type(part) for part in found.parts] == [Text, Text, Text, Text]
    assert (found.parts[0], found.parts[2]) == (Text("a"), Text("b"))
    assert len(found.warnings) == 2
    assert acp_prompt_to_prompt_parts([]).parts == ()


def test_a_long_unknown_block_is_cut_and_says_so() -> None:
    (part,) = acp_prompt_to_prompt_parts([wire.UnknownBlock("zzz", "x" * 4500)]).parts
    assert isinstance(part, Text)
    assert "500 characters left out" in part.text
    assert len(part.text) < 4200
