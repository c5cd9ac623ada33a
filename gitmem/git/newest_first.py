"""Commits by the time of their committers, read no further than somebody asks."""

import heapq
from collections.abc import Iterator

from gitmem.git.objects import Commit, Objects


def newest_first(objects: Objects, tip: str | None) -> Iterator[Commit]:
    """Yield the commits reachable from a tip, the newest committer's time first.

    A commit comes after one of its children, and after all of them where each commit is later
    than its parents. `Objects.walk` puts children first whatever the times say, for which it
    reads the whole history. Raises MissingObject.
    """
    if tip is None:
        return
    waiting: list[tuple[int, int, Commit]] = []
    seen = {tip}

    def add(oid: str) -> None:
        commit = objects.commit(oid)
        heapq.heappush(waiting, (-commit.committer.time, len(seen), commit))

    add(tip)
    while waiting:
        commit = heapq.heappop(waiting)[2]
        yield commit
        for parent in commit.parents:
            if parent not in seen:
                seen.add(parent)
                add(parent)
