"""The command line of `zidane-acp config`. Everything but the words is imported when a command runs."""

import os
import sys
from pathlib import Path
from typing import Annotated, Final, TypeAlias

import typer

from zidane_acp.settings import Settings, SettingsProblem, parse

PROBLEM: Final = 1
USAGE: Final = 2

File: TypeAlias = Annotated[
    str | None, typer.Option("--config", metavar="FILE", help="The file. [env: ZIDANE_ACP_CONFIG]")
]
Home: TypeAlias = Annotated[
    str | None, typer.Option("--home", metavar="DIR", help="Folder of the state. [env: ZIDANE_ACP_HOME]")
]

config: Final = typer.Typer(
    name="config",
    help="Show, check and change the settings of the user's file.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@config.command()
def path(file: File = None, home: Home = None) -> int:
    """Print where the file is, or would be."""
    from zidane_acp.config.place import config_path

    found = _settings(file, home)
    if isinstance(found, str):
        return _refuse(found, USAGE)
    print(config_path(found))
    return 0


@config.command()
def show(
    origin: Annotated[bool, typer.Option("--origin", help="Say where each value comes from.")] = False,
    file: File = None,
    home: Home = None,
) -> int:
    """Print the settings in force, as TOML. Keys and other secrets are never shown."""
    from zidane_acp.config import read_config
    from zidane_acp.config.showing import lines

    found = _settings(file, home)
    if isinstance(found, str):
        return _refuse(found, USAGE)
    read = read_config(found)
    for line in lines(found, read, origins=origin):
        print(line)
    for warning in read.warnings:
        print(warning, file=sys.stderr)
    return PROBLEM if read.warnings else 0


@config.command()
def check(
    checked: Annotated[str | None, typer.Argument(metavar="FILE", help="Another file to check.")] = None,
    file: File = None,
    home: Home = None,
) -> int:
    """Print each problem of the file on a line; the exit code is 1 when there is one."""
    from zidane_acp.config import config_path, read_config
    from zidane_acp.wiring import WiringProblem, options_of

    found = _settings(checked or file, home)
    if isinstance(found, str):
        return _refuse(found, USAGE)
    read = read_config(found)
    wired = options_of(found, os.environ, read)
    more = (wired.message,) if isinstance(wired, WiringProblem) else wired.warnings
    for problem in (*read.warnings, *more):
        print(problem)
    if read.warnings or more:
        return PROBLEM
    there = config_path(found)
    print(f"{there}: no problems." if read.file else f"There is no config file {there}, and none is needed.")
    return 0


@config.command(name="set")
def set_(
    key: Annotated[str, typer.Argument(metavar="KEY", help="Such as thinking or permissions.policy.")],
    value: Annotated[str, typer.Argument(metavar="VALUE", help="Text, or TOML for all else.")],
    file: File = None,
    home: Home = None,
) -> int:
    """Change one setting in the file; what is wrong is refused before anything is written."""
    from zidane_acp.config.place import bytes_of, config_path
    from zidane_acp.config.reading import shown

    found = _settings(file, home)
    if isinstance(found, str):
        return _refuse(found, USAGE)
    there = config_path(found)
    try:
        data = bytes_of(there)
    except FileNotFoundError:
        data = b""
    except OSError as error:
        return _refuse(f"The config file {there} cannot be read: {error.strerror}.", PROBLEM)
    except ValueError as error:
        return _refuse(f"The config file {shown(str(there))} cannot be read: {error}.", PROBLEM)
    return _change(there, data, key, value)


def _change(there: Path, data: bytes, key: str, value: str) -> int:
    from returns.result import Failure

    from zidane_acp.config.editing import changed
    from zidane_acp.replacing import replace_file

    new = changed(data, str(there), key, value)
    if isinstance(new, Failure):
        return _refuse(new.failure(), USAGE)
    try:
        replace_file(there, new.unwrap())
    except OSError as error:
        return _refuse(f"The config file {there} cannot be written: {error.strerror}.", PROBLEM)
    print(f"{key} is set in {there}; it holds for agents that start from now on.")
    return 0


def _settings(file: str | None, home: str | None) -> Settings | str:
    flags = [f"--config={file}"] if file is not None else []
    flags += [f"--home={home}"] if home is not None else []
    found = parse(flags, os.environ)
    return found.message if isinstance(found, SettingsProblem) else found


def _refuse(problem: str, code: int) -> int:
    print(problem, file=sys.stderr)
    return code
