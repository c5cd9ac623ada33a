"""Bring the rows of one store from the commit that was indexed to another.

A few changes are one transaction: a reader sees the store as it was at one commit. Many are steps
of some milliseconds each, and a reader sees how far they have come; the commit that is named is the
old one until the end. What was stopped between two, by a kill or by its time, goes on from what is
there: every file is compared with its row. `Cache.refresh` sees to it that one process at a time is
at it.
"""

import contextlib
import sqlite3
import time
from collections.abc import Callable, Mapping, Sequence
from itertools import islice
from typing import TypeVar

from gitmem.errors import GitmemError, MissingObject, Unfinished
from gitmem.git.objects import Objects, TreeDifference, TreeEntry, diff, files
from gitmem.index import rejections
from gitmem.index.committers import Credit, Credits
from gitmem.index.contexts import Contexts, Place, Row
from gitmem.index.neighbours import Map
from gitmem.index.row_writer import RowWriter, hide
from gitmem.records.active_hours import parse_hours
from gitmem.records.field_types import is_stamp
from gitmem.records.record import kind_of
from gitmem.store.layout import PLAIN_LIMIT, TOMBSTONES, has_hours, id_of_path, in_record_folder
from gitmem.store.reader import GONE, Damaged, Reader, Stored
from gitmem.store.usage_file import parse_usage

Progress = Callable[[int, int], None]
BULK = 200  # more changes than this are made in steps; more new records are indexed in two passes
T = TypeVar("T")
STEP = 0.01  # seconds of one transaction
INDEXED = 16  # rows whose words are indexed between two looks at the time
FREED = 64  # pages that are given back at once
LOADED = 100  # records that are read at once
PLAIN = frozenset({0o100644, 0o100755})
_ROW = TreeEntry("", 0o100644, "")  # stands for what a row was made of
OF_A_ROW = (
    "edges",
    "places",
    "bases",
    "patterns",
    "commands",
    "globs",
    "codes",
    "statements",
    "answers",
    "settled",
    "works",
    "made",
    "claims",
    "hidden",
    "due",
)


class Steps:
    """Short transactions: whoever waits for the file waits for one of them.

    Raises Unfinished between two when the time is up.
    """

    def __init__(self, db: sqlite3.Connection, until: float) -> None:
        self._db = db
        self.until = until
        self._began = 0.0
        self.whole = False  # whether all is one transaction, however long

    def __enter__(self) -> "Steps":
        self._begin()
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if self._db.in_transaction:
            self._db.execute("COMMIT" if kind is None else "ROLLBACK")

    def _begin(self) -> None:
        self._db.execute("BEGIN IMMEDIATE")
        self._began = time.monotonic()

    @property
    def is_long(self) -> bool:
        """Whether this transaction has lasted long enough."""
        return not self.whole and time.monotonic() - self._began >= STEP

    def between(self, work: Callable[[], T]) -> T:
        """Do what only reads between two transactions."""
        self.next()
        self._db.execute("COMMIT")
        done = work()
        self._begin()
        return done

    def next(self) -> None:
        """Commit, and go on with another transaction."""
        self._db.execute("COMMIT")
        if time.monotonic() >= self.until:
            raise Unfinished("the index is not yet up to date.", "The next command continues.")
        self._begin()


