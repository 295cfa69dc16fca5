"""docs/api.md tells the truth, and every wire record has the fields of the schema."""

import ast
import importlib
import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import UnionType
from typing import Any, Literal, NamedTuple, Union, get_args, get_origin

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from zidane_core.acp import wire
from zidane_core.faults import ErrorCode

ROOT = Path(__file__).parents[3]
SCHEMA = json.loads((ROOT / "tests/data/acp-v1.json").read_text("utf-8"))
DEFINITIONS: Mapping[str, Any] = SCHEMA["$defs"]
ISSUES = {
    "An agent that answers in a real client",
    "Sessions that outlive the process",
    "The editor's hands: client files and terminals, client tools, MCP servers, questions, rich content",
    "Models, modes, options, login, usage, context",
    "A library for hosts",
    "Named agents and LangGraph graphs",
    "Proof and speed",
}

ENVELOPES = {
    *("AgentNotification", "AgentRequest", "AgentResponse"),
    *("ClientNotification", "ClientRequest", "ClientResponse"),
    *("ExtNotification", "ExtRequest", "ExtResponse"),
}
"""Which method goes with which params; no type of their own here."""

FOLDED = {
    "SessionConfigSelect": "SessionConfigOption",
    "SessionConfigBoolean": "SessionConfigOption",
    "ElicitationFormMode": "CreateElicitationRequest",
    "ElicitationUrlMode": "CreateElicitationRequest",
    "ElicitationSessionScope": "CreateElicitationRequest",
    "ElicitationRequestScope": "CreateElicitationRequest",
    "ElicitationAcceptAction": "CreateElicitationResponse",
    "ElicitationSchemaType": "ElicitationSchema",
    "Error": "JsonRpcErrorObject",
    "ErrorCode": "JsonRpcErrorObject",
}
"""Parts of the schema that only ever appear spread into the definition named on the right."""


class Row(NamedTuple):
    number: str
    what: str
    name: str
    module: str
    state: str
    test: str


def rows() -> list[Row]:
    lines = (ROOT / "docs/api.md").read_text("utf-8").splitlines()
    cells = ([cell.strip() for cell in line.strip("|").split("|")] for line in lines)
    return [
        Row(row[0], row[1], row[2].strip("`"), row[3].strip("`"), row[4], row[5].strip("`"))
        for row in cells
        if len(row) == 6 and row[0].isdigit()
    ]


ROWS = rows()


def test_the_table_has_every_item_once_with_a_known_state() -> None:
    assert [row.number for row in ROWS] == [str(number) for number in range(1, 113)]
    assert {row.state for row in ROWS} <= {"done", *ISSUES}


def test_all_items_are_done() -> None:
    assert [row.state for row in ROWS].count("done") == 112


def defined_in(path: str) -> frozenset[str]:
    """The tests that a file defines, seen without running it."""
    parsed = ast.parse((ROOT / path).read_text("utf-8"))
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
    return frozenset(
        node.name for node in parsed.body if isinstance(node, kinds) and node.name[:5] == "test_"
    )


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.number}-{row.name}")
def test_the_test_of_an_item_exists(row: Row) -> None:
    path, _, name = row.test.partition("::")
    assert path != "tests/core/acp/test_api_table.py", "fields alone say nothing of what an item does"
    assert name in defined_in(path)


def test_no_test_stands_for_many_items() -> None:
    assert max(Counter(row.test for row in ROWS).values()) <= 2


@pytest.mark.parametrize(
    "row", [row for row in ROWS if row.state == "done"], ids=lambda row: f"{row.number}-{row.name}"
)
def test_what_is_done_can_be_imported(row: Row) -> None:
    assert hasattr(importlib.import_module(row.module), row.name)


# Fields ------------------------------------------------------------------------------------------


class Shape(NamedTuple):
    """The names of an object's members and which must be there."""

    names: frozenset[str]
    required: frozenset[str]


TAGS = ("type", "sessionUpdate", "outcome", "mode", "action")


def variants(schema: Mapping[str, Any]) -> Iterator[tuple[str | None, Shape]]:
    """All shapes of a schema, each with the constant that tells it apart."""
    if "$ref" in schema:
        yield from variants(DEFINITIONS[schema["$ref"].rsplit("/", 1)[1]])
        return
    properties = schema.get("properties", {})
    tag = next((properties[name]["const"] for name in TAGS if "const" in properties.get(name, {})), None)
    found = [(tag, Shape(frozenset(properties), frozenset(schema.get("required", ()))))]
    for part in schema.get("allOf", ()):
        found = [joined(one, other) for one in found for other in variants(part)]
    branches = [branch for key in ("anyOf", "oneOf") for branch in schema.get(key, ())]
    known = [branch for branch in branches if branch.get("title") != "other"]
    if known:
        found = [joined(one, other) for one in found for branch in known for other in variants(branch)]
    yield from found


