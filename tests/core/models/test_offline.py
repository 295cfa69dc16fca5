"""The offline model: commands become calls, results become Markdown, all else becomes the list of commands."""

import json
from typing import Any

import pytest

from zidane_core.data.content import Image, Link, Part, Text
from zidane_core.data.models import (
    AssistantMessage,
    Call,
    Called,
    CallResult,
    Finished,
    Message,
    ModelChoice,
    ModelEvent,
    ModelRequest,
    ResultsMessage,
    TextDelta,
    UserMessage,
)
from zidane_core.data.tools import ToolSpec
from zidane_core.models.offline import answer, wants_facts
from zidane_core.models.offline_commands import COMMANDS, COUNT_LIMIT, OFFLINE_COMMANDS, PARSERS
from zidane_core.models.pacing import BATCH

TOOLS = ("list_files", "glob", "search", "read_file", "edit", "write_file", "shell", "fetch", "update_plan")
MODEL = ModelChoice(value="offline", name="Offline", provider="offline", id="offline")


def request(*messages: Message, tools: tuple[str, ...] = TOOLS) -> ModelRequest:
    specs = tuple(ToolSpec(name=name, description=name, schema={"type": "object"}) for name in tools)
    return ModelRequest(model=MODEL, system="", messages=messages, tools=specs)


def user(*parts: Part | str) -> UserMessage:
    return UserMessage(tuple(Text(part) if isinstance(part, str) else part for part in parts))


def events(asked: ModelRequest, facts: str = "") -> tuple[ModelEvent, ...]:
    return tuple(event for step in answer(asked, facts) for event in step.events)


def said(asked: ModelRequest, facts: str = "") -> str:
    return "".join(event.text for event in events(asked, facts) if isinstance(event, TextDelta))


def called(text: str) -> tuple[str, dict[str, Any]] | None:
    calls = [event for event in events(request(user(text))) if isinstance(event, Called)]
    assert len(calls) <= 1
    return (calls[0].name, json.loads(calls[0].arguments)) if calls else None


def after(command: str, tool: str, arguments: dict[str, object], content: str, failed: bool = False) -> str:
    """What is said when the call has given `content`."""
    call = Call("c1", tool, json.dumps(arguments))
    result = CallResult("c1", tool, (Text(content),), failed)
    return said(request(user(command), AssistantMessage((call,)), ResultsMessage((result,))))


CALLS: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("/list", "list_files", {}),
    ("/list src", "list_files", {"path": "src"}),
    ("/LIST 'my folder'", "list_files", {"path": "my folder"}),
    ("  /find **/*.py ", "glob", {"pattern": "**/*.py"}),
    (r"/search def \w+\(", "search", {"pattern": r"def \w+\("}),
    ('/search "two  words"', "search", {"pattern": "two  words"}),
    ('/search "a" or "b"', "search", {"pattern": '"a" or "b"'}),
    ("/read README.md", "read_file", {"path": "README.md"}),
    ("/read README.md:3-10", "read_file", {"path": "README.md", "line": 3, "limit": 8}),
    ("/read README.md:7-7", "read_file", {"path": "README.md", "line": 7, "limit": 1}),
    ("/read README.md:40", "read_file", {"path": "README.md", "line": 40}),
    (r"/read C:\code\a.py:2-3", "read_file", {"path": r"C:\code\a.py", "line": 2, "limit": 2}),
    (r"/read my\ file.txt", "read_file", {"path": "my file.txt"}),
    ("/outline src/app.ts", "read_file", {"path": "src/app.ts"}),
    ('/replace a.md "old" "new"', "edit", {"path": "a.md", "old_string": "old", "new_string": "new"}),
    (
        r'/replace "a b.md" "one\ntwo\t\"q\" \\n \x41é" ' + "'keep \\n'",
        "edit",
        {"path": "a b.md", "old_string": 'one\ntwo\t"q" \\n Aé', "new_string": "keep \\n"},
    ),
    ('/replace a.md "x" ""', "edit", {"path": "a.md", "old_string": "x", "new_string": ""}),
    ("/write a.txt hello there", "write_file", {"path": "a.txt", "content": "hello there"}),
    (r'/write a.txt "hello\nthere\n"', "write_file", {"path": "a.txt", "content": "hello\nthere\n"}),
    (r"/write a.txt print('a\n')", "write_file", {"path": "a.txt", "content": r"print('a\n')"}),
    ('/write a.txt "a" and "b"', "write_file", {"path": "a.txt", "content": '"a" and "b"'}),
    ("/write a.py\ndef f():\n    pass\n", "write_file", {"path": "a.py", "content": "def f():\n    pass\n"}),
    ("/write 'a b.txt' it's", "write_file", {"path": "a b.txt", "content": "it's"}),
    ('/run grep -c "a b" x | wc', "shell", {"command": 'grep -c "a b" x | wc'}),
    ("/fetch https://example.com/a?b=c", "fetch", {"url": "https://example.com/a?b=c"}),
    ("/fetch example.com", "fetch", {"url": "https://example.com"}),
    (
        "/plan read; ; write it;",
        "update_plan",
        {
            "entries": [
                {"content": "read", "status": "pending", "priority": "medium"},
                {"content": "write it", "status": "pending", "priority": "medium"},
            ]
        },
    ),
)


