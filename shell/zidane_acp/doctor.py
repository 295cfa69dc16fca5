"""`zidane-acp doctor`: what was found on this machine, each finding with its next step. Keys by name only."""

import os
import platform
import shutil
import sys
import time
from collections.abc import Iterable, Iterator, Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Final, Literal, TypeAlias

import msgspec
from returns.result import Failure

from zidane_acp.config import Config, config_path, read_config
from zidane_acp.login.key_store import KeyStore
from zidane_acp.settings import Settings, SettingsProblem, parse, state_folder
from zidane_acp.store.inspection import State, inspect
from zidane_acp.store.place import store_path
from zidane_acp.wiring import NO_CONFIG, WiringProblem, options_of
from zidane_core import __version__
from zidane_core.models.providers import DETECTION_ORDER, PROVIDERS, Provider, endpoint

Verdict: TypeAlias = Literal["good", "note", "bad"]
MARKS: Final[Mapping[Verdict, tuple[str, str]]] = {
    "good": ("✓", "ok"),
    "note": ("·", "--"),
    "bad": ("✗", "!!"),
}
SESSIONS: Final[Mapping[State, Verdict]] = {
    "none": "good",
    "good": "good",
    "locked": "note",
    "newer": "bad",
    "foreign": "bad",
    "damaged": "bad",
    "unreadable": "bad",
}
PACKAGES: Final = (
    "anyio",
    "msgspec",
    "httpx2",
    "returns",
    "toolz",
    "rich",
    "prompt_toolkit",
    "typer",
    "markdown-it-py",
)
PROXIES: Final = ("HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY", "NO_PROXY")
TIMEOUT: Final = 5.0


class Finding(msgspec.Struct, frozen=True, gc=False):
    """One line of the report; `bad` makes the exit code 1."""

    verdict: Verdict
    about: str
    text: str


def run_doctor(*, online: bool = False, environment: Mapping[str, str] | None = None) -> int:
    """Print the report and give the exit code: 1 when something stops the agent from working."""
    env = os.environ if environment is None else environment
    print(f"zidane-acp {__version__}")
    bad = False
    for finding in findings(env, online):
        print(f"{_mark(finding.verdict)} {finding.about}: {finding.text}", flush=True)
        bad = bad or finding.verdict == "bad"
    return 1 if bad else 0


def findings(env: Mapping[str, str], online: bool) -> Iterator[Finding]:
    """The findings, in the order of the report."""
    settings = parse((), env)
    store = KeyStore(state_folder(settings if isinstance(settings, Settings) else Settings()))
    yield Finding(
        "good", "Python", f"{platform.python_version()} at {sys.executable}, {platform.platform(terse=True)}"
    )
    yield _packages()
    problem = settings.message if isinstance(settings, SettingsProblem) else ""
    settings = Settings() if isinstance(settings, SettingsProblem) else settings
    config = read_config(settings)
    store = KeyStore(state_folder(settings))
    store.read_keyring()
    yield keys(env, store, config.rows)
    env = store.beneath(env)
    if problem:
        yield Finding("bad", "Settings", problem)
    yield provider(settings, env, config)
    yield _ripgrep()
    yield state(state_folder(settings))
    yield sessions(settings)
    yield _config(settings, env, config)
    yield _terminal(env)
    if online:
        yield from _reachable(settings, env, config)


def _packages() -> Finding:
    found = {name: _version(name) for name in PACKAGES}
    missing = [name for name, number in found.items() if number is None]
    if missing:
        return Finding("bad", "Packages", f"missing: {', '.join(missing)}; install zidane-acp again.")
    return Finding("good", "Packages", ", ".join(f"{name} {number}" for name, number in found.items()))


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def keys(env: Mapping[str, str], store: KeyStore, rows: Mapping[str, Provider] = PROVIDERS) -> Finding:
    """Which keys there are and where, by name only."""
    if store.problem:
        return Finding("bad", "Keys", store.problem)
    names = [row.key_variable for row in rows.values() if row.key_variable]
    places = {name: "" if env.get(name, "").strip() else store.place(name) for name in names}
    found = [name for name in places if env.get(name, "").strip() or places[name]]
    lost = [name for name in found if places[name] and name not in store.keys]
    if lost:
        told = f"the key of {', '.join(lost)} is in the system keyring, which does not give it; unlock it, or log in again."
        return Finding("bad", "Keys", told)
    if found:
        told = ", ".join(f"{name} (in {places[name]})" if places[name] else name for name in found)
        return Finding("good", "Keys", f"found {told}")
    looked = ", ".join(PROVIDERS[name].key_variable or "" for name in DETECTION_ORDER)
    return Finding(
        "note", "Keys", f"none found; set one of {looked}, run `zidane-acp login`, or use a local Ollama."
    )


