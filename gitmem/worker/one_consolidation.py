"""One consolidation of a repository at a time."""

from collections.abc import Collection, Iterator
from contextlib import contextmanager

from gitmem.app import App
from gitmem.base.files import Lock
from gitmem.errors import Busy

LOCK = "consolidation.lock"
WAIT = 5.0  # seconds for another one to end
CHANGING = frozenset({"collect", "merge", "summary"})  # steps that two must not do at once


@contextmanager
def alone(app: App, steps: Collection[str], wait: float | None = None) -> Iterator[None]:
    """Keep other consolidations of a repository from changing facts meanwhile.

    Raises Busy where another one does not end in `wait` seconds (by default `WAIT`), External for
    a disk that may only be read.
    """
    if CHANGING.isdisjoint(steps):
        yield
        return
    lock = Lock(app.home.touch(LOCK), WAIT if wait is None else wait)
    try:
        lock.__enter__()
    except Busy as error:
        raise Busy(
            "another consolidation of this repository is running; nothing was changed.",
            "Run the command again when it has ended.",
        ) from error
    try:
        yield
    finally:
        lock.__exit__()
