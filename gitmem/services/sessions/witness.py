"""Sessions that say again what is known: another source of the fact, not a second record."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from gitmem.errors import UnknownId
from gitmem.records.items import Item
from gitmem.records.kinds import LIVE
from gitmem.records.record import Record
from gitmem.repo.refs import PRIVATE
from gitmem.services.facts.stores import shareable
from gitmem.services.records.write import Writer
from gitmem.services.sessions.proposals import source_of
from gitmem.store import operations
from gitmem.store.store import Message, Store

USER = "user"  # a role
Seen = tuple[Mapping[str, Any], Item]  # the row of a fact, and what a session said of it


def note_seen(
    stores: Sequence[Store],
    who: Writer,
    seen: Iterable[Seen],
    injected: Collection[str],
    place: str,
) -> None:
    """Add a session to the sources of the live facts that it said again, each role once.

    An agent that says again what it was told is no witness. `place` is what was read, in words.
    """
    changed: dict[int, dict[str, tuple[Record, Record]]] = {}
    for row, item in seen:
        source = source_of(item, who.session, place)
        is_echo = source.get("role") != USER and row["id"] in injected
        if row["status"] not in LIVE or is_echo:
            continue
        number, before = _find(stores, str(row["id"]))
        if before is None:
            continue
        records = changed.setdefault(number, {})
        before, now = records.get(before.id, (before, before))
        after = _with_source(now, source, is_private=stores[number].ref == PRIVATE)
        if after is not None:
            records[before.id] = before, after
    for number, records in changed.items():
        _write(stores[number], who, list(records.values()))


def _find(stores: Sequence[Store], id: str) -> tuple[int, Record | None]:
    for number, store in enumerate(stores):
        try:
            return number, store.get(id).record
        except UnknownId:
            continue
    return 0, None


def _with_source(record: Record, source: Mapping[str, Any], *, is_private: bool) -> Record | None:
    """Return a fact with another source; None if the session is one in this role already."""
    who = (source.get("session"), source.get("role"))
    sources = record.get("sources")
    if who in [(source.get("session"), source.get("role")) for source in sources]:
        return None
    added = [source] if is_private else shareable([source])
    return record.change(sources=[*sources, *added])


def _write(store: Store, who: Writer, records: Sequence[tuple[Record, Record]]) -> None:
    if not records:
        return
    now = who.clock.stamp()
    todo = [operations.put(after.touched(now), before) for before, after in records]
    ids = tuple(before.id for before, _ in records)
    many = ids[0] if len(ids) == 1 else f"{len(ids)} facts"
    store.write(todo, Message(f"{many} seen again", "seen", ids, session=who.session))
