"""Lone surrogates in text and JSON, and texts that grow."""

import json

from hypothesis import given
from hypothesis import strategies as st

from zidane_core.text import Growing, clean, decode_json, encode_json, grow, repair_json, whole

ANY_TEXT = st.text(st.characters(exclude_categories=()))


@given(ANY_TEXT)
def test_clean_text_can_be_written_and_keeps_everything_else(text: str) -> None:
    cleaned = clean(text)
    cleaned.encode()
    assert clean(cleaned) == cleaned
    if not any("\ud800" <= character <= "\udfff" for character in text):
        assert cleaned == text


def test_pairs_are_joined_and_halves_replaced() -> None:
    assert clean("\ud83d\ude00 \ud800 \udc00 x") == "😀 � � x"


@given(ANY_TEXT)
def test_json_of_other_programs_is_read(text: str) -> None:
    assert decode_json(json.dumps({"x": text}).encode()).unwrap() == {"x": clean(text)}


def test_only_lone_escapes_are_rewritten() -> None:
    data = rb'"\ud83d\ude00 \\ud800 \\\ud800 \udc00\ud800 \u00e9"'
    assert repair_json(data) == rb'"\ud83d\ude00 \\ud800 \\\ufffd \ufffd\ufffd \u00e9"'


def test_what_is_no_json_is_a_failure() -> None:
    for data in (b"", b"{", b"NaN", b'"\xff"', b"[" * 100_000, b'{"a": "\\ud800"'):
        assert decode_json(data).failure()


@given(ANY_TEXT)
def test_values_with_lone_surrogates_are_encoded(text: str) -> None:
    assert json.loads(encode_json({text: [text, (text,), 1]})) == {
        clean(text): [clean(text), [clean(text)], 1]
    }


@given(st.lists(st.text(max_size=5000), max_size=10))
def test_a_growing_text_is_the_sum_of_its_pieces(pieces: list[str]) -> None:
    text = Growing()
    for piece in pieces:
        text = grow(text, piece)
        assert len(text.tail) < 8192
    assert whole(text) == "".join(pieces)
