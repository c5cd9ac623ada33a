"""Ask whether a purge by somebody else is followed."""

import os

import click

from gitmem.cli.terminal import Terminal, plain
from gitmem.services.maintenance import purge_follow
from gitmem.store.history.losses import Losses

FOLLOW_HELP = "Follow a purge of many records, or of other people's, without a question."


def agrees(term: Terminal, remote: str, follow: bool, lost: Losses) -> bool:
    """Return whether to follow a purge of many records, or of other people's records.

    Only a person can agree to that.
    """
    if follow:
        return True
    if term.environ.get("GITMEM_BACKGROUND") or not os.isatty(0):
        return False
    term.note(purge_follow.summary(lost, plain(remote)))
    return click.confirm(
        "Follow it? What goes is kept on this machine for 30 days.", default=False, err=True
    )
