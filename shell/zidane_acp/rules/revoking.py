"""`permissions revoke`: what is revoked is named first, and a person is asked."""

import sys
from collections.abc import Callable, Sequence

from zidane_acp.agreeing import agreed
from zidane_acp.rules.listing import by_folder, of_folder
from zidane_acp.rules.sqlite import KeptRule, SqliteRules


def run_revoke(
    rules: SqliteRules,
    numbers: Sequence[int],
    *,
    project: str | None = None,
    everything: bool = False,
    yes: bool = False,
    ask: Callable[[str], str] | None = None,
) -> int:
    """Revoke rules and give the exit code. When one of the numbers is of no rule none is revoked."""
    kept = rules.kept()
    chosen = _chosen(kept, numbers, project, everything)
    unknown = sorted(set(numbers) - {rule.number for rule in kept})
    if unknown:
        named = ", ".join(map(str, unknown))
        print(
            f"There is no rule {named}; `zidane-acp permissions list` shows what there is.", file=sys.stderr
        )
        return 1
    if not chosen:
        print("There is nothing to revoke.", file=sys.stderr)
        return 0
    print("".join(by_folder(chosen)), end="")
    if not yes and not agreed(f"Revoke {_count(len(chosen))}? [y/N] ", ask):
        print("Nothing was revoked. With --yes it is done without a question.", file=sys.stderr)
        return 1
    done = rules.forget(rule.number for rule in chosen)
    print(f"Revoked {_count(done)}. Sessions that are open now keep theirs until they are opened again.")
    return 0


def _chosen(
    kept: tuple[KeptRule, ...], numbers: Sequence[int], project: str | None, everything: bool
) -> tuple[KeptRule, ...]:
    if everything:
        return kept
    if project is not None:
        return of_folder(kept, project)
    return tuple(rule for rule in kept if rule.number in numbers)


def _count(rules: int) -> str:
    return "1 rule" if rules == 1 else f"{rules} rules"
