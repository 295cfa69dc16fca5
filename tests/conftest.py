"""The optional Node group: left out unless it is asked for, and said to be left out."""

import shutil

import pytest

NODE = "the Node group (official TypeScript client, acpx) was left out; `scripts/test --node` runs it"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--node", action="store_true", help="Run the tests that need Node.js and npm, too.")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    wanted = config.getoption("--node")
    if wanted and not (shutil.which("node") and shutil.which("npm")):
        raise pytest.UsageError("--node needs Node.js and npm; install them or leave the flag out.")
    if not wanted:
        left_out = [item for item in items if item.get_closest_marker("node")]
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item not in left_out]


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    if not config.getoption("--node"):
        terminalreporter.write_line(f"Note: {NODE}.")
