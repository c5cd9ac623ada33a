"""Tell pages that something changed: the refs, the journal, the sessions or the code."""

import os
import threading
from collections.abc import Callable, Iterator

from gitmem.base.fast import sqlite
from gitmem.dashboard.place import DashboardPlace
from gitmem.errors import GitmemError
from gitmem.repo.location import locate, user_repository
from gitmem.repo.refs import PRIVATE, SHARED, head, raw_ref
from gitmem.repository import Repository
from gitmem.store import journal

POLL = 0.3  # seconds between two looks
BEAT = 15.0  # seconds after which a silent stream says that it lives


class Changes:
    """Looks for changes in a thread of its own, and wakes whoever waits for them.

    What a reader leaves behind (counts of reads, caches) is no change: a page that reads because
    something changed must not be told of itself.
    """

    def __init__(self, place: DashboardPlace, poll: float = POLL) -> None:
        self._place = place
        self._poll = poll
        self._changed = threading.Condition()
        self._number = 0
        self._is_over = False
        self._thread = threading.Thread(target=self._watch, daemon=True, name="changes")

    def start(self) -> None:
        """Begin to look."""
        self._thread.start()

    def stop(self) -> None:
        """End the thread, and all streams."""
        with self._changed:
            self._is_over = True
            self._changed.notify_all()
        if self._thread.is_alive():
            self._thread.join(2)

    def wake(self) -> None:
        """Have each stream look whether it is over."""
        with self._changed:
            self._changed.notify_all()

    def wait(
        self, seen: int, seconds: float, is_over: Callable[[], bool] = lambda: False
    ) -> int | None:
        """Return the number of the last change, at once if it is not `seen`; None at the end."""

        def ends() -> bool:
            return self._is_over or is_over()

        with self._changed:
            self._changed.wait_for(lambda: ends() or self._number != seen, seconds)
            return None if ends() else self._number

    @property
    def number(self) -> int:
        """The number of the last change."""
        with self._changed:
            return self._number

    def stream(
        self, beat: float = BEAT, is_over: Callable[[], bool] = lambda: False
    ) -> Iterator[str]:
        """Yield server-sent events: one for each change, and comments meanwhile.

        It ends when `is_over` is true as it is woken, and with the server.
        """
        seen = self.number
        yield f"event: ready\ndata: {seen}\n\n"
        while (number := self.wait(seen, beat, is_over)) is not None:
            yield ": still here\n\n" if number == seen else f"event: change\ndata: {number}\n\n"
            seen = number

    def _watch(self) -> None:
        before = self._look()
        while True:
            with self._changed:
                if self._changed.wait_for(lambda: self._is_over, self._poll):
                    return
            now = self._look()
            if now != before:
                before = now
                with self._changed:
                    self._number += 1
                    self._changed.notify_all()

    def _look(self) -> object:
        try:
            return _state_of(self._place)
        except (GitmemError, OSError, sqlite.Error):
            return None  # between two states; the next look tells


def _state_of(place: DashboardPlace) -> object:
    """Return what differs after a change."""
    location = locate(place.folder, place.environ)
    repository = Repository(location, place.environ)
    user = user_repository(place.environ)
    try:
        return (
            [raw_ref(location.commondir, ref) for ref in (SHARED, PRIVATE)],
            raw_ref(user, SHARED) if os.path.isdir(user) else None,
            head(location),
            journal.count(repository.home),
            _sessions(repository),
        )
    finally:
        repository.close()


def _sessions(repository: Repository) -> object:
    if not os.path.exists(repository.home.join("state.db")):
        return None
    return repository.state.db.execute("SELECT COUNT(*), MAX(last) FROM sessions").fetchone()
