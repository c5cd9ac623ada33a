"""`git mem drain`: the command that hooks start in the background."""

import click

from gitmem.cli.terminal import Terminal
from gitmem.worker.drain import drain


@click.command("drain", short_help="Do now what hooks left for later")
@click.pass_obj
def drain_command(term: Terminal) -> None:
    """Do now what hooks left for later, and wait until it is done.

    Commits writes that wait in the journal, brings the index up to date, and writes the records of
    sessions that have ended. Hooks start this in the background by themselves. It prints nothing:
    git mem status shows what was done, and what failed.

    \b
    Example:
      git mem drain
    """
    with term.open() as app:
        drain(app)
