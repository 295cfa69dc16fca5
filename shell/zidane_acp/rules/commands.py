"""The command line of `zidane-acp permissions`. Everything but the words is imported when a command runs."""

from typing import Annotated, Final, TypeAlias

import typer

Home: TypeAlias = Annotated[
    str | None,
    typer.Option("--home", metavar="DIR", help="Folder of the state. [env: ZIDANE_ACP_HOME]"),
]
Project: TypeAlias = Annotated[
    str | None,
    typer.Option("--project", metavar="DIR", help="Only the rules of the project that has this folder."),
]
Json: TypeAlias = Annotated[bool, typer.Option("--json", help="As a JSON array.")]

permissions: Final = typer.Typer(
    name="permissions",
    help="Show and revoke what you allowed to keep: permissions of projects, and trust in folders.",
    invoke_without_command=True,
    add_completion=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@permissions.callback()
def root(context: typer.Context, as_json: Json = False, project: Project = None, home: Home = None) -> int:
    """Show and revoke what you allowed to keep: permissions of projects, and trust in folders."""
    if context.invoked_subcommand is not None:
        return 0
    return list_(as_json=as_json, project=project, home=home)


@permissions.command(name="list")
def list_(
    as_json: Json = False,
    project: Project = None,
    session: Annotated[
        str | None,
        typer.Option("--session", metavar="ID", help="What was allowed for the rest of this stored session."),
    ] = None,
    home: Home = None,
) -> int:
    """List the rules with their numbers; trusted folders are among them."""
    from zidane_acp.rules.listing import run_list, run_session
    from zidane_acp.rules.place import rules_path
    from zidane_acp.rules.sqlite import SqliteRules
    from zidane_acp.sessions.opened import with_settings, with_store

    if session is not None:
        return with_store(home, lambda store: run_session(store, session, as_json=as_json))
    return with_settings(
        home,
        lambda settings: run_list(SqliteRules(rules_path(settings)), project=project, as_json=as_json),
    )


@permissions.command()
def revoke(
    numbers: Annotated[
        list[int] | None, typer.Argument(metavar="NUMBER...", help="Numbers of rules, as list shows them.")
    ] = None,
    project: Project = None,
    everything: Annotated[bool, typer.Option("--all", help="Every rule.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Revoke without a question.")] = False,
    home: Home = None,
) -> int:
    """Revoke rules, after a question; it holds for sessions that are opened afterwards."""
    from zidane_acp.rules.place import rules_path
    from zidane_acp.rules.revoking import run_revoke
    from zidane_acp.rules.sqlite import SqliteRules
    from zidane_acp.sessions.opened import with_settings

    if sum((bool(numbers), project is not None, everything)) != 1:
        raise typer.BadParameter("give either numbers of rules, or --project DIR, or --all.")
    return with_settings(
        home,
        lambda settings: run_revoke(
            SqliteRules(rules_path(settings)), numbers or (), project=project, everything=everything, yes=yes
        ),
    )
