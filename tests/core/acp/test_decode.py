"""Params of the client's requests: strict, lenient and null-default fields, and faults that name the field."""

import json
from collections.abc import Callable
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from returns.result import Failure, Result, Success

from zidane_core.acp import decode as d
from zidane_core.acp.wire import (
    Annotations,
    AudioContent,
    BlobResourceContents,
    ClientCapabilities,
    EmbeddedResource,
    EnvVariable,
    FileSystemCapabilities,
    HttpHeader,
    ImageContent,
    Implementation,
    InitializeRequest,
    ListSessionsRequest,
    LoadSessionRequest,
    LogoutRequest,
    McpServerHttp,
    McpServerSse,
    McpServerStdio,
    NewSessionRequest,
    PromptRequest,
    ResourceLink,
    ResumeSessionRequest,
    SetSessionConfigOptionRequest,
    SetSessionModeRequest,
    TextContent,
    TextResourceContents,
    UnknownBlock,
)
from zidane_core.faults import Fault

Decoder = Callable[[msgspec.Raw], Result[Any, Fault]]
SETUP: list[Decoder] = [d.decode_new_session, d.decode_load_session, d.decode_resume_session]
ALL: list[Decoder] = [
    *SETUP,
    d.decode_initialize,
    d.decode_authenticate,
    d.decode_logout,
    d.decode_list_sessions,
    d.decode_delete_session,
    d.decode_close_session,
    d.decode_prompt,
    d.decode_set_mode,
    d.decode_set_config_option,
    d.decode_cancel,
    d.decode_cancel_request,
]


def raw(value: object) -> msgspec.Raw:
    return msgspec.Raw(value if isinstance(value, bytes) else json.dumps(value).encode())


def good(decoder: Decoder, value: object) -> Any:
    found = decoder(raw(value))
    assert isinstance(found, Success), found
    return found.unwrap()


def bad(decoder: Decoder, value: object) -> str:
    """The field that the fault names."""
    found = decoder(raw(value))
    assert isinstance(found, Failure), found
    fault = found.failure()
    assert fault.code == -32602
    assert fault.data is not None
    field = fault.data["field"]
    assert isinstance(field, str)
    assert field in fault.message
    return field


# initialize --------------------------------------------------------------------------------------


@pytest.mark.parametrize("version", [0, 1, 2, 99, -1, 2**70, "2026-06-24"])
def test_versions_that_are_taken(version: object) -> None:
    assert good(d.decode_initialize, {"protocolVersion": version}) == InitializeRequest(
        protocol_version=version
    )


@pytest.mark.parametrize("version", ["1", "2026-6-24", "2026-06-24 ", "", True, 1.0, None, [], {}])
def test_versions_that_are_refused(version: object) -> None:
    assert bad(d.decode_initialize, {"protocolVersion": version}) == "protocolVersion"


def test_a_version_is_needed() -> None:
    for params in (b"", {}, {"_meta": {"protocolVersion": 1}}):
        assert bad(d.decode_initialize, params) == "protocolVersion"


def capabilities(value: object) -> ClientCapabilities:
    return good(d.decode_initialize, {"protocolVersion": 1, "clientCapabilities": value}).client_capabilities


def test_capabilities_are_read_leaf_by_leaf() -> None:
    found = capabilities(
        {
            "terminal": "yes",
            "fs": {"readTextFile": True, "writeTextFile": 1, "_meta": 5, "zzz": 1},
            "auth": {"terminal": True},
            "session": {"notices": {}, "compaction": True, "configOptions": {"boolean": {"x": 1}}},
            "elicitation": {"form": {}, "url": None},
            "zzz": [],
        }
    )
    assert found.fs == FileSystemCapabilities(read_text_file=True)
    assert found.terminal is False
    assert found.auth.terminal is True
    assert found.session is not None
    assert found.session.notices is not None
    assert found.session.compaction is None
    assert found.session.config_options is not None
    assert found.session.config_options.boolean is not None
    assert found.elicitation is not None
    assert found.elicitation.form is not None
    assert found.elicitation.url is None


