"""Checks recorded frames of both directions against the official JSON schema of ACP v1."""

import json
import re
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from jsonschema import Draft202012Validator

SCHEMA_FILE = Path(__file__).parents[1] / "data" / "acp-v1.json"
SURROGATE = re.compile("[\ud800-\udfff]")


class Frame(NamedTuple):
    """A line on the wire: `in` to the agent, `out` from it."""

    direction: str
    line: str


def read_log(path: Path) -> tuple[Frame, ...]:
    """The frames that tee.py wrote."""
    records = (json.loads(line) for line in path.read_text(encoding="utf-8").splitlines())
    return tuple(Frame(record["dir"], record["line"]) for record in records)


@cache
def definitions() -> Mapping[str, Any]:
    found: Mapping[str, Any] = json.loads(SCHEMA_FILE.read_text(encoding="utf-8"))["$defs"]
    return found


@cache
def definition_names() -> Mapping[tuple[str, str], str]:
    """(method, "params" | "result") -> the definition's name."""
    return {
        (body["x-method"], "result" if name.endswith("Response") else "params"): name
        for name, body in definitions().items()
        if "x-method" in body
    }


def closed(schema: Any) -> Any:
    """The schema with every object that it describes closed: a field of our own belongs under `_meta`.

    Only whole values are closed (properties and items), not the parts that `allOf` puts together.
    """
    if isinstance(schema, list):
        return [closed(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    body = {key: closed(value) for key, value in schema.items() if key not in {"properties", "items"}}
    if "properties" in schema:
        body["properties"] = {key: sealed(value) for key, value in schema["properties"].items()}
    if "items" in schema:
        body["items"] = sealed(schema["items"])
    return body


def sealed(schema: Any) -> Any:
    body = closed(schema)
    describes = isinstance(body, dict) and body.keys() & {"$ref", "allOf", "anyOf", "oneOf", "properties"}
    return body | {"unevaluatedProperties": False} if describes else body


@cache
def closed_definitions() -> Mapping[str, Any]:
    return {name: closed(body) for name, body in definitions().items()}


@cache
def validator(name: str) -> Draft202012Validator:
    return Draft202012Validator(sealed({"$ref": f"#/$defs/{name}"}) | {"$defs": closed_definitions()})


def _strict(line: str) -> Any:
    def refuse(constant: str) -> Any:
        raise ValueError(f"{constant} is no JSON")

    return json.loads(line, parse_constant=refuse)


def _texts(value: Any) -> Iterable[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item)
    elif isinstance(value, dict):
        for key, item in value.items():
            yield key
            yield from _texts(item)


def _shape_problems(name: str, value: Any) -> Iterable[str]:
    for error in validator(name).iter_errors(value):
        yield f"{name}{error.json_path[1:]}: {error.message[:300]}"


class Checker:
    """Follows one connection and collects what is wrong in it. Only frames of the agent (`out`) are judged as
    JSON; frames of the client are judged by the schema where they are requests, notifications or answers."""

    def __init__(self) -> None:
        self.problems: list[str] = []
        self._asked: dict[tuple[str, str], str] = {}  # (direction, id as JSON) -> method
        self._answered: set[tuple[str, str]] = set()

    def frame(self, number: int, frame: Frame) -> None:
        for problem in self._frame(frame):
            self.problems.append(f"frame {number} {frame.direction}: {problem}: {frame.line[:300]}")

    def _frame(self, frame: Frame) -> Iterable[str]:
        try:
            message = _strict(frame.line)
        except ValueError as error:
            if frame.direction == "out":
                yield f"no strict JSON ({error})"
            return
        if not isinstance(message, dict):
            if frame.direction == "out":
                yield "no object"
            return
        if frame.direction == "out":
            if message.get("jsonrpc") != "2.0":
                yield 'no "jsonrpc": "2.0"'
            if any(SURROGATE.search(text) for text in _texts(message)):
                yield "a lone surrogate"
        if isinstance(message.get("method"), str):
            yield from self._call(frame.direction, message)
        elif "id" in message:
            yield from self._answer(frame.direction, message)
        elif frame.direction == "out":
            yield "neither request, notification nor response"

    def _call(self, direction: str, message: dict[str, Any]) -> Iterable[str]:
        method = message["method"]
        if "id" in message:
            key = (direction, json.dumps(message["id"]))
            if direction == "out" and key in self._asked:
                yield "a request id that was used before"
            self._asked[key] = method
        name = definition_names().get((method, "params"))
        if name is not None:
            yield from _shape_problems(name, message.get("params", {}))
        elif direction == "out" and not method.startswith("_"):
            yield f"the method {method} is not in the schema"

    def _answer(self, direction: str, message: dict[str, Any]) -> Iterable[str]:
        if ("result" in message) == ("error" in message):
            yield "a response has either result or error"
            return
        asker = "in" if direction == "out" else "out"
        key = (asker, json.dumps(message["id"]))
        if direction == "out" and message["id"] is not None:
            if key not in self._asked:
                yield "an answer to nothing"
            if key in self._answered:
                yield "a second answer"
            self._answered.add(key)
        if "error" in message:
            yield from _shape_problems("Error", message["error"])
            return
        name = definition_names().get((self._asked.get(key, ""), "result"))
        if name is not None:
            yield from _shape_problems(name, {} if message["result"] is None else message["result"])

    def unanswered(self) -> tuple[str, ...]:
        """The methods of client requests without an answer."""
        return tuple(
            method for key, method in self._asked.items() if key[0] == "in" and key not in self._answered
        )


def problems(frames: Iterable[Frame]) -> list[str]:
    """All that is wrong, also what only the whole conversation shows."""
    checker = Checker()
    for number, frame in enumerate(frames, 1):
        if frame.line.strip():
            checker.frame(number, frame)
    return checker.problems + [f"no answer to {method}" for method in checker.unanswered()]
