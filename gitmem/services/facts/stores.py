"""Which store a fact is in: private until a person confirms it, and never counted twice."""

from collections.abc import Mapping, Sequence
from typing import Any

from gitmem.errors import UnknownId
from gitmem.index.reader import Index
from gitmem.records.codec import sane
from gitmem.records.kinds import FACTS, IMPORTED, TYPES
from gitmem.records.merge import counted, hits_of
from gitmem.records.record import Record
from gitmem.services.records.write import Writer, archivals, replaced_by
from gitmem.store import operations
from gitmem.store.layout import record_path
from gitmem.store.store import Message, Store

PROPOSED = "proposed"  # the tag of what a session taught
UNREAD = "inbox"  # the namespace of what others said: no agent reads it before somebody accepts it
SHARED_LATER = (
    "agent",
    "captured",
    "extracted",
    IMPORTED,
)  # origins of what is private until accepted
PERSONAL = "preference"  # the type of what is shared only if that was asked for
WITH_EXTRA = frozenset({"okf"})  # formats whose entries go back with the keys that they came with
PUBLIC = frozenset({"session", "role", "at", "commit"})  # of a source, what others may see


def shareable(sources: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return where a fact was seen, without what is this machine's alone."""
    return [{key: value for key, value in source.items() if key in PUBLIC} for source in sources]


def becomes_shared(scope: str, record: Record, *, asked: bool = False) -> bool:
    """Return whether a record of a store is a proposal that is shared once somebody accepts it.

    A preference is one person's: it is shared only if that was `asked` for.
    """
    is_personal = record.kind == "memory" and record.get("type") == PERSONAL
    if scope != "private" or record.get("origin") not in SHARED_LATER:
        return False
    return asked or not is_personal


def public(record: Record) -> Record:
    """Return a private fact as others may see it."""
    tags = [tag for tag in record.tags if tag != PROPOSED]
    agent = None if record.fields.get("agent") == UNREAD else record.fields.get("agent")
    sources = shareable(record.get("sources")) or None
    imported = _shareable_import(record.fields.get("imported"))
    return record.change(
        tags=tags or None, item=None, agent=agent, sources=sources, imported=imported
    )


def _shareable_import(imported: Any) -> dict[str, Any] | None:
    """Return where a fact was imported from, without what has no field of its own there.

    Nobody has seen that when they accept the fact.
    """
    if not isinstance(imported, dict):
        return None
    kept = imported.get("format") in WITH_EXTRA
    return {key: value for key, value in imported.items() if key != "extra" or kept}


def leave(private: Store, who: Writer, versions: Mapping[str, bytes]) -> None:
    """Remove facts that are in the shared store now from the private one.

    `versions` are their files, by id: what changed since stays, and is looked at again.
    """
    ids = tuple(versions)
    many = ids[0] if len(ids) == 1 else f"{len(ids)} facts"
    moved = Message(f"{many} moved to the shared store", "move", ids, session=who.session)
    private.write([operations.collect(id, data) for id, data in versions.items()], moved)


def to_share(index: Index) -> list[str]:
    """Return the ids of private proposals that a person confirmed where they are.

    What was imported from one's own file needs no confirmation, and stays.
    """
    rows = index.rows(
        kinds=tuple(FACTS),
        stores=("private",),
        origins=tuple(origin for origin in SHARED_LATER if origin != IMPORTED),
        types=("", *(kind for kind in TYPES if kind != PERSONAL)),
        unconfirmed=False,
        fields=("id",),
    )
    return [row["id"] for row in rows]


def share_confirmed(private: Store, shared: Store, who: Writer, ids: Sequence[str]) -> int:
    """Move proposals that a person confirmed by an edit, a pin or the like to the shared store.

    Where a fact is there already, the two are merged. Return how many there were.
    """
    todo: list[operations.Op] = []
    versions: dict[str, bytes] = {}
    for id in ids:
        data = private.read_file(record_path(id)) or b""
        record = sane(data, id)
        if isinstance(record, str) or record.unconfirmed or not becomes_shared("private", record):
            continue
        todo += [operations.put(public(record), revive=True)]
        todo += archivals(who, replaced_by(shared, record))
        versions[id] = data
    if versions:
        subject = f"facts: share {len(versions)} that a person confirmed"
        shared.write(todo, Message(subject, "share", tuple(versions), session=who.session))
        leave(private, who, versions)
    return len(versions)


def join_copies(
    private: Store, shared: Store, who: Writer, ids: Sequence[str], replica: str
) -> None:
    """Remove private proposals whose id a shared fact has.

    The shared fact keeps its words. It gets the hits that the proposal has counted.
    """
    versions: dict[str, bytes] = {}
    hits: list[operations.Op] = []
    for id in ids:
        data = private.read_file(record_path(id)) or b""
        copy = sane(data, id)
        if isinstance(copy, str) or not (copy.unconfirmed or copy.get("origin") == IMPORTED):
            continue
        try:
            record = shared.get(id).record
        except UnknownId:
            continue
        versions[id] = data
        if record.kind == "gotcha" and hits_of(copy, replica) > hits_of(record, replica):
            hits.append(operations.put(_with_hits(record, copy, replica), record))
    if hits:
        shared.write(hits, Message("gotcha: count hits of private copies", "count"))
    if versions:
        leave(private, who, versions)


def _with_hits(record: Record, copy: Record, replica: str) -> Record:
    """Return a captured gotcha with the hits that its copy in this clone has counted and it lacks.

    A copy that was shared a moment ago has none.
    """
    seen = [version.fields.get("first_seen") for version in (record, copy)]
    after = record.change(
        first_seen=min(filter(None, seen), default=None),
        last_seen=max(filter(None, (record.get("last_seen"), copy.get("last_seen"))), default=None),
    )
    own, shared = (hits_of(version, replica) for version in (copy, record))
    return counted(after, "occurrences", max(0, own - shared), replica)


def scope_of_new(who: Writer, *, shares: bool) -> str:
    """Return the scope of the store that gets a fact if nobody names one.

    `shares` is whether what agents write is shared before a person accepts it.
    """
    return "shared" if who.is_person or shares else "private"
