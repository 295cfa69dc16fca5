"""The core computes and nothing else: its source is read and what may do I/O or keep state is rejected."""

import ast
from pathlib import Path

import pytest

import zidane_core

SOURCES = sorted(Path(zidane_core.__file__).parent.rglob("*.py"))
ALLOWED = {
    "base64", "binascii", "collections", "datetime", "difflib", "enum", "functools", "hashlib", "html", "itertools",
    "math", "msgspec", "ntpath", "operator", "posixpath", "re", "returns", "shlex", "string", "textwrap", "types",
    "typing", "unicodedata", "urllib", "zidane_core", "email", "fnmatch",
}  # fmt: skip
FORBIDDEN_CALLS = {"open", "print", "input", "exec", "eval", "__import__", "breakpoint"}
FORBIDDEN_ATTRIBUTES = {"now", "today", "utcnow"}


def faults(tree: ast.Module, is_fp: bool = False) -> list[str]:
    found: list[str] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found += [f"import {alias.name}" for alias in node.names if not allowed(alias.name, is_fp)]
        elif isinstance(node, ast.ImportFrom) and not allowed(node.module or "", is_fp):
            found.append(f"from {node.module}")
        elif isinstance(node, ast.AsyncFunctionDef | ast.AsyncFor | ast.AsyncWith | ast.Await):
            found.append("async")
        elif isinstance(node, ast.Global | ast.Nonlocal):
            found.append("global or nonlocal")
        elif (
            isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in FORBIDDEN_CALLS
        ):
            found.append(f"{node.func.id}()")
        elif (
            isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in {"hash", "id"}
        ):
            found.append(f"{node.func.id}() differs from run to run")
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            found += [f".{node.func.attr}()"] if node.func.attr in FORBIDDEN_ATTRIBUTES else []
    for statement in tree.body:
        value = statement.value if isinstance(statement, ast.Assign | ast.AnnAssign) else None
        if isinstance(value, ast.List | ast.Dict | ast.Set | ast.ListComp | ast.DictComp | ast.SetComp):
            names = ast.unparse(statement).splitlines()[0]
            if not names.startswith("__all__"):
                found.append(f"mutable module state: {names[:60]}")
    return found


def allowed(module: str, is_fp: bool) -> bool:
    root = module.split(".")[0]
    return root in ALLOWED or (is_fp and root == "toolz")


@pytest.mark.parametrize("source", SOURCES, ids=lambda path: path.stem)
def test_the_core_is_pure(source: Path) -> None:
    assert faults(ast.parse(source.read_text("utf-8")), source.name == "fp.py") == []


@pytest.mark.parametrize(
    "text",
    ["import os", "from time import time", "open('x')", "print(1)", "async def f(): ...", "STATE = {}", "hash('a')",
     "def f():\n    global x\n    x = 1", "import datetime\ndatetime.datetime.now()", "NAMES: list[str] = []"],
)  # fmt: skip
def test_the_purity_test_rejects(text: str) -> None:
    assert faults(ast.parse(text))
