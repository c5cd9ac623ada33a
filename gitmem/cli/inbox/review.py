"""Going through the inbox on a terminal: a card, a key, the next card."""

from typing import Any

import click

from gitmem.app import App
from gitmem.cli.inbox.answers import Tasks, accept, merge, reject
from gitmem.cli.inbox.card import CARD, card, whole
from gitmem.cli.records.add_edit import edited_record
from gitmem.cli.records.change_report import report_change
from gitmem.cli.terminal import Terminal
from gitmem.errors import GitmemError
from gitmem.services.records import write
from gitmem.services.views import inbox

MERGE = "[m]erge into another  "  # gotchas alone can be
KEYS = f"[a]ccept  [e]dit  {MERGE}[r]eject  [s]kip  [q]uit"
QUIT = frozenset({"q", "\x03", "\x04", "\x1b"})


def review(term: Terminal, app: App, tasks: Tasks, limit: int | None) -> None:
    """Show each fact that waits, and do what a key says; `limit` None is all."""
    rows = inbox.waiting(app.indexes(), ("id",), tasks, -1 if limit is None else limit)
    for number, listed in enumerate(rows, 1):
        row = inbox.waiting_fact(app.indexes(), listed["id"], CARD)
        if row is None:  # dealt with meanwhile: a merge, another process
            continue
        term.say("")
        term.say(term.style(f"{number} of {len(rows)}", bold=True))
        for text in card(term, row, app.clock.now(), whole(app, row)):
            term.say(text)
        if not _ask(term, app, row):
            return


def _ask(term: Terminal, app: App, row: dict[str, Any]) -> bool:
    """Ask for keys until one settles a fact or skips it; return False to end."""
    keys = KEYS if row["kind"] == "gotcha" else KEYS.replace(MERGE, "")
    while True:
        click.echo(f"{keys} ? ", nl=False)
        try:
            key = click.getchar().lower()
        except EOFError:  # Ctrl-D
            key = "q"
        click.echo(key if key.isprintable() else "")
        if key in QUIT:
            return False
        if key == "s" or _do(term, app, key, row["id"]):
            return True


def _do(term: Terminal, app: App, key: str, id: str) -> bool:
    """Do what a key says; return whether the next one is to be shown."""
    try:
        if key == "a":
            accept(term, app, id)
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
