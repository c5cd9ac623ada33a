"""Offers a check of the code for a fact that a person has just accepted."""

import shlex
import sys

import click

from gitmem.app import App
from gitmem.cli.records.change_report import report_change
from gitmem.cli.terminal import Terminal, short
from gitmem.services.lifecycle.verify_spec import parse_check
from gitmem.services.records import write


def offer_check(term: Terminal, app: App, id: str) -> None:
    """Ask on a terminal whether the code is to be looked at; elsewhere name the command.

    Nothing is said of a fact that names nothing that the code has. Only the key `y` is a yes.
    """
    from gitmem.worker.code_check import suggestion

    check = suggestion(app, id)
    if not check:
        return
    quoted = shlex.quote(check)
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        term.note(f"to have it checked: git mem edit {short(id)} --verify {quoted}")
        return
    click.echo(f"have it checked by {quoted}? [y/N] ", nl=False)
    try:
        key = click.getchar().lower()
    except (EOFError, KeyboardInterrupt):
        key = "n"
    click.echo(key if key.isprintable() else "")
    if key != "y":
        return
    scope, stored = app.get(id)
    after = stored.record.change(verify=[parse_check(check)])
    app.begin_command()
    change = write.update(app.store(scope), app.writer(), stored.record, after, "edit")
    report_change(term, change, "changed", scope)