def joined(one: tuple[str | None, Shape], other: tuple[str | None, Shape]) -> tuple[str | None, Shape]:
    shape = Shape(one[1].names | other[1].names, one[1].required | other[1].required)
    return one[0] or other[0], shape


def merged(shapes: list[Shape]) -> Shape:
    return Shape(
        frozenset().union(*(shape.names for shape in shapes)),
        frozenset.intersection(*(shape.required for shape in shapes)),
    )


def grouped(pairs: list[tuple[str | None, Shape]]) -> dict[str | None, Shape]:
    tags = {tag for tag, _ in pairs}
    return {tag: merged([shape for other, shape in pairs if other == tag]) for tag in tags}


def records(kind: object) -> list[type[msgspec.Struct]]:
    options = get_args(kind) if get_origin(kind) in (Union, UnionType) else (kind,)
    return [option for option in options if isinstance(option, type) and issubclass(option, msgspec.Struct)]


def shape_of(record: type[msgspec.Struct], tagged: bool) -> tuple[str | None, Shape]:
    fields = msgspec.structs.fields(record)
    names = {field.encode_name for field in fields}
    required = {field.encode_name for field in fields if field.required}
    config = record.__struct_config__
    if tagged and config.tag_field is not None:
        names.add(config.tag_field)
        required.add(config.tag_field)
        return str(config.tag), Shape(frozenset(names), frozenset(required))
    return None, Shape(frozenset(names), frozenset(required))


def is_object(definition: Mapping[str, Any]) -> bool:
    return any(shape.names for _, shape in variants(definition)) or definition.get("type") == "object"


OBJECTS = sorted(
    name
    for name, definition in DEFINITIONS.items()
    if name not in ENVELOPES and name not in FOLDED and is_object(definition)
)
ENUMS = sorted(
    name
    for name, definition in DEFINITIONS.items()
    if "oneOf" in definition
    and all("const" in option for option in definition["oneOf"])
    and name not in FOLDED
)


JSON_RPC: Mapping[str, tuple[set[str], set[str]]] = {
    "JsonRpcRequest": ({"jsonrpc", "id", "method"}, {"params"}),
    "JsonRpcNotification": ({"jsonrpc", "method"}, {"params"}),
    "JsonRpcSuccess": ({"jsonrpc", "id", "result"}, set()),
    "JsonRpcFailure": ({"jsonrpc", "id", "error"}, set()),
    "JsonRpcErrorObject": ({"code", "message"}, {"data"}),
}
"""The envelopes, which the schema leaves to JSON-RPC 2.0: members that are always there, and those that may be."""

OPEN = ("RequestId", "SessionConfigOptionCategory", "SessionConfigSelectOptions")
"""Unions and texts that are no object: only their values can be compared."""


def test_the_lists_are_not_empty() -> None:
    assert len(OBJECTS) > 110
    assert len(ENUMS) >= 8


@pytest.mark.parametrize("name", JSON_RPC)
def test_an_envelope_has_the_members_of_json_rpc(name: str) -> None:
    always, maybe = JSON_RPC[name]
    fields = msgspec.structs.fields(getattr(wire, name))
    assert {field.encode_name for field in fields} == always | maybe
    assert {field.encode_name for field in fields if field.default is msgspec.UNSET} == maybe


def test_the_fields_of_every_wire_type_in_the_table_are_looked_at() -> None:
    of_the_wire = {
        row.name for row in ROWS if row.module == "zidane_core.acp.wire" and not row.name.isupper()
    }
    assert len(of_the_wire) > 70
    unlooked = of_the_wire - {*OBJECTS, *ENUMS, *JSON_RPC, *OPEN}
    parts = {name: {kind.__name__ for kind in records(getattr(wire, name))} for name in unlooked}
    assert {name for name, kinds in parts.items() if not kinds or not kinds <= JSON_RPC.keys()} == set()


@pytest.mark.parametrize("name", OBJECTS)
def test_a_record_has_the_fields_of_its_definition(name: str) -> None:
    wanted = grouped(list(variants(DEFINITIONS[name])))
    kinds = records(getattr(wire, name))
    assert kinds, "no record"
    given = grouped([shape_of(kind, tagged=None not in wanted or len(wanted) > 1) for kind in kinds])
    if given.keys() == {None}:
        wanted = {None: merged(list(wanted.values()))}
    assert given == wanted


