"""Whether a folder's git repository is plain: nothing in it makes a reading git command run a program or look elsewhere.

A repository's own configuration can name programs (`core.fsmonitor`, `diff.external`, filters), and a folder
that was unpacked may bring a `.git` along. So git is not asked, since that alone could run them: the files that
it would read are read here, by a grammar that is narrower than git's and with a list of harmless names. What is
not understood counts as not plain.
"""

import os
import re
import stat
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Final, NamedTuple

from zidane_acp.tools.handles import unwaited

SETTINGS: Final[Mapping[str, str]] = MappingProxyType(
    {"core.fsmonitor": "false", "core.hooksPath": os.devnull, "diff.submodule": "short"}
)
"""Settings that a reading git command gets on top: no monitor, no hooks, no programs in other repositories."""

_ELSEWHERE: Final = ("GIT_DIR", "GIT_COMMON_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY")
_HOOK: Final = "post-index-change"  # the one hook that reading commands run
_CONFIG_ROOM: Final = 2**20
_INDEX_ROOM: Final = 256 * 2**20
_STEP: Final = 2**20
_GITLINK: Final = b"\x00\x00\xe0\x00"  # the mode of a submodule in the index

_BLANK: Final = re.compile(r"[ \t]*(?:[#;].*)?")
_SECTION: Final = re.compile(
    r'[ \t]*\[([A-Za-z0-9-]+)(?:[ \t]+"((?:[^"\\\n]|\\["\\])*)")?\][ \t]*(?:[#;].*)?'
)
_KEY: Final = re.compile(r"[ \t]*([A-Za-z][A-Za-z0-9-]*)[ \t]*(?:=[ \t]*(.*))?")
_CONTROL: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")
_PLAIN_VALUE: Final = re.compile(r"[^\"\\#;~%]+")

_HEAD: Final = re.compile(r"(?:ref: refs/[^\s]+|[0-9a-f]{40}|[0-9a-f]{64})\n")

_ALL: Final = frozenset({"*"})


def _set(names: str) -> frozenset[str]:
    return frozenset(names.split())


_PLAIN: Final[Mapping[str, frozenset[str]]] = MappingProxyType(
    {
        "core": _set(
            "repositoryformatversion filemode bare logallrefupdates ignorecase precomposeunicode symlinks autocrlf "
            "eol safecrlf quotepath abbrev whitespace trustctime checkstat untrackedcache preloadindex compression "
            "loosecompression longpaths protecthfs protectntfs sparsecheckout sparsecheckoutcone commitgraph "
            "multipackindex bigfilethreshold hidedotfiles commentchar"
        ),
        "extensions": _set("objectformat compatobjectformat refstorage worktreeconfig noop preciousobjects"),
        "user": _set("name email useconfigonly signingkey"),
        "author": _set("name email"),
        "committer": _set("name email"),
        "branch": _set("autosetupmerge autosetuprebase sort"),
        "init": _set("defaultbranch"),
        "pull": _set("rebase ff octopus twohead"),
        "push": _set("default autosetupremote followtags gpgsign"),
        "fetch": _set("prune prunetags parallel writecommitgraph"),
        "merge": _set("conflictstyle ff renames renamelimit directoryrenames stat log verbosity"),
        "rebase": _set("autosquash autostash stat updaterefs missingcommitscheck"),
        "commit": _set("gpgsign verbose status cleanup"),
        "tag": _set("gpgsign sort forcesignannotated"),
        "gpg": _set("format"),
        "color": _ALL,
        "column": _ALL,
        "advice": _ALL,
        "gc": _ALL,
        "pack": _set("threads window depth compression usebitmaps writebitmaps usesparse"),
        "index": _ALL,
        "feature": _ALL,
        "i18n": _ALL,
        "sparse": _ALL,
        "rerere": _set("enabled autoupdate"),
        "status": _set("short branch showuntrackedfiles relativepaths showstash renames renamelimit aheadbehind"),
        "log": _set("date decorate abbrevcommit follow graphcolors showroot mailmap"),
        "diff": _set(
            "algorithm renames renamelimit colormoved colormovedws noprefix mnemonicprefix context interhunkcontext "
            "wserrorhighlight statgraphwidth indentheuristic suppressblankempty wordregex dirstat relative"
        ),
        "maintenance": _set("auto strategy"),
        "lfs": _set("repositoryformatversion"),
        "gui": _set("wmstate geometry"),
    }
)  # fmt: skip
"""Section without a subsection -> the names in it that are harmless; `*` all."""

