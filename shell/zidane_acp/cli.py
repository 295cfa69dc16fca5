"""The command line beyond the serve path: help, version, chat, sessions, permissions, setup, doctor. Built from the table of flags."""

import inspect
import os
import sys
from collections.abc import Callable, Sequence
from typing import Annotated, Any, Final

import typer

from zidane_acp.config.command import File, Home
from zidane_acp.config.command import config as config_commands
from zidane_acp.rules.commands import permissions
from zidane_acp.sessions.commands import sessions
from zidane_acp.settings import FLAGS, Flag, Settings, SettingsProblem, parse
from zidane_core import __version__
from zidane_core.text import is_array

USAGE: Final = 2
GIVEN: Final = ("settings", "typed")
"""Parameters of `serve` and `chat` that come from the table of flags."""
app = typer.Typer(
    name="zidane-acp",
    help="An agent server for the Agent Client Protocol. Without a command it speaks ACP on standard input "
    "and output; on a terminal it opens a chat.",
    epilog="Each flag of serve and chat has a twin in the environment: --base-url is ZIDANE_ACP_BASE_URL.",
    add_completion=False,
    no_args_is_help=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def run_command(words: Sequence[str]) -> int:
    """Run a command line and give its exit code; wrong usage is one sentence and 2."""
    problem = _serve_problem(words)
    if problem is not None:
        return _usage(problem)
    own, agent = _split_agent(list(words))
    try:
        result: object = app(args=own, prog_name="zidane-acp", standalone_mode=False, obj=agent)
    except typer.Exit as leaving:
        return leaving.exit_code
    except typer.Abort:
        return 130
    except Exception as problem_of_typer:
        # typer's usage errors have no public base class of its own; they all can format themselves.
        formatted = getattr(problem_of_typer, "format_message", None)
        if formatted is None:
            raise
        return _usage(SettingsProblem(f"{formatted().rstrip('.')}. `zidane-acp --help` shows what there is."))
    return result if isinstance(result, int) else 0


def _serve_problem(words: Sequence[str]) -> SettingsProblem | None:
    # main sends serve's flags here only when they are wrong or ask for help.
    if words[:1] == ["serve"] or (words and words[0].startswith("-")):
        flags = words[1:] if words[:1] == ["serve"] else words
        if not {"--help", "-h", "--version", "-V"}.intersection(flags):
            found = parse(flags, os.environ)
            return found if isinstance(found, SettingsProblem) else None
    return None


def _split_agent(words: list[str]) -> tuple[list[str], tuple[str, ...]]:
    # What stands behind -- is the agent's command line, flags included.
    if words[:1] == ["chat"] and "--" in words:
        at = words.index("--")
        return words[:at], tuple(words[at + 1 :])
    return words, ()


def _usage(problem: SettingsProblem) -> int:
    print(problem.message, file=sys.stderr)
    return USAGE


def _with_flags(command: Callable[..., int]) -> Callable[..., int]:
    """The command with the table's flags as typer options; it gets the settings and the flags as typed."""

    def run(**given: Any) -> int:  # typer calls with the values of options of several types
        own = {name: value for name, value in given.items() if name not in by_parameter}
        argv: list[str] = []
        for name, flag in by_parameter.items():
            argv.extend(_as_typed(flag, given.get(name)))
        settings = parse(argv, os.environ)
        return command(settings, tuple(argv), **own) if isinstance(settings, Settings) else _usage(settings)

    by_parameter = {flag.name.replace("-", "_"): flag for flag in FLAGS}
    own = [item for item in inspect.signature(command).parameters.values() if item.name not in GIVEN]
    added = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=_option(flag))
        for name, flag in by_parameter.items()
    ]
    keyword_only = [item.replace(kind=inspect.Parameter.KEYWORD_ONLY) for item in own]
    signature = inspect.Signature([*keyword_only, *added], return_annotation=int)
    run.__name__, run.__doc__ = command.__name__, command.__doc__
    run.__annotations__ = {name: item.annotation for name, item in signature.parameters.items()}
    # typer reads a command's options from its signature.
    run.__signature__ = signature  # type: ignore[attr-defined]
    return run


def _as_typed(flag: Flag, value: object) -> list[str]:
    if value is None or value is False:
        return []
    if value is True:
        return [flag.option]
    items = value if is_array(value) else [value]
    return [f"{flag.option}={item}" for item in items]


