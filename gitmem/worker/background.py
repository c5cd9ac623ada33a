"""The entry of work in the background (`base.detach`): it loads nothing of the command line."""

import os
from collections.abc import Callable

from gitmem.app import App, open_app


def _drain(app: App) -> None:
    from gitmem.worker.drain import drain

    drain(app)


def _read_code(app: App) -> None:
    from gitmem.worker import dna

    dna.keep(app)


WORK: dict[str, Callable[[App], None]] = {"drain": _drain, "read-code": _read_code}


def main(folder: str, name: str) -> int:
    """Do work by its name in the repository of a folder; return the exit code.

    Raises GitmemError, and whatever else keeps the work from being done.
    """
    with open_app(folder, dict(os.environ), prefer="git") as app:
        app.is_background = True
        app.begin_command()
        WORK[name](app)
    return 0
