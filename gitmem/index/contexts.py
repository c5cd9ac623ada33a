"""The full-text index of rows, and its context column: the words of neighbouring records.

The index stores no text (FTS5 with `content=''`). To take a row's words out of it, they have to be
given once more, as they were: title and tags are in the table `records`, body and anchors in
`texts`, and `beside` names the neighbours whose words made the context. A row's number is never
given to another one, and of a row that is removed `gone` keeps what others have of it, so that
these words can be told at any time. The rule on which this rests: whatever has other neighbours
than `beside` says is in the table `due`. So every row that names a removed one is due, and once
none is due, `gone` is emptied.

To replace one column of a row of FTS5 costs as much as to write the row anew, and a new record has
up to eight neighbours. A writer therefore writes the new record's own row alone and leaves the
others `due`; a search, which alone looks at this column, has them settled first.
"""

import json
import sqlite3
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from gitmem.index.neighbours import (
    AROUND,
    BESIDE,
    HEADS,
    LINKED,
    LINKING,
    NEIGHBOURS,
    context_words,
    near_of,
    near_text,
)
from gitmem.text.tokenizer import fold, parts

if TYPE_CHECKING:
    from gitmem.index.neighbours import Head

MOST_DUE = 128  # rows up to which a writer leaves them to others
MERGED = 64  # pages that are merged between two looks at the time
SETTLED = 16  # rows that are settled between two looks at the time
Row = tuple[int, str, str, str]  # number, id, session, created

_WORDS = "rowid, context, title, tags, body, anchors"
_INDEX = f"INSERT INTO words ({_WORDS}) VALUES (?, ?, ?, ?, ?, ?)"
_UNINDEX = f"INSERT INTO words (words, {_WORDS}) VALUES ('delete', ?, ?, ?, ?, ?, ?)"
_OWN = (
    "SELECT n, r.title, r.tags, t.body, t.anchors FROM records r JOIN texts t USING (n) "
    "WHERE n IN ({})"
)
_PLACE = (
    "INSERT OR REPLACE INTO beside SELECT r.n, ?, p.n, ? FROM records r JOIN people p "
    "ON p.author = IFNULL(r.author, '') AND p.agent = IFNULL(r.agent, '') WHERE r.n = ?"
)
_DUE = "INSERT OR IGNORE INTO due VALUES (?)"
# once nothing is due, no context has words of what is gone
_FORGET = (
    "DELETE FROM gone WHERE NOT EXISTS (SELECT 1 FROM due) "
    "AND NOT EXISTS (SELECT 1 FROM unfinished)"
)


class Own(NamedTuple):
    """The words of a row itself."""

    title: str
    tags: str
    body: str
    anchors: str


class Place(NamedTuple):
    """What stands beside a row: the next one in its session, and whose words its context has."""

    after: int | None
    near: Sequence[int]


