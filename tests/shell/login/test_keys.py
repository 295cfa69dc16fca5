"""Where keys are kept: the file, the system keyring, and what neither of them may do."""

import json
import logging
import os
import stat
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import keyring
import pytest
from keyring.backend import KeyringBackend
from keyring.backends import fail, null

from zidane_acp.login import key_file
from zidane_acp.login.key_file import Kept, KeyProblem
from zidane_acp.login.key_store import KEYRING, KeyStore
from zidane_acp.login.system_keyring import SystemKeyring, Unavailable
from zidane_acp.login.typed_key import problem_of

KEY = "sk-test-0123456789"
OTHER = "sk-other-0123456789"


class Safe(KeyringBackend):
    """A keyring in memory."""

    priority = 9  # type: ignore[assignment]

    def __init__(self) -> None:
        super().__init__()
        self.kept: dict[tuple[str, str], str] = {}
        self.hang: threading.Event | None = None
        self.broken: Exception | None = None

    def _wait(self) -> None:
        if self.hang is not None:
            self.hang.wait(60)
        if self.broken is not None:
            raise self.broken

    def get_password(self, service: str, username: str) -> str | None:
        self._wait()
        return self.kept.get((service, username))

    def set_password(self, service: str, username: str, password: str) -> None:
        self._wait()
        self.kept[service, username] = password

    def delete_password(self, service: str, username: str) -> None:
        self._wait()
        del self.kept[service, username]


@pytest.fixture
def backend() -> Iterator[Safe]:
    before = keyring.get_keyring()
    safe = Safe()
    keyring.set_keyring(safe)
    yield safe
    if safe.hang is not None:
        safe.hang.set()
    keyring.set_keyring(before)


@pytest.fixture
def none() -> Iterator[None]:
    before = keyring.get_keyring()
    keyring.set_keyring(fail.Keyring())
    yield
    keyring.set_keyring(before)


def quick(service: str = "s") -> SystemKeyring:
    return SystemKeyring(service, read_within=0.1, write_within=0.1)


# What can be a key ---------------------------------------------------------------------------------


@pytest.mark.parametrize("text", [KEY, f" {KEY}\n", "abcd1234", "QUJDREVGRw==", "a" * 1024])
def test_a_plausible_key(text: str) -> None:
    assert problem_of(text) == ""


@pytest.mark.parametrize(
    "text",
    [
        "",
        "  ",
        "short",
        "a" * 1025,
        "two words",
        "tab\tinside",
        "ключ-ключ",
        "a\x00bcdefgh",
        f"X_API_KEY={KEY}",
    ],
)
def test_what_is_no_key_is_said_without_quoting_it(text: str) -> None:
    problem = problem_of(text)
    assert problem.endswith(".")
    assert not text.strip() or text.strip() not in problem


# The file ------------------------------------------------------------------------------------------


def test_a_key_goes_to_a_file_for_its_owner_where_there_is_no_keyring(tmp_path: Path, none: None) -> None:
    home = tmp_path / "state"
    store = KeyStore(home)
    place = store.put("A_API_KEY", KEY)
    path = home / "keys.json"
    assert place == str(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(home.stat().st_mode) == 0o700
    assert list(home.iterdir()) == [path]
    again = KeyStore(home)
    assert again.keys == {"A_API_KEY": KEY} and again.names == ("A_API_KEY",) and not again.unread


def test_a_new_key_replaces_the_old_one_and_leaves_others(tmp_path: Path, none: None) -> None:
    store = KeyStore(tmp_path)
    store.put("A_API_KEY", KEY)
    store.put("B_API_KEY", KEY)
    store.put("A_API_KEY", OTHER)
    assert KeyStore(tmp_path).keys == store.keys == {"A_API_KEY": OTHER, "B_API_KEY": KEY}


def test_what_another_program_kept_meanwhile_is_not_lost(tmp_path: Path, none: None) -> None:
    store = KeyStore(tmp_path)
    KeyStore(tmp_path).put("A_API_KEY", KEY)
    store.put("B_API_KEY", OTHER)
    assert set(KeyStore(tmp_path).keys) == {"A_API_KEY", "B_API_KEY"}


def test_forgetting_one_key_or_all_and_the_file_with_the_last(tmp_path: Path, none: None) -> None:
    store = KeyStore(tmp_path)
    store.put("A_API_KEY", KEY)
    store.put("B_API_KEY", OTHER)
    assert store.forget("A_API_KEY") == ("A_API_KEY",)
    assert store.forget("A_API_KEY") == ()
    assert store.names == ("B_API_KEY",)
    assert store.forget() == ("B_API_KEY",)
    assert not store.names and not list(tmp_path.iterdir())
    assert store.forget() == ()


@pytest.mark.parametrize(
    "text", ["{", "[]", '{"keys": {"A": 1}}', '{"keys": "sk-secret-0123456789"}', "\xff"]
)
def test_a_damaged_file_is_said_without_its_text_and_does_not_stop_a_login(
    text: str, tmp_path: Path, none: None
) -> None:
    path = tmp_path / "keys.json"
    path.write_bytes(text.encode("latin-1"))
    store = KeyStore(tmp_path)
    assert store.keys == {} and store.problem == f"{path} is damaged; log in again, or remove it."
    store.put("A_API_KEY", KEY)
    assert KeyStore(tmp_path).keys == {"A_API_KEY": KEY} and not store.problem


def test_what_is_no_file_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "keys.json").mkdir()
    assert KeyStore(tmp_path).problem
    if sys.platform != "win32":
        (tmp_path / "x").mkdir()
        os.mkfifo(tmp_path / "x" / "keys.json")
        assert KeyStore(tmp_path / "x").problem.endswith("no key is read from it.")


