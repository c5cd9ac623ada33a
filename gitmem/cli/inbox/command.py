"""`git mem inbox`: facts that nobody has confirmed, and tasks that a session said are done."""

import sys
from collections.abc import Mapping

import click

from gitmem.app import App
from gitmem.cli import options
from gitmem.cli.inbox.answers import Answers, answer
from gitmem.cli.inbox.card import CARD, card, evidence
from gitmem.cli.inbox.review import review
from gitmem.cli.json_shapes import record_json
from gitmem.cli.terminal import Terminal, plain, short
from gitmem.index.reader import FIELDS
from gitmem.services.views import inbox
from gitmem.services.views.inbox import FinishedTask

Tasks = Mapping[str, FinishedTask]
SCREEN = 10  # records that fill a screen
EMPTY = "the inbox is empty: nothing waits to be looked at."


@click.command("inbox", short_help="Confirm or reject what was captured")
@click.option(
    "--accept", "accepted", multiple=True, metavar="ID", help="It is so. May be repeated."
)
@click.option(
    "--reject",
    "rejected",
    multiple=True,
    metavar="ID",
    help="It is not worth keeping; it is not captured again. May be repeated.",
)
@click.option("--reason", default="", metavar="TEXT", help="Why it is rejected.")
@click.option(
    "--merge",
    "merged",
    multiple=True,
    metavar="ID",
    help="It is part of the gotcha named by --into. May be repeated.",
)
@click.option("--into", metavar="ID", help="The gotcha that --merge goes into.")
@click.option("--accept-all", is_flag=True, help="Everything that waits is so.")
@click.option(
    "-n",
    "--limit",
    type=click.IntRange(min=1),
    help=f"At most so many; without it {SCREEN} in a pipe, and all with --json and on a terminal.",
)
@click.option("--all", "-a", "everything", is_flag=True, help="All that wait.")
@options.json_option
@click.pass_obj
def inbox_command(
    term: Terminal,
    accepted: tuple[str, ...],
    rejected: tuple[str, ...],
    reason: str,
    merged: tuple[str, ...],
    into: str | None,
    accept_all: bool,
    limit: int | None,
    everything: bool,
    as_json: bool,
) -> None:
    """Review facts that nobody has confirmed: captured, extracted, written by agents.

    On a terminal you answer each with one key. In a script, use the options. To change one first:
    git mem edit ID, then --accept.

    An accepted record counts as confirmed by you, as of the commit that is checked out. A rejected
    one is deleted as by `git mem forget`. A merged one is archived; the other takes over its
    errors, places and counts, and quotes its text if a person wrote it. An open gotcha cannot be
    merged into a resolved one: reopen that first.

    Tasks that a session says are done are listed too, with the kind `task` in --json: --accept
    closes one, --reject leaves it open. An answer that was given before changes nothing; in --json
    its id is in `unchanged_ids`.

    \b
    Examples:
      git mem inbox
      git mem inbox --json
      git mem inbox --accept 7k2m9qxa --reject 9p4c1zbn --reason "a typo"
      git mem inbox --merge 9p4c1zbn --into 7k2m9qxa
    """
    if bool(merged) != bool(into):
        raise click.UsageError("--merge ID goes with --into ID.")
    if reason and not rejected:
        raise click.UsageError("--reason says why something is rejected: name it with --reject ID.")
    with term.open() as app:
        tasks = inbox.finished_tasks(app.indexes())
        if accept_all:
            accepted = (*accepted, *_others(app, tasks, (*accepted, *rejected, *merged)))
        if accept_all or accepted or rejected or merged:
            given = Answers(accepted, rejected, merged, into or "", reason)
            _answer(term, app, tasks, given, as_json)
        else:
            _list(term, app, tasks, -1 if everything else limit, as_json)


def _answer(term: Terminal, app: App, tasks: Tasks, given: Answers, as_json: bool) -> None:
    ids = answer(term, app, given, tasks, quiet=as_json)
    if as_json:
        term.json({f"{name}_ids": some for name, some in ids.items()})
    elif not any(ids.values()):
        term.note(EMPTY)


def _list(term: Terminal, app: App, tasks: Tasks, limit: int | None, as_json: bool) -> None:
    """Show what waits: as JSON, one after the other on a terminal, else the first screen."""
    if as_json:
        _print_json(term, app, tasks, -1 if limit is None else limit)
    elif not tasks and not inbox.waiting_count(app.indexes()):
        term.note(EMPTY)
    else:
        _print_tasks(term, tasks)
        show = review if sys.stdin.isatty() and sys.stdout.isatty() else _print_facts
        show(term, app, tasks, limit)


def _others(app: App, tasks: Tasks, ids: tuple[str, ...]) -> list[str]:
    """Return the ids of all facts that wait, without those that are named."""
    named = {app.find(id) for id in ids}
    return [
        row["id"] for row in inbox.waiting(app.indexes(), ("id",), tasks) if row["id"] not in named
    ]


def _print_json(term: Terminal, app: App, tasks: Tasks, limit: int) -> None:
    rows = inbox.waiting(app.indexes(), FIELDS, tasks, limit)
    finished = [
        {
            "id": task.id,
            "kind": "task",
            "title": task.title,
            "reason": task.reason,
            "session": task.session,
        }
        for task in tasks.values()
    ]
    term.json([*map(record_json, rows), *finished])


def _print_tasks(term: Terminal, tasks: Tasks) -> None:
    for task in tasks.values():
        id = term.style(short(task.id), fg="yellow")
        term.say(f"{id} {task.reason}: {plain(task.title)}")
    if tasks:
        term.note("it is done: git mem inbox --accept ID. It is not: git mem inbox --reject ID")


def _print_facts(term: Terminal, app: App, tasks: Tasks, limit: int | None) -> None:
    rows = inbox.waiting(app.indexes(), CARD, tasks, SCREEN if limit is None else limit)
    for row in rows:
        for text in card(term, row, app.clock.now(), evidence(app, row)):
            term.say(text)
    left_out = inbox.waiting_count(app.indexes(), tasks) - len(rows)
    if left_out:
        term.note(f"{left_out:,} more wait: git mem inbox --all")
    if rows:
        term.note("git mem inbox --accept ID, --reject ID, or --merge ID --into ID")
