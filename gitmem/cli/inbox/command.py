"""`git mem inbox`: facts that nobody has confirmed, and what sessions say of facts."""

import sys
from collections.abc import Collection, Iterator

import click

from gitmem.app import App
from gitmem.cli import options
from gitmem.cli.inbox.answers import Answers, Asked, answer
from gitmem.cli.inbox.card import CARD, card, evidence
from gitmem.cli.inbox.review import review
from gitmem.cli.json_shapes import record_json
from gitmem.cli.terminal import Terminal, plain, short
from gitmem.index.filters import FIELDS
from gitmem.services.views import inbox
from gitmem.services.views.inbox import OpenStatement

SCREEN = 10  # records that fill a screen
EMPTY = "the inbox is empty: nothing waits to be looked at."


@click.command("inbox", short_help="Confirm or reject what was captured")
@click.option(
    "--accept",
    "accepted",
    multiple=True,
    metavar="ID",
    help="Confirm this record. May be repeated.",
)
@click.option(
    "--reject",
    "rejected",
    multiple=True,
    metavar="ID",
    help="Reject this record; it is not captured again. May be repeated.",
)
@click.option(
    "--shared", "is_shared", is_flag=True, help="With --accept: share preferences too, for all."
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
@click.option("--accept-all", is_flag=True, help="Confirm everything that waits.")
@click.option(
    "-n",
    "--limit",
    type=click.IntRange(min=1),
    help=f"At most so many; without it {SCREEN} in a pipe, and all with --json and on a terminal.",
)
@click.option(
    "--all", "-a", "everything", is_flag=True, help="All that wait, those of other people too."
)
@options.json_option
@click.pass_obj
def inbox_command(
    term: Terminal,
    accepted: tuple[str, ...],
    rejected: tuple[str, ...],
    is_shared: bool,
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
    git mem edit ID, then --accept. Facts of other people and their agents are listed with --all.

    An accepted record counts as confirmed by you, as of the commit that is checked out. A private
    proposal moves to the shared store; a preference does so with --shared only. A rejected one is
    deleted as by `git mem forget`. A merged one is archived; the other takes over its
    errors, places and counts, and quotes its text if a person wrote it. An open gotcha cannot be
    merged into a resolved one: reopen that first.

    Statements of sessions about facts are asked first, with the kind `statement` in --json.
    --accept ID confirms a statement: a task becomes done, a fact that no longer holds is
    forgotten, a replaced fact is superseded by the proposal. --reject ID says that the fact holds.
    An answer that was given before changes nothing; in --json its id is in `unchanged_ids`.

    \b
    Examples:
      git mem inbox
      git mem inbox --json
      git mem inbox --accept 7k2m9qxa --reject 9p4c1zbn --reason "a typo"
      git mem inbox --merge 9p4c1zbn --into 7k2m9qxa
    """
    if bool(merged) != bool(into):
        raise click.UsageError("--merge ID goes with --into ID.")
    if is_shared and not (accepted or accept_all):
        raise click.UsageError("--shared goes with --accept ID or --accept-all.")
    if reason and not rejected:
        raise click.UsageError("--reason says why something is rejected: name it with --reject ID.")
    with term.open() as app:
        asked = inbox.open_statements(app.indexes())
        own = () if everything else app.own_addresses
        if accept_all:
            accepted = (*accepted, *_others(app, asked, (*accepted, *rejected, *merged), own))
        if accept_all or accepted or rejected or merged:
            given = Answers(accepted, rejected, merged, into or "", reason, is_shared)
            _answer(term, app, asked, given, as_json)
        else:
            _list(term, app, asked, -1 if everything else limit, own, as_json)


def _answer(term: Terminal, app: App, asked: Asked, given: Answers, as_json: bool) -> None:
    ids = answer(term, app, given, asked, quiet=as_json)
    if as_json:
        term.json({f"{name}_ids": some for name, some in ids.items()})
    elif not any(ids.values()):
        term.note(EMPTY)


def _list(
    term: Terminal,
    app: App,
    asked: Asked,
    limit: int | None,
    own: Collection[str],
    as_json: bool,
) -> None:
    """Show what waits: as JSON, one after the other on a terminal, else the first screen."""
    if as_json:
        _print_json(term, app, asked, -1 if limit is None else limit, own)
        return
    if asked or inbox.waiting_count(app.indexes(), own=own):
        _print_statements(term, app, asked)
        show = review if sys.stdin.isatty() and sys.stdout.isatty() else _print_facts
        show(term, app, {*asked, *inbox.successors(asked)}, limit, own)
    else:
        term.note(EMPTY)
    _print_others(term, app, own)


def _print_others(term: Terminal, app: App, own: Collection[str]) -> None:
    """Say how many facts of other people wait."""
    by_others = inbox.waiting_count(app.indexes()) - inbox.waiting_count(app.indexes(), own=own)
    if by_others:
        many = "1 fact" if by_others == 1 else f"{by_others:,} facts"
        term.note(f"{many} of other people and their agents: git mem inbox --all")


def _others(app: App, asked: Asked, ids: tuple[str, ...], own: Collection[str]) -> list[str]:
    """Return the ids of all facts that wait, without those that are named."""
    named = {app.find(id) for id in ids}
    rows = inbox.waiting(app.indexes(), ("id",), asked, own=own)
    return [row["id"] for row in rows if row["id"] not in named]


def _print_json(term: Terminal, app: App, asked: Asked, limit: int, own: Collection[str]) -> None:
    rows = inbox.waiting(app.indexes(), FIELDS, asked, limit, own)
    said = [
        _statement_json(statement, quotes=app.writer().is_person) for statement in asked.values()
    ]
    term.json([*map(record_json, rows), *said])


def _statement_json(statement: OpenStatement, *, quotes: bool) -> dict[str, str | None]:
    last = statement.last
    return {
        "id": statement.id,
        "kind": "statement",
        "claim": last["what"],
        "title": statement.title,
        "reason": statement.reason,
        "session": last["session"],
        "said_by": last["role"] or None,
        "quote": last["quote"] or None if quotes else None,
        "successor_id": last["successor"] or None,
    }


def _print_statements(term: Terminal, app: App, asked: Asked) -> None:
    for statement in asked.values():
        id = term.style(short(statement.id), fg="yellow")
        term.say(f"{id} {statement.reason}: {plain(statement.title)}")
        for text in _evidence(statement, quotes=app.writer().is_person):
            term.say(f"    {plain(text)}")
    if asked:
        term.note("if this is true: git mem inbox --accept ID. If not: git mem inbox --reject ID")


def _evidence(statement: OpenStatement, *, quotes: bool) -> Iterator[str]:
    """Yield what takes a fact's place, and who said so; the words themselves for a person alone."""
    if statement.successor:
        yield f"by {short(statement.last['successor'])}: {statement.successor}"
    by = {"commit": "by a commit", "": ""}.get(
        statement.last["role"], f"by the {statement.last['role']}"
    )
    quote = f': "{statement.last["quote"]}"' if statement.last["quote"] and quotes else ""
    if by or quote:
        yield f"said {by}{quote}".replace(" :", ":")


def _print_facts(
    term: Terminal, app: App, asked: Collection[str], limit: int | None, own: Collection[str]
) -> None:
    rows = inbox.waiting(app.indexes(), CARD, asked, SCREEN if limit is None else limit, own)
    for row in rows:
        for text in card(term, row, app.clock.now(), evidence(app, row)):
            term.say(text)
    left_out = inbox.waiting_count(app.indexes(), asked, own) - len(rows)
    if left_out:
        term.note(f"{left_out:,} more wait: git mem inbox --all")
    if rows:
        term.note("git mem inbox --accept ID, --reject ID, or --merge ID --into ID")