_PLAIN_BELOW: Final[Mapping[str, frozenset[str]]] = MappingProxyType(
    {
        "remote": _set(
            "url pushurl fetch push tagopt prune prunetags mirror skipfetchall skipdefaultupdate gh-resolved"
        ),
        "branch": _ALL,
        "color": _ALL,
        "submodule": _set("url active"),
        "lfs": _set("access locksverify"),
    }
)
"""The same for sections with a subsection (`remote "origin"`)."""


class _Doubt(Exception):
    """Something that is not known to be harmless."""


class _Repository(NamedTuple):
    """A repository that git may find: its own folder, the one with what worktrees share, and the work tree."""

    own: str
    common: str
    work: str


def is_plain(folder: str, environment: Mapping[str, str]) -> bool:
    """Whether reading git commands in a real folder run no program that the folder's own files name.

    Looks at every repository from the folder up to the first one that git certainly takes.
    """
    if any(environment.get(name) for name in _ELSEWHERE):
        return False
    try:
        for above in _upwards(folder):
            found = _repository(above)
            if found is not None:
                _check(found)
                if _is_certain(found):
                    break
    except (_Doubt, OSError, ValueError):
        return False
    return True


def hardened(environment: Mapping[str, str]) -> dict[str, str]:
    """The environment for a reading git command: the user's own, with `SETTINGS` on top of the configuration."""
    return {**environment, **hardening(environment)}


def hardening(environment: Mapping[str, str]) -> dict[str, str]:
    """The variables that do it, on top of this environment."""
    given = environment.get("GIT_CONFIG_COUNT", "")
    count = int(given) if given.isascii() and given.isdigit() else 0
    settings = enumerate(SETTINGS.items(), count)
    pairs = {
        name: value
        for number, (key, setting) in settings
        for name, value in ((f"GIT_CONFIG_KEY_{number}", key), (f"GIT_CONFIG_VALUE_{number}", setting))
    }
    return {
        **pairs,
        "GIT_CONFIG_COUNT": str(count + len(SETTINGS)),
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_PAGER": "cat",
    }


def _upwards(folder: str) -> Iterator[str]:
    yield folder
    while (above := os.path.dirname(folder)) != folder:
        folder = above
        yield folder


def _repository(folder: str) -> _Repository | None:
    if os.path.lexists(os.path.join(folder, "HEAD")):
        raise _Doubt  # it may be a repository without a work tree, whose configuration lies open in the folder
    place = os.path.join(folder, ".git")
    try:
        mode = os.lstat(place).st_mode
    except FileNotFoundError:
        return None
    if stat.S_ISREG(mode):
        return _pointed(place, folder)
    if not stat.S_ISDIR(mode) or os.path.lexists(os.path.join(place, "commondir")):
        raise _Doubt
    return _Repository(place, place, folder)


def _is_certain(found: _Repository) -> bool:
    """Whether git takes this repository, or fails, but does not look further up."""
    if os.path.isfile(os.path.join(found.work, ".git")):
        return True
    folders = (os.path.join(found.own, name) for name in ("objects", "refs"))
    if not all(os.path.isdir(folder) and os.access(folder, os.X_OK) for folder in folders):
        return False
    return _HEAD.fullmatch(_text(os.path.join(found.own, "HEAD"))) is not None


def _pointed(place: str, folder: str) -> _Repository:
    """The repository that a file `.git` points to; it must point back, or anyone's history could be read."""
    text = _text(place)
    if not text.startswith("gitdir: "):
        raise _Doubt
    own = os.path.realpath(os.path.join(folder, text.removeprefix("gitdir: ").rstrip("\r\n")))
    if not os.path.lexists(os.path.join(own, "commondir")):
        return _Repository(own, own, folder)  # a submodule: `core.worktree` must name this folder
    common = os.path.realpath(os.path.join(own, _text(os.path.join(own, "commondir")).rstrip("\r\n")))
    back = os.path.join(own, _text(os.path.join(own, "gitdir")).rstrip("\r\n"))
    if os.path.dirname(own) != os.path.join(common, "worktrees") or os.path.realpath(back) != place:
        raise _Doubt
    return _Repository(own, common, folder)


