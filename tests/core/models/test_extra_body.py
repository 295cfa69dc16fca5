"""What the values of a model's own options put into a request."""

import json
from typing import Any

import pytest

from zidane_core.data.content import Text
from zidane_core.data.models import ModelRequest, OptionValue, UserMessage
from zidane_core.models.codecs import CODECS
from zidane_core.models.extra_body import RESERVED, with_options
from zidane_core.models.providers import endpoint, models


def value(body: Any) -> tuple[str, OptionValue]:
    return "option", OptionValue("v", "V", body=body if isinstance(body, str) else json.dumps(body))


MERGED: list[tuple[dict[str, Any], list[Any], dict[str, Any]]] = [
    ({"a": 1}, [], {"a": 1}),
    ({"a": 1}, [{"b": 2}], {"a": 1, "b": 2}),
    ({"a": 1}, [{"a": 2}, {"a": 3}], {"a": 3}),
    ({"a": {"x": 1, "y": {"z": 1}}}, [{"a": {"y": {"w": 2}}}], {"a": {"x": 1, "y": {"z": 1, "w": 2}}}),
    ({"a": {"x": 1}}, [{"a": [1]}], {"a": [1]}),
    ({"a": [1, 2]}, [{"a": [3]}], {"a": [3]}),
    ({"a": 1}, [{"a": None}], {"a": None}),
    (
        {"model": "m", "messages": [], "input": [], "stream": True},
        [dict.fromkeys(RESERVED, "x")],
        {"model": "m", "messages": [], "input": [], "stream": True},
    ),
    ({"a": 1}, ["", "no JSON", "[1]", "3"], {"a": 1}),
]


@pytest.mark.parametrize(("body", "options", "merged"), MERGED)
def test_objects_are_merged_and_the_rest_is_replaced(
    body: dict[str, Any], options: list[Any], merged: dict[str, Any]
) -> None:
    before = json.dumps(body)
    assert with_options(body, tuple(value(option) for option in options)) == merged
    assert json.dumps(body) == before


@pytest.mark.parametrize("provider", ["anthropic", "openai", "openai-responses"])
def test_every_codec_sends_them_and_keeps_what_a_request_is_about(provider: str) -> None:
    where = endpoint(provider, {}).unwrap()
    model = models(provider)[0]
    plain = ModelRequest(model=model, system="s", messages=(UserMessage((Text("hi"),)),))
    extra = value({"service_tier": "fast", "model": "other", "messages": [], "input": [], "stream": False})
    bodies = [
        json.loads(CODECS[where.family].build(where, request)[0].body)
        for request in (
            plain,
            ModelRequest(model=model, system="s", messages=plain.messages, options=(extra,)),
        )
    ]
    assert bodies[1] == {**bodies[0], "service_tier": "fast"}
    assert bodies[1]["model"] == model.id and bodies[1]["stream"] is True