@pytest.mark.parametrize(
    "value", [None, 5, "x", [], True, {}, {"fs": 3, "session": [], "elicitation": 1, "auth": None}]
)
def test_malformed_capabilities_are_none_at_all(value: object) -> None:
    assert capabilities(value) == ClientCapabilities()


def test_a_number_out_of_range_spoils_only_its_own_leaf() -> None:
    params = b'{"protocolVersion":1,"clientCapabilities":{"_meta":{"a":1e999},"terminal":true},"_meta":{"a":1e999}}'
    found = good(d.decode_initialize, params)
    assert found.client_capabilities == ClientCapabilities(terminal=True)
    assert found.meta is None


@pytest.mark.parametrize(
    ("value", "wanted"),
    [
        ({"name": "e", "version": "1"}, Implementation(name="e", version="1")),
        ({"name": "e", "version": "1", "title": 5, "_meta": []}, Implementation(name="e", version="1")),
        ({"name": "e"}, None),
        (None, None),
        ("e", None),
    ],
)
def test_client_info_is_loose(value: object, wanted: Implementation | None) -> None:
    assert good(d.decode_initialize, {"protocolVersion": 1, "clientInfo": value}).client_info == wanted


# Sessions ----------------------------------------------------------------------------------------


def setup(**more: object) -> dict[str, object]:
    return {"cwd": "/w", "sessionId": "s", **more}


def test_setup_requests() -> None:
    meta = {"cwd": "/from-meta", "mcpServers": ["boom"], "sessionId": "other", "traceparent": "00-x"}
    for more in ({}, {"mcpServers": None, "additionalDirectories": None}, {"mcpServers": [], "zzz": 1}):
        params = setup(_meta=meta, **more)
        assert good(d.decode_new_session, params) == NewSessionRequest(cwd="/w", mcp_servers=(), meta=meta)
        assert good(d.decode_load_session, params) == LoadSessionRequest(
            session_id="s", cwd="/w", mcp_servers=(), meta=meta
        )
        assert good(d.decode_resume_session, params) == ResumeSessionRequest(
            session_id="s", cwd="/w", meta=meta
        )


@pytest.mark.parametrize("decoder", SETUP)
def test_paths_are_absolute_by_form(decoder: Decoder) -> None:
    for path in ("/", "/w é", "C:\\w", "c:/w", "\\\\host\\share"):
        found = good(decoder, setup(cwd=path, additionalDirectories=[path, path]))
        assert (found.cwd, found.additional_directories) == (path, (path, path))
    for path in ("", "w", "./w", "~", "C:w", "C:", "\\w", "file:///w", "/a\0b", 5, None, ["/w"]):
        assert bad(decoder, setup(cwd=path)) == "cwd"
        place = bad(decoder, setup(additionalDirectories=["/ok", path]))
        assert place == "additionalDirectories[1]"
    assert bad(decoder, {"sessionId": "s", "_meta": {"cwd": "/w"}}) == "cwd"
    assert bad(decoder, setup(additionalDirectories="/w")) == "additionalDirectories"


def test_mcp_servers() -> None:
    found = good(
        d.decode_new_session,
        setup(
            mcpServers=[
                {
                    "name": "a",
                    "command": "/bin/a",
                    "args": ["-x"],
                    "env": [{"name": "K", "value": "V", "_meta": 3}],
                },
                {"name": "b", "command": "b", "args": None, "env": None, "_meta": {"x": 1}},
                {"type": "stdio", "name": "c", "command": "c"},
                {"type": "acp", "name": "d", "command": "d", "_meta": 7},
                {"type": 5, "name": "e", "command": "e"},
                {"type": "http", "name": "f", "url": "http://f", "headers": [{"name": "H", "value": "V"}]},
                {"type": "sse", "name": "g", "url": "http://g", "headers": None},
            ]
        ),
    )
    assert found.mcp_servers == (
        McpServerStdio(name="a", command="/bin/a", args=("-x",), env=(EnvVariable(name="K", value="V"),)),
        McpServerStdio(name="b", command="b", args=(), env=(), meta={"x": 1}),
        McpServerStdio(name="c", command="c", args=(), env=()),
        McpServerStdio(name="d", command="d", args=(), env=()),
        McpServerStdio(name="e", command="e", args=(), env=()),
        McpServerHttp(name="f", url="http://f", headers=(HttpHeader(name="H", value="V"),)),
        McpServerSse(name="g", url="http://g", headers=()),
    )