def _check(found: _Repository) -> None:
    names = {
        os.path.join(found.common, "config"),
        os.path.join(found.common, "config.worktree"),
        os.path.join(found.own, "config.worktree"),
    }
    values = [value for name in sorted(names) for value in _settings(name)]
    points_back = False
    for key, value in values:
        if not _PLAIN_VALUE.fullmatch(value):
            raise _Doubt
        where = os.path.realpath(os.path.join(found.own if key == "worktree" else found.work, value.strip()))
        if key == "worktree":
            points_back = where == os.path.realpath(found.work)
            if not points_back:
                raise _Doubt
        else:
            _no_hook(where)
    inside = found.own.startswith(os.path.join(found.work, ""))
    if not inside and found.own == found.common and not points_back:
        raise _Doubt
    _no_hook(os.path.join(found.common, "hooks"))
    for folder in {found.own, found.common}:
        _no_links(folder, except_for="hooks")
        _no_submodules(folder)
    _no_links(os.path.join(found.common, "objects"))
    _no_links(os.path.join(found.common, "objects", "pack"))
    if os.path.lexists(os.path.join(found.common, "objects", "info", "alternates")):
        raise _Doubt  # the objects of another repository


def _settings(name: str) -> list[tuple[str, str]]:
    """The values of a configuration file that need a look (`worktree`, `hookspath`); all others are harmless."""
    try:
        text = _text(name)
    except FileNotFoundError:
        return []
    looked_at: list[tuple[str, str]] = []
    plain: frozenset[str] = frozenset()
    section = ""
    for line in text.split("\n"):
        line = line.removesuffix("\r")
        if _CONTROL.search(line) or line.endswith("\\"):
            raise _Doubt
        if _BLANK.fullmatch(line):
            continue
        if head := _SECTION.fullmatch(line):
            section = head[1].lower()
            table = _PLAIN if head[2] is None else _PLAIN_BELOW
            plain = table.get(section, frozenset())
            section = section if head[2] is None else ""
            continue
        found = _KEY.fullmatch(line)
        if found is None:
            raise _Doubt
        key = found[1].lower()
        if section == "core" and key in ("worktree", "hookspath"):
            looked_at.append((key, found[2] or ""))
        elif key not in plain and "*" not in plain:
            raise _Doubt
    return looked_at


def _no_hook(folder: str) -> None:
    if os.path.lexists(os.path.join(folder, _HOOK)):
        raise _Doubt


def _no_links(folder: str, except_for: str = "") -> None:
    try:
        with os.scandir(folder) as entries:
            if any(entry.is_symlink() and entry.name != except_for for entry in entries):
                raise _Doubt
    except FileNotFoundError:
        return


def _no_submodules(folder: str) -> None:
    """No submodule in an index: git starts itself in each, and obeys what it finds there."""
    with os.scandir(folder) as entries:
        indexes = [
            entry.path for entry in entries if entry.name == "index" or entry.name.startswith("sharedindex")
        ]
    for name in indexes:
        handle = _opened(name)
        try:
            with unwaited(handle) as file:
                last, size = b"", 0
                while piece := file.read(_STEP):
                    size += len(piece)
                    if _GITLINK in last + piece or size > _INDEX_ROOM:
                        raise _Doubt
                    last = piece[-3:]
        finally:
            os.close(handle)


def _text(name: str) -> str:
    handle = _opened(name)
    try:
        with unwaited(handle) as file:
            data = file.read(_CONFIG_ROOM + 1)
    finally:
        os.close(handle)
    if len(data) > _CONFIG_ROOM:
        raise _Doubt
    return data.decode()


def _opened(name: str) -> int:
    """A regular file, open; a pipe is never waited for."""
    handle = os.open(name, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    if stat.S_ISREG(os.fstat(handle).st_mode):
        return handle
    os.close(handle)
    raise _Doubt
