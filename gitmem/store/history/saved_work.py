"""The saved work of snapshots in a purge: it stays, unless the work itself holds the text.

Beside the work a snapshot has a copy of its record, which is masked as the record is.
"""

import json
from collections.abc import Iterator, Sequence

from gitmem.git.objects import COMMIT, Draft, Objects
from gitmem.records.record import kind_of
from gitmem.repo.refs import SNAPSHOTS
from gitmem.store.history.redact import Mask
from gitmem.store.layout import record_path

STATE = "state.json"


def unclean_work(
    objects: Objects, ids: Sequence[str], mask: Mask
) -> Iterator[tuple[str, str, str | None]]:
    """Yield (id, commit, commit without the texts) of the snapshots that hold what is purged.

    The last is None where the snapshot has to go. Only its own content counts, not the code that
    it is based on.
    """
    for ref, oid in objects.refs(SNAPSHOTS).items():
        id = ref.removeprefix(SNAPSHOTS)
        if id in ids:
            yield id, oid, None
        elif mask:
            clean = _clean(objects, id, oid, mask)
            if clean != oid:
                yield id, oid, clean


def _clean(objects: Objects, id: str, oid: str, mask: Mask) -> str | None:
    commit = objects.commit(oid)
    base = objects.commit(commit.parents[0]).tree if commit.parents else None
    entries = {entry.name: entry for entry in objects.tree(commit.tree)}
    state = entries.pop(STATE, None)
    blobs = {entry.oid for entry in entries.values() if not entry.is_tree}
    for entry in entries.values():
        if entry.is_tree:
            blobs |= _new_blobs(objects, base, entry.oid)
    if any(mask.holds(objects.read(blob)) for blob in blobs):
        return None
    data = objects.read(state.oid) if state and not state.is_tree else b""
    if not mask.holds(data):
        return oid
    clean = _clean_state(id, data, mask)
    if mask.holds(clean):  # the path of a file
        return None
    who = (commit.author, commit.committer)
    return objects.write(Draft(commit.tree, {STATE: clean}, commit.parents, commit.message, *who))


def _clean_state(id: str, data: bytes, mask: Mask) -> bytes:
    """Return what trees cannot say with its texts masked; its paths stay."""
    try:
        state = json.loads(data)
        if kind_of(id) != "snapshot" or not isinstance(state, dict):
            return data
        record = str(state.get("record", "")).encode("utf-8", "surrogatepass")
        state["record"] = mask.file(record_path(id), record).decode("utf-8", "surrogatepass")
        state["branch"] = mask.text(str(state.get("branch", "")))
    except (ValueError, RecursionError):
        return data
    return json.dumps(state, indent=1).encode()


def _new_blobs(objects: Objects, old: str | None, new: str) -> set[str]:
    """Return the files that a tree has and another has not at the same place, however deep."""
    before = {entry.name: entry for entry in objects.tree(old)} if old else {}
    out: set[str] = set()
    for entry in objects.tree(new):
        other = before.get(entry.name)
        if entry == other or entry.mode == COMMIT:
            continue
        out |= (
            _new_blobs(objects, other.oid if other and other.is_tree else None, entry.oid)
            if entry.is_tree
            else {entry.oid}
        )
    return out
