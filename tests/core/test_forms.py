"""Forms: what of a schema clients can show, what comes back, and forms as plain text."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from returns.result import Failure, Success

from zidane_core.agent import forms

COLOUR = {"type": "string", "title": "Colour", "enum": ["red", "blue"]}


def form(**properties: Any) -> dict[str, object]:
    return forms.form({"type": "object", "properties": properties, "required": list(properties)}).unwrap()


@pytest.mark.parametrize("nothing", [None, {}])
def test_without_a_schema_there_is_one_text_field(nothing: Any) -> None:
    shown = forms.form(nothing).unwrap()
    assert shown["properties"] == {"answer": {"type": "string", "title": "Answer"}}
    assert shown["required"] == ["answer"]
    assert forms.as_text("Why?", shown) == "Why?"


@pytest.mark.parametrize(
    ("schema", "problem"),
    [
        ({"type": "array"}, "of the type object"),
        ("x", "of the type object"),
        ({"type": "object"}, "needs properties"),
        ({"properties": {"a": {"type": "object"}}}, "The field 'a' must be of the type string"),
        ({"properties": {"a": {}}}, "forms are flat"),
        ({"properties": {"a": {"type": ["string", "null"]}}}, "forms are flat"),
        ({"properties": {"a": {"type": "array", "items": {"type": "object"}}}}, "is a list"),
        ({"properties": {"a": {"type": "string", "enum": [1]}}}, "no texts"),
    ],
)
def test_what_clients_cannot_show_is_refused_with_the_reason(schema: Any, problem: str) -> None:
    found = forms.form(schema)
    assert isinstance(found, Failure) and problem in found.failure()


def test_only_what_clients_know_of_a_field_is_kept() -> None:
    shown = form(
        name={"type": "string", "minLength": 1, "format": "email", "x": 1},
        other={"type": "string", "format": "from the future"},
        old={"type": "string", "enum": ["a", "b"], "enumNames": ["A", "B"]},
        many={"type": "array", "items": {"type": "string", "enum": ["a"]}, "maxItems": 2},
    )
    fields: Any = shown["properties"]
    assert fields["name"] == {"type": "string", "minLength": 1, "format": "email"}
    assert fields["other"] == {"type": "string"}
    assert fields["old"]["oneOf"] == [{"const": "a", "title": "A"}, {"const": "b", "title": "B"}]
    assert fields["many"]["maxItems"] == 2


@pytest.mark.parametrize(
    ("field", "value", "fits"),
    [
        (COLOUR, "red", True),
        (COLOUR, "green", False),
        (COLOUR, 7, False),
        ({"type": "string", "oneOf": [{"const": "a", "title": "A"}]}, "A", False),
        ({"type": "string", "oneOf": [{"const": "a", "title": "A"}]}, "a", True),
        ({"type": "array", "items": {"anyOf": [{"const": "a", "title": "A"}]}}, ["a"], True),
        ({"type": "array", "items": {"anyOf": [{"const": "a", "title": "A"}]}}, ["b"], False),
        ({"type": "array", "items": {"type": "string", "enum": ["a"]}, "minItems": 1}, [], False),
        ({"type": "integer", "minimum": 3}, 2, False),
        ({"type": "integer"}, 2.5, False),
        ({"type": "boolean"}, "yes", False),
        ({"type": "boolean"}, True, True),
        ({"type": "string", "format": "email"}, "a@b.c", True),
        ({"type": "string", "format": "email"}, "nobody", False),
        ({"type": "string", "format": "date"}, "2026-12-01", True),
        ({"type": "string", "format": "date"}, "tomorrow", False),
        ({"type": "string", "format": "uri"}, "no uri", False),
        ({"type": "string", "maxLength": 2}, "abc", False),
    ],
)
def test_what_comes_back_is_checked_again(field: Any, value: Any, fits: bool) -> None:
    assert isinstance(forms.filled(form(field=field), {"field": value}), Success) is fits


def test_what_is_missing_is_named_and_what_is_more_is_left_out() -> None:
    shown = form(name={"type": "string"})
    assert forms.filled(shown, {"other": 1}) == Failure("`name` is missing")
    assert forms.filled(shown, {"name": None}) == Failure("`name` is missing")
    assert forms.filled(shown, {"name": "x", "other": 1}) == Success({"name": "x"})


def test_a_form_as_plain_text() -> None:
    shown = forms.form(
        {
            "properties": {
                "colour": COLOUR,
                "sizes": {"type": "array", "items": {"type": "string", "enum": ["s", "m"]}},
                "gift": {"type": "boolean", "description": "Wrap it"},
            },
            "required": ["colour"],
        }
    ).unwrap()
    assert forms.as_text("What shall it be?", shown) == (
        "What shall it be?\n\n"
        "- **Colour**: one of: red, blue\n"
        "- **sizes**: any of: s, m (optional)\n"
        "- **gift**: Wrap it: yes or no (optional)"
    )


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
KEYWORDS = st.sampled_from(
    [
        "type",
        "title",
        "enum",
        "oneOf",
        "anyOf",
        "items",
        "format",
        "minimum",
        "minItems",
        "enumNames",
        "default",
    ]
)
FIELD = st.dictionaries(KEYWORDS, JSON | st.sampled_from(["string", "array", "integer", "email"]), max_size=4)


@given(
    JSON
    | st.fixed_dictionaries({"properties": st.dictionaries(st.text(max_size=3), FIELD), "required": JSON}),
    JSON,
)
def test_no_schema_and_no_answer_breaks_anything(schema: Any, content: Any) -> None:
    found = forms.form(schema)
    if isinstance(found, Success):
        shown = found.unwrap()
        forms.as_text("?", shown)
        forms.filled(shown, content if isinstance(content, dict) else {"a": content})


def test_what_is_malformed_in_a_field_is_left_out() -> None:
    made = {"properties": {"a": {"type": "string", "format": [], "minLength": "x"}}, "required": [{}, "a"]}
    shown = forms.form(made).unwrap()
    assert shown["properties"] == {"a": {"type": "string"}} and shown["required"] == ["a"]