@pytest.mark.parametrize(
    ("servers", "field"),
    [
        ({}, "mcpServers"),
        ("x", "mcpServers"),
        ([5], "mcpServers[0]"),
        ([{"name": 1}], "mcpServers[0].name"),
        ([{"name": "ok", "command": "c"}, {"name": "b"}], "mcpServers[1].command"),
        ([{"type": "acp", "name": "a", "serverId": "s"}], "mcpServers[0].command"),
        ([{"name": "a", "command": "c", "args": [1]}], "mcpServers[0].args[0]"),
        ([{"name": "a", "command": "c", "env": {"K": "V"}}], "mcpServers[0].env"),
        ([{"name": "a", "command": "c", "env": [{"name": "K"}]}], "mcpServers[0].env[0].value"),
        ([{"type": "http", "name": "a"}], "mcpServers[0].url"),
        (
            [{"type": "sse", "name": "a", "url": "u", "headers": [{"value": "V"}]}],
            "mcpServers[0].headers[0].name",
        ),
    ],
)
def test_a_malformed_mcp_server_fails_the_request(servers: object, field: str) -> None:
    for decoder in SETUP:
        assert bad(decoder, setup(mcpServers=servers)) == field


def test_requests_that_may_come_without_params() -> None:
    for params in (b"", b"{}", {"_meta": 5}, {"zzz": 1}):
        assert good(d.decode_logout, params) == LogoutRequest()
        assert good(d.decode_list_sessions, params) == ListSessionsRequest()
    found = good(d.decode_list_sessions, {"cwd": "/w", "cursor": "c"})
    assert found == ListSessionsRequest(cwd="/w", cursor="c")
    assert good(d.decode_list_sessions, {"cwd": None, "cursor": None}) == ListSessionsRequest()
    assert bad(d.decode_list_sessions, {"cursor": 5}) == "cursor"


@pytest.mark.parametrize(
    ("decoder", "field"),
    [
        (d.decode_authenticate, "methodId"),
        (d.decode_delete_session, "sessionId"),
        (d.decode_close_session, "sessionId"),
        (d.decode_cancel, "sessionId"),
        (d.decode_load_session, "sessionId"),
        (d.decode_resume_session, "sessionId"),
    ],
)
def test_the_one_needed_field(decoder: Decoder, field: str) -> None:
    more = {"cwd": "/w"}
    good(decoder, {field: "x", **more})
    good(decoder, {field: "x", "_meta": "malformed", **more})
    for value in (5, None, True, ["x"]):
        assert bad(decoder, {field: value, **more}) == field
    assert bad(decoder, {"_meta": {field: "x"}, **more}) == field


def test_set_mode() -> None:
    found = good(d.decode_set_mode, {"sessionId": "s", "modeId": "plan"})
    assert found == SetSessionModeRequest(session_id="s", mode_id="plan")
    assert bad(d.decode_set_mode, {"sessionId": "s"}) == "modeId"


@pytest.mark.parametrize(
    ("given_value", "wanted"),
    [
        ({"value": "a"}, ("a", None)),
        ({"value": "a", "type": "select"}, ("a", "select")),
        ({"value": "a", "type": 5}, ("a", None)),
        ({"value": True, "type": "boolean"}, (True, "boolean")),
        ({"value": False, "type": "boolean"}, (False, "boolean")),
        ({"value": "true", "type": "boolean"}, None),
        ({"value": True}, None),
        ({"value": True, "type": "select"}, None),
        ({"value": 1}, None),
        ({"value": None}, None),
        ({}, None),
    ],
)
def test_set_config_option(
    given_value: dict[str, object], wanted: tuple[str | bool, str | None] | None
) -> None:
    params = {"sessionId": "s", "configId": "c", **given_value}
    if wanted is None:
        assert bad(d.decode_set_config_option, params) == "value"
        return
    assert good(d.decode_set_config_option, params) == SetSessionConfigOptionRequest(
        session_id="s", config_id="c", value=wanted[0], type=wanted[1]
    )


