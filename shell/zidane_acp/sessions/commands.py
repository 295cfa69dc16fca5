"""The command line of `zidane-acp sessions`. Everything but the words is imported when a command runs."""

from typing import Annotated, Final, TypeAlias

import typer

Home: TypeAlias = Annotated[
    str | None,
    typer.Option("--home", metavar="DIR", help="Folder of the state. [env: ZIDANE_ACP_HOME]"),
]
Id: TypeAlias = Annotated[str, typer.Argument(metavar="ID", help="Id, the beginning of one, or last.")]
Output: TypeAlias = Annotated[
    str | None, typer.Option("--output", "-o", metavar="FILE", help="Write to this file.")
]
Yes: TypeAlias = Annotated[bool, typer.Option("--yes", help="Remove without a question.")]

sessions: Final = typer.Typer(
    name="sessions",
    help="List, show, export, import and remove the stored sessions.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@sessions.command(name="list")
def list_(
    cwd: Annotated[
        str | None, typer.Option("--cwd", metavar="DIR", help="Only those of this folder.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="As a JSON array.")] = False,
    limit: Annotated[
        int | None, typer.Option("--limit", min=1, metavar="N", help="Only the newest N.")
    ] = None,
    home: Home = None,
) -> int:
    """List the sessions, the newest first.

    On a terminal it is a table, elsewhere a line for each session: id, time, folder and title with tabs between.
    """
    from zidane_acp.sessions.listing import run_list
    from zidane_acp.sessions.opened import with_store

    return with_store(home, lambda store: run_list(store, cwd=cwd, as_json=as_json, limit=limit))


@sessions.command()
def show(
    session: Id,
    markdown: Annotated[bool, typer.Option("--markdown", help="As Markdown.")] = False,
    html: Annotated[bool, typer.Option("--html", help="As one HTML page that needs no network.")] = False,
    output: Output = None,
    home: Home = None,
) -> int:
    """Show the conversation of a session."""
    from zidane_acp.sessions.opened import with_store
    from zidane_acp.sessions.showing import run_show

    if markdown and html:
        raise typer.BadParameter("--markdown and --html exclude each other; give one of them.")
    return with_store(
        home,
        lambda store: run_show(
            store,
            session,
            form="html" if html else "markdown" if markdown else "text",
            output=output,
        ),
    )


@sessions.command()
def export(session: Id, output: Output = None, home: Home = None) -> int:
    """Write a session as JSON lines, as it is stored."""
    from zidane_acp.sessions.moving import run_export
    from zidane_acp.sessions.opened import with_store

    return with_store(home, lambda store: run_export(store, session, output=output))


@sessions.command(name="import")
def import_(
    file: Annotated[str, typer.Argument(metavar="FILE", help="What export wrote; - is standard input.")],
    new_id: Annotated[bool, typer.Option("--new-id", help="Give the session a new id.")] = False,
    home: Home = None,
) -> int:
    """Bring an exported session back."""
    from zidane_acp.sessions.moving import run_import
    from zidane_acp.sessions.opened import with_store

    return with_store(home, lambda store: run_import(store, file, new_id=new_id), make=True)


@sessions.command()
def delete(
    ids: Annotated[list[str], typer.Argument(metavar="ID...", help="Ids, beginnings of ids, or last.")],
    yes: Yes = False,
    home: Home = None,
) -> int:
    """Delete sessions for good, after a question."""
    from zidane_acp.sessions.opened import with_store
    from zidane_acp.sessions.removing import run_delete

    return with_store(home, lambda store: run_delete(store, ids, yes=yes))


@sessions.command()
def prune(
    older_than: Annotated[
        str, typer.Option("--older-than", metavar="AGE", help="Last used before so long: 12h, 30d or 8w.")
    ],
    yes: Yes = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only show what would be removed.")] = False,
    home: Home = None,
) -> int:
    """Delete the sessions that are old, after a question."""
    from zidane_acp.sessions.ages import seconds_of
    from zidane_acp.sessions.opened import with_store
    from zidane_acp.sessions.removing import run_prune

    age = seconds_of(older_than)
    if age is None:
        raise typer.BadParameter("--older-than takes a number of hours, days or weeks, like 12h, 30d or 8w.")
    return with_store(home, lambda store: run_prune(store, age, yes=yes, dry_run=dry_run))
