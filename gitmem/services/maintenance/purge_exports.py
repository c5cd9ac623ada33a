"""Copies of memory outside of our folder: briefings and agents' memory files.

They are the user's, so they are named.
"""

import os
from collections.abc import Iterator, Mapping

from gitmem.base.regular_files import read_regular
from gitmem.repo.location import Location
from gitmem.services.maintenance.purge_places import CLEAN, YOURS, PurgePlace
from gitmem.services.memory_files.discover import Finder
from gitmem.store.history.redact import Mask

BRIEFING = "BRIEFING.md"
SIZE = 4 << 20  # bytes of a file that are searched


def search(where: Location, env: Mapping[str, str], mask: Mask) -> Iterator[PurgePlace]:
    """Yield the briefing and the memory files that hold one of the texts."""
    if where.worktree is None:
        return
    finder = Finder(where, env, lambda _: False, lambda text: text)
    paths = {os.path.join(where.worktree, BRIEFING)}
    paths |= {memo.path for memo in finder.find().memos}
    held = sorted(path for path in paths if mask.holds(read_regular(path, SIZE)))
    for path in held:
        yield PurgePlace(
            path,
            YOURS,
            0,
            "it holds the text; change it, or write its block anew: git mem native push",
        )
    if not held:
        yield PurgePlace("BRIEFING.md and memory files", CLEAN)