def test_cancel_request_keeps_the_type_of_the_id() -> None:
    for known in (1, "1", None, -(2**63)):
        found = good(d.decode_cancel_request, {"requestId": known}).request_id
        assert (type(found), found) == (type(known), known)
    for wrong in (True, 1.0, 1.5, 2**63, [], {}):
        assert bad(d.decode_cancel_request, {"requestId": wrong}) == "requestId"
    assert bad(d.decode_cancel_request, {}) == "requestId"


# Prompts -----------------------------------------------------------------------------------------


def blocks(*given_blocks: object) -> Any:
    return good(d.decode_prompt, {"sessionId": "s", "prompt": list(given_blocks)}).prompt


def test_a_prompt_may_be_a_string() -> None:
    found = good(d.decode_prompt, {"sessionId": "s", "prompt": 'hé "\n'})
    assert found == PromptRequest(session_id="s", prompt=(TextContent(text='hé "\n'),))


def test_blocks_of_every_type() -> None:
    assert blocks() == ()
    assert blocks(
        {"type": "text", "text": "a"},
        {"text": "b", "type": "text", "zzz": 1, "annotations": {"audience": ["user"], "priority": 1}},
        {"type": "image", "data": "QQ==", "mimeType": "image/png", "uri": "file:///a.png"},
        {"type": "audio", "data": "QQ==", "mimeType": "audio/wav"},
        {"type": "resource_link", "uri": "file:///a", "name": "a", "size": 5, "title": None},
        {"type": "resource", "resource": {"uri": "file:///a", "text": "x", "mimeType": "text/plain"}},
        {"type": "resource", "resource": {"uri": "file:///a", "blob": "QQ=="}, "_meta": {"k": 1}},
    ) == (
        TextContent(text="a"),
        TextContent(text="b", annotations=Annotations(audience=("user",), priority=1.0)),
        ImageContent(data="QQ==", mime_type="image/png", uri="file:///a.png"),
        AudioContent(data="QQ==", mime_type="audio/wav"),
        ResourceLink(uri="file:///a", name="a", size=5),
        EmbeddedResource(resource=TextResourceContents(uri="file:///a", text="x", mime_type="text/plain")),
        EmbeddedResource(resource=BlobResourceContents(uri="file:///a", blob="QQ=="), meta={"k": 1}),
    )


def test_blocks_of_unknown_types_are_kept() -> None:
    (found,) = blocks({"type": "zzz", "é": [1]})
    assert found == UnknownBlock("zzz", found.data)
    assert json.loads(found.data) == {"type": "zzz", "é": [1]}


def test_malformed_optional_fields_of_a_block_count_as_absent() -> None:
    assert blocks(
        {"type": "text", "text": "a", "annotations": 5, "_meta": 5},
        {"type": "text", "text": "b", "annotations": {"audience": ["user", "zzz", 5], "priority": "x"}},
        {"type": "image", "data": "Q", "mimeType": "m", "uri": 5},
        {"type": "resource_link", "uri": "u", "name": "n", "size": "big", "title": [], "mimeType": 5},
        {
            "type": "resource",
            "resource": {"uri": "u", "text": "x", "mimeType": 5},
            "annotations": "x",
            "_meta": 1,
        },
        {"type": "resource", "resource": {"uri": "u", "blob": "x", "text": 5}},
    ) == (
        TextContent(text="a"),
        TextContent(text="b", annotations=Annotations(audience=("user",))),
        ImageContent(data="Q", mime_type="m"),
        ResourceLink(uri="u", name="n"),
        EmbeddedResource(resource=TextResourceContents(uri="u", text="x")),
        EmbeddedResource(resource=BlobResourceContents(uri="u", blob="x")),
    )


