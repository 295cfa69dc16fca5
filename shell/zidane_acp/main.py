"""The entry point of the console script. It imports nothing heavy: editors wait for this start."""

import gc
import os
import sys
from collections.abc import Sequence

from zidane_acp.descriptors import fill_missing
from zidane_acp.settings import Settings, parse

LOGIN = "--login"
"""What clients add to the command of the agent, at any place of it, to log in in a terminal."""

HELP_OR_VERSION = frozenset({"--help", "-h", "--version", "-V"})


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and give the exit code. Bare flags, or `serve`, speak ACP on stdin and stdout."""
    fill_missing()
    if argv is None:
        _insist_on_utf8()
    words = list(sys.argv[1:] if argv is None else argv)
    terminal = _on_terminal()
    if not words and terminal:
        words = ["chat"]
    flags = _serve_flags(words)
    if flags is not None and LOGIN in flags:
        from zidane_acp.login.command import run_flag

        return run_flag(flags)
    if flags is not None:
        settings = parse(flags, os.environ)
        if isinstance(settings, Settings):
            if terminal:
                print(
                    "zidane-acp waits for ACP messages on standard input; `zidane-acp chat` starts a conversation.",
                    file=sys.stderr,
                )
            from zidane_acp.signals import end_at_once

            end_at_once()
            # Nothing of what is loaded now is garbage, and to look for some takes a tenth of the start; on again once the first
            # answer is out.
            gc.disable()
            try:
                from zidane_acp.stdio import run

                return run(settings)
            finally:
                gc.enable()
    from zidane_acp.cli import run_command

    return run_command(words)


def _insist_on_utf8() -> None:
    """Start again in UTF-8 mode where the locale says otherwise: paths and files are UTF-8 whatever it says."""
    if sys.getfilesystemencoding() == "utf-8" or sys.flags.utf8_mode or not sys.executable:
        return
    # By an option and not by a variable, since the tools' processes keep the user's environment.
    os.execv(sys.executable, [sys.executable, "-X", "utf8", *sys.orig_argv[1:]])


def _serve_flags(words: Sequence[str]) -> Sequence[str] | None:
    """The flags of `serve`, or None when this is another command, or asks for help."""
    if words[:1] == ["serve"]:
        flags = words[1:]
    elif not words or words[0].startswith("-"):
        flags = words
    else:
        return None
    return None if HELP_OR_VERSION.intersection(flags) else flags


def _on_terminal() -> bool:
    # A closed stdin is None or raises: then there is no terminal either.
    try:
        return sys.stdin is not None and sys.stdin.isatty()
    except ValueError:
        return False


if __name__ == "__main__":
    raise SystemExit(main())
