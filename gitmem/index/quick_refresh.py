"""Brings an index up to date in a hook, when something other than us has moved a ref.

It does only what takes little time.
"""

import sqlite3
import time

from gitmem.errors import GitmemError
from gitmem.git.backend import open_objects
from gitmem.index.builder import IndexCache
from gitmem.repo.location import Home, Location
from gitmem.repo.refs import PRIVATE, SHARED
from gitmem.store.reader import Reader

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

MOST = 4000  # changed files up to which it is tried
PATIENCE = 0.05  # seconds that it waits for another process that indexes


def quick_refresh(where: Location, home: Home, env: "Mapping[str, str]", seconds: float) -> bool:
    """Bring the index to the refs, for so many seconds at most; say whether it is there.

    What was done is kept.
    """
    until = time.monotonic() + seconds
    try:
        # its command is quicker to start than libgit2 is to load
        objects = open_objects(where, env, "git")
        try:
            with IndexCache(home) as cache:
                if cache.in_memory:
                    return False
                stores = {"shared": Reader(objects, SHARED), "private": Reader(objects, PRIVATE)}
                cache.refresh(stores, patience=PATIENCE, most=MOST, until=until)
                return True
        finally:
            objects.close()
    except (GitmemError, sqlite3.Error, OSError):
        return False
