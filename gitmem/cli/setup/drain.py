"""`git mem drain`: the command that hooks start in the background."""

import click

from gitmem.cli.terminal import Terminal
from gitmem.worker.drain import drain


@click.command("drain", hidden=True)
@click.pass_obj
def drain_command(term: Terminal) -> None:
    """Commit what waits in the journal, refresh the index, finish sessions: what a hook leaves for later."""
    with term.open() as app:
        drain(app)
