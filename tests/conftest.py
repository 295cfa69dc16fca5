"""The optional groups: left out unless they are asked for, and said to be left out."""

import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

import pytest


class Group(NamedTuple):
    """A group of tests behind an option of its own name; `there` says whether the machine has what it needs."""

    needs: str
    left_out: str
    there: Callable[[], bool]


def browser() -> str | None:
    """The program of a Chromium: the one that ZIDANE_BROWSER names, or the first on PATH."""
    names = (os.environ.get("ZIDANE_BROWSER", ""), "chromium", "chromium-browser", "google-chrome")
    return next((found for name in names if name and (found := shutil.which(name))), None)


GROUPS: Mapping[str, Group] = {
    "node": Group(
        "Node.js and npm",
        "the Node group (official TypeScript client, acpx, MCP servers) was left out; `scripts/test --node` runs it",
        lambda: bool(shutil.which("node") and shutil.which("npm")),
    ),
    "browser": Group(
        "Chromium",
        "the browser group (the page of a session) was left out; `scripts/test --browser` runs it",
        lambda: browser() is not None,
    ),
}


def pytest_addoption(parser: pytest.Parser) -> None:
    for name, group in GROUPS.items():
        parser.addoption(
            f"--{name}", action="store_true", help=f"Run the tests that need {group.needs}, too."
        )


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    for name, group in GROUPS.items():
        if not config.getoption(f"--{name}"):
            left_out = [item for item in items if item.get_closest_marker(name)]
            config.hook.pytest_deselected(items=left_out)
            items[:] = [item for item in items if item not in left_out]
        elif not group.there():
            raise pytest.UsageError(f"--{name} needs {group.needs}; install it or leave the flag out.")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    for name, group in GROUPS.items():
        if not config.getoption(f"--{name}"):
            terminalreporter.write_line(f"Note: {group.left_out}.")


@pytest.fixture(scope="session", autouse=True)
def own_home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """No test writes into the state folder of who runs it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ZIDANE_ACP_HOME", str(tmp_path_factory.mktemp("home")))
        yield


@pytest.fixture(scope="session")
def browser_program() -> str:
    """The browser of the browser group."""
    found = browser()
    assert found is not None
    return found
