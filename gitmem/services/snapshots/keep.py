"""Which snapshots stay: the newest, those of the last days, and what is pinned.

A snapshot is a record and, where its work was saved, a ref.
"""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any

from gitmem.clock import seconds
from gitmem.errors import External, Moved, UnknownId
from gitmem.git.objects import Objects
from gitmem.records.codec import sane
from gitmem.repo.location import Home
from gitmem.repo.refs import SNAPSHOTS
from gitmem.services.records import write
from gitmem.services.records.write import Writer
from gitmem.services.snapshots.restore import note_of
from gitmem.services.snapshots.saved import read, ref_of
from gitmem.store import operations
from gitmem.store.layout import tombstone_path
from gitmem.store.store import Message, Store

MOST, DAYS = 50, 7.0  # how many snapshots stay besides pinned ones, and all of how many days


def has_work(objects: Objects) -> dict[str, str]:
    """Return {id: commit} of the snapshots whose work was saved."""
    return {ref.removeprefix(SNAPSHOTS): oid for ref, oid in objects.refs(SNAPSHOTS).items()}


def adopt(objects: Objects, store: Store) -> list[str]:
    """Make records of snapshots that came from elsewhere by git alone.

    A ref whose record was forgotten here goes.

    Return the ids of those that are damaged: they have no record, and the others are not kept
    waiting for them.
    """
    damaged = []
    for id, oid in has_work(objects).items():
        try:
            store.get(id)
            continue
        except UnknownId:
            pass
        if store.read_file(tombstone_path(id)) is not None:
            with suppress(Moved):
                objects.delete(ref_of(id), oid)
            continue
        try:
            text = read(objects, id).state.record.encode("utf-8", "surrogatepass")
        except External:
            damaged.append(id)
            continue
        record = sane(text, id)
        if not isinstance(record, str) and record.kind == "snapshot":
            store.write(
                [operations.put(record)],
                Message(f"snapshot: {id} from elsewhere", "snapshot", (id,)),
            )
    return damaged


def outlived(rows: Iterable[Mapping[str, Any]], now: float, number: int, days: float) -> list[str]:
    """Return the ids of unpinned snapshots beyond the newest `number` or older than `days`."""
    free = sorted(
        (row for row in rows if row["status"] != "pinned"),
        key=lambda row: (str(row["created"]), str(row["id"])),
        reverse=True,
    )
    return [
        str(row["id"])
        for place, row in enumerate(free)
        if place >= number or now - seconds(str(row["created"])) > days * 86400
    ]


def drop(
    objects: Objects, store: Store, who: Writer, ids: Sequence[str], why: str = ""
) -> list[str]:
    """Remove snapshots: the ref first, then the record; return the ids of those that were there.

    Git frees the space with its next collection.
    """
    gone = []
    for id in ids:
        oid = objects.tip(ref_of(id))
        if oid is not None:
            with suppress(Moved):
                objects.delete(ref_of(id), oid)
        try:
            record = store.get(id).record
        except UnknownId:
            gone += [id] if oid else []
            continue
        write.forget(store, who, [record], why or "dropped", again=True)
        gone.append(id)
    return gone


def prune(
    objects: Objects,
    store: Store,
    who: Writer,
    rows: Sequence[Mapping[str, Any]],
    home: Home,
    number: int = MOST,
    days: float = DAYS,
) -> list[str]:
    """Drop what has outlived its time; return the ids.

    What a restore that was stopped needs stays.
    """
    left = note_of(home)
    used = {left.safety, left.target} if left else set()
    old = [id for id in outlived(rows, who.clock.now(), number, days) if id not in used]
    return drop(objects, store, who, old, "older than what is kept")