def provider(settings: Settings, env: Mapping[str, str], config: Config = NO_CONFIG) -> Finding:
    """The provider that `serve` and `chat` would use from here, and why."""
    wired = options_of(settings, env, config)
    if isinstance(wired, WiringProblem):
        return Finding("bad", "Provider", wired.message)
    source = wired.server.source
    if source is None:
        return Finding("note", "Provider", "the agent did not say which one")
    row = config.rows.get(source.provider)
    variable = row.key_variable if row else None
    if row and variable and not row.key_optional and not env.get(variable, "").strip():
        return Finding(
            "bad", "Provider", f"{source.provider} ({source.source}), but its key is missing; set {variable}."
        )
    verdict: Verdict = "good" if row else "note"
    return Finding(verdict, "Provider", f"{source.provider}, model {source.model} ({source.source})")


def _ripgrep() -> Finding:
    found = shutil.which("rg")
    if found:
        return Finding("good", "ripgrep", found)
    return Finding(
        "note",
        "ripgrep",
        "not found; search works without it, more slowly. Install ripgrep for large projects.",
    )


def state(folder: Path) -> Finding:
    """Whether the state folder can be used, without making it."""
    nearest = next(path for path in (folder, *folder.absolute().parents) if path.exists())
    if not nearest.is_dir() or not os.access(nearest, os.W_OK | os.X_OK):
        return Finding(
            "bad", "State", f"{folder} cannot be written; give another folder with ZIDANE_ACP_HOME."
        )
    return Finding("good", "State", f"{folder}" + ("" if folder.exists() else " (made on first use)"))


def sessions(settings: Settings) -> Finding:
    """Whether the stored sessions can be read; nothing is made or changed."""
    report = inspect(store_path(settings))
    return Finding(SESSIONS[report.state], "Sessions", report.sentence)


def _config(settings: Settings, env: Mapping[str, str], config: Config) -> Finding:
    path = config_path(settings, env)
    if config.warnings:
        return Finding("note", "Config", " ".join(config.warnings))
    names = ", ".join(server.name for server in config.mcp_servers)
    there = f"MCP servers: {names or 'none'}" if path.exists() else "none, none is needed"
    return Finding("note", "Config", f"{path} ({there})")


def _terminal(env: Mapping[str, str]) -> Finding:
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        return Finding("note", "Terminal", "none here; `zidane-acp chat` prints plain text then.")
    from rich.console import Console

    console = Console()
    encoding = (sys.stdout.encoding or "unknown").upper()
    text = f"{console.width} x {console.height}, {console.color_system or 'no'} colours, {encoding}, TERM={env.get('TERM', '')}"
    return Finding("good" if encoding.startswith("UTF") else "note", "Terminal", text)


def _reachable(settings: Settings, env: Mapping[str, str], config: Config) -> Iterator[Finding]:
    proxies = [name for name in PROXIES if env.get(name) or env.get(name.lower())]
    yield Finding("note", "Proxy", "set by " + ", ".join(proxies) if proxies else "none set")
    rows = config.rows
    for name in asked(settings, env, config):
        yield reach(name, env, settings.base_url, rows)


def asked(settings: Settings, env: Mapping[str, str], config: Config = NO_CONFIG) -> Iterable[str]:
    """The providers worth a try: those with a key, the chosen one, and a local Ollama."""
    rows = config.rows
    with_key = [
        row.name for row in rows.values() if row.key_variable and env.get(row.key_variable, "").strip()
    ]
    wired = options_of(settings, env, config)
    chosen = (
        []
        if isinstance(wired, WiringProblem) or wired.server.source is None
        else [wired.server.source.provider]
    )
    return dict.fromkeys(name for name in (*chosen, *with_key, "ollama") if name in rows)


def reach(
    name: str,
    env: Mapping[str, str],
    base_url: str | None = None,
    rows: Mapping[str, Provider] = PROVIDERS,
) -> Finding:
    """Whether anything answers at a provider's address; no key is sent. Only a local Ollama may be away."""
    found = endpoint(name, env, base_url, rows)
    if isinstance(found, Failure):
        return Finding("note", name, found.failure())
    import httpx2

    url = found.unwrap().base_url
    began = time.monotonic()
    try:
        answer = httpx2.get(url, timeout=TIMEOUT, follow_redirects=False)
    except (httpx2.HTTPError, httpx2.InvalidURL, OSError) as problem:
        verdict: Verdict = "note" if name == "ollama" else "bad"
        return Finding(verdict, name, f"{url} cannot be reached ({type(problem).__name__}: {problem})")
    return Finding(
        "good", name, f"{url} answers (HTTP {answer.status_code}, {time.monotonic() - began:.1f} s)"
    )


def _mark(verdict: Verdict) -> str:
    encoding = (getattr(sys.stdout, "encoding", None) or "ascii").lower()
    return MARKS[verdict][0 if encoding.startswith("utf") else 1]
