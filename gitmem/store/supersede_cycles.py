"""Break the cycles of records that supersede one another, which only a merge can make.

Each side put one of them aside for another, so that all of them are. The newest holds. This is a
function of the merged tree alone: whoever merges finds the same.
"""

from collections.abc import Callable, Iterable

from gitmem.records.record import Record

MOST = 64  # records of a chain that are looked at

Read = Callable[[str], Record | None]


def revived(ids: Iterable[str], read: Read) -> list[Record]:
    """Return the records that hold after all, of cycles through records that both sides changed."""
    out: dict[str, Record] = {}
    for id in sorted(ids):
        cycle = _cycle(id, read)
        if len(cycle) > 1 and all(record.status == "archived" for record in cycle):
            newest = max(cycle, key=lambda record: (record.created, record.id))
            out[newest.id] = newest.change(status=None)
    return list(out.values())


def _cycle(id: str, read: Read) -> list[Record]:
    """Return the records that a record supersedes, over others, and that supersede it so."""
    below = _superseded(id, read)
    return [record for other, record in below.items() if id in _superseded(other, read)]


def _superseded(id: str, read: Read) -> dict[str, Record]:
    """Return what a record supersedes, over others; itself too if it is in a cycle."""
    out: dict[str, Record] = {}
    record = read(id)
    todo = list(record.get("supersedes") or ()) if record else []
    while todo and len(out) < MOST:
        other = todo.pop()
        other_record = read(other) if other not in out else None
        if other_record is not None:
            out[other] = other_record
            todo += other_record.get("supersedes") or ()
    return out