def _option(flag: Flag) -> Any:  # an annotation is a value without a type
    text = flag.help + (f" [env: {flag.variable}]")
    metavar = "|".join(flag.allowed) or flag.metavar
    if flag.type == "switch":
        return Annotated[bool, typer.Option(flag.option, help=text)]
    option = typer.Option(flag.option, help=text, metavar=metavar)
    return Annotated[list[str] | None, option] if flag.repeatable else Annotated[str | None, option]


def _show_version(wanted: bool) -> None:
    if wanted:
        print(f"zidane-acp {__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def root(
    version: Annotated[
        bool, typer.Option("--version", "-V", help="Show the version.", is_eager=True, callback=_show_version)
    ] = False,
) -> None:
    """An agent server for the Agent Client Protocol."""


def serve(settings: Settings, typed: tuple[str, ...]) -> int:
    """Speak ACP on standard input and output."""
    from zidane_acp.stdio import run

    return run(settings)


def chat(
    settings: Settings,
    typed: tuple[str, ...],
    context: typer.Context,
    prompt: Annotated[
        str | None, typer.Option("--prompt", "-p", metavar="TEXT", help="Run this one prompt and leave.")
    ] = None,
    cwd: Annotated[str | None, typer.Option("--cwd", metavar="DIR", help="Folder to work in.")] = None,
    newest: Annotated[
        bool,
        typer.Option(
            "--continue", "-c", help="Go on with the newest session of the folder, if there is one."
        ),
    ] = False,
    resume: Annotated[
        str | None,
        typer.Option(
            "--resume",
            "-r",
            metavar="ID",
            help="Go on with this session, in its folder: an id, the beginning of one, or last.",
        ),
    ] = None,
    demo: Annotated[
        bool, typer.Option("--demo", help="Play a short tour over a throw-away project.")
    ] = False,
) -> int:
    """Talk to an agent on the terminal: this one, or the command after -- (any ACP agent).

    Without a terminal the prompt comes from -p or standard input and the answer goes to standard output.
    Exit codes: 0 the turn ended, 1 error, 2 usage, 3 another stop reason, 130 cancelled.
    """
    from zidane_acp.chat.command import ChatOptions, run_chat

    agent: tuple[str, ...] = context.obj or ()
    return run_chat(
        ChatOptions(
            settings=settings,
            typed=typed,
            prompt=prompt,
            cwd=cwd,
            agent=agent,
            demo=demo,
            newest=newest,
            resume=resume,
        )
    )


@app.command()
def setup(
    editor: Annotated[str, typer.Argument(help="zed, jetbrains, neovim, emacs or acpx.")],
    write: Annotated[
        bool, typer.Option("--write", help="Write it to the editor's settings, with a backup.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Write without a question.")] = False,
) -> int:
    """Show what adds this agent to an editor, or write it."""
    from zidane_acp.setup.command import run_setup

    return run_setup(editor, write=write, yes=yes)


PROVIDER: Final = typer.Argument(help="anthropic, openai, openrouter and others.")


@app.command()
def login(
    provider: Annotated[str | None, PROVIDER] = None,
    key_from_stdin: Annotated[
        bool, typer.Option("--key-from-stdin", help="Read the key from standard input, for scripts.")
    ] = False,
) -> int:
    """Ask for the API key of a provider and keep it on this machine."""
    from zidane_acp.login.command import run_login

    return run_login(provider, from_stdin=key_from_stdin)


@app.command()
def logout(provider: Annotated[str | None, PROVIDER] = None) -> int:
    """Forget the key of a provider, or all of them."""
    from zidane_acp.login.command import run_logout

    return run_logout(provider)


@app.command()
def doctor(
    online: Annotated[bool, typer.Option("--online", help="Also try to reach the providers.")] = False,
) -> int:
    """Show what was found on this machine: Python, keys by name, provider, folders, terminal."""
    from zidane_acp.doctor import run_doctor

    return run_doctor(online=online)


@app.command()
def models(
    refresh: Annotated[
        bool, typer.Option("--refresh", help="Ask the providers what they offer, and keep the answers.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="As a JSON array.")] = False,
    provider: Annotated[
        str | None, typer.Option("--provider", metavar="NAME", help="Only the models of this provider.")
    ] = None,
    config: File = None,
    home: Home = None,
) -> int:
    """List the models that can be chosen now, with window, output, price, and which is the default."""
    from zidane_acp.models.command import run_models

    given = {"--provider": provider, "--config": config, "--home": home}
    flags = [f"{option}={value}" for option, value in given.items() if value is not None]
    return run_models(flags, refresh=refresh, as_json=as_json)


app.add_typer(sessions)
app.add_typer(config_commands)
app.add_typer(permissions)
app.command(name="serve")(_with_flags(serve))
app.command(name="chat")(_with_flags(chat))
