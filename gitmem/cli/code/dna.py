"""`git mem code dna`: what a project is made of, on one page."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from gitmem.app import App
from gitmem.cli import options
from gitmem.cli.code.reading import note_unread, read_all_option
from gitmem.cli.terminal import Terminal, plain
from gitmem.codemap.graph.reading_time import WHOLE, ReadingTime, answer_time
from gitmem.errors import UnknownId, UserError
from gitmem.records.record import Record
from gitmem.repo.refs import head
from gitmem.services.dna.patterns import BUDGET, vouched_titles, with_patterns
from gitmem.services.records.committers import TRUST_FIELDS, trust_marks
from gitmem.state import code_progress
from gitmem.text.slugs import slug
from gitmem.text.tokens import tokens

if TYPE_CHECKING:
    from gitmem.services.dna.dna import DnaPage

at_option = click.option(
    "--at", "revision", default="", metavar="REV", help="Read this commit; nothing is written."
)


@click.group(
    "dna", invoke_without_command=True, short_help="What a project is made of, on one page"
)
@at_option
@read_all_option
@options.json_option
@click.pass_context
def dna_command(ctx: click.Context, revision: str, read_all: bool, as_json: bool) -> None:
    """Show what this project is made of: stack, entry points, commands, key files, settings.

    The key files are those on which most depends.

    A page has at most 1,000 tokens (four ASCII characters count as one token,
    any other character as one). A project of several packages has a page for the whole and one for
    each. Sessions of agents keep the pages up when another commit is checked out, in the private
    store unless gitmem.dna is 'shared'; what they said before is in the history: git mem diff
    --private, git mem log --private.

    \b
    Examples:
      git mem code dna
      git mem code dna show packages/core
      git mem code dna refresh
      git mem code dna refresh --shared
      git mem code dna --at v1.0
    """
    if ctx.invoked_subcommand is None:
        ctx.invoke(
            show_command, workspace="", revision=revision, read_all=read_all, as_json=as_json
        )


@dna_command.command("show")
@click.argument("workspace", default="")
@at_option
@read_all_option
@options.json_option
@click.pass_obj
def show_command(
    term: Terminal, workspace: str, revision: str, read_all: bool, as_json: bool
) -> None:
    """Show the page of the project, or of a workspace, as it is stored.

    A page that was never stored is made from the code that can be read in a few seconds. Run the
    command again to read more.
    """
    with term.open() as app:
        stored = None if revision else _stored(app, workspace)
        if stored:
            _show_stored(term, app, stored, as_json)
        else:
            reading = WHOLE if read_all else answer_time()
            _show_made(term, app, (workspace, revision or "HEAD"), reading, as_json)


def _show_stored(term: Terminal, app: App, stored: tuple[str, Record, str], as_json: bool) -> None:
    scope, record, commit = stored
    now = head(app.location)
    facts = {"id": record.id, "commit": commit or None, "stored": True, "unread_count": 0}
    marks = _marks(app, scope, record.id)
    _print(term, record.title, _with_patterns(app, record.body), facts, as_json, marks)
    if now and commit != now and not as_json and code_progress.dna_commit(app.state) != now:
        term.note(
            f"this is of commit {commit[:8] or '?'}; {now[:8]} is checked out. Read anew with: "
            "git mem code dna refresh"
        )


def _show_made(
    term: Terminal, app: App, asked: tuple[str, str], reading: ReadingTime, as_json: bool
) -> None:
    """Show the page of a (workspace, revision), made of the code that can be read in time."""
    from gitmem.worker import dna as worker  # it reads code, which a stored page needs not

    workspace, revision = asked
    made = worker.pages(app, revision, term.progress("reading code"), reading)
    wanted = workspace.strip("/").removeprefix("./")
    page = next((page for page in made.pages if _is_of(page, wanted)), None)
    if page is None:
        names = ", ".join(page.folder for page in made.pages if page.folder)
        raise UserError(
            f"there is no workspace '{workspace}'.",
            f"There are: {names}" if names else "This project is one package.",
        )
    facts = {"id": page.id, "commit": made.commit, "stored": False, "unread_count": made.unread}
    _print(term, page.title, _with_patterns(app, page.body), facts, as_json)
    if not as_json:
        note_unread(term, made.unread, made.total)


def _is_of(page: "DnaPage", workspace: str) -> bool:
    """Return whether a page is of a workspace, '' for the whole project."""
    if not workspace:
        return not page.folder
    return workspace in {page.folder, page.slug, page.facts.name}


@dna_command.command("refresh")
@click.option(
    "--shared", is_flag=True, help="Store them for everybody, in the store that is synced."
)
@read_all_option
@options.json_option
@click.pass_obj
def refresh_command(term: Terminal, shared: bool, read_all: bool, as_json: bool) -> None:
    """Read what is checked out, and store the pages that say something else than before.

    Code that is new is read for a few seconds. If that is too short, nothing is stored. Run the
    command again to continue.
    """
    from gitmem.worker import dna as worker

    with term.open() as app:
        reading = WHOLE if read_all else answer_time()
        made = worker.pages(app, "HEAD", term.progress("reading code"), reading)
        if made.unread and as_json:
            term.json([_outcome(page, "partial", made.unread) for page in made.pages])
        if made.unread:
            note_unread(term, made.unread, made.total)
            return
        done = worker.refresh(app, made, shared=shared)
        app.index()
        if as_json:
            term.json([_outcome(stored.page, stored.how, 0) for stored in done])
            return
        for stored in done:
            term.say(_outcome_line(term, stored.page, stored.how))
        if any(stored.how != "kept" for stored in done):
            private = " --private" if worker.store_of(app, shared=shared) == "private" else ""
            term.say(f"See how it moved: git mem diff{private}")


def _outcome_line(term: Terminal, page: "DnaPage", how: str) -> str:
    where = f" ({plain(page.folder)})" if page.folder else ""
    outcome = {"made": "stored", "changed": "changed", "kept": "as before"}[how]
    id = term.style(page.id, fg="yellow")
    return f"{id}{where}: {outcome}, {tokens(page.body)} tokens"


def _outcome(page: "DnaPage", outcome: str, unread: int) -> dict[str, Any]:
    return {
        "id": page.id,
        "path": page.folder or ".",
        "outcome": outcome,
        "tokens": tokens(page.body),
        "unread_count": unread,
    }


@click.command("read-code", hidden=True)
@click.pass_obj
def read_code_command(term: Terminal) -> None:
    """Read the checked-out commit, unless that was done already.

    The start of a session leaves this to the background.
    """
    from gitmem.worker import dna as worker

    with term.open() as app:
        app.is_background = True
        worker.keep(app)


def _stored(app: App, workspace: str) -> tuple[str, Record, str] | None:
    """Return (store, record, commit) of the stored page; None when there is none."""
    base = slug(app.project)
    name = (
        base
        if not workspace
        else slug(f"{base}-{workspace.strip('/').removeprefix('./')}".replace("/", "-"))
    )
    for id in (f"dna-{name}", f"dna-{slug(workspace)}" if workspace else ""):
        if not id:
            continue
        try:
            scope, stored = app.get(id)
        except UnknownId:
            continue
        sources: Any = stored.record.fields.get("sources")
        commit = str(sources.get("commit") or "") if isinstance(sources, dict) else ""
        return scope, stored.record, commit
    return None


def _with_patterns(app: App, body: str) -> str:
    titles = vouched_titles(app.rows, app.namespaces, app.clock.stamp())
    return with_patterns(body, titles, BUDGET)


def _marks(app: App, scope: str, id: str) -> list[str]:
    rows = app.rows(ids=(id,), scopes=(scope,), fields=TRUST_FIELDS)
    return trust_marks(rows[0]) if rows else []


def _print(
    term: Terminal,
    title: str,
    body: str,
    facts: dict[str, Any],
    as_json: bool,
    marks: Sequence[str] = (),
) -> None:
    if as_json:
        data = {"title": title, "body": body, "tokens": tokens(body), "trust_marks": list(marks)}
        term.json({**data, **facts})
        return
    term.say(term.style(f"# {plain(title)}", bold=True))
    if marks:
        term.say(plain(", ".join(marks)))
    term.say("")
    if not body.strip():
        term.say("No file describes this project, and there is no code to read.")
    for line in body.strip("\n").splitlines():
        term.say(term.style(plain(line), bold=True) if line.startswith("## ") else plain(line))