@pytest.mark.parametrize(("text", "tool", "arguments"), CALLS, ids=[row[0][:20] for row in CALLS])
def test_a_command_becomes_one_announced_call(text: str, tool: str, arguments: dict[str, Any]) -> None:
    assert called(text) == (tool, arguments)
    asked = request(user(text))
    assert said(asked).strip()
    assert events(asked)[-1] == Finished("tool-calls")


MALFORMED: tuple[tuple[str, str], ...] = (
    ("/find", "GLOB is missing"),
    ("/search  ", "REGEX is missing"),
    ("/read", "PATH is missing"),
    ("/read ''", "PATH is empty"),
    ("/read a b", "more than PATH"),
    ("/read a:0", "counts from 1"),
    ("/read a:5-4", "TO is before FROM"),
    ("/read a:1-12345678901234567890", "line numbers"),
    ("/outline", "PATH is missing"),
    ('/replace a "b"', "NEW is missing"),
    ('/replace a "" "c"', "OLD is empty"),
    ('/replace a "b" "c', "is not closed"),
    ("/write", "PATH is missing"),
    ("/write a.txt  ", "TEXT is missing"),
    ('/write "" text', "PATH is empty"),
    ("/run", "COMMAND is missing"),
    ("/fetch ftp://x", "http://"),
    ("/fetch file:///etc/passwd", "http://"),
    ("/plan ; ;", "steps are missing"),
    ("/count", "whole numbers"),
    ("/count -1", "whole numbers"),
    ("/count 0", "from 1 to"),
    (f"/count {COUNT_LIMIT + 1}", "from 1 to"),
    ("/count 1 999999", "MS is at most"),
)


@pytest.mark.parametrize(("text", "problem"), MALFORMED, ids=[row[0][:20] for row in MALFORMED])
def test_a_malformed_command_gets_its_usage_and_an_example_and_calls_nothing(text: str, problem: str) -> None:
    asked = request(user(text))
    answered = said(asked)
    name = text[1:].split()[0]
    example = next(command.example for command in OFFLINE_COMMANDS if command.name == name)
    assert problem in answered and "Usage: `/" + name in answered and example in answered
    assert called(text) is None
    assert events(asked)[-1] == Finished("stop")


def test_every_command_has_a_parser_and_an_example_that_works() -> None:
    assert {command.name for command in OFFLINE_COMMANDS} == PARSERS.keys()
    assert [name for name, _, _ in COMMANDS] == [command.name for command in OFFLINE_COMMANDS]
    for command in OFFLINE_COMMANDS:
        assert "Usage:" not in said(request(user(command.example))), command.name


