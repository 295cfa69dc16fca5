"""`zidane-acp login` and `logout`, and the flag --login that clients add to the command of the agent."""

import getpass
import os
import sys
from collections.abc import Sequence
from typing import Final

from zidane_acp.login.key_file import KeyProblem
from zidane_acp.login.key_store import KeyStore
from zidane_acp.login.methods import ACCOUNTS, FLAG, Account, account_of
from zidane_acp.login.typed_key import LONGEST, problem_of
from zidane_acp.settings import Settings, SettingsProblem, parse, state_folder

DONE: Final = 0
FAILED: Final = 1
USAGE: Final = 2
INTERRUPTED: Final = 130
TRIES: Final = 3


class _GaveUp(Exception):
    """No usable answer came; the message says why."""


def run_flag(words: Sequence[str]) -> int:
    """A command line of `serve` that holds --login: log in with its settings, and leave."""
    settings = parse([word for word in words if word != FLAG], os.environ)
    if isinstance(settings, SettingsProblem):
        return _tell(settings.message, USAGE)
    account = account_of(settings.provider)
    return run_login(None if account is None else account.provider, settings)


def run_login(provider: str | None, settings: Settings | None = None, *, from_stdin: bool = False) -> int:
    """Ask for a key and keep it; gives the exit code."""
    home = _settings(settings)
    if isinstance(home, SettingsProblem):
        return _tell(home.message, USAGE)
    if from_stdin and provider is None:
        return _tell("Name the provider: zidane-acp login PROVIDER --key-from-stdin.", USAGE)
    if provider is not None and account_of(provider) is None:
        return _tell(
            f"There is no provider {provider} that a key is kept for; choose one of {_names()}.", USAGE
        )
    try:
        account = account_of(provider) or _chosen()
        key = _piped() if from_stdin else _typed(account)
        place = KeyStore(state_folder(home)).put(account.variable, key)
    except KeyboardInterrupt:
        return _tell("", INTERRUPTED)
    except EOFError:
        return _tell(
            "The input ended before a key was given; nothing was kept. Log in on a terminal.", FAILED
        )
    except (KeyProblem, _GaveUp) as problem:
        return _tell(str(problem), FAILED)
    print(f"The key of {account.title} is kept in {place}.")
    _warn_of_variable(account)
    return DONE


def run_logout(provider: str | None) -> int:
    """Forget the key of a provider, or all of them; gives the exit code."""
    home = _settings(None)
    if isinstance(home, SettingsProblem):
        return _tell(home.message, USAGE)
    account = account_of(provider)
    if provider is not None and account is None:
        return _tell(
            f"There is no provider {provider} that a key is kept for; choose one of {_names()}.", USAGE
        )
    try:
        gone = KeyStore(state_folder(home)).forget(*(() if account is None else (account.variable,)))
    except KeyboardInterrupt:
        return _tell("", INTERRUPTED)
    except KeyProblem as problem:
        return _tell(str(problem), FAILED)
    print(f"Forgotten: {', '.join(gone)}." if gone else "No key is kept here; there is nothing to forget.")
    for known in ACCOUNTS if account is None else (account,):
        if os.environ.get(known.variable, "").strip():
            print(f"{known.variable} is set in the environment, and is used from there.")
    return DONE


def _settings(given: Settings | None) -> Settings | SettingsProblem:
    return parse((), os.environ) if given is None else given


def _names() -> str:
    return ", ".join(account.provider for account in ACCOUNTS)


def _tell(problem: str, code: int) -> int:
    print(problem, file=sys.stderr)
    return code


def _warn_of_variable(account: Account) -> None:
    if os.environ.get(account.variable, "").strip():
        print(f"{account.variable} is set in the environment, too, and is used before the key that is kept.")


# Asking --------------------------------------------------------------------------------------------


def _chosen() -> Account:
    for number, account in enumerate(ACCOUNTS, 1):
        print(f"{number}. {account.title} ({account.provider})")
    for _ in range(TRIES):
        word = input("Provider (number or name): ").strip()
        by_number = (
            ACCOUNTS[int(word) - 1 : int(word)] if word.isascii() and word.isdigit() and int(word) else ()
        )
        found = by_number[0] if by_number else account_of(word.lower())
        if found is not None:
            return found
        print(f"There is no {word!r} in the list.", file=sys.stderr)
    raise _GaveUp("No provider was chosen; nothing was kept.")


def _typed(account: Account) -> str:
    question = f"API key of {account.title} (it is not shown): "
    for _ in range(TRIES):
        key = getpass.getpass(question) if sys.stdin.isatty() else input()
        problem = problem_of(key)
        if not problem:
            return key.strip()
        print(problem, file=sys.stderr)
    raise _GaveUp("No usable key was given; nothing was kept.")


def _piped() -> str:
    key = sys.stdin.read(2 * LONGEST)
    problem = problem_of(key)
    if problem:
        raise _GaveUp(f"{problem} Nothing was kept.")
    return key.strip()
