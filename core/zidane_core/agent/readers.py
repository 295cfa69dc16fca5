"""The table of commands that only read (ring 2), used by `commands`.

An entry lists every flag that is known to be harmless; a flag that is not listed makes the line unknown. So
what writes, runs programs, follows links or reads lists of names from files is simply not here.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, Literal, TypeAlias

import msgspec

Operands: TypeAlias = Literal["paths", "pattern", "words", "format", "none", "anything"]
"""What stands beside the flags: paths; one pattern and then paths; words that are no paths; `+FORMAT` only;
nothing; or anything at all, flags included."""

_NONE: Final[frozenset[str]] = frozenset()


class Valued(msgspec.Struct, frozen=True, gc=False):
    """The flags one word gave, and how many further words are their value."""

    names: tuple[str, ...]
    extra: int


class Reader(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """How a read-only command is called.

    `flags` and `valued_flags` are letters; `long` are long flags without a value, `optional` with one after
    `=` or none, `valued` with one that must come. `number` allows `-20`; `exact` are whole words. With `needs`
    operands are allowed only beside one of these flags; `pattern_given` are the flags that give the pattern or
    make it needless; a value with `refused` in it makes the line unknown.
    """

    flags: str = ""
    valued_flags: str = ""
    long: frozenset[str] = _NONE
    optional: frozenset[str] = _NONE
    valued: frozenset[str] = _NONE
    exact: frozenset[str] = _NONE
    number: bool = False
    operands: Operands = "paths"
    needs: frozenset[str] = _NONE
    pattern_given: frozenset[str] = _NONE
    refused: str = ""


def _set(names: str) -> frozenset[str]:
    return frozenset(names.split())


_GREP: Final = Reader(
    flags="niwxlLcvFEGoHhsqarzbTu",
    valued_flags="ABCme",
    long=_set(
        "--line-number --ignore-case --no-ignore-case --word-regexp --line-regexp --files-with-matches "
        "--files-without-match --count --invert-match --fixed-strings --extended-regexp --basic-regexp "
        "--only-matching --with-filename --no-filename --no-messages --quiet --silent --text --recursive "
        "--null --null-data --byte-offset --initial-tab"
    ),
    optional=_set("--color --colour"),
    valued=_set(
        "--include --exclude --exclude-dir --after-context --before-context --context --max-count --regexp "
        "--binary-files"
    ),
    number=True,
    operands="pattern",
    pattern_given=_set("-e --regexp"),
)

_RIPGREP: Final = Reader(
    flags="niSswxlcvFUoHNIuapP0.",
    valued_flags="ABCmgtTeMdjr",
    long=_set(
        "--line-number --no-line-number --ignore-case --smart-case --case-sensitive --word-regexp --line-regexp "
        "--files-with-matches --files-without-match --count --count-matches --invert-match --fixed-strings "
        "--multiline --multiline-dotall --only-matching --with-filename --no-filename --no-heading --heading "
        "--hidden --no-hidden --no-ignore --no-ignore-vcs --unrestricted --text --json --stats --trim --vimgrep "
        "--column --no-column --null --pretty --quiet --files --type-list --no-config --no-messages --crlf "
        "--pcre2 --passthru --one-file-system --version"
    ),
    valued=_set(
        "--after-context --before-context --context --max-count --glob --iglob --type --type-not --regexp "
        "--max-columns --max-depth --max-filesize --threads --replace --color --sort --sortr --encoding --engine "
        "--colors --context-separator"
    ),
    operands="pattern",
    pattern_given=_set("-e --regexp --files --type-list --version"),
)

_HASH: Final = Reader(flags="btz", long=_set("--binary --text --tag --zero"))

READERS: Final[Mapping[str, Reader]] = MappingProxyType(
    {
        "ls": Reader(
            flags="laAhtrSR1dFipsognucxCmQBGkqvXUfbNTZD",
            long=_set(
                "--all --almost-all --human-readable --recursive --reverse --directory --size --inode --numeric-uid-gid "
                "--group-directories-first --full-time --no-group --si --classify --file-type"
            ),
            optional=_set("--color --hyperlink"),
            valued=_set(
                "--sort --time --time-style --format --indicator-style --ignore --hide --width --block-size"
            ),
        ),
        "pwd": Reader(flags="LP", operands="none"),
        "cat": Reader(
            flags="nbsAeEtTvu",
            long=_set(
                "--number --number-nonblank --squeeze-blank --show-all --show-ends --show-tabs --show-nonprinting"
            ),
        ),
        "head": Reader(
            flags="qvz",
            valued_flags="nc",
            number=True,
            valued=_set("--lines --bytes"),
            long=_set("--quiet --verbose"),
        ),
        "tail": Reader(
            flags="qvrz",
            valued_flags="nc",
            number=True,
            valued=_set("--lines --bytes"),
            long=_set("--quiet --verbose"),
        ),
        "nl": Reader(flags="p", valued_flags="bhfvinwsld"),
        "tac": Reader(),
        "wc": Reader(flags="lwcmL", long=_set("--lines --words --bytes --chars --max-line-length")),
        "cut": Reader(
            flags="nsz",
            valued_flags="dfcb",
            valued=_set("--delimiter --fields --characters --bytes --output-delimiter"),
            long=_set("--only-delimited --complement"),
        ),
        "cmp": Reader(flags="lsb", valued_flags="n"),
        "grep": _GREP,
        "egrep": _GREP,
        "fgrep": _GREP,
        "rg": _RIPGREP,
        "stat": Reader(
            flags="fxtlnqrsLF",
            valued_flags="c",
            long=_set("--dereference --file-system --terse"),
            valued=_set("--format --printf"),
        ),
        "file": Reader(
            flags="bihLkN0",
            long=_set("--brief --mime --mime-type --mime-encoding --dereference --no-dereference"),
        ),
        "du": Reader(
            flags="shacbkmx0",
            valued_flags="d",
            long=_set(
                "--summarize --human-readable --all --total --bytes --one-file-system --apparent-size --si"
            ),
            valued=_set("--max-depth --exclude --threshold --block-size"),
        ),
        "df": Reader(flags="hHiklPTa", long=_set("--human-readable --inodes --local --print-type --total")),
        "tree": Reader(
            flags="adfpshugDFinxCNQvrt",
            valued_flags="LIP",
            long=_set("--dirsfirst --noreport --gitignore --prune --du --si --matchdirs --ignore-case"),
            valued=_set("--sort --filelimit --charset"),
        ),
        "realpath": Reader(
            flags="emsqzLP", long=_set("--canonicalize-existing --canonicalize-missing --strip --quiet")
        ),
        "readlink": Reader(
            flags="femnqsvz",
            long=_set("--canonicalize --canonicalize-existing --canonicalize-missing --no-newline"),
        ),
        "basename": Reader(flags="az", valued_flags="s", operands="words"),
        "dirname": Reader(flags="z", operands="words"),
        "which": Reader(flags="as", operands="words"),
        "type": Reader(flags="aptP", operands="words"),
        "echo": Reader(operands="anything"),
        "true": Reader(operands="anything"),
        "false": Reader(operands="anything"),
        "date": Reader(
            flags="uRj",
            valued_flags="d",
            optional=_set("--iso-8601 --rfc-3339"),
            long=_set("--utc --universal"),
            valued=_set("--date"),
            exact=_set("-I -Iseconds -Idate -Iminutes -Ihours"),
            operands="format",
        ),
        "whoami": Reader(operands="none"),
        "id": Reader(flags="unGgr", operands="words"),
        "uname": Reader(flags="asnrvmpio", operands="none"),
        "arch": Reader(operands="none"),
        "nproc": Reader(long=_set("--all"), operands="none"),
        "md5sum": _HASH,
        "sha1sum": _HASH,
        "sha256sum": _HASH,
        "sha512sum": _HASH,
    }
)
"""Command -> how it is called when it only reads."""

_DIFF: Final = _set(
    "--cached --staged --name-only --name-status --shortstat --numstat --summary --check --patch --no-patch --raw "
    "--patch-with-stat --minimal --patience --histogram --no-color --no-ext-diff --no-textconv --no-renames "
    "--exit-code --quiet --text --full-index --binary --ignore-all-space --ignore-space-change "
    "--ignore-space-at-eol --ignore-blank-lines --ignore-cr-at-eol --merge-base --function-context --cc "
    "--pickaxe-all --pickaxe-regex --no-prefix --compact-summary"
)
# Not `--submodule`: for it git starts itself in each submodule, whose configuration can name programs.
_DIFF_OPTIONAL: Final = _set(
    "--stat --dirstat --color --color-words --color-moved --word-diff --find-renames --find-copies --abbrev "
    "--relative --ignore-submodules"
)
_DIFF_VALUED: Final = _set(
    "--unified --diff-filter --diff-algorithm --word-diff-regex --inter-hunk-context --stat-width"
)
_LOG: Final = _set(
    "--oneline --graph --all --branches --tags --remotes --follow --reverse --merges --no-merges --first-parent "
    "--abbrev-commit --no-abbrev-commit --topo-order --date-order --author-date-order --parents --children "
    "--left-right --cherry-pick --cherry-mark --cherry --boundary --simplify-by-decoration --full-history "
    "--regexp-ignore-case --extended-regexp --fixed-strings --invert-grep --all-match --source --no-decorate "
    "--no-notes --relative-date --walk-reflogs --no-walk --root --dense --sparse"
)
_LOG_OPTIONAL: Final = _set("--decorate --pretty --notes --show-pulls")
_LOG_VALUED: Final = _set(
    "--max-count --skip --since --after --until --before --author --committer --grep --format --date --glob "
    "--min-parents --max-parents --decorate-refs"
)
_SHOW: Final = Reader(
    flags="pusmcwbaRzgitE",
    valued_flags="nUSGl",
    long=_DIFF | _LOG,
    optional=_DIFF_OPTIONAL | _LOG_OPTIONAL,
    valued=_DIFF_VALUED | _LOG_VALUED,
    exact=_set("-M -C -B -D -F"),
    number=True,
    refused="%G",  # checks signatures with a configurable program
)

GIT: Final[Mapping[str, Reader]] = MappingProxyType(
    {
        "status": Reader(
            flags="sbvz",
            exact=_set("-u -uno -unormal -uall"),
            long=_set(
                "--short --branch --long --show-stash --verbose --ahead-behind --no-ahead-behind --no-renames --renames"
            ),
            optional=_set("--porcelain --untracked-files --ignored --column --ignore-submodules"),
        ),
        "diff": Reader(
            flags="pusRawbzW",
            valued_flags="USGl",
            long=_DIFF,
            optional=_DIFF_OPTIONAL,
            valued=_DIFF_VALUED,
            exact=_set("-M -C -B -D"),
        ),
        "log": _SHOW,
        "show": _SHOW,
        "branch": Reader(
            flags="arvli",
            long=_set("--all --remotes --verbose --list --show-current --ignore-case --no-color --no-column"),
            optional=_set("--color --column --abbrev"),
            valued=_set("--contains --no-contains --merged --no-merged --points-at --sort --format"),
            operands="words",
            needs=_set("--list"),
        ),
        "tag": Reader(
            flags="li",
            exact=_set("-n"),
            long=_set("--list --ignore-case --no-column"),
            optional=_set("--color --column"),
            valued=_set("--contains --no-contains --merged --no-merged --points-at --sort"),
            operands="words",
            needs=_set("-l --list"),
        ),
        "remote": Reader(flags="v", long=_set("--verbose"), operands="none"),
        "stash list": Reader(long=_set("--oneline"), number=True, operands="none"),
        "worktree list": Reader(flags="vz", long=_set("--porcelain --verbose"), operands="none"),
        "rev-parse": Reader(
            flags="q",
            long=_set(
                "--show-toplevel --show-prefix --show-cdup --is-inside-work-tree --is-inside-git-dir --git-dir "
                "--absolute-git-dir --git-common-dir --verify --quiet --symbolic --symbolic-full-name --all --branches "
                "--tags --remotes --is-bare-repository --is-shallow-repository"
            ),
            optional=_set("--short --abbrev-ref"),
        ),
        "ls-files": Reader(
            flags="cdomsuktvz",
            valued_flags="x",
            long=_set(
                "--cached --deleted --others --modified --stage --unmerged --directory --exclude-standard --full-name "
                "--ignored --error-unmatch --no-empty-directory --deduplicate"
            ),
            valued=_set("--exclude"),
        ),
        "ls-tree": Reader(
            flags="drtlz", long=_set("--long --name-only --name-status --full-name --full-tree --object-only")
        ),
        "blame": Reader(
            flags="wlstefpnbc",
            valued_flags="L",
            long=_set(
                "--line-porcelain --porcelain --show-name --show-number --show-email --root --incremental"
            ),
            optional=_set("--abbrev"),
            valued=_set("--since --date"),
            exact=_set("-M -C"),
        ),
        "describe": Reader(
            long=_set("--tags --all --always --long --exact-match --contains"),
            optional=_set("--dirty --abbrev"),
            valued=_set("--match --exclude"),
        ),
        "merge-base": Reader(
            flags="a", long=_set("--all --is-ancestor --fork-point --octopus --independent")
        ),
        "rev-list": Reader(
            flags="n", long=_LOG | _set("--count"), valued=_LOG_VALUED - {"--format"}, number=True
        ),
        "version": Reader(operands="none"),
    }
)
"""Subcommand of git -> how it is called when it only reads."""