def test_other_text_is_quoted_by_its_first_line_and_answered_with_the_commands_and_the_facts() -> None:
    answered = said(request(user("\n  fix the bug\nin line two")), "A fact about this machine.")
    assert "> fix the bug\n" in answered and "line two" not in answered
    assert "no language model" in answered and "A fact about this machine." in answered
    assert "API_KEY" in answered and "Ollama" in answered
    assert all(f"`/{command.name}" in answered for command in OFFLINE_COMMANDS)


def test_a_prompt_without_text_is_answered_as_such() -> None:
    assert "no text" in said(request(user(Image("image/png", "AAAA"))))
    assert "no text" in said(request())


def test_the_last_thing_the_user_said_counts() -> None:
    first, second = user("/list"), user("/find *.md")
    talk = (first, AssistantMessage(()), second)
    assert [e.name for e in events(request(*talk)) if isinstance(e, Called)] == ["glob"]


def test_an_unknown_command_is_named_with_the_nearest_one() -> None:
    answered = said(request(user("/serch x")))
    assert "`/serch`" in answered and "`/search`?" in answered


def test_a_slash_in_the_middle_or_a_path_is_no_command() -> None:
    assert "no language model" in said(request(user("/usr/bin/env is a path")))
    assert "no language model" in said(request(user("please /list")))


def test_a_mentioned_file_stands_for_its_path() -> None:
    link = Link("file:///home/me/my%20notes.md", "my notes.md")
    asked = request(user("/read ", link, " "))
    assert [json.loads(e.arguments) for e in events(asked) if isinstance(e, Called)] == [
        {"path": "/home/me/my notes.md"}
    ]


def test_a_tool_that_is_not_offered_is_said_so() -> None:
    asked = request(user("/run ls"), tools=("read_file",))
    assert "`shell`" in said(asked)
    assert not any(isinstance(event, Called) for event in events(asked))


def test_setup_explains_keys_models_editors_and_the_facts() -> None:
    answered = said(request(user("/setup")), "An Ollama answers here.")
    for expected in (
        "ANTHROPIC_API_KEY",
        "--provider ollama",
        "zidane-acp setup zed",
        "An Ollama answers here.",
    ):
        assert expected in answered


def test_facts_are_wanted_only_where_they_are_used() -> None:
    assert wants_facts(request(user("hello"))) and wants_facts(request(user("/setup")))
    assert not wants_facts(request(user("/list")))
    done = ResultsMessage((CallResult("c1", "shell", (Text("x"),)),))
    assert not wants_facts(request(user("hello"), AssistantMessage(()), done))


def test_count_without_a_pause_comes_in_batches_and_with_one_number_by_number() -> None:
    quick = answer(request(user("/count 300")))
    assert said(request(user("/count 300"))) == "".join(f"{n}\n" for n in range(1, 301))
    assert [len(step.events) for step in quick] == [BATCH, BATCH, 300 - 2 * BATCH, 1]
    assert all(step.delay == 0 for step in quick)
    slow = answer(request(user("/count 3 250")))
    assert [(step.delay, len(step.events)) for step in slow] == [(0.25, 1)] * 3 + [(0.0, 1)]


def test_text_is_streamed_in_pieces_of_a_line_at_most() -> None:
    pieces = [event.text for event in events(request(user("hello"))) if isinstance(event, TextDelta)]
    assert len(pieces) > 20
    assert all("\n" not in piece.rstrip("\n") and len(piece) <= 60 for piece in pieces)


def test_a_read_file_is_fenced_by_its_language_with_a_fence_that_holds() -> None:
    answered = after("/read a.py", "read_file", {"path": "a.py"}, 'x = """\n````\n"""\n')
    assert answered == '`a.py`:\n\n`````python\nx = """\n````\n"""\n`````\n'


def test_an_empty_result_is_said_in_words() -> None:
    assert "is empty" in after("/read a.py", "read_file", {"path": "a.py"}, "")
    assert "ended without output" in after("/run true", "shell", {"command": "true"}, "")
    assert "no such text" in after("/search x", "search", {"pattern": "x"}, "")


