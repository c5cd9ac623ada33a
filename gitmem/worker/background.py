"""The entry of work in the background (`base.detach`): it loads nothing of the command line."""

import os
import time
from collections.abc import Callable

from gitmem.app import App, open_app
from gitmem.state import hook_costs


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
    began, env = time.monotonic(), dict(os.environ)
    with open_app(folder, env, prefer="git") as app:
        app.is_background = True
        app.begin_command()
        try:
            WORK[name](app)
        finally:
            if not app.state.in_memory:
                hook_costs.add_background(app.state, env, time.monotonic() - began)
    return 0
