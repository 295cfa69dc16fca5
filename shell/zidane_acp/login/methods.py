"""The ways to log in of the program: one for each provider with a key of its own, and one in a terminal."""

from typing import Final, NamedTuple

from zidane_core.data.auth import AuthMethod
from zidane_core.models.providers import DETECTION_ORDER, PROVIDERS

FLAG: Final = "--login"
"""What a client adds to the command of the agent for the login in a terminal."""


class Account(NamedTuple):
    """A provider that a key can be given for: its name, its name for people, the variable of the key."""

    provider: str
    title: str
    variable: str

    @property
    def method(self) -> str:
        """The id of its method."""
        return f"{self.provider}-api-key"


ACCOUNTS: Final = tuple(
    Account(name, PROVIDERS[name].title, variable)
    for name in DETECTION_ORDER
    if (variable := PROVIDERS[name].key_variable)
)
TERMINAL: Final = AuthMethod(
    id="terminal-login",
    name="Log in in a terminal",
    description="Asks for a provider and its API key in a terminal, and keeps the key on this machine.",
    kind="terminal",
    args=(FLAG,),
)


def account_of(provider: str | None) -> Account | None:
    """The account of a provider; providers that share a key share the account."""
    row = None if provider is None else PROVIDERS.get(provider)
    if row is None or row.key_variable is None:
        return None
    own = next((known for known in ACCOUNTS if known.variable == row.key_variable), None)
    return own or Account(row.name, row.title, row.key_variable)


def accounts(provider: str | None) -> tuple[Account, ...]:
    """The accounts to offer; that of the provider which was asked for comes first."""
    first = account_of(provider)
    return tuple(sorted(ACCOUNTS, key=lambda account: account != first))


def methods(provider: str | None) -> tuple[AuthMethod, ...]:
    """The methods to offer, in the same order."""
    return (*(_method(account) for account in accounts(provider)), TERMINAL)


def _method(account: Account) -> AuthMethod:
    about = f"Asks for the key on a page of this machine and keeps it here; it is what {account.variable} would hold."
    return AuthMethod(id=account.method, name=f"{account.title} API key", description=about)
