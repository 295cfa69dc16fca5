"""The tool tables: names and arguments as promised, schemas that hold, presets that merge as told."""

import jsonschema
import msgspec
import pytest

from zidane_core.acp import wire
from zidane_core.acp.hands import wrap_tools_for_acp_client
from zidane_core.agent.presets import ACP_DEFAULT, BASIC, with_acp_defaults
from zidane_core.agent.schema import check
from zidane_core.data.tools import ToolSpec

ARGUMENTS = {
    "read_file": ({"path"}, {"line", "limit"}),
    "write_file": ({"path", "content"}, set()),
    "edit": ({"path", "old_string", "new_string"}, {"replace_all"}),
    "multi_edit": ({"path", "edits"}, set()),
    "list_files": (set(), {"path", "depth"}),
    "glob": ({"pattern"}, {"path"}),
    "shell": ({"command"}, {"timeout", "cwd"}),
    "update_plan": ({"entries"}, set()),
    "ask_user": ({"message"}, {"schema"}),
    "search": ({"pattern"}, {"path", "glob", "limit"}),
    "fetch": ({"url"}, set()),
}
CHANGING = {"write_file", "edit", "multi_edit", "shell"}
PREPARED = {
    "content": {"write_file", "edit", "multi_edit"},
    "paths": {"read_file", "list_files", "glob", "search", "shell"},
    "none": {"fetch", "update_plan", "ask_user"},
}


def test_names_and_order() -> None:
    assert [spec.name for spec in BASIC] == list(ARGUMENTS)[:9]
    assert [spec.name for spec in ACP_DEFAULT] == list(ARGUMENTS)


@pytest.mark.parametrize("spec", ACP_DEFAULT, ids=lambda spec: spec.name)
def test_spec(spec: ToolSpec) -> None:
    required, optional = ARGUMENTS[spec.name]
    properties = spec.schema["properties"]
    assert isinstance(properties, dict)
    assert set(properties) == required | optional
    assert set(spec.schema["required"]) == required  # type: ignore[call-overload]
    jsonschema.Draft202012Validator.check_schema(spec.schema)
    assert spec.changes == (spec.name in CHANGING)
    assert spec.name in PREPARED[spec.prepare]
    assert set(spec.path_arguments) <= set(properties)
    assert spec.subject is None or spec.subject in properties
    assert spec.line_argument is None or spec.line_argument in properties
    assert msgspec.json.decode(msgspec.json.encode(spec), type=ToolSpec) == spec
    unknown = {"surprise": 1}
    assert not any("surprise" in problem for problem in check(spec.schema, unknown)), (
        "what is added is ignored"
    )


def test_every_tool_has_the_kind_that_clients_show_it_by() -> None:
    assert {spec.name: spec.kind for spec in ACP_DEFAULT} == {
        "read_file": "read",
        "list_files": "read",
        "write_file": "edit",
        "edit": "edit",
        "multi_edit": "edit",
        "glob": "search",
        "search": "search",
        "shell": "execute",
        "fetch": "fetch",
        "update_plan": "think",
        "ask_user": "other",
    }


READS = wire.ClientCapabilities(fs=wire.FileSystemCapabilities(read_text_file=True))
FILES = wire.ClientCapabilities(fs=wire.FileSystemCapabilities(read_text_file=True, write_text_file=True))


@pytest.mark.parametrize(
    ("capabilities", "wrapped"),
    [
        (wire.ClientCapabilities(), set()),
        (READS, {"read_file"}),
        (FILES, {"read_file", "write_file", "edit", "multi_edit"}),
        (wire.ClientCapabilities(terminal=True), {"shell"}),
    ],
)
def test_tools_run_on_the_client_only_where_it_backs_them(
    capabilities: wire.ClientCapabilities, wrapped: set[str]
) -> None:
    made = wrap_tools_for_acp_client(ACP_DEFAULT, capabilities=capabilities)
    changed = {new.name for new, old in zip(made, ACP_DEFAULT, strict=True) if new != old}
    assert changed == wrapped
    assert all(new.machine != "local" for new in made if new.name in wrapped)


def test_a_tool_that_is_missing_is_not_made_up_when_tools_are_wrapped() -> None:
    everything = msgspec.structs.replace(FILES, terminal=True)
    own = ToolSpec(name="mine", description="Mine.", schema={"type": "object"})
    shell = next(spec for spec in ACP_DEFAULT if spec.name == "shell")
    made = wrap_tools_for_acp_client((own, shell), capabilities=everything)
    assert made[0] is own
    assert [spec.name for spec in made] == ["mine", "shell"]


def test_own_tool_of_a_preset_wins() -> None:
    own = ToolSpec(name="search", description="mine", schema={"type": "object"})
    merged = with_acp_defaults((own,))
    assert merged[0] is own
    assert [spec.name for spec in merged] == ["search", "fetch"]