@pytest.mark.parametrize("name", ENUMS)
def test_a_closed_set_has_the_values_of_its_definition(name: str) -> None:
    found = getattr(wire, name)
    assert get_origin(found) is Literal
    assert set(get_args(found)) == {option["const"] for option in DEFINITIONS[name]["oneOf"]}


def test_every_definition_is_accounted_for() -> None:
    scalars = {name for name in DEFINITIONS if name not in {*OBJECTS, *ENUMS, *ENVELOPES, *FOLDED}}
    texts = {name for name in scalars if DEFINITIONS[name].get("type") == "string"}
    assert scalars - texts == {
        "CompactionStatus",
        "ElicitationContentValue",
        "NoticeSeverity",
        "ProtocolVersion",
        "RequestId",
        "SessionConfigOptionCategory",
        "SessionConfigSelectOptions",
    }
    assert all(target in DEFINITIONS or hasattr(wire, target) for target in FOLDED.values())


def test_the_error_object_and_its_codes() -> None:
    wanted = grouped(list(variants(DEFINITIONS["Error"])))
    assert grouped([shape_of(wire.JsonRpcErrorObject, tagged=False)]) == wanted
    codes = {option["const"] for option in DEFINITIONS["ErrorCode"]["anyOf"] if "const" in option}
    assert codes <= {int(code) for code in ErrorCode.__members__.values()}


def test_every_exported_name_exists_and_is_described() -> None:
    assert sorted(wire.__all__) == sorted(set(wire.__all__))
    undescribed = [
        name for name in wire.__all__ if isinstance(kind := getattr(wire, name), type) and not kind.__doc__
    ]
    assert undescribed == []


# Values ------------------------------------------------------------------------------------------

TEXT = st.text(max_size=5)
BY_TYPE: Mapping[object, st.SearchStrategy[Any]] = {
    str: TEXT,
    int: st.integers(0, 2**31 - 1),
    float: st.floats(allow_nan=False, allow_infinity=False),
    bool: st.booleans(),
    type(None): st.none(),
    msgspec.UnsetType: st.just(msgspec.UNSET),
    object: st.none() | TEXT | st.lists(st.booleans(), max_size=2),
}
VERSION = {"protocol_version": st.integers(0, 65535)}
SCOPE = {"session_id": TEXT, "request_id": st.just(msgspec.UNSET)}
NARROWER: Mapping[object, Mapping[str, st.SearchStrategy[Any]]] = {
    wire.InitializeRequest: VERSION,
    wire.InitializeResponse: VERSION,
    wire.Notice: {"title": TEXT.filter(bool)},
    wire.SetSessionConfigOptionRequest: {"value": TEXT, "type": st.none()},
    wire.ElicitationFormRequest: SCOPE,
    wire.ElicitationUrlRequest: SCOPE,
}
"""Rules between or within fields that their types cannot say."""


def values(kind: Any) -> st.SearchStrategy[Any]:
    """Any value of a type as the records are annotated with."""
    if kind in BY_TYPE:
        return BY_TYPE[kind]
    origin, arguments = get_origin(kind), get_args(kind)
    if origin is Literal:
        return st.sampled_from(arguments)
    if origin in (Union, UnionType):
        return st.one_of([values(option) for option in arguments if option is not wire.UnknownBlock])
    if origin is tuple:
        return st.lists(values(arguments[0]), max_size=2).map(tuple)
    if origin is dict:
        return st.dictionaries(TEXT, values(arguments[1]), max_size=2)
    fields = msgspec.structs.fields(kind)
    return st.builds(
        kind, **{field.name: values(field.type) for field in fields} | {**NARROWER.get(kind, {})}
    )


@pytest.mark.parametrize("name", [*OBJECTS, *OPEN])
def test_what_a_record_encodes_is_valid(name: str) -> None:
    validator = Draft202012Validator({"$ref": f"#/$defs/{name}", "$defs": DEFINITIONS})
    kind = getattr(wire, name)

    @settings(max_examples=15, deadline=None)
    @given(values(kind))
    def check(value: object) -> None:
        validator.validate(json.loads(msgspec.json.encode(value)))

    check()


def test_the_example_of_the_document_is_code() -> None:
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "docs/api.md").read_text("utf-8"), re.DOTALL)
    assert blocks
    for block in blocks:
        compile(block, "docs/api.md", "exec")
