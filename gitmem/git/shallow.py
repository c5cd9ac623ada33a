"""Where a shallow repository's history ends."""

import os
from collections.abc import Set

from gitmem.git.objects import Commit


def shallow_commits(commondir: str) -> frozenset[str]:
    """Return the ids of the commits whose parents git leaves out; none in a full clone."""
    try:
        with open(os.path.join(commondir, "shallow"), encoding="ascii", errors="replace") as file:
            return frozenset(file.read().split())
    except OSError:
        return frozenset()


def cut_at(shallow: Set[str], commit: Commit) -> Commit:
    """Return a commit as git's own log has it: without parents where the history ends."""
    return commit._replace(parents=()) if commit.oid in shallow else commit