def test_a_file_that_cannot_be_written_is_a_sentence_and_leaves_nothing(tmp_path: Path, none: None) -> None:
    (tmp_path / "keys.json").mkdir()
    store = KeyStore(tmp_path)
    with pytest.raises(KeyProblem, match="cannot be written") as caught:
        store.put("A_API_KEY", KEY)
    assert KEY not in str(caught.value)
    assert [path.name for path in tmp_path.iterdir()] == ["keys.json"]
    assert store.keys == {}


# The keyring ---------------------------------------------------------------------------------------


def test_a_key_goes_to_the_keyring_and_only_its_name_to_the_file(tmp_path: Path, backend: Safe) -> None:
    store = KeyStore(tmp_path)
    assert store.put("A_API_KEY", KEY) == KEYRING
    assert list(backend.kept.values()) == [KEY]
    assert json.loads((tmp_path / "keys.json").read_bytes()) == {"keys": {}, "keyring": ["A_API_KEY"]}
    again = KeyStore(tmp_path)
    assert again.keys == {} and again.unread and again.names == ("A_API_KEY",)
    again.read_keyring()
    assert again.keys == {"A_API_KEY": KEY} and not again.unread
    assert again.place("A_API_KEY") == KEYRING
    assert again.forget() == ("A_API_KEY",)
    assert not backend.kept and not again.keys and not list(tmp_path.iterdir())


def test_two_state_folders_do_not_share_a_key(tmp_path: Path, backend: Safe) -> None:
    first, second = KeyStore(tmp_path / "1"), KeyStore(tmp_path / "2")
    first.put("A_API_KEY", KEY)
    second.put("A_API_KEY", OTHER)
    second.forget()
    assert list(backend.kept.values()) == [KEY]


def test_a_key_moves_between_the_two(tmp_path: Path, backend: Safe) -> None:
    backend.broken = RuntimeError("locked")
    store = KeyStore(tmp_path)
    assert store.put("A_API_KEY", KEY) == str(tmp_path / "keys.json")
    backend.broken = None
    assert store.put("A_API_KEY", OTHER) == KEYRING
    assert KEY not in (tmp_path / "keys.json").read_text("utf-8")


def test_a_keyring_that_hangs_holds_nothing_up(tmp_path: Path, backend: Safe) -> None:
    backend.hang = threading.Event()
    store = KeyStore(tmp_path, quick())
    assert store.put("A_API_KEY", KEY) == str(tmp_path / "keys.json")
    key_file.write(tmp_path / "keys.json", Kept({}, ("B_API_KEY",)))
    store = KeyStore(tmp_path, quick())
    store.read_keyring()
    assert store.keys == {} and store.names == ("B_API_KEY",)
    with pytest.raises(KeyProblem, match="did not answer within"):
        store.forget()
    assert store.names == ("B_API_KEY",), "it is still there, and can be forgotten later"


def test_what_a_failing_keyring_says_is_not_told(
    tmp_path: Path, backend: Safe, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    backend.broken = RuntimeError(f"could not store {KEY}")
    with pytest.raises(Unavailable, match=r"it failed \(RuntimeError\)"):
        quick().put("A", KEY)
    KeyStore(tmp_path).put("A_API_KEY", KEY)
    assert "RuntimeError" in caplog.text and KEY not in caplog.text


def test_a_keyring_that_keeps_nothing_is_found_out(backend: Safe, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(backend, "set_password", lambda *_: None)
    with pytest.raises(Unavailable, match="did not keep"):
        quick().put("A", KEY)


class PlaintextKeyring(Safe):
    pass


@pytest.mark.parametrize("unfit", [null.Keyring(), fail.Keyring(), PlaintextKeyring()])
def test_backends_that_are_not_safe_are_never_used(unfit: KeyringBackend, backend: Safe) -> None:
    keyring.set_keyring(unfit)
    with pytest.raises(Unavailable, match="no keyring that is safe"):
        quick().put("A", KEY)


def test_without_the_package_there_is_no_keyring(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "keyring", None)  # type: ignore[arg-type]
    with pytest.raises(Unavailable, match="not installed"):
        quick().read(("A",))
    assert isinstance(keyring, ModuleType)
