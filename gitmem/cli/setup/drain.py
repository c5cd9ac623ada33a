"""`git mem drain`: the command that hooks start in the background."""

import click

from gitmem.cli.terminal import Terminal
from gitmem.worker.drain import drain


@click.command("drain", hidden=True)
@click.pass_obj
def drain_command(term: Terminal) -> None:
    """Commit pending journal entries, refresh the index and finish sessions.

    A hook leaves this work for later.
    """
    with term.open() as app:
        drain(app)
