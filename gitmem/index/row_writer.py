"""Writes a record into the tables of the index, all but the full-text one."""

import json
import sqlite3
from collections.abc import Iterator
from typing import Any

from gitmem.index import rejections
from gitmem.index.columns import (
    answered,
    bases,
    columns,
    held,
    made,
    said_of_facts,
    texts,
)
from gitmem.index.committers import Credit, persons
from gitmem.index.contexts import Row
from gitmem.records.epic import facts
from gitmem.records.kinds import FACTS, command_heads, error_patterns
from gitmem.records.record import Record
from gitmem.records.trust import is_attested
from gitmem.store.reader import Stored

# hides a record where the other store has it too: of a session what was published of it; of a fact
# the private record that nobody confirmed, or that a file of the user says too
_IN_BOTH = (
    "INSERT OR IGNORE INTO hidden SELECT a.n FROM records a JOIN records b ON b.id = a.id "
    "WHERE a.id = ? AND b.store <> a.store AND "
)
_HIDE = {
    "session": f"{_IN_BOTH} a.store = 'shared'",
    **dict.fromkeys(
        FACTS, f"{_IN_BOTH} a.store = 'private' AND (a.unconfirmed = 1 OR a.origin = 'imported')"
    ),
}


def hide(db: sqlite3.Connection, id: str, kind: str) -> None:
    """Hide a record in one store where another has it too."""
    if kind in _HIDE:
        db.execute(_HIDE[kind], (id,))


class RowWriter:
    """Writes records of one store."""

    def __init__(self, db: sqlite3.Connection, store: str) -> None:
        self._db = db
        self._store = store
        self._people: set[tuple[str, str]] = set()  # those that have a row
        # nobody else writes other stores while this one is updated
        sql = "SELECT 1 FROM records WHERE store <> ? LIMIT 1"
        self._is_alone = db.execute(sql, (store,)).fetchone() is None

    def insert(self, stored: Stored, credit: Credit) -> Row:
        """Insert the row of a record, its texts, its edges, its places."""
        record = stored.record
        committer = credit.words if credit.words != record.get("author") else None
        last = (bytes.fromhex(stored.oid), committer, credit.vouchers)
        attested = is_attested(record, persons(credit.words), persons(credit.vouchers))
        own = self._store != "shared"
        cursor = self._db.execute(
            f"INSERT OR REPLACE INTO records VALUES (NULL, {', '.join('?' * 37)})",
            (self._store, *columns(record, attested=attested, own=own), *last),
        )
        n = cursor.lastrowid
        assert n is not None
        self._add("texts", (n, *texts(record)))
        self._add_people(record)
        rejections.add_claims(self._db, n, record, attested=attested)
        if not self._is_alone:
            hide(self._db, record.id, record.kind)
        for table, values in _places(n, record):
            self._add(table, values)
        for table, values in _statements(n, record, own or (attested and not record.unconfirmed)):
            self._add(table, values)
        return n, record.id, str(record.get("session")), record.created

    def _add(self, table: str, values: tuple[Any, ...]) -> None:
        sql = f"INSERT OR IGNORE INTO {table} VALUES ({', '.join('?' * len(values))})"
        self._db.execute(sql, values)

    def _add_people(self, record: Record) -> None:
        people = (record.get("author") or "", record.get("agent") or "")
        if people not in self._people:
            self._add("people", (None, *people))
            self._people.add(people)


def _places(n: int, record: Record) -> Iterator[tuple[str, tuple[Any, ...]]]:
    """Yield (table, row) of what a record links, where it applies and what it waits for."""
    for rel in ("links", "supersedes"):
        for dst in record.get(rel) or ():
            yield "edges", (n, rel, dst)
    for anchor in record.anchors:
        if isinstance(anchor.get("path"), str):
            yield "places", (anchor["path"], n)
        if isinstance(anchor.get("glob"), str):
            yield "globs", (n, anchor["glob"])
    for pattern in error_patterns(record.get("triggers")):
        yield "patterns", (pattern, n)
    if record.kind == "gotcha":
        yield from _triggers(n, record)


def _triggers(n: int, record: Record) -> Iterator[tuple[str, tuple[Any, ...]]]:
    """Yield (table, row) of the code and the commands that a gotcha waits for."""
    triggers = record.get("triggers")
    for base in bases(record):
        yield "bases", (*base, n)
    if {"code", "query"} & set(triggers or ()):
        yield "codes", (n,)
    for head in command_heads(triggers):
        yield "commands", (head, n)


def _statements(n: int, record: Record, counts: bool) -> Iterator[tuple[str, tuple[Any, ...]]]:
    """Yield (table, row) of what is said of facts; that two hold `counts` if somebody vouches."""
    for id in answered(record):
        yield "answers", (n, id)
    for pair in held(record) if counts else ():
        yield "settled", (n, *pair)
    if record.kind == "session":
        for commit in made(record):
            yield "made", (*commit, n)
        for row in said_of_facts(record):
            yield "statements", (n, *row)
    if record.kind == "work":
        state = facts(record.fields.get("state"))
        yield "works", (n, json.dumps(state, ensure_ascii=False))
