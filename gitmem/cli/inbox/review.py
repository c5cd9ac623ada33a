"""Going through the inbox on a terminal: a card, a key, the next card."""

from collections.abc import Collection
from functools import partial

import click

from gitmem.app import App
from gitmem.cli.inbox.answers import accept, merge, reject
from gitmem.cli.inbox.card import CARD, card, whole
from gitmem.cli.inbox.checks import offer_check
from gitmem.cli.keys import ask_key
from gitmem.cli.records.add_edit import edited_record
from gitmem.cli.records.change_report import report_change
from gitmem.cli.terminal import Terminal
from gitmem.errors import GitmemError
from gitmem.services.records import write
from gitmem.services.views import inbox

MERGE = "[m]erge into another  "  # gotchas alone can be
KEYS = f"[a]ccept  [e]dit  {MERGE}[r]eject  [s]kip  [q]uit"


def review(
    term: Terminal, app: App, asked: Collection[str], limit: int | None, own: Collection[str]
) -> None:
    """Show each fact that waits, and do what a key says; `limit` None is all."""
    rows = inbox.waiting(app.indexes(), ("id",), asked, -1 if limit is None else limit, own)
    for number, listed in enumerate(rows, 1):
        row = inbox.waiting_fact(app.indexes(), listed["id"], CARD)
        if row is None:  # dealt with meanwhile: a merge, another process
            continue
        term.say("")
        term.say(term.style(f"{number} of {len(rows)}", bold=True))
        for text in card(term, row, app.clock.now(), whole(app, row)):
            term.say(text)
        keys = KEYS if row["kind"] == "gotcha" else KEYS.replace(MERGE, "")
        if not ask_key(f"{keys} ? ", partial(_do, term, app, row["id"])):
            return


def _do(term: Terminal, app: App, id: str, key: str) -> bool:
    """Do what a key says; return whether the next one is to be shown.

    Each answer is a command of its own.
    """
    app.begin_command()
    try:
        if key == "a":
            accept(term, app, id)
            offer_check(term, app, id)
            return True
        if key == "r":
            reject(term, app, id)
            return True
        if key == "e":
            _edit(term, app, id)
        return key == "m" and _merge(term, app, id)
    except GitmemError as error:
        term.note(f"{error} {error.hint}".strip())
        return False


def _edit(term: Terminal, app: App, id: str) -> None:
    scope, stored = app.get(id)
    after = edited_record(term, app, stored.record)
    change = write.update(app.store(scope), app.writer(), stored.record, after, "edit")
    report_change(term, change, "changed", scope)


def _merge(term: Terminal, app: App, id: str) -> bool:
    """Ask for the gotcha that this one is part of; return whether it was merged."""
    question = "Id of the gotcha that it is part of (empty: none)"
    into = click.prompt(question, default="", show_default=False).strip()
    if into:
        merge(term, app, [id], into)
    return bool(into)
