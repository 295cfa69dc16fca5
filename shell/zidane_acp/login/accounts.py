"""The keys that the running program knows, and what follows from them: the models, and how logging in stands.

A key is looked for in the environment, then among those that were kept, then in what the login shell tells.
"""

import os
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Final

import msgspec

from zidane_acp import wiring
from zidane_acp.config import Config
from zidane_acp.environment import is_bare
from zidane_acp.learned_secrets import Secrets
from zidane_acp.login import methods
from zidane_acp.login.key_store import KeyStore, log
from zidane_acp.login.methods import Account
from zidane_acp.options import AcpModelChoice, AcpServerOptions, StdioOptions
from zidane_acp.ports import Ask, AuthProblem
from zidane_acp.settings import Settings
from zidane_acp.wiring import WiringProblem
from zidane_core.agent.state import Command
from zidane_core.data.auth import AuthMethod
from zidane_core.models.offline_commands import COMMANDS
from zidane_core.models.providers import HIDDEN_VARIABLES, OFFLINE

if TYPE_CHECKING:
    from zidane_acp.login_shell import LoginShell

PAGE_WITHIN: Final = 300.0
"""Seconds that the user has for the page."""


class Accounts:
    """Logging in (`ports.Auth`) and what is found out later (`options.Background`) for a program with these settings.

    `required`: no session is opened without a key. `page_within` is in seconds.
    """

    def __init__(
        self,
        settings: Settings,
        config: Config,
        store: KeyStore,
        env: Mapping[str, str] = os.environ,
        *,
        required: bool = False,
        page_within: float = PAGE_WITHIN,
    ) -> None:
        self._settings: Final = settings
        self._config: Final = config
        self._store: Final = store
        self._env: Final = env
        self._required: Final = required
        self._page_within: Final = page_within
        self._shell: LoginShell | None = None
        self._refused: set[tuple[str, str]] = set()
        self._choices: tuple[AcpModelChoice, ...] = ()
        self._hidden: Final = (*HIDDEN_VARIABLES, *config.hidden)
        self.secrets: Final = Secrets(env, self._hidden)

    # Keys --------------------------------------------------------------------------------------------

    def known(self) -> dict[str, str]:
        """The environment as providers are looked for in it: with the keys that are known from elsewhere."""
        told: Mapping[str, str] = {} if self._shell is None else self._shell.told
        kept = self._store.keys
        self.secrets.add(kept.values())
        self.secrets.add(value for name, value in told.items() if name in self._hidden)
        return {**told, **self._store.beneath(self._env)}

    def place(self, variable: str) -> str:
        """Where a key is, in words; '' for the environment, or nowhere."""
        if self._env.get(variable, "").strip():
            return ""
        told = self._shell is not None and variable in self._shell.told
        return self._store.place(variable) or ("the login shell" if told else "")

    def _usable(self, variable: str) -> bool:
        key = self.known().get(variable, "")
        return bool(key) and (variable, key) not in self._refused

    def _may_be_usable(self, variable: str) -> bool:
        """Also a key of the keyring that was not read yet."""
        return self._usable(variable) or (self._store.unread and variable in self._store.names)

    # Options -----------------------------------------------------------------------------------------

    def options(self) -> StdioOptions | WiringProblem:
        """The options of the agent with the keys that are known now."""
        options = wiring.options_of(self._settings, self.known(), self._config)
        if isinstance(options, WiringProblem):
            return options
        self._choices = options.server.models
        server = msgspec.structs.replace(
            self._told(options.server),
            # Whichever model is there now, the offline one may come and go.
            commands=tuple(Command(*command, provider=OFFLINE) for command in COMMANDS),
            auth=self,
            renewed=self._renewed,
            environment=self.environment,
        )
        return msgspec.structs.replace(options, server=server, background=self, secrets=self.secrets)

    def _renewed(self) -> AcpServerOptions | None:
        options = self.options()
        if isinstance(options, WiringProblem):
            log().warning("the models stay as they are: %s", options.message)
            return None
        return options.server

    def _told(self, server: AcpServerOptions) -> AcpServerOptions:
        """With models that tell of a refused key, and with the place that the default's key is from."""
        factories: dict[int, Callable[[], object]] = {}
        models = tuple(self._watched(choice, factories) for choice in server.models)
        source = server.source
        row = None if source is None else self._config.rows.get(source.provider)
        if source is not None and row is not None and row.key_variable in source.source.split():
            place = self.place(row.key_variable)
            told = f"{source.source} from {place}" if place else source.source
            source = msgspec.structs.replace(source, source=told)
        return msgspec.structs.replace(server, models=models, source=source)

    def _watched(self, choice: AcpModelChoice, factories: dict[int, Callable[[], object]]) -> AcpModelChoice:
        row, make = self._config.rows.get(choice.provider_name), choice.provider
        if row is None or row.key_variable is None or not callable(make):
            return choice
        from zidane_acp.login.watched import watched

        variable = row.key_variable
        key = self.known().get(variable, "")
        # One factory for all models of a provider, as before.
        if id(make) not in factories:
            factories[id(make)] = watched(make, lambda: self._refused.add((variable, key)))
        return msgspec.structs.replace(choice, provider=factories[id(make)])

    # What is found out later ----------------------------------------------------------------------------

    async def before_sessions(self) -> bool:
        """The keys of the keyring, if it has any, since the first session must have their models; and the login shell's,
        where no session could be opened without."""
        unread = self._store.unread
        if unread:
            await _in_thread(self._store.read_keyring)
        told = self.needed() and await self.meanwhile()
        return unread or told

    async def meanwhile(self) -> bool:
        """What the login shell knows, if the environment is bare."""
        if not is_bare(self._env):
            return False
        shell = self._login_shell()
        await shell.ask()
        return bool(shell.told)

    async def environment(self) -> Mapping[str, str]:
        """What child processes get."""
        return await self._login_shell().environment() if is_bare(self._env) else self._env

    def _login_shell(self) -> "LoginShell":
        # Made late: it belongs to the loop.
        if self._shell is None:
            from zidane_acp.login_shell import LoginShell

            self._shell = LoginShell(self._env, self._hidden)
        return self._shell

    # Logging in ----------------------------------------------------------------------------------------

    def methods(self) -> tuple[AuthMethod, ...]:
        """One for each provider, and the terminal."""
        return methods.methods(self._settings.provider)

    def needed(self) -> bool:
        """Whether a key has to be there and none is; a model that needs none is as good, but for the offline one."""
        return (
            self._required
            and not any(self._may_be_usable(account.variable) for account in self._accounts())
            and not any(map(self._needs_no_key, self._choices))
        )

    def _needs_no_key(self, choice: AcpModelChoice) -> bool:
        row = self._config.rows.get(choice.provider_name)
        return choice.provider_name != OFFLINE if row is None else row.key_optional

    def _accounts(self) -> tuple[Account, ...]:
        return methods.accounts(self._settings.provider)

    def can_forget(self) -> bool:
        """Whether a key is kept."""
        return bool(self._store.names)

    async def authenticate(self, method: str, ask: Ask | None) -> None:
        """Have a key for the provider of a method: the one that is there, or one that the user gives on a page."""
        account = next((known for known in self._accounts() if known.method == method), None)
        if account is None:
            raise AuthProblem(f"There is no login {method}.")
        # Another program, such as the login in a terminal, may have kept it.
        await _in_thread(self._store.look_again)
        if self._usable(account.variable):
            return
        data: dict[str, object] = {"variable": account.variable, "provider": account.provider}
        if self._env.get(account.variable, "").strip():
            told = f"{account.title} refused the key in {account.variable}. Change it where the agent is started, then start it again."
            raise AuthProblem(told, data)
        if ask is None:
            raise AuthProblem(
                f"No key of {account.title} was found. Run `zidane-acp login {account.provider}` in a terminal, "
                f"or set {account.variable}, then log in again.",
                data,
            )
        from zidane_acp.login.asking import key_from_page

        key = await key_from_page(account, ask, self._page_within, data)
        self.secrets.add((key,))
        await _in_thread(lambda: self._store.put(account.variable, key), data)

    async def logout(self) -> None:
        """Forget every key that is kept; those of the environment are not the agent's to forget."""
        await _in_thread(self._store.forget)


async def _in_thread(work: Callable[[], object], data: dict[str, object] | None = None) -> None:
    """Do what may wait for a disk or a keyring. Raises AuthProblem."""
    import anyio.to_thread

    from zidane_acp.login.key_file import KeyProblem

    try:
        await anyio.to_thread.run_sync(work, abandon_on_cancel=True)
    except KeyProblem as problem:
        raise AuthProblem(str(problem), data) from None
