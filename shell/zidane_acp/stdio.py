"""The agent on standard input and output: descriptors, signals, trace, exit code.

Nothing here imports the event loop before the first answer is out.
"""

import os
import signal
import sys
import time
from types import FrameType
from typing import TYPE_CHECKING, Final

from zidane_acp import wiring
from zidane_acp.beginning import Beginning, Watch, answer_first, fresh
from zidane_acp.descriptors import take_stdin, take_stdout
from zidane_acp.options import StdioOptions, opened_of
from zidane_acp.settings import Settings

if TYPE_CHECKING:
    from zidane_acp.trace import Trace

USAGE: Final = 2


def run(settings: Settings) -> int:
    """Serve with the settings of the command line; gives the exit code."""
    options = wiring.options_of(settings, os.environ)
    if isinstance(options, wiring.WiringProblem):
        print(f"zidane-acp: {options.message}", file=sys.stderr)
        return USAGE
    code = serve_stdio(options, settings)
    _leave_if_held(code)
    return code


def serve_stdio(options: StdioOptions, settings: Settings | None = None) -> int:
    """Serve one client on descriptors of this process, with all that belongs to being its child.

    Raises ValueError as `create_acp_server` does.
    """
    beginning = fresh(opened_of(options.server, time.monotonic()), options.framing, options.max_frame)
    source = take_stdin() if options.input is None else options.input
    sink = take_stdout() if options.output is None else options.output
    trace = None if options.trace is None else _trace(options.trace)
    watch = None if trace is None else trace.frame
    try:
        signal.signal(signal.SIGTERM, _end_now)
        beginning = answer_first(beginning, source, sink, time.monotonic, watch)
        if settings is not None:
            from zidane_acp import log

            log.configure(settings.log_level, settings.log_file)
        return _carry_on(beginning, source, sink, options, watch)
    finally:
        if trace is not None:
            trace.close()


def _leave_if_held(code: int) -> None:
    """A thread that hangs, on a dead network drive say, must not keep the process: the client is gone."""
    import logging
    import threading

    others = [thread for thread in threading.enumerate() if thread is not threading.main_thread()]
    if any(not thread.daemon for thread in others):
        logging.shutdown()
        os._exit(code)


def _end_now(number: int, frame: FrameType | None) -> None:
    """A signal before the loop runs: nothing has been started that would have to be ended."""
    os._exit(128 + number)


def _trace(path: str) -> "Trace":
    # Imported only when it is asked for: the start of the agent is waited for.
    from zidane_acp.trace import Trace

    return Trace(path)


def _carry_on(
    beginning: Beginning, source: int, sink: int, options: StdioOptions, watch: Watch | None
) -> int:
    from zidane_acp.process import serve_process

    return serve_process(beginning, source, sink, options, watch)
