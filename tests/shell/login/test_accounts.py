"""What the program knows of keys, and what follows: models, gate, methods, logins over a page."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import anyio
import keyring
import pytest
from keyring.backends import fail
from support.page_client import KEY, Browser

from zidane_acp.config import Config
from zidane_acp.learned_secrets import Secrets
from zidane_acp.login.accounts import Accounts
from zidane_acp.login.key_store import KeyStore
from zidane_acp.login.watched import Watched
from zidane_acp.options import AcpServerOptions
from zidane_acp.ports import AuthProblem
from zidane_acp.settings import Settings
from zidane_acp.wiring import WiringProblem
from zidane_core.data.models import Broke, ModelChoice, ModelRequest, TextDelta
from zidane_core.faults import Fault, provider_fault

OTHER = "sk-other-0123456789"
FULL = {"PATH": "/somewhere/bin", "TERM": "xterm"}


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(autouse=True)
def no_keyring() -> Any:
    before = keyring.get_keyring()
    keyring.set_keyring(fail.Keyring())
    yield
    keyring.set_keyring(before)


def accounts(
    home: Path, env: Mapping[str, str] | None = None, settings: Settings | None = None, **more: Any
) -> Accounts:
    merged = {**FULL, **(env or {})}
    return Accounts(settings or Settings(), Config(), KeyStore(home), merged, **more)


def server(known: Accounts) -> AcpServerOptions:
    options = known.options()
    assert not isinstance(options, WiringProblem)
    return options.server


def source(known: Accounts) -> tuple[str, str]:
    found = server(known).source
    assert found is not None
    return found.provider, found.source


def kept(home: Path, **keys: str) -> None:
    for name, key in keys.items():
        KeyStore(home).put(name, key)


# Where keys are looked for -------------------------------------------------------------------------


def test_without_a_key_the_offline_model_answers_and_logins_are_offered(tmp_path: Path) -> None:
    known = accounts(tmp_path)
    assert source(known) == ("offline", "no provider key was found")
    assert not known.needed() and not known.can_forget()
    ids = [method.id for method in known.methods()]
    assert ids[:2] == ["anthropic-api-key", "openai-api-key"] and ids[-1] == "terminal-login"
    assert len(ids) == 9


def test_a_kept_key_is_used_and_its_place_told(tmp_path: Path) -> None:
    kept(tmp_path, OPENAI_API_KEY=KEY)
    known = accounts(tmp_path)
    assert source(known) == ("openai", f"OPENAI_API_KEY from {tmp_path / 'keys.json'}")
    assert known.can_forget()


def test_the_environment_comes_before_what_is_kept(tmp_path: Path) -> None:
    kept(tmp_path, OPENAI_API_KEY=KEY, ANTHROPIC_API_KEY=KEY)
    known = accounts(tmp_path, {"OPENAI_API_KEY": OTHER, "ANTHROPIC_API_KEY": " "})
    assert known.known()["OPENAI_API_KEY"] == OTHER
    assert known.known()["ANTHROPIC_API_KEY"] == KEY, "an empty variable counts as not set"
    chosen = accounts(tmp_path, {"OPENAI_API_KEY": OTHER}, Settings(provider="openai"))
    assert source(chosen) == ("openai", "--provider, key from OPENAI_API_KEY")


def test_the_method_of_the_chosen_provider_comes_first(tmp_path: Path) -> None:
    for provider, first in {"groq": "groq-api-key", "openai-responses": "openai-api-key"}.items():
        methods = accounts(tmp_path, settings=Settings(provider=provider)).methods()
        assert methods[0].id == first and len({method.id for method in methods}) == 9
    assert accounts(tmp_path, settings=Settings(provider="ollama")).methods()[0].id == "anthropic-api-key"


@pytest.mark.anyio
async def test_a_key_of_the_login_shell_comes_last_and_brings_its_models(tmp_path: Path) -> None:
    (tmp_path / ".profile").write_text(f"export XAI_API_KEY={KEY} GROQ_API_KEY={KEY}\n", "utf-8")
    kept(tmp_path, GROQ_API_KEY=OTHER)
    env = {"PATH": "/usr/bin:/bin", "TERM": "", "HOME": str(tmp_path), "SHELL": "/bin/sh"}
    known = accounts(tmp_path, env)
    assert "XAI_API_KEY" not in known.known()
    assert await known.meanwhile()
    assert known.known()["XAI_API_KEY"] == KEY and known.known()["GROQ_API_KEY"] == OTHER
    assert KEY in tuple(known.secrets)
    chosen = accounts(tmp_path, env, Settings(provider="xai"))
    await chosen.meanwhile()
    assert source(chosen) == ("xai", "--provider, key from XAI_API_KEY from the login shell")
    child = await chosen.environment()
    assert child["PATH"].startswith("/usr/bin:/bin")


@pytest.mark.anyio
async def test_nothing_is_asked_where_there_is_nothing_to_ask(tmp_path: Path) -> None:
    known = accounts(tmp_path)
    assert not await known.before_sessions() and not await known.meanwhile()
    assert (await known.environment())["PATH"] == FULL["PATH"]


# The gate ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("env", "settings", "needed"),
    [
        ({}, Settings(), True),
        ({}, Settings(provider="offline"), True),
        ({}, Settings(provider="anthropic"), True),
        ({"XAI_API_KEY": KEY}, Settings(), False),
        ({"XAI_API_KEY": KEY}, Settings(provider="anthropic"), False),
        ({"XAI_API_KEY": "  "}, Settings(), True),
        ({"OLLAMA_HOST": "127.0.0.1"}, Settings(), False),
        ({}, Settings(provider="openai-compatible", base_url="http://127.0.0.1:1", models=("m",)), False),
    ],
)
def test_when_a_login_is_needed(
    env: dict[str, str], settings: Settings, needed: bool, tmp_path: Path
) -> None:
    required = accounts(tmp_path, env, settings, required=True)
    required.options()
    assert required.needed() is needed
    free = accounts(tmp_path, env, settings)
    free.options()
    assert not free.needed()


@pytest.mark.anyio
async def test_a_key_of_the_keyring_counts_before_it_is_read(tmp_path: Path) -> None:
    (tmp_path / "keys.json").write_text('{"keyring": ["XAI_API_KEY"]}', "utf-8")
    known = accounts(tmp_path, required=True)
    known.options()
    assert not known.needed() and known.can_forget()
    assert await known.before_sessions()


# Logging in ----------------------------------------------------------------------------------------


class Client:
    """Answers the questions of a login, and gives a key on the page."""

    def __init__(self, action: str = "accept", key: str = KEY) -> None:
        self.action = action
        self.key = key
        self.questions: list[dict[str, Any]] = []

    async def ask(self, kind: str, question: str) -> str:
        assert kind == "elicit"
        asked = json.loads(question)
        self.questions.append(asked)
        if self.key:
            await Browser(asked["url"]).give(self.key)
        return json.dumps({"action": self.action})


@pytest.mark.anyio
async def test_a_key_given_on_the_page_is_kept_and_used(tmp_path: Path) -> None:
    known, client = accounts(tmp_path), Client()
    assert source(known)[0] == "offline"
    await known.authenticate("openai-api-key", client.ask)
    assert KeyStore(tmp_path).keys == {"OPENAI_API_KEY": KEY}
    assert source(known)[0] == "openai" and known.can_forget()
    (question,) = client.questions
    assert question["mode"] == "url" and "OpenAI" in question["message"]
    assert KEY in tuple(known.secrets)


@pytest.mark.anyio
async def test_a_usable_key_needs_no_question(tmp_path: Path) -> None:
    known = accounts(tmp_path, {"OPENAI_API_KEY": KEY})
    await known.authenticate("openai-api-key", None)
    kept(tmp_path, XAI_API_KEY=KEY)  # by another program, such as the login in a terminal
    await known.authenticate("xai-api-key", None)
    assert known.known()["XAI_API_KEY"] == KEY


@pytest.mark.anyio
async def test_a_client_without_pages_is_told_what_to_do_instead(tmp_path: Path) -> None:
    with pytest.raises(AuthProblem, match=r"zidane-acp login mistral.*MISTRAL_API_KEY") as caught:
        await accounts(tmp_path).authenticate("mistral-api-key", None)
    assert caught.value.data == {"variable": "MISTRAL_API_KEY", "provider": "mistral"}


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("action", "sentence"),
    [
        ("decline", "The login was declined."),
        ("cancel", "The page for the key was not opened."),
        ("odd", "The page"),
    ],
)
async def test_a_page_that_is_not_opened_ends_the_login(action: str, sentence: str, tmp_path: Path) -> None:
    with anyio.fail_after(10), pytest.raises(AuthProblem, match=sentence):
        await accounts(tmp_path).authenticate("openai-api-key", Client(action, key="").ask)
    assert not KeyStore(tmp_path).names


@pytest.mark.anyio
async def test_the_page_is_there_for_a_bounded_time(tmp_path: Path) -> None:
    known = accounts(tmp_path, page_within=0.05)
    with anyio.fail_after(10), pytest.raises(AuthProblem, match="in time"):
        await known.authenticate("openai-api-key", Client(key="").ask)


@pytest.mark.anyio
async def test_a_key_counts_even_if_the_client_never_answers(tmp_path: Path) -> None:
    class Silent(Client):
        async def ask(self, kind: str, question: str) -> str:
            await super().ask(kind, question)
            await anyio.sleep_forever()
            raise AssertionError

    with anyio.fail_after(10):
        await accounts(tmp_path).authenticate("openai-api-key", Silent().ask)
    assert KeyStore(tmp_path).keys == {"OPENAI_API_KEY": KEY}


@pytest.mark.anyio
async def test_a_key_that_cannot_be_kept_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "keys.json").mkdir()
    with pytest.raises(AuthProblem, match="cannot be written") as caught:
        await accounts(tmp_path).authenticate("openai-api-key", Client().ask)
    assert KEY not in str(caught.value)


@pytest.mark.anyio
async def test_logout_forgets_what_is_kept_and_not_the_environment(tmp_path: Path) -> None:
    kept(tmp_path, OPENAI_API_KEY=KEY)
    known = accounts(tmp_path, {"XAI_API_KEY": OTHER}, required=True)
    assert source(known)[0] == "openai"
    await known.logout()
    assert source(known)[0] == "xai" and not known.can_forget() and not known.needed()
    await known.logout()


# A refused key -------------------------------------------------------------------------------------


class Refusing:
    def __init__(self, fault: Fault) -> None:
        self.fault = fault
        self.closed = False

    async def stream(self, request: ModelRequest, session: str) -> Any:
        yield (TextDelta("so far"),)
        yield (Broke(self.fault),)

    async def aclose(self) -> None:
        self.closed = True


REQUEST = ModelRequest(model=ModelChoice(value="m", name="m", provider="p", id="m"), system="", messages=())


@pytest.mark.anyio
@pytest.mark.parametrize(("kind", "noted"), [("auth", 1), ("server", 0)])
async def test_a_refused_key_is_noted_and_the_answer_passes(kind: str, noted: int) -> None:
    refused: list[int] = []
    inner = Refusing(provider_fault(kind, "no", provider="p"))
    model = Watched(inner, lambda: refused.append(1))
    batches = [batch async for batch in model.stream(REQUEST, "s")]
    assert batches == [(TextDelta("so far"),), (Broke(inner.fault),)]
    assert len(refused) == noted
    await model.aclose()
    assert inner.closed


def refuse(known: Accounts, variable: str, key: str) -> None:
    known._refused.add((variable, key))


@pytest.mark.anyio
async def test_a_refused_key_is_asked_for_again(tmp_path: Path) -> None:
    kept(tmp_path, OPENAI_API_KEY=KEY)
    known, client = accounts(tmp_path, required=True), Client(key=OTHER)
    server(known)
    refuse(known, "OPENAI_API_KEY", KEY)
    assert known.needed()
    await known.authenticate("openai-api-key", client.ask)
    assert known.known()["OPENAI_API_KEY"] == OTHER and not known.needed()


@pytest.mark.anyio
async def test_a_refused_key_of_the_environment_cannot_be_replaced_from_here(tmp_path: Path) -> None:
    known, client = accounts(tmp_path, {"OPENAI_API_KEY": KEY}), Client()
    refuse(known, "OPENAI_API_KEY", KEY)
    with pytest.raises(AuthProblem, match="refused the key in OPENAI_API_KEY"):
        await known.authenticate("openai-api-key", client.ask)
    assert not client.questions


@pytest.mark.anyio
async def test_the_models_of_a_provider_share_one_client_and_tell_of_a_refused_key(tmp_path: Path) -> None:
    known = accounts(tmp_path, {"OPENAI_API_KEY": KEY})
    models = server(known).models
    assert len(models) > 1 and len({id(model.provider) for model in models}) == 1


# Secrets -------------------------------------------------------------------------------------------


def test_secrets_are_those_of_the_environment_and_what_is_learned() -> None:
    secrets = Secrets({"MY_TOKEN": "0123456789", "WORD": "harmless-text"})
    assert tuple(secrets) == ("0123456789",)
    secrets.add(("abcdefghijkl", "short"))
    assert tuple(secrets) == ("abcdefghijkl", "0123456789")
