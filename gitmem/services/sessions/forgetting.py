"""Forget a session: its history, its record, what is known of it, and what nobody else vouches for.

A tombstone of the session's record stays in the private store. It has no words, and by it nothing
that reads the session's transcript again makes a record or a proposal of it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from gitmem.records.kinds import FACTS, session_record_id
from gitmem.records.merge import restamp
from gitmem.records.record import Record
from gitmem.repo.location import Home
from gitmem.repo.refs import PRIVATE
from gitmem.services.records.gone import FORGOTTEN, ITS_SESSION, without_session
from gitmem.services.records.write import Writer
from gitmem.services.session_log import rotation
from gitmem.services.sessions import current
from gitmem.state import session_rows
from gitmem.state.database import State
from gitmem.store import operations
from gitmem.store.layout import tombstone_path
from gitmem.store.reader import Stored
from gitmem.store.store import Message, Store


@dataclass(slots=True)
class ForgottenSession:
    """What was removed: files of the history, rows, facts, and the ids of other records."""

    files: int = 0
    rows: int = 0
    records: list[str] = field(default_factory=list)  # of the session itself
    facts: list[Record] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)  # facts that lost this source or its quote
    snapshots: list[str] = field(default_factory=list)


def is_forgotten(private: Store, session: str) -> bool:
    """Return whether somebody forgot a session."""
    path = tombstone_path(session_record_id(session))
    return bool(session) and private.tip() is not None and private.read_file(path) is not None


def automatic_snapshots(private: Store, session: str) -> list[str]:
    """Return the ids of the snapshots that a session made by itself, not those that were asked for.

    They end and compactions leave them.
    """
    return [
        record.id
        for record in _records(private)
        if record.kind == "snapshot"
        and record.fields.get("session") == session
        and record.get("origin") == "captured"
    ]


def forget_session(
    stores: Sequence[Store], who: Writer, home: Home, state: State, session: str
) -> ForgottenSession:
    """Remove a session from the stores, the histories and the working state.

    The records go first: whoever is killed in between can run it again.
    """
    out = ForgottenSession()
    shared_errors = session_rows.patterns_of_others(state, session)
    for store in stores:
        if store.tip() is not None or store.ref == PRIVATE:
            _forget_in_store(store, who, session, shared_errors, out)
    out.files = rotation.remove_history(home, session)
    out.rows = session_rows.remove(state, session)
    current.closed(home, session)
    return out


def _forget_in_store(
    store: Store, who: Writer, session: str, shared_errors: frozenset[str], out: ForgottenSession
) -> None:
    todo, now, own = list[operations.Op](), who.clock.stamp(), session_record_id(session)
    ids: list[str] = []
    records = list(_records(store))
    is_there = any(record.id == own for record in records)
    out.records = sorted({*out.records, *([own] if is_there else [])})
    for record in records:
        if record.kind in FACTS:
            kept = without_session(record, session, shared_errors)
            if kept is record:
                continue
            ids.append(record.id)
            if kept is None:
                out.facts.append(record)
                todo.append(_removal(store, record, now, who))
            else:
                out.changed.append(record.id)
                todo.append(operations.put(restamp(record, kept.touched(now)), record))
    if store.ref == PRIVATE or is_there:
        todo.append(operations.forget(own, now, who.author[0], FORGOTTEN))
    if todo:
        store.write(todo, Message(f"session: forget {own}", "forget", (own, *ids)))


def _records(store: Store) -> Iterator[Record]:
    if store.tip() is not None:
        yield from (record.record for record in store.records() if isinstance(record, Stored))


def _removal(store: Store, record: Record, now: str, who: Writer) -> operations.Op:
    """Return what removes a fact whose words anybody may say again.

    A shared one needs a tombstone, so that no other clone brings it back.
    """
    if store.ref == PRIVATE:
        return operations.collect(record.id)
    return operations.forget(record.id, now, who.author[0], ITS_SESSION)
