"""The `chat` command: which agent, which view, which prompt."""

import os
import sys
from collections.abc import Coroutine
from typing import Any, Final

import anyio
import msgspec

from zidane_acp.chat.link import Launch
from zidane_acp.chat.policy import decider
from zidane_acp.chat.wanted import Named, Newest, Wanted
from zidane_acp.config import read_config
from zidane_acp.config.records import UserFile
from zidane_acp.settings import SAFE_PYTHON, Settings, as_arguments, state_folder

USAGE: Final = 2
OURS: Final = frozenset({"--permission", "--home", "--log-level"})
"""Flags that mean something to the client itself."""


class ChatOptions(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """What was asked on the command line. `agent` is empty for our own; `typed` are the flags that were typed."""

    settings: Settings
    typed: tuple[str, ...] = ()
    prompt: str | None = None
    cwd: str | None = None
    agent: tuple[str, ...] = ()
    demo: bool = False
    newest: bool = False
    resume: str | None = None


def run_chat(options: ChatOptions) -> int:
    """Run the command and give its exit code."""
    terminal = sys.stdin.isatty() and sys.stdout.isatty()
    problem = check(options)
    if problem is not None:
        print(problem, file=sys.stderr)
        return USAGE
    if options.demo:
        from zidane_acp.demo.tour import run_tour

        return run_tour(terminal)
    launch = launch_of(options)
    if options.prompt is None and terminal:
        return started_in(converse(launch, options.settings))
    return run_headless(launch, options)


def check(options: ChatOptions) -> str | None:
    """What is wrong with the options, as a sentence."""
    if options.newest and options.resume is not None:
        return "--continue and --resume exclude each other; give the one you mean."
    if options.demo and (options.newest or options.resume is not None):
        return "--demo plays a conversation of its own; leave --continue and --resume out."
    if options.resume is not None and not options.resume.strip():
        return "--resume needs the id of a session, the beginning of one, or last."
    if options.cwd is not None and not os.path.isdir(options.cwd):
        return f"--cwd names no folder: {options.cwd}"
    # Variables are for our own agent as well and do no harm; a typed flag would be lost without a word.
    lost = (
        []
        if not options.agent
        else [name for flag in options.typed if (name := flag.partition("=")[0]) not in OURS]
    )
    if lost:
        return f"{lost[0]} is a flag of the built-in agent; give the agent after -- its own flags there."
    return None


def launch_of(options: ChatOptions) -> Launch:
    """How the agent is started: the one after --, or this very program."""
    settings = options.settings
    own = not options.agent
    command = options.agent or (sys.executable, *SAFE_PYTHON, "serve", *as_arguments(settings))
    cwd = os.path.realpath(options.cwd or os.getcwd())
    return Launch(
        command=tuple(command),
        own=own,
        cwd=cwd,
        pass_stderr=settings.log_level == "debug",
        wanted=wanted_of(options),
        typed=options.typed,
    )


def wanted_of(options: ChatOptions) -> Wanted | None:
    """The stored session that --continue or --resume asks for; None for a new one."""
    if options.resume is not None:
        cwd = None if options.cwd is None else os.path.realpath(options.cwd)
        return Named(options.resume.strip(), cwd)
    return Newest() if options.newest else None


async def converse(launch: Launch, settings: Settings) -> int:
    """Hold a conversation on the terminal."""
    from rich.console import Console

    from zidane_acp.chat.interactive import Conversation
    from zidane_acp.chat.keyboard import Keyboard
    from zidane_acp.chat.prompt_line import PromptLine
    from zidane_acp.chat.screen import Screen

    user = read_config(settings).user or UserFile()
    keyboard = Keyboard()
    screen = Screen(Console(highlight=False), keyboard, launch.cwd, thoughts=user.ui.thoughts)
    prompts = PromptLine(state_folder(settings), lambda: screen.commands)
    decide = decider(settings.permission, own=launch.own, can_ask=True)
    return await Conversation(launch, screen, keyboard, prompts, decide, user.ui.past_turns).run()


def run_headless(launch: Launch, options: ChatOptions) -> int:
    """Run one prompt and print the answer."""
    from zidane_acp.chat.headless import OnePrompt, read_prompt
    from zidane_acp.chat.plain import PlainView

    words = read_prompt() if options.prompt is None else options.prompt
    if not words.strip():
        print("There is no prompt: give one with -p, or on standard input.", file=sys.stderr)
        return USAGE
    ask = None
    if sys.stdin.isatty() and sys.stderr.isatty():
        from zidane_acp.chat.ask_on_stderr import ask_on_stderr

        ask = ask_on_stderr
    decide = decider(options.settings.permission, own=launch.own, can_ask=ask is not None)
    return started_in(OnePrompt(launch, PlainView(ask), decide).run(words))


def started_in(work: Coroutine[Any, Any, int]) -> int:  # the first two say what a coroutine yields and takes
    """Run the work; what cannot be started is one sentence, Ctrl-C is 130."""
    from zidane_acp.chat.process import NoSuchProgram

    async def run() -> int:
        return await work

    try:
        return anyio.run(run)
    except NoSuchProgram as problem:
        print(problem, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