def test_a_failure_is_quoted_plainly() -> None:
    answered = after("/run false", "shell", {"command": "false"}, "exit code 1\nmore", failed=True)
    assert answered == "`shell` did not succeed:\n\n> exit code 1\n> more\n"


def test_every_result_of_a_round_is_reported() -> None:
    results = ResultsMessage(
        (CallResult("a", "shell", (Text("one"),)), CallResult("b", "other", (Text("two"),)))
    )
    answered = said(request(user("hello"), AssistantMessage(()), results))
    assert "one" in answered and "two" in answered


def test_a_broken_call_of_another_model_does_not_break_the_answer() -> None:
    call = Call("c1", "read_file", "{broken")
    result = CallResult("c1", "read_file", (Text("text"),))
    assert "text" in said(request(user("hi"), AssistantMessage((call,)), ResultsMessage((result,))))


def test_the_same_request_gives_the_same_answer() -> None:
    for text in ("/list", "/count 5 10", "hello", "/setup"):
        assert answer(request(user(text))) == answer(request(user(text)))


# Outlines ------------------------------------------------------------------------------------------

OUTLINES: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    (
        "a.py",
        "import re\n\nclass A(Base):\n    async def f(self):\n        pass\n\ndef g():\n    define = 1\n",
        ("- `class A(Base)` line 3", "  - `async def f(self)` line 4", "- `def g()` line 7"),
    ),
    (
        "a.ts",
        "export class A<T> extends B {\n  private async run(x: number): Promise<void> {\n    if (x) {\n    }\n  }\n}\n"
        "export const go = async (a: string) => {\n};\nfunction* gen() {}\ninterface I {}\n",
        (
            "- `export class A<T> extends B` line 1",
            "  - `private async run(x: number): Promise<void>` line 2",
            "- `export const go = async (a: string) =>` line 7",
            "- `function* gen() {}` line 9",
            "- `interface I {}` line 10",
        ),
    ),
    (
        "a.go",
        "package a\n\ntype T struct {\n}\n\nfunc (t *T) Run() error {\n}\nfunc main() {\n",
        ("- `type T struct` line 3", "- `func (t *T) Run() error` line 6", "- `func main()` line 8"),
    ),
    (
        "a.rs",
        "pub struct A {\n}\nimpl<T> A {\n    pub(crate) async fn f(&self) -> u8 {\n",
        (
            "- `pub struct A` line 1",
            "- `impl<T> A` line 3",
            "  - `pub(crate) async fn f(&self) -> u8` line 4",
        ),
    ),
    (
        "a.c",
        "#include <x.h>\nstruct a {\n};\nstatic int *f(int a)\n{\n    return g(a);\n}\nint main(void) {\n  if (x) {\n",
        ("- `struct a` line 2", "- `static int *f(int a)` line 4", "- `int main(void)` line 8"),
    ),
    (
        "a.md",
        "# One\n\n```sh\n# no heading\n```\n\n## Two\ntext # no\n",
        ("- `# One` line 1", "  - `## Two` line 7"),
    ),
)


@pytest.mark.parametrize(("path", "text", "lines"), OUTLINES, ids=[row[0] for row in OUTLINES])
def test_an_outline_names_what_the_file_defines(path: str, text: str, lines: tuple[str, ...]) -> None:
    answered = after(f"/outline {path}", "read_file", {"path": path}, text)
    assert tuple(answered.split("\n\n", 1)[1].rstrip("\n").split("\n")) == lines


def test_an_outline_of_a_file_that_was_cut_says_so() -> None:
    answered = after(
        "/outline a.py", "read_file", {"path": "a.py"}, "def f():\n[Cut here. Read on with line=2.]"
    )
    assert answered.endswith("- `def f()` line 1\n\n[Cut here. Read on with line=2.]\n")


def test_an_outline_of_an_unknown_language_or_of_nothing_says_so() -> None:
    assert "no outline" in after("/outline a.xyz", "read_file", {"path": "a.xyz"}, "x")
    assert "no classes" in after("/outline a.py", "read_file", {"path": "a.py"}, "x = 1\n")
