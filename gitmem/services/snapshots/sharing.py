"""What must not leave this machine unseen with a snapshot.

These are files that are named like secrets, or that seem to hold some.
"""

from collections.abc import Iterator

from gitmem.git.objects import COMMIT, Objects, TreeEntry
from gitmem.redaction.mask import scrub
from gitmem.services.snapshots.save import SECRET
from gitmem.services.snapshots.saved import (
    SavedSnapshot,
    SnapshotDamaged,
    TreesDamaged,
    differences,
)

WHOLE = 10 * 1024 * 1024  # bytes; a snapshot has no larger file of its own


def suspects(objects: Objects, saved: SavedSnapshot) -> dict[str, str]:
    """Return {path: why} of what the snapshot has beyond its commit; raises SnapshotDamaged."""
    base = objects.commit(saved.state.commit).tree if saved.state.commit else None
    out: dict[str, str] = {}
    try:
        for path, oid in _own_files(objects, saved, base):
            why = _reason(objects, path, oid)
            if why:
                out.setdefault(path, why)
    except TreesDamaged as error:
        raise SnapshotDamaged(saved.id, str(error)) from error
    if scrub(saved.state.record).findings:
        out["its note"] = "it seems to hold a secret"
    return out


def _own_files(
    objects: Objects, saved: SavedSnapshot, base: str | None
) -> Iterator[tuple[str, str]]:
    for tree in (saved.staged, saved.worktree):
        for path, (_, new) in differences(objects, base, tree):
            if isinstance(new, TreeEntry) and new.mode != COMMIT:
                yield path, new.oid
    for path, stages in saved.state.unmerged.items():
        for mode, oid in stages:
            if mode.startswith("1") and mode != "160000":
                yield path, oid


def _reason(objects: Objects, path: str, oid: str) -> str:
    if SECRET.search(path):
        return "its name suggests secrets"
    data = objects.read_small(oid, WHOLE)
    if data is None:
        return "it is too large to be looked through"
    if b"\0" in data[:8000]:
        return ""
    return "it seems to hold a secret" if scrub(data.decode("utf-8", "replace")).findings else ""
