"""The agent on standard input and output: descriptors, signals, log, trace, exit code.

Nothing here imports the event loop before the first answer is out.
"""

import gc
import os
import sys
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Final

from zidane_acp import wiring
from zidane_acp.beginning import answer_first, fresh
from zidane_acp.clock import Clock
from zidane_acp.config import read_config
from zidane_acp.descriptors import fill_missing, open_appending, take_stdin, take_stdout
from zidane_acp.login.accounts import Accounts
from zidane_acp.login.key_store import KeyStore
from zidane_acp.options import StdioOptions, opened_of
from zidane_acp.settings import LogLevel, Settings, filled, state_folder
from zidane_acp.signals import end_at_once, restored

if TYPE_CHECKING:
    from zidane_acp.trace import Trace

USAGE: Final = 2
TRACE_WITHIN: Final = 0.5
"""Seconds that the last lines of the trace get at the end."""


def run(settings: Settings) -> int:
    """Serve with the settings of the command line; gives the exit code."""
    config = read_config(settings)
    settings = filled(settings, config.settings, config.file)
    store = KeyStore(state_folder(settings))
    accounts = Accounts(settings, config, store, required=config.require_login)
    options = accounts.options()
    if isinstance(options, wiring.WiringProblem):
        return _refuse(options.message)
    warnings = (*config.warnings, *options.warnings, *((store.problem,) if store.problem else ()))
    try:
        log = 2 if settings.log_file is None else open_appending(settings.log_file)
    except OSError as error:
        return _cannot("--log-file", error)
    try:
        return serve_stdio(options, lambda: _begun(settings.log_level, log, warnings, accounts.secrets))
    except TraceProblem as problem:
        return _cannot("--trace", problem.error)


class TraceProblem(OSError):
    """The file of the trace cannot be opened."""

    def __init__(self, error: OSError) -> None:
        super().__init__(error.errno, error.strerror, error.filename)
        self.error = error


def serve_stdio(options: StdioOptions, begun: Callable[[], None] = lambda: None) -> int:
    """Serve one client on descriptors of this process, with all that belongs to being its child.

    `begun` is called when the first answer is out. Raises ValueError as `create_acp_server` does, and OSError when
    the trace cannot be opened.
    """
    fill_missing()
    clock = Clock()
    beginning = fresh(opened_of(options.server, clock()), options.framing, options.max_frame)
    trace = None if options.trace is None else _trace(options.trace, options)
    watch = None if trace is None else trace.frame
    source = take_stdin() if options.input is None else options.input
    sink = take_stdout() if options.output is None else options.output
    try:
        with restored():
            end_at_once()
            beginning = answer_first(beginning, source, sink, clock, watch)
            begun()
            # Only now, since the loop takes longer to load than all before.
            from zidane_acp.process import serve_process

            return serve_process(beginning, source, sink, options, clock, watch, lambda: _flush(trace))
    finally:
        if trace is not None:
            trace.close(TRACE_WITHIN)


def _flush(trace: "Trace | None") -> None:
    if trace is not None:
        trace.flush(TRACE_WITHIN)


def _trace(path: str, options: StdioOptions) -> "Trace":
    # Imported only when it is asked for: the start of the agent is waited for.
    from zidane_acp.masking import secret_values
    from zidane_acp.trace import Trace

    try:
        hidden = options.server.hidden_variables
        return Trace(path, secret_values(os.environ, hidden) if options.secrets is None else options.secrets)
    except OSError as error:
        raise TraceProblem(error) from error


def _begun(level: LogLevel, descriptor: int, warnings: Sequence[str], secrets: Iterable[str]) -> None:
    import logging

    from zidane_acp import log

    gc.enable()

    log.configure(level, descriptor, secrets)
    for warning in warnings:
        logging.getLogger("zidane_acp.config").warning("%s", warning)


def _cannot(flag: str, error: OSError) -> int:
    return _refuse(
        f"The file of {flag} cannot be opened: {error.strerror}: {error.filename}. Give another one."
    )


def _refuse(problem: str) -> int:
    print(f"zidane-acp: {problem}", file=sys.stderr)
    return USAGE
