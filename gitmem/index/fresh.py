"""The index of one repository, kept in step with its refs.

A fresh index costs one open file; the builder is imported when a ref has moved.
"""

import contextlib
import sqlite3
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from gitmem.errors import Busy, GitmemError, MissingObject
from gitmem.index.reader import NAME, Index, open_index
from gitmem.repo.location import Home

if TYPE_CHECKING:
    from gitmem.index.builder import IndexCache
    from gitmem.store.store import Store

WRITER_FILES = 5000  # changed files up to which a writer has the index follow
WRITER_TIME = 2.0  # seconds for which it does so
WRITER_PATIENCE = 0.1  # seconds that it waits for another process that indexes
FIRST_INDEX = 600.0  # seconds that a reader waits for another process that makes the index


class FreshIndex:
    """Opens, refreshes by tree diff and repairs the index. Close it."""

    def __init__(
        self,
        home: Home,
        stores: "Callable[[], dict[str, Store]]",
        progress: Callable[[int, int], None] | None,
    ) -> None:
        self._home = home
        self._stores = stores
        self._progress = progress
        self._cache: IndexCache | None = None
        self._index: Index | None = None
        # another process was indexing all the time: what was read may lack the newest records
        self.stale = False
        # the store's newest commit is missing: what was read is of an older one
        self.incomplete = False
        self.behind = False  # this process wrote, and the index does not follow

    def at(self, tips: Mapping[str, str]) -> Index:
        """Return the index as of the stores' commits.

        Raises Busy when another process is making the first one for too long.
        """
        if self._index is not None and self._index.tips() == tips:
            return self._index
        if self._cache is None:
            index = open_index(self._home.join(NAME))
            if index is not None:
                index.mend, index.settle = self._mend, self.settle
                if index.tips() == tips:
                    self._index = index
                    return index
                index.db.close()
        self._refresh()
        self._index = self._writable().index(self._mend)
        self._index.settle = self.settle
        return self._index

    def follow(self) -> None:
        """Bring the index to what this process wrote, as far as that is soon done.

        Else, and where the index cannot be written, it is `behind`: what was written is in git, and
        whoever reads next tells what is wrong.
        """
        self.behind, self._index = True, None
        from gitmem.index.contexts import MOST_DUE

        try:
            cache = self._writable()
            if cache.in_memory:
                return
            until = time.monotonic() + WRITER_TIME
            cache.refresh(
                self._stores(),
                patience=WRITER_PATIENCE,
                most=WRITER_FILES,
                until=until,
                defers=True,
            )
            cache.settle(self._stores(), WRITER_PATIENCE, MOST_DUE)
        except (GitmemError, OSError, ValueError) as error:
            self.incomplete = self.incomplete or isinstance(error, MissingObject)
        else:
            self.behind = False

    def close(self) -> None:
        """Release the database."""
        if self._cache is not None:
            self._cache.close()
        elif self._index is not None:
            self._index.db.close()
        self._cache = self._index = None

    def _writable(self) -> "IndexCache":
        if self._cache is None:
            from gitmem.index.builder import IndexCache

            self._cache = IndexCache(self._home)
        return self._cache

    def _refresh(self) -> None:
        """Bring the index up to date.

        One that another process is working on all the time is left as it was.
        """
        from gitmem.index.builder import PATIENCE

        cache = self._writable()
        end = time.monotonic() + FIRST_INDEX
        while True:
            try:
                cache.refresh(
                    self._stores(), self._progress, patience=0.0 if self.stale else PATIENCE
                )
            except Busy:
                self.stale = bool(cache.index().tips())
                if self.stale:
                    return
                if time.monotonic() > end:  # it is being made, and there is nothing to answer from
                    raise
            except MissingObject:
                self.incomplete = bool(cache.index().tips())
                if not self.incomplete:
                    raise
                return
            else:
                self.stale = self.behind = self.incomplete = False
                return

    def settle(self) -> None:
        """Write the contexts that are due; without them a search is answered all the same."""
        with contextlib.suppress(GitmemError, OSError):
            cache = self._writable()
            before = cache.db
            cache.settle(self._stores(), WRITER_PATIENCE)
            if cache.db is not before and self._index is not None:  # it was built anew
                self._index.db.close()
                self._index.db = cache.db

    def _mend(self) -> sqlite3.Connection:
        """Build a damaged index anew."""
        cache = self._writable()
        cache.rebuild(self._stores(), self._progress)
        return cache.db