class StoreUpdate:
    """One update of one store."""

    def __init__(
        self,
        db: sqlite3.Connection,
        name: str,
        store: Reader,
        steps: Steps,
        progress: Progress | None,
        contexts: Contexts,
    ) -> None:
        self.db = db
        self._name = name
        self._store = store
        self._steps = steps
        self._progress = progress
        self._contexts = contexts
        self._rows = RowWriter(db, name)
        self._credits: Mapping[str, Credit] = {}  # of the records that are being written

    def run(self, old: str | None, tip: str | None, most: int) -> int:
        """Go from one commit to another; return how many files were looked at.

        Raises Unfinished when there are more than `most`.
        """
        new_tree = self._store.tree(tip) if tip else None
        changes, lost, anew = self._changes(old, new_tree, most)
        if len(changes) > most:
            raise Unfinished("the index is far behind.", "Bring it up to date with: git mem status")
        if tip:
            since = None if anew or self._is_unfinished() else old
            self._credits = Credits(
                self._store.objects, since, tip, changes, self._credit, self._steps.until
            ).find()
        with self._steps:
            self._steps.whole = len(changes) <= BULK
            self.db.execute("INSERT OR REPLACE INTO unfinished VALUES (?)", (self._name,))
            if anew:
                self._clear()
            self._apply(changes, lost)
            self._contexts.write(self._rest)
            rejections.hide(self.db)
            if tip is None:
                self.db.execute("DELETE FROM tips WHERE store = ?", (self._name,))
            else:
                self.db.execute("INSERT OR REPLACE INTO tips VALUES (?, ?)", (self._name, tip))
            self.db.execute("DELETE FROM unfinished WHERE store = ?", (self._name,))
            self._contexts.forget_gone()
        return len(changes)

    def _changes(
        self, old: str | None, new_tree: str | None, most: int
    ) -> tuple[list[TreeDifference], list[Damaged], bool]:
        """Return what differs from the rows, at most one change more than `most`.

        Folders that are gone; whether the rows are to be made anew.
        """
        objects, lost = self._store.objects, list[Damaged]()

        def note(path: str, oid: str) -> None:
            lost.append(Damaged(path, oid, GONE))

        if self._is_unfinished():
            listed = dict(files(objects, new_tree, lost=note))
            return self._left(listed, tuple(gone.path for gone in lost)), lost, False
        old_tree = _tree_of(objects, old) if old else None
        # the store was mended
        if old_tree and self._lacks() and not _lost_folders(objects, new_tree):
            old_tree = None
        # what stood in a folder that is gone stays as it was: there is no better knowledge of it
        changes = list(islice(diff(objects, old_tree, new_tree, lost=note), most + 1))
        return changes, lost, old_tree is None

    def _is_unfinished(self) -> bool:
        row = self.db.execute("SELECT 1 FROM unfinished WHERE store = ?", (self._name,)).fetchone()
        return row is not None

    def _credit(self, path: str) -> Credit | None:
        """Return whose the parts of a record are, as they are indexed; None without a row."""
        sql = "SELECT committer, vouchers FROM records WHERE id = ? AND store = ?"
        row = self.db.execute(sql, (id_of_path(path), self._name)).fetchone()
        if row is None:
            return None
        return Credit(*row)

    def _apply(self, changes: Sequence[TreeDifference], lost: Sequence[Damaged]) -> None:
        """Remove the rows of what was removed or changed, and write those of what is there now."""
        for gone in lost:
            self._damage(gone)
        for change in (c for c in changes if c.old is not None):
            self._remove(change.path)
            self._pause()
        rows: list[tuple[str, str]] = []
        for path, entry in ((c.path, c.new) for c in changes if c.new is not None):
            if path.startswith(("usage/", TOMBSTONES)) and entry.mode in PLAIN:
                with contextlib.suppress(MissingObject):
                    self._take_plain(path, self._store.objects.read_small(entry.oid, PLAIN_LIMIT))
                self._pause()
            elif not in_record_folder(path) and not path.startswith("usage/"):
                continue
            elif entry.mode in PLAIN:
                rows.append((path, entry.oid))
            else:
                self._damage(Damaged(path, entry.oid, "it is not a regular file."))
        self._insert_all(rows)

    def _left(self, listed: Mapping[str, TreeEntry], gone: tuple[str, ...]) -> list[TreeDifference]:
        """Return what an interrupted update has left to do.

        These are files that have no row, another one, or one without its words.
        """
        sql = "SELECT path, oid, n IN (SELECT n FROM beside) FROM records WHERE store = ?"
        rows: dict[str, str] = {
            path: oid if whole else "" for path, oid, whole in self.db.execute(sql, (self._name,))
        }
        self._unreject(None)
        out = []
        for path, entry in listed.items():
            oid = rows.pop(_storable(path), None)
            if oid != entry.oid:
                out.append(TreeDifference(path, _ROW, entry))
        return out + [
            TreeDifference(path, _ROW, None) for path in rows if not path.startswith(gone)
        ]

    def _pause(self) -> None:
        """End the transaction if it has lasted long enough.

        What stands beside what changed is right by then.
        """
        if self._steps.is_long:
            self._contexts.write()
            self._steps.next()

    def _rest(self) -> None:
        if self._steps.is_long:
            self._steps.next()

    def _insert_all(self, rows: Sequence[tuple[str, str]]) -> None:
        bulk = len(rows) > BULK
        fresh = self.db.execute("SELECT 1 FROM records LIMIT 1").fetchone() is None
        new: list[Row] = []
        for number, loaded in enumerate(self._store.load(rows, LOADED)):
            if isinstance(loaded, Damaged):
                self._damage(loaded)
            elif bulk:
                new.append(self._write(loaded))
            else:
                self._insert(loaded)
            if self._progress and number % 500 == 499:
                self._progress(number + 1, len(rows))
            if bulk and self._steps.is_long:
                self._steps.next()
            elif not bulk:
                self._pause()
        if bulk:
            self._index_all(new, fresh)
        if self._progress and rows:
            self._progress(len(rows), len(rows))

    def _lacks(self) -> bool:
        row = self.db.execute(
            "SELECT 1 FROM damaged WHERE store = ? AND reason = ? LIMIT 1", (self._name, GONE)
        ).fetchone()
        return row is not None

    def _clear(self) -> None:
        name = self._name
        if self.db.execute("SELECT 1 FROM records WHERE store <> ? LIMIT 1", (name,)).fetchone():
            sql = "SELECT n, id, session, created FROM records WHERE store = ?"
            for row in self.db.execute(sql, (name,)).fetchall():
                self._contexts.remove(row)
        else:
            self._contexts.remove_all()
        for table in OF_A_ROW:
            self.db.execute(
                f"DELETE FROM {table} WHERE n IN (SELECT n FROM records WHERE store = ?)", (name,)
            )
        self.db.execute("DELETE FROM hidden")  # no record is in two stores now
        for table in ("usage", "hours"):
            self.db.execute(
                f"DELETE FROM {table} WHERE file IN (SELECT n FROM usage_files WHERE store = ?)",
                (name,),
            )
        for table in ("records", "damaged", "usage_files", "rejected"):
            self.db.execute(f"DELETE FROM {table} WHERE store = ?", (name,))

    def _remove(self, path: str) -> None:
        path, name = _storable(path), self._name
        if path.startswith("usage/"):
            for table in ("usage", "hours"):
                self.db.execute(f"DELETE FROM {table} WHERE file = ?", (self._usage_file(path),))
            return
        if path.startswith(TOMBSTONES):
            self._unreject(path)
            return
        row = self.db.execute(
            "SELECT n, id, session, created FROM records WHERE id = ? AND store = ?",
            (id_of_path(path), name),
        ).fetchone()
        self.db.execute("DELETE FROM damaged WHERE store = ? AND path = ?", (name, path))
        if row is None:
            return
        n, id, *_ = row
        self._contexts.remove(row)
        for table in ("records", *OF_A_ROW):
            self.db.execute(f"DELETE FROM {table} WHERE n = ?", (n,))
        self.db.execute("DELETE FROM hidden WHERE n IN (SELECT n FROM records WHERE id = ?)", (id,))

    def _unreject(self, path: str | None) -> None:
        for id, kind in rejections.remove_tombstones(self.db, self._name, path):
            hide(self.db, id, kind)

    def _damage(self, file: Damaged) -> None:
        row = (self._name, _storable(file.path), file.oid, file.reason)
        self.db.execute("INSERT OR REPLACE INTO damaged VALUES (?, ?, ?, ?)", row)

    def _take_plain(self, path: str, data: bytes | None) -> None:
        if path.startswith(TOMBSTONES):
            rejections.add_tombstone(self.db, self._name, _storable(path), data)
        else:
            self._usage(path, data)

    def _usage(self, path: str, data: bytes | None) -> None:
        if has_hours(path):
            hours = self._usage_file(_storable(path))
            rows_of_days = [(hours, day, mask) for day, mask in parse_hours(data).items()]
            self.db.executemany("INSERT OR REPLACE INTO hours VALUES (?, ?, ?)", rows_of_days)
            return
        counts = (
            (id, row)
            for id, row in parse_usage(data).items()
            if kind_of(id) and abs(row["n"]) < 2**53
        )
        file = self._usage_file(_storable(path))
        rows = [
            (file, id, row["n"], row["last"] if is_stamp(row["last"]) else "") for id, row in counts
        ]
        self.db.executemany("INSERT OR REPLACE INTO usage VALUES (?, ?, ?, ?)", rows)

    def _usage_file(self, path: str) -> int:
        """Return the number of a usage file, which is given on first use."""
        key = (self._name, path)
        self.db.execute("INSERT OR IGNORE INTO usage_files VALUES (NULL, ?, ?)", key)
        sql = "SELECT n FROM usage_files WHERE store = ? AND path = ?"
        return int(self.db.execute(sql, key).fetchone()[0])

    def _insert(self, stored: Stored) -> None:
        """Write the row; its words wait until what stands beside it is there too."""
        self._contexts.add(self._write(stored))

    def _write(self, stored: Stored) -> Row:
        return self._rows.insert(stored, self._credits.get(stored.path) or Credit())

    def _index_all(self, rows: Sequence[Row], fresh: bool) -> None:
        """Index the words of new rows, each with those of the neighbours that it has in the end.

        `fresh`: there are no other rows. To update a row of FTS5 costs twice an insert.
        """
        done = {n for n, *_ in rows}
        for row in () if fresh else rows:
            self._contexts.make_due(row, done)
            self._rest()
        every = self._steps.between(lambda: Map(self.db))
        heads: dict[int, tuple[str, str]] = {}
        numbers = [n for n, *_ in rows]
        for start in range(0, len(numbers), INDEXED):
            some = numbers[start : start + INDEXED]
            places = {n: Place(every.after(n), every.neighbours(n)) for n in some}
            self._contexts.index(places, heads)
            self._rest()
        while self._contexts.merge():
            self._rest()
        while self._free_pages():
            self._rest()

    def _free_pages(self) -> bool:
        """Give some of the free room of the file back; say whether more is left.

        A file that cannot give room back (`auto_vacuum` is set when a file is made) keeps it.
        """
        before = self._count_free()
        self.db.execute(f"PRAGMA incremental_vacuum({FREED})").fetchall()
        return 0 < self._count_free() < before

    def _count_free(self) -> int:
        return int(self.db.execute("PRAGMA freelist_count").fetchone()[0])


def _storable(text: str) -> str:
    """Return a path as SQLite can keep it: bytes that are not UTF-8 are shown by their numbers."""
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode()


def _lost_folders(objects: Objects, tree: str | None) -> bool:
    lost: list[str] = []
    for _ in files(objects, tree, lost=lambda path, _: lost.append(path)):
        if lost:
            break
    return bool(lost)


def _tree_of(objects: Objects, commit: str) -> str | None:
    try:
        tree = objects.commit(commit).tree
        objects.tree(tree)
    except GitmemError:
        return None
    return tree
