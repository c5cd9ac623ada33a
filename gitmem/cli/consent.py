"""Ask before what cannot be taken back, and before a purge by somebody else is followed."""

import os

import click

from gitmem.cli.terminal import Terminal, plain
from gitmem.errors import UserError
from gitmem.services.maintenance import purge_texts
from gitmem.store.history.losses import Losses

NOTHING = "nothing was changed."
FOLLOW_HELP = "Follow a purge of many records, or of other people's, without a question."


def require_yes(question: str, *, yes: bool) -> None:
    """Ask a question, unless `yes`; raise UserError for a no, and where nobody can be asked."""
    if yes:
        return
    if not os.isatty(0):
        raise UserError(NOTHING, "Give --yes to do it without a question.")
    if not click.confirm(question, default=False, err=True):
        raise UserError(NOTHING)


def agrees(term: Terminal, remote: str, follow: bool, lost: Losses) -> bool:
    """Return whether to follow a purge of many records, or of other people's records.

    Only a person can agree to that.
    """
    if follow:
        return True
    if term.environ.get("GITMEM_BACKGROUND") or not os.isatty(0):
        return False
    term.note(purge_texts.summary(lost, plain(remote)))
    return click.confirm(
        "Follow it? What goes is kept on this machine for 30 days.", default=False, err=True
    )
