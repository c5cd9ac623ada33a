"""One fact out of several that say the same: the operations that join them.

The fact that stays keeps its words, its id and its confirmation. It gets where the others were
seen, and what they are linked with; they are archived, and it supersedes them.
"""

from collections.abc import Sequence
from typing import Any

from gitmem.records.merge import restamp
from gitmem.records.record import Record, bounded_sources
from gitmem.services.records.write import Writer, archivals
from gitmem.store import operations

SETS = ("tags", "links")


def merged(records: Sequence[Record], who: Writer) -> list[operations.Op]:
    """Return the operations that merge facts into the first of them."""
    first, *others = records
    after = joined(first, others)
    todo = archivals(who, others)
    if after != first:
        after = restamp(first, after.touched(who.clock.stamp()))
        todo.insert(0, operations.put(after, first))
    return todo


def joined(first: Record, others: Sequence[Record]) -> Record:
    """Return a fact with what others of the same words know beside them.

    A merge makes nobody a witness: the words, the confirmation and the origin are those of the
    fact that stays.
    """
    ids = {record.id for record in (first, *others)}
    fields: dict[str, Any] = {
        "supersedes": sorted(
            {id for record in (first, *others) for id in record.get("supersedes") or ()}
            | (ids - {first.id})
        ),
        "sources": bounded_sources(_distinct(first, others, "sources")),
        "anchors": _distinct(first, others, "anchors"),
    }
    for name in SETS:
        values = {value for record in (first, *others) for value in record.get(name) or ()}
        fields[name] = sorted(values - ids)
    if first.kind == "gotcha":
        fields |= _counts((first, *others))
    return first.change(**{key: value for key, value in fields.items() if value})


def _distinct(first: Record, others: Sequence[Record], name: str) -> list[dict[str, Any]]:
    out: list[dict[str, Any]] = []
    for record in (first, *others):
        out += [dict(one) for one in record.get(name) or () if dict(one) not in out]
    return out


def _counts(records: Sequence[Record]) -> dict[str, Any]:
    """Return how often an error was seen in all."""
    seen = [str(record.fields.get("first_seen") or "") for record in records]
    last = [str(record.fields.get("last_seen") or "") for record in records]
    return {
        "occurrences": sum(record.get("occurrences") or 0 for record in records),
        "first_seen": min(filter(None, seen), default=None),
        "last_seen": max(last) or None,
    }
