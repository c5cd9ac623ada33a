"""Who read what, how often, and in which hours somebody worked.

Both are counted locally, and written to the store along with something else.
"""

from collections.abc import Callable
from functools import partial

from gitmem.base.fast import sqlite
from gitmem.clock import stamp
from gitmem.errors import GitmemError
from gitmem.records.active_hours import masks_of
from gitmem.state.database import State
from gitmem.store import operations
from gitmem.store.layout import hours_path, usage_path
from gitmem.store.store import Usage

GAP = 86400.0  # seconds between two commits with usage of a store, at least


def due(state: State, scope: str, replica: Callable[[], str], now: float) -> Usage:
    """Return the reads of a store, and active hours, that its next commit takes along.

    There are none when a commit took some less than a day ago. A count that cannot be had costs no
    write. Of the hours the days that are over go along.
    """
    try:
        before = state.usage_committed(scope)
        if state.in_memory or abs(now - before) < GAP:
            return Usage()
        waiting = state.reads(scope)
        masks = _finished_days(state, before, now)
        if not waiting and not masks:
            return Usage()
        name = replica()
    except (sqlite.Error, GitmemError, OSError):
        return Usage()
    by_shard: dict[str, dict[str, dict[str, object]]] = {}
    for id, (n, last) in waiting.items():
        by_shard.setdefault(id[-2:], {})[id] = {"n": n, "last": last}
    todo = [
        operations.count_reads(usage_path(name, shard), reads)
        for shard, reads in sorted(by_shard.items())
    ]
    if masks:
        todo.append(operations.count_hours(hours_path(name), masks))
    return Usage(tuple(todo), partial(_committed, state, scope, waiting, now))


def _finished_days(state: State, since: float, now: float) -> dict[str, int]:
    """Return the active hours of the days before today that no commit has taken."""
    masks = masks_of(state.active_hours(since - since % GAP))
    return {day: mask for day, mask in masks.items() if day < stamp(now)[:10]}


def _committed(state: State, scope: str, taken: dict[str, tuple[int, str]], now: float) -> None:
    try:
        state.take_reads(scope, taken, now)
    except (sqlite.Error, GitmemError, OSError):
        return  # they are counted twice: the write itself is done
