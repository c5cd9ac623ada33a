"""Commits by the time of their committers, read no further than somebody asks."""

import heapq
from collections.abc import Iterator

from gitmem.git.objects import Commit, Objects
from gitmem.git.shallow import cut_at, shallow_commits


def newest_first(objects: Objects, tip: str | None) -> Iterator[Commit]:
    """Yield the commits reachable from a tip, the newest committer's time first.

    A commit comes after one of its children, and after all of them where each commit is later
    than its parents. `Objects.walk` puts children first whatever the times say, for which it
    reads the whole history. The history of a shallow repository ends where git ends it. Raises
    MissingObject.
    """
    if tip is None:
        return
    shallow = shallow_commits(objects.git.gitdir)
    waiting: list[tuple[int, int, Commit]] = []
    seen = {tip}

    def add(oid: str) -> None:
        commit = cut_at(shallow, objects.commit(oid))
        heapq.heappush(waiting, (-commit.committer.time, len(seen), commit))

    add(tip)
    while waiting:
        commit = heapq.heappop(waiting)[2]
        yield commit
        for parent in commit.parents:
            if parent not in seen:
                seen.add(parent)
                add(parent)