class Contexts:
    """Writes the words of rows with those of their neighbours.

    Where it `defers`, the neighbours of what changed stay due.
    """

    def __init__(self, db: sqlite3.Connection, *, defers: bool = False) -> None:
        self._db = db
        self._defers = defers
        self._new: list[Row] = []  # whose words are not indexed yet

    def add(self, row: Row) -> None:
        """Have a new row's words indexed by the next `write`, when its neighbours are there."""
        self._new.append(row)

    def remove(self, row: Row) -> None:
        """Take a row's words out; its neighbours are due. Its own row and edges are still there."""
        n = row[0]
        self.make_due(row)
        near = self._near(n)
        heads = self._heads([n, *(near or ())])
        if near is not None:
            own = self._own([n])[n]
            self._db.execute(_UNINDEX, (n, _context(n, own, near, heads), *own))
        self._db.execute("INSERT INTO gone VALUES (?, ?, ?)", (n, *heads[n]))
        self._db.execute("DELETE FROM beside WHERE n = ?", (n,))
        self._db.execute("DELETE FROM texts WHERE n = ?", (n,))
        self._new = [other for other in self._new if other[0] != n]

    def remove_all(self) -> None:
        """Take all words out."""
        self._db.execute("INSERT INTO words (words) VALUES ('delete-all')")
        for table in ("texts", "beside", "gone", "due"):
            self._db.execute(f"DELETE FROM {table}")

    def write(self, rest: Callable[[], None] | None = None) -> None:
        """Index the new rows, and give what stands beside them its context.

        `rest` is called between two rows once no words wait.
        """
        new, self._new = self._new, []
        for row in new:
            self.make_due(row)
        self.index({row[0]: self._place(row) for row in new}, {})
        self._db.executemany("DELETE FROM due WHERE n = ?", [row[:1] for row in new])
        while not self._defers and self.settle():
            if rest is not None:
                rest()

    def index(self, places: Mapping[int, Place], heads: "dict[int, Head]") -> None:
        """Index the words of rows; `heads` are those of rows that are known, and grows."""
        near = [other for n, place in places.items() for other in (n, *place.near)]
        heads |= self._heads([other for other in dict.fromkeys(near) if other not in heads])
        own = self._own(list(places))
        for n, place in places.items():
            self._db.execute(_INDEX, (n, _context(n, own[n], place.near, heads), *own[n]))
            self._note(n, place)

    def settle(self) -> bool:
        """Give some of the rows that are due their context; say whether more are."""
        sql = (
            "SELECT d.n, r.id, r.session, r.created FROM due d JOIN records r ON r.n = d.n ORDER "
            "BY d.n LIMIT ?"
        )
        rows = self._db.execute(sql, (SETTLED,)).fetchall()
        for row in rows:
            self._renew(row)
            self._db.execute("DELETE FROM due WHERE n = ?", row[:1])
        return len(rows) == SETTLED

    def merge(self) -> bool:
        """Do some of the work of making the index one piece; say whether more is left.

        Many short transactions leave many pieces, and each search looks into all of them.
        """
        before = self._db.total_changes
        self._db.execute("INSERT INTO words (words, rank) VALUES ('merge', ?)", (-MERGED,))
        return self._db.total_changes - before > 1

    def forget_gone(self) -> None:
        """Forget the words of removed rows when no context has them any more."""
        self._db.execute(_FORGET)

    def _renew(self, row: Row) -> None:
        """Replace a row's context by that of its neighbours now."""
        n = row[0]
        before = self._near(n)
        if before is None:  # not indexed yet
            return
        place, own = self._place(row), self._own([n])[n]
        heads = self._heads(list(dict.fromkeys((n, *before, *place.near))))
        old, new = (_context(n, own, near, heads) for near in (before, place.near))
        if old != new:
            self._db.execute(_UNINDEX, (n, old, *own))
            self._db.execute(_INDEX, (n, new, *own))
        self._note(n, place)

    def _note(self, n: int, place: Place) -> None:
        self._db.execute(_PLACE, (place.after, near_text(n, place.near), n))

    def _near(self, n: int) -> list[int] | None:
        """Return the rows whose words a row's context has; None when it is not indexed."""
        row = self._db.execute("SELECT near FROM beside WHERE n = ?", (n,)).fetchone()
        return near_of(n, row[0]) if row else None

    def _own(self, numbers: Sequence[int]) -> dict[int, Own]:
        """Return the words of rows themselves."""
        out: dict[int, Own] = {}
        rows = self._db.execute(_OWN.format(",".join("?" * len(numbers))), numbers)
        for n, title, tags, body, anchors in rows:
            out[n] = Own(fold(title), fold(" ".join(json.loads(tags or "[]"))), body, anchors)
        return out

    def _heads(self, numbers: Sequence[int]) -> "dict[int, Head]":
        """Return title and beginning of rows, of removed ones too; raises DatabaseError."""
        marks = ",".join("?" * len(numbers))
        out: dict[int, Head] = {}
        for n, title, begin in self._db.execute(HEADS.format(marks), numbers):
            out[n] = fold(title), begin
        if len(out) < len(numbers):
            sql = f"SELECT n, title, begin FROM gone WHERE n IN ({marks})"
            for n, title, begin in self._db.execute(sql, numbers):
                out[n] = title, begin
        if len(out) < len(numbers):
            raise sqlite3.DatabaseError("the index is malformed: a neighbour's words are missing")
        return out

    def make_due(self, row: Row, done: Collection[int] = ()) -> None:
        """Note that what stands beside a row has other neighbours now, but for rows `done`."""
        n, id, session, created = row
        numbers: list[tuple[int]] = []

        def take(sql: str, values: tuple[Any, ...]) -> None:
            numbers.extend(self._db.execute(sql, values))

        take("SELECT n FROM records WHERE id = ?", (id,))
        take("SELECT n FROM edges WHERE dst = ?", (id,))
        take("SELECT r.n FROM edges e JOIN records r ON r.id = e.dst WHERE e.n = ?", (n,))
        for sql in AROUND if session else ():
            take(sql, (created, id, session, NEIGHBOURS))
        some = {other for (other,) in numbers} - {n, *done}
        self._db.executemany(_DUE, [(other,) for other in some])

    def _place(self, row: Row) -> Place:
        """Return what stands beside a row.

        Its neighbours are what it links to, what links to it, and what is before and after it in
        its session.
        """
        n, id, session, created = row
        numbers = [r[0] for r in self._db.execute(LINKED, (n,))]
        numbers += [r[0] for r in self._db.execute(LINKING, (id,))]
        after: list[int] = []
        for sql in BESIDE if session else ():
            values = (created, id, session, NEIGHBOURS)
            after = [r[0] for r in self._db.execute(sql, values)]
            numbers += after
        near = [other for other in dict.fromkeys(numbers) if other != n][:8]
        return Place(after[0] if after else None, near)


def _context(n: int, own: Own, near: Sequence[int], heads: "dict[int, Head]") -> str:
    names = parts(f"{own.title} {own.body}")
    return context_words(names, heads[n][0], [heads[other] for other in near])


def count_due(db: sqlite3.Connection) -> int:
    """Return how many rows wait for their context."""
    return int(db.execute("SELECT COUNT(*) FROM due").fetchone()[0])
