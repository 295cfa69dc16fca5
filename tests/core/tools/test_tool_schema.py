"""The schema subset: its sentences, its agreement with the jsonschema package, and broken arguments."""

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st
from returns.result import Failure, Success

from zidane_core.agent.presets import EDIT, MULTI_EDIT, READ_FILE
from zidane_core.agent.schema import check, parse_arguments


def obj(**properties: object) -> dict[str, object]:
    return {"type": "object", "properties": properties}


@pytest.mark.parametrize(
    ("schema", "value", "problems"),
    [
        ({"type": "object", "required": ["path"]}, {}, ("`path` is missing",)),
        (obj(limit={"type": "integer"}), {"limit": "5"}, ("`limit` must be an integer, got a string",)),
        (obj(limit={"type": "integer"}), {"limit": True}, ("`limit` must be an integer, got true",)),
        (obj(limit={"type": "integer"}), {"limit": 5.0}, ()),
        (obj(limit={"type": "integer"}), {"limit": 5.5}, ("`limit` must be an integer, got a number",)),
        (obj(limit={"type": ["integer", "null"]}), {"limit": None}, ()),
        (
            obj(limit={"type": ["integer", "null"]}),
            {"limit": []},
            ("`limit` must be an integer or null, got a list",),
        ),
        ({"enum": ["a", 1]}, True, ('the value must be one of "a", 1, got true',)),
        (obj(x={"const": 1}), {"x": 1}, ()),
        (obj(x={"const": 1}), {"x": True}, ("`x` must be 1, got true",)),
        (obj(x={"minimum": 1}), {"x": 0}, ("`x` must be at least 1, got 0",)),
        (obj(x={"maxLength": 2}), {"x": "abc"}, ("`x` must have at most 2 characters, got 3",)),
        (obj(x={"minItems": 1}), {"x": []}, ("`x` must have at least 1 items, got 0",)),
        (
            obj(x={"items": obj(y={"type": "string"})}),
            {"x": [{"y": "a"}, {"y": 3}]},
            ("`x[1].y` must be a string, got an integer",),
        ),
        (
            {"type": "object", "properties": {"a": {}}, "additionalProperties": False},
            {"b": 1},
            ("`b` is not known (known: `a`)",),
        ),
        (
            obj(x={"anyOf": [{"type": "string"}, {"type": "null"}]}),
            {"x": 1},
            (
                "`x` fits none of the allowed forms: `x` must be a string, got an integer; "
                "or `x` must be null, got an integer",
            ),
        ),
        ({"type": "array"}, {}, ("the value must be a list, got an object",)),
        ({"pattern": "^a", "$ref": "#/x", "allOf": [False]}, "b", ()),
        ({"type": "string?", "required": "path", "properties": [], "items": True, "anyOf": {}}, [1], ()),
    ],
)
def test_check(schema: dict[str, object], value: object, problems: tuple[str, ...]) -> None:
    assert check(schema, value) == problems


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.floats(-5, 5) | st.text("ab", max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
    max_leaves=8,
)
TYPES = st.sampled_from(["string", "integer", "number", "boolean", "array", "object", "null"])


def schemas() -> st.SearchStrategy[dict[str, object]]:
    leaf: st.SearchStrategy[dict[str, object]] = st.fixed_dictionaries(
        {},
        optional={
            "type": TYPES | st.lists(TYPES, min_size=1, max_size=2, unique=True),
            "enum": st.lists(JSON, min_size=1, max_size=3),
            "const": JSON,
            "minimum": st.integers(-3, 3),
            "exclusiveMaximum": st.integers(-3, 3),
            "maxLength": st.integers(0, 3),
            "minItems": st.integers(0, 2),
        },
    )
    return st.recursive(
        leaf,
        lambda inner: st.fixed_dictionaries(
            {},
            optional={
                "type": TYPES,
                "properties": st.dictionaries(st.sampled_from("abc"), inner, max_size=2),
                "required": st.lists(st.sampled_from("abc"), max_size=2, unique=True),
                "additionalProperties": st.booleans() | inner,
                "items": inner,
                "anyOf": st.lists(inner, min_size=1, max_size=2),
            },
        ),
        max_leaves=4,
    )


@given(schemas(), JSON)
def test_agrees_with_the_reference_implementation(schema: dict[str, object], value: object) -> None:
    assert (check(schema, value) == ()) == jsonschema.Draft202012Validator(schema).is_valid(value)


def test_deep_schemas_do_not_exhaust_the_stack() -> None:
    schema: dict[str, object] = {"type": "string"}
    value: object = 1
    for _ in range(3000):
        schema, value = {"items": schema}, [value]
    assert check(schema, value) == ()


@pytest.mark.parametrize("text", ["", "  \n", "{}"])
def test_no_arguments(text: str) -> None:
    assert parse_arguments(text, {"type": "object"}) == Success({})


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ('{"path": "a"', "The arguments are not valid JSON: Input data was truncated. Send one complete"),
        ("{'path': 1}", "The arguments are not valid JSON: "),
        ('["a"]', "The arguments must be one JSON object, got a list."),
        ("null", "The arguments must be one JSON object, got null."),
        ("[" * 100_000, "The arguments are not valid JSON: "),
        ("{}", "The arguments do not fit the tool: `path` is missing."),
        (
            '{"path": 1, "limit": 0}',
            "The arguments do not fit the tool: `path` must be a string, got an integer; "
            "`limit` must be at least 1, got 0.",
        ),
    ],
)
def test_broken_arguments(text: str, sentence: str) -> None:
    result = parse_arguments(text, READ_FILE.schema)
    assert isinstance(result, Failure)
    assert result.failure().startswith(sentence)


def test_lone_surrogates_are_tolerated() -> None:
    text = r'{"path": "a\ud800b", "old_string": "\ud83d\ude00\\ud800", "new_string": "' + "\udc00" + '"}'
    assert parse_arguments(text, EDIT.schema) == Success(
        {"path": "a\ufffdb", "old_string": "😀\\ud800", "new_string": "\ufffd"}
    )


def test_nested_fields_are_named() -> None:
    result = parse_arguments('{"path": "a", "edits": [{"old_string": ""}]}', MULTI_EDIT.schema)
    assert "`edits[0].new_string` is missing" in result.failure()
    assert "`edits[0].old_string` must have at least 1 characters" in result.failure()
