"""The context column: the words of neighbouring records.

They are updated when a neighbour changes.

To replace one column of a row of FTS5 costs as much as to write the row anew, and a new record has
up to eight neighbours. A writer therefore writes the new record's own row alone and notes the
others in the table `due`; a search, which alone looks at this column, has them settled first.
"""

import sqlite3
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from gitmem.index.columns import context_words
from gitmem.index.neighbours import BESIDE, LINKED, LINKING, NEIGHBOURS
from gitmem.text.tokenizer import parts

CONTEXT_TEXT = 240  # characters of a neighbour's body that count as context
MOST_DUE = 128  # rows up to which a writer leaves them to others
SETTLED = 16  # rows that are settled between two looks at the time
Row = tuple[int, str, str, str]  # number, id, session, created


class Touched:
    """Which records' surroundings changed."""

    def __init__(self) -> None:
        self.ids: set[str] = set()
        self.spots: set[tuple[str, str, str]] = set()
        self.done: set[int] = set()  # rows whose context is right already

    def around(self, id: str, session: str, created: str) -> None:
        """Note a record: whatever stands beside it has other words beside itself now."""
        self.ids.add(id)
        self.spots.add((id, session, created))


class Contexts:
    """Writes the words of rows with those of their neighbours.

    Where it `defers`, neighbours become due.
    """

    def __init__(self, db: sqlite3.Connection, *, defers: bool = False) -> None:
        self._db = db
        self._defers = defers
        self.touched = Touched()
        self.waiting: dict[int, tuple[str, ...]] = {}  # words of rows that are not written yet

    def insert(self, n: int, *texts: str) -> None:
        """Insert the words of a row, the context last."""
        sql = (
            "INSERT INTO words (rowid, title, tags, body, anchors, context) VALUES (?, ?, ?, ?, ?, "
            "?)"
        )
        self._db.execute(sql, (n, *texts))

    def write(self, rest: Callable[[], None] | None = None) -> None:
        """Write the waiting words, and update the context words of rows beside changed ones.

        `rest` is called between two rows once no words wait.
        """
        touched, self.touched = self.touched, Touched()
        waiting, self.waiting = self.waiting, {}
        for row in self._affected(touched):
            if self._defers and row[0] not in waiting:
                self._db.execute("INSERT OR IGNORE INTO due VALUES (?)", row[:1])
                continue
            self._write_row(row, waiting)
            if rest is not None and not waiting:
                rest()

    def settle(self) -> bool:
        """Give some of the rows that are due their context; say whether more are."""
        sql = (
            "SELECT d.n, r.id, r.session, r.created FROM due d JOIN records r ON r.n = d.n ORDER "
            "BY d.n LIMIT ?"
        )
        rows = self._db.execute(sql, (SETTLED,)).fetchall()
        for row in rows:
            self._write_row(row, {})
            self._db.execute("DELETE FROM due WHERE n = ?", row[:1])
        return len(rows) == SETTLED

    def _write_row(self, row: Row, waiting: dict[int, tuple[str, ...]]) -> None:
        n = row[0]
        near = self._neighbours(*row)
        heads = self._heads([n, *near], waiting)
        if n not in heads:
            return
        title, _, body = heads[n]
        beside = [heads[x][:2] for x in near if x in heads]
        context = context_words(parts(f"{title} {body}"), title, beside)
        if n in waiting:
            self.insert(n, *waiting.pop(n)[:4], context)
        else:
            sql = "UPDATE words SET context = ? WHERE rowid = ? AND context <> ?"
            self._db.execute(sql, (context, n, context))

    def _heads(
        self, numbers: Sequence[int], waiting: Mapping[int, tuple[str, ...]]
    ) -> dict[int, tuple[str, str, str]]:
        """Return title, beginning and body of rows."""
        marks = ",".join("?" * len(numbers))
        columns = f"rowid, title, substr(body, 1, {CONTEXT_TEXT}), body"
        sql = f"SELECT {columns} FROM words WHERE rowid IN ({marks})"
        out: dict[int, tuple[str, str, str]] = {}
        for n, title, begin, body in self._db.execute(sql, numbers):
            out[n] = title, begin, body
        for n in numbers:
            if n in waiting:
                title, body = waiting[n][0], waiting[n][2]
                out[n] = title, body[:CONTEXT_TEXT], body
        return out

    def _affected(self, touched: Touched) -> list[Row]:
        rows: dict[int, Row] = {}

        def take(sql: str, values: tuple[Any, ...]) -> None:
            for row in self._db.execute(sql, values):
                rows[row[0]] = row

        linking = "edges e JOIN records r ON r.n = e.n WHERE e.dst = ?"
        for id in touched.ids:
            take("SELECT n, id, session, created FROM records WHERE id = ?", (id,))
            take(f"SELECT r.n, r.id, r.session, r.created FROM {linking}", (id,))
        for id, session, created in touched.spots:
            for sql in BESIDE if session else ():
                take(sql.format("n, id, session, created"), (created, id, session, NEIGHBOURS))
        return [row for n, row in rows.items() if n not in touched.done]

    def _neighbours(self, n: int, id: str, session: str, created: str) -> list[int]:
        """Return the neighbours of a row.

        They are what it links to, what links to it, and what is before and after it in its session.
        """
        ids: list[int] = [r[0] for r in self._db.execute(LINKED, (n,))]
        ids += [r[0] for r in self._db.execute(LINKING, (id,))]
        for sql in BESIDE if session else ():
            values = (created, id, session, NEIGHBOURS)
            ids += [r[0] for r in self._db.execute(sql.format("n"), values)]
        return [i for i in dict.fromkeys(ids) if i != n][:8]


def count_due(db: sqlite3.Connection) -> int:
    """Return how many rows wait for their context."""
    return int(db.execute("SELECT COUNT(*) FROM due").fetchone()[0])
