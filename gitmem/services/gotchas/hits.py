"""Write the hits of known errors together: one that goes on failing makes no commit each time."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from gitmem.clock import stamp
from gitmem.errors import UnknownId
from gitmem.records.kinds import LIVE, gotcha_id
from gitmem.records.record import Record
from gitmem.state.database import KEPT, State
from gitmem.store import operations
from gitmem.store.store import Message, Store

OLDEST = 86400.0  # seconds that hits wait at most

Row = Mapping[str, Any]
# by store: pattern, time of the last hit, operation
ClaimedHits = dict[str, list[tuple[str, float, operations.Op]]]


def tell(
    stores: Callable[[str], Store],
    state: State,
    find: Callable[[str, str], Sequence[Row]],
    until: float,
) -> int:
    """Write the hits that wait, of errors that were met before a time; return how many errors.

    `find` gives the rows of the gotchas with an id, or of a pattern. Hits of an error that is no
    gotcha yet go on waiting.
    """
    claimed: ClaimedHits = {}
    try:
        _claim(stores, state, find, until, claimed)
        done = sum(map(len, claimed.values()))
        for scope in list(claimed):
            rows = claimed[scope]
            _write(stores(scope), state, rows)
            del claimed[scope]
    except BaseException:
        for rows in claimed.values():
            for pattern, last, _ in rows:
                state.return_hits(pattern, last)
        raise
    return done


def _write(store: Store, state: State, rows: Sequence[tuple[str, float, operations.Op]]) -> None:
    """Write hits; where others go into the same commit, they wait again if it fails."""
    ids = tuple(str(op["id"]) for _, _, op in rows)
    many = f"{len(rows)} gotcha{'' if len(rows) == 1 else 's'}"
    batch = store.batch()
    store.write([op for _, _, op in rows], Message(f"gotcha: hits on {many}", "observe", ids))
    if batch is not None:
        batch.failed += (partial(state.return_hits, pattern, last) for pattern, last, _ in rows)


def _claim(
    stores: Callable[[str], Store],
    state: State,
    find: Callable[[str, str], Sequence[Row]],
    until: float,
    claimed: ClaimedHits,
) -> None:
    """Take the hits that wait; what writes them goes into `claimed`."""
    for pattern, last in state.waiting_hits(until):
        gotcha = _gotcha(stores, find(gotcha_id(pattern), pattern), gotcha_id(pattern))
        if gotcha is None:
            continue
        times, _ = state.claim_hits(pattern, last, KEPT)
        if not times:
            continue  # another process has written them
        scope, record = gotcha
        todo = {**operations.observe(record, times, stamp(last)), "waited": True}
        claimed.setdefault(scope, []).append((pattern, last, todo))


def _gotcha(
    stores: Callable[[str], Store], rows: Sequence[Row], id: str
) -> tuple[str, Record] | None:
    """Return the store and the record that an error counts on: that of its own id first."""
    live = [row for row in rows if row["kind"] == "gotcha" and row["status"] in LIVE]
    for row in sorted(live, key=lambda row: row["id"] != id):
        try:
            return str(row["store"]), stores(str(row["store"])).get(str(row["id"])).record
        except UnknownId:
            continue  # the index is behind
    return None