@pytest.mark.parametrize(
    ("block", "field"),
    [
        (5, "prompt[1]"),
        ({}, "prompt[1].type"),
        ({"type": 5}, "prompt[1].type"),
        ({"type": "text"}, "prompt[1].text"),
        ({"type": "text", "text": None}, "prompt[1].text"),
        ({"type": "image", "data": "x"}, "prompt[1].mimeType"),
        ({"type": "audio", "mimeType": "x"}, "prompt[1].data"),
        ({"type": "resource_link", "uri": "u"}, "prompt[1].name"),
        ({"type": "resource"}, "prompt[1].resource"),
        ({"type": "resource", "resource": 5}, "prompt[1].resource"),
        ({"type": "resource", "resource": {"uri": "u"}}, "prompt[1].resource"),
        ({"type": "resource", "resource": {"text": "x"}}, "prompt[1].resource.uri"),
        ({"type": "resource", "resource": {"uri": 5, "blob": "x"}}, "prompt[1].resource.uri"),
        ({"type": "resource", "resource": {"uri": "u", "text": 5}}, "prompt[1].resource.text"),
    ],
)
def test_a_malformed_block_fails_the_prompt(block: object, field: str) -> None:
    params = {"sessionId": "s", "prompt": [{"type": "text", "text": "a"}, block]}
    assert bad(d.decode_prompt, params) == field


def test_prompts_that_are_none() -> None:
    for prompt in (5, None, {}, True):
        assert bad(d.decode_prompt, {"sessionId": "s", "prompt": prompt}) == "prompt"
    assert bad(d.decode_prompt, {"sessionId": "s", "_meta": {"prompt": "x"}}) == "prompt"
    assert bad(d.decode_prompt, {"prompt": "x", "_meta": {"sessionId": "s"}}) == "sessionId"


def test_meta_never_stands_in() -> None:
    meta = {"session_id": "other", "sessionId": "other", "prompt": "injected", "self": "x"}
    found = good(d.decode_prompt, {"sessionId": "s", "prompt": "p", "_meta": meta})
    assert found == PromptRequest(session_id="s", prompt=(TextContent(text="p"),), meta=meta)


def test_deep_nesting_is_a_fault_and_no_crash() -> None:
    deep = b"[" * 100_000 + b"]" * 100_000
    for decoder in ALL:
        bad(
            decoder,
            b'{"sessionId":' + deep + b',"cwd":' + deep + b',"prompt":"x","requestId":' + deep + b"}"
            if (decoder not in (d.decode_logout, d.decode_list_sessions))
            else b'{"_meta":' + deep + b"}",
        )


def test_params_that_are_an_array_name_the_params() -> None:
    for decoder in ALL:
        assert bad(decoder, [1]) == "params"


FIELDS = [
    "protocolVersion",
    "clientCapabilities",
    "clientInfo",
    "methodId",
    "cwd",
    "sessionId",
    "mcpServers",
    "prompt",
]
FIELDS += [
    "additionalDirectories",
    "modeId",
    "configId",
    "value",
    "type",
    "requestId",
    "cursor",
    "_meta",
    "text",
    "uri",
]
FIELDS += [
    "resource",
    "annotations",
    "name",
    "command",
    "args",
    "env",
    "data",
    "mimeType",
    "fs",
    "elicitation",
]
LEAVES = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
WORDS = st.sampled_from(["text", "image", "resource", "http", "boolean", "/w", "2026-01-01"]) | st.text(
    max_size=5
)
SHAPES = st.recursive(
    LEAVES | WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(FIELDS), inner, max_size=5),
    max_leaves=12,
)


@given(
    st.sampled_from(ALL),
    st.dictionaries(st.sampled_from(FIELDS), SHAPES, max_size=6) | st.lists(SHAPES, max_size=2),
)
def test_any_params_give_a_record_or_a_fault(decoder: Decoder, params: object) -> None:
    found = decoder(raw(params))
    assert isinstance(found, Success) or found.failure().code == -32602


def test_a_malformed_required_field_is_not_called_missing() -> None:
    found = d.decode_prompt(
        raw({"sessionId": "s", "prompt": [{"type": "text", "text": 5, "annotations": 5}]})
    )
    assert isinstance(found, Failure)
    assert "expected `str`, got `int`" in found.failure().message
