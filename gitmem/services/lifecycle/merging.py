"""One fact out of several that say the same: the operations that join them.

The fact that stays keeps its words, its id and its confirmation. It gets where the others were
seen, and what they are linked with; they are archived, and it supersedes them. From a fact that
nobody vouches for, a fact that somebody vouches for gets nothing but the id.
"""

from collections.abc import Collection, Sequence
from typing import Any

from gitmem.records.merge import counted, restamp
from gitmem.records.record import Record, bounded_sources
from gitmem.services.records.write import Writer, archived
from gitmem.store import operations

SETS = ("tags", "links")


def merged(records: Sequence[Record], who: Writer, doubted: Collection[str] = ()) -> operations.Op:
    """Return the operation that merges facts into the first of them.

    It does nothing if one of them changes meanwhile. `doubted` are the ids of facts whose fields
    others may have written.
    """
    first, *others = records
    after = restamp(first, joined(first, others, doubted).touched(who.clock.stamp()))
    return operations.replace([(after, first), *archived(who, others)])


def joined(first: Record, others: Sequence[Record], doubted: Collection[str] = ()) -> Record:
    """Return a fact with what others of the same words know beside them.

    A merge makes nobody a witness: the words, the confirmation and the origin are those of the
    fact that stays.
    """
    trusts_all = first.id in doubted
    trusted = [first, *(other for other in others if trusts_all or other.id not in doubted)]
    ids = {record.id for record in (first, *others)}
    fields: dict[str, Any] = {
        "supersedes": sorted({*(first.get("supersedes") or ()), *ids} - {first.id}),
        "sources": bounded_sources(_distinct(trusted, "sources")),
        "anchors": _distinct(trusted, "anchors"),
    }
    for name in SETS:
        values = {value for record in trusted for value in record.get(name) or ()}
        fields[name] = sorted(values - ids)
    if first.kind == "gotcha":
        fields |= _times(trusted)
    after = first.change(**{key: value for key, value in fields.items() if value})
    return _counted(after, trusted[1:]) if first.kind == "gotcha" else after


def _distinct(records: Sequence[Record], name: str) -> list[dict[str, Any]]:
    out: list[dict[str, Any]] = []
    for record in records:
        out += [dict(each) for each in record.get(name) or () if dict(each) not in out]
    return out


def _counted(gotcha: Record, others: Sequence[Record]) -> Record:
    """Return a gotcha with the occurrences of others, each under its id.

    Two clones that merge the same facts add the same number once.
    """
    for other in others:
        gotcha = counted(gotcha, "occurrences", other.get("occurrences") or 0, other.id)
    return gotcha


def _times(records: Sequence[Record]) -> dict[str, Any]:
    """Return when an error was seen first and last."""
    seen = [str(record.fields.get("first_seen") or "") for record in records]
    last = [str(record.fields.get("last_seen") or "") for record in records]
    return {
        "first_seen": min(filter(None, seen), default=None),
        "last_seen": max(last) or None,
    }
