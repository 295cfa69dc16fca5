"""`zidane-acp models`: the models that can be chosen now, and what the providers' own lists have beside them."""

import json
import os
import sys
import time
from collections.abc import Mapping, Sequence
from typing import Final

import anyio
from returns.result import Failure

from zidane_acp.calling import Call, call_of
from zidane_acp.chat.safe_text import line
from zidane_acp.config import Config, read_config
from zidane_acp.login.key_store import KeyStore
from zidane_acp.models.endpoints import Offer, ask, keep, kept
from zidane_acp.models.rows import HEADINGS, Row, cells, facts, rows_of
from zidane_acp.sessions.delivery import deliver, on_terminal
from zidane_acp.settings import Settings, SettingsProblem, filled, parse, state_folder
from zidane_acp.wiring import WiringProblem, options_of, reachable

PROBLEM: Final = 1
USAGE: Final = 2
AGES: Final = ((86400, "day"), (3600, "hour"), (60, "minute"))


def run_models(
    flags: Sequence[str],
    *,
    refresh: bool = False,
    as_json: bool = False,
    environment: Mapping[str, str] | None = None,
    terminal: bool | None = None,
) -> int:
    """Print the models and give the exit code; `flags` are those of `serve`, `terminal` None means to look."""
    env = os.environ if environment is None else environment
    given = parse(flags, env)
    if isinstance(given, SettingsProblem):
        return _refuse(given.message)
    config = read_config(given)
    store = KeyStore(state_folder(given))
    store.read_keyring()
    env = store.beneath(env)
    options = options_of(given, env, config)
    if isinstance(options, WiringProblem):
        return _refuse(options.message)
    for warning in (*config.warnings, *options.warnings):
        print(warning, file=sys.stderr)
    settings = filled(given, config.settings, config.file)
    calls = _calls(given, env, config)
    failed = _refresh(settings, calls) if refresh else 0
    names = {call.endpoint.name for call in calls}
    offers = {name: offer for name, offer in kept(settings).items() if name in names}
    rows = rows_of(options.server, offers)
    if as_json:
        code = deliver((json.dumps([facts(row) for row in rows], indent=2) + "\n",), None)
    elif on_terminal() if terminal is None else terminal:
        code = _table(rows, offers)
    else:
        code = deliver(("\t".join(line(cell) for cell in cells(row)) + "\n" for row in rows), None)
    return code or (PROBLEM if failed else 0)


def _calls(settings: Settings, env: Mapping[str, str], config: Config) -> list[Call]:
    """The providers that can be asked."""
    names = reachable(settings, env, config)
    found = [call_of(name, settings.base_url if len(names) == 1 else None, env, config) for name in names]
    return [call.unwrap() for call in found if not isinstance(call, Failure)]


def _refresh(settings: Settings, calls: Sequence[Call]) -> int:
    """Ask the providers, keep their answers, and give how many did not answer."""
    if not calls:
        print("There is no provider to ask: no key was found.", file=sys.stderr)
        return 1
    answers = anyio.run(ask, calls)
    fresh: dict[str, Offer] = {}
    failed = 0
    for name, answer in answers.items():
        if isinstance(answer, Failure):
            failed += 1
            print(answer.failure(), file=sys.stderr)
        else:
            fresh[name] = answer.unwrap()
    try:
        if fresh:
            keep(settings, fresh)
    except OSError as error:
        failed += 1
        print(f"The list of models cannot be kept: {error.strerror}: {error.filename}.", file=sys.stderr)
    return failed


def _table(rows: Sequence[Row], offers: Mapping[str, Offer]) -> int:
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console(file=sys.stdout, highlight=False)
    table = Table(box=SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for heading in HEADINGS:
        right = heading in HEADINGS[2:5]
        table.add_column(heading, justify="right" if right else "left", overflow="fold")
    for row in rows:
        style = {"default": "bold", "offered": "dim"}.get(row.state, "")
        table.add_row(*(Text(line(cell), style) for cell in cells(row)))
    console.print(table)
    console.print(Text(_ages(offers), "dim"))
    return 0


def _ages(offers: Mapping[str, Offer]) -> str:
    if not offers:
        return "Prices are US dollars for a million tokens. `zidane-acp models --refresh` asks the providers for more."
    told = ", ".join(f"{line(name)} {_age(time.time() - offer.at)}" for name, offer in offers.items())
    return f"Prices are US dollars for a million tokens. Asked: {told}."


def _age(seconds: float) -> str:
    for unit, name in AGES:
        if seconds >= unit:
            count = int(seconds // unit)
            return f"{count} {name}{'s' if count > 1 else ''} ago"
    return "just now"


def _refuse(problem: str) -> int:
    print(problem, file=sys.stderr)
    return USAGE
