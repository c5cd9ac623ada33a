"""Remove the copies of a fact that is gone, and say which files still show it."""

from collections.abc import Sequence

from gitmem.app import App
from gitmem.cli.terminal import Terminal, plain
from gitmem.records.record import Record


def remove_copies(term: Terminal, app: App, gone: Sequence[Record]) -> None:
    """Take facts that were forgotten out of the quotes of sessions, and of what was exported."""
    from gitmem.services.facts import quotes

    private = app.store("private")
    if private.tip() is not None:
        quotes.leave_out(private, app.writer(), [index for _, index in app.indexes()], gone)
    update_exports(term, app, gone)


def update_exports(term: Terminal, app: App, gone: Sequence[Record]) -> None:
    """Take facts out of what was exported; name each file that was, or is still to be, changed."""
    from gitmem.worker.exports import update  # what finds agents' files takes its time to load

    for file in update(app, gone):
        if file.rewritten:
            term.note(f"taken out of {plain(file.path)} too.")
        else:
            term.note(f"{plain(file.path)} still shows it. To change it: {plain(file.how)}")
