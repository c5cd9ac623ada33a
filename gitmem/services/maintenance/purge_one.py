"""Purge one store of this machine, and say for each place what was in it."""

from collections.abc import Callable, Iterator, Sequence

from gitmem.errors import Busy
from gitmem.git.process import Git
from gitmem.records.record import kind_of
from gitmem.services.maintenance.purge_places import CLEAN, HELD, REMOVED, YOURS, PurgePlace
from gitmem.store import operations, purge
from gitmem.store.history.prune import Pruned
from gitmem.store.history.redact import Mask
from gitmem.store.store import Message, Store
from gitmem.text.plural import noun_of

KEPT_MARK = "in packs marked .keep; remove those marks and run 'git gc --prune=now'."
WORK_STAYS = "masked the words of snapshots, and kept their work"
WORK_GONE = "removed the work of snapshots, which held it"
HOLDS = (
    "still holds the old history, and git keeps it: delete or update that ref, then run "
    "'git reflog expire --expire=now --all' and 'git gc --prune=now'."
)


def purge_store(
    store: Store,
    git: Git,
    scope: str,
    ids: Sequence[str],
    mask: Mask,
    progress: Callable[[int, int], None],
) -> list[PurgePlace]:
    """Remove records and texts from a store's history and the objects from the disk.

    Return the places.

    Raises Busy, Moved when somebody writes at the same time. Can be repeated after a kill at any
    point.
    """
    if ids:
        _leave_tombstones(store, ids)
    done = purge.purge(store, git, ids, mask, progress)
    return [
        PurgePlace(
            f"{scope} history",
            REMOVED if done.rewritten else CLEAN,
            done.rewritten,
            f"{noun_of(done.rewritten, 'commit')} rewritten",
        ),
        PurgePlace(f"{scope} backups and fetched refs", CLEAN, len(done.dropped_refs), "dropped"),
        *_saved_work(done.masked_work, WORK_STAYS),
        *_saved_work(done.dropped_work, WORK_GONE),
        PurgePlace(f"{scope} reflogs", CLEAN, 0, "emptied"),
        *object_places(scope, done.pruned),
        *(PurgePlace(ref, YOURS, 0, HOLDS) for ref in done.held_by),
        *foreign_objects(done.foreign),
    ]


def _saved_work(ids: Sequence[str], what: str) -> Iterator[PurgePlace]:
    if ids:
        yield PurgePlace("saved work", REMOVED, len(ids), f"{what}: {', '.join(ids)}")


def object_places(scope: str, pruned: Pruned) -> Iterator[PurgePlace]:
    """Yield what became of the objects of an old history."""
    name = f"{scope} objects"
    if pruned.busy:
        who = ", ".join(pruned.busy[:3])
        yield PurgePlace(
            name,
            HELD,
            pruned.removed,
            f"{noun_of(pruned.removed, 'object')} removed, but git packs at the moment ({who}) and "
            f"may write them again; run this again when it has ended",
        )
    elif pruned.kept:
        number = len(pruned.kept)
        yield PurgePlace(name, HELD, number, f"{noun_of(number, 'object')} {KEPT_MARK}")
    else:
        what = f"{noun_of(pruned.removed, 'object')} removed from this disk"
        yield PurgePlace(name, REMOVED if pruned.removed else CLEAN, pruned.removed, what)
    if pruned.borrowed:
        where = noun_of(len(pruned.borrowed), "object is", "objects are")
        why = f"{where} in the repository from which this one borrows; purge there"
        yield PurgePlace(f"{scope} borrowed objects", HELD, len(pruned.borrowed), why)
    if pruned.abandoned:
        why = (
            f"{noun_of(len(pruned.abandoned), 'file')} of git processes that were killed may hold "
            f"it and cannot be removed: "
            f"{', '.join(pruned.abandoned[:3])}"
        )
        yield PurgePlace("temporary packs", YOURS, len(pruned.abandoned), why)


def foreign_objects(count: int) -> Iterator[PurgePlace]:
    """Yield what is left of the user's own objects that hold what was purged."""
    if count:
        why = (
            f"{noun_of(count, 'object holds', 'objects hold')} it, unreachable and not gitmem's: "
            f"git reflog expire --expire=now --all && git gc --prune=now"
        )
        yield PurgePlace("objects of yours", YOURS, count, why)


def _leave_tombstones(store: Store, ids: Sequence[str]) -> None:
    marks = [operations.forget(id, store.clock.stamp(), store.author[0], purged=True) for id in ids]
    more = " …" if len(ids) > 3 else ""
    subject = f"{kind_of(ids[0])}: purge {', '.join(ids[:3])}{more}"
    if store.write(marks, Message(subject, "purge", tuple(ids))).journaled:
        raise Busy(
            "another git mem process is writing to this repository.",
            "Run the command again in a moment.",
        )
