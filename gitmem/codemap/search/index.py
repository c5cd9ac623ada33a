"""Full-text search over the code of a commit and the messages of commits before it.

Its file `codesearch.db` can be made again from git.

The hot path reads it: standard library only. FTS5 keeps no texts, so a file that changed is a new
row; rows of versions that are not there any more are passed over, and all is made anew when they
are most of it.
"""

import os

from gitmem.base.fast import sqlite
from gitmem.base.sqlite import is_damage, ready, transaction, use_wal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

NAME = "codesearch.db"
SCHEMA = 4
PATIENCE = 2.0
PAST = 3000  # commits whose messages are known
WIDE = 30  # files of a commit, from which on it says nothing of any of them
PATH, SYMBOLS, BODY = 5.0, 3.0, 1.0  # what a word counts by where it is
_TABLES = """
CREATE TABLE doc (id INTEGER PRIMARY KEY, path TEXT NOT NULL, oid TEXT NOT NULL, UNIQUE (path,
    oid));
CREATE VIRTUAL TABLE code USING fts5 (path, symbols, body, content='', tokenize='porter unicode61');
CREATE TABLE piece (id INTEGER PRIMARY KEY, doc INTEGER NOT NULL, qualified TEXT NOT NULL,
    line INTEGER NOT NULL);
CREATE VIRTUAL TABLE pieces USING fts5 (path, body, content='', tokenize='porter unicode61');
CREATE TABLE symbol (name TEXT NOT NULL, doc INTEGER NOT NULL, qualified TEXT NOT NULL,
    kind TEXT NOT NULL, line INTEGER NOT NULL, last INTEGER NOT NULL);
CREATE INDEX symbol_name ON symbol (name);
CREATE INDEX symbol_doc ON symbol (doc);
CREATE TABLE here (doc INTEGER PRIMARY KEY, rank REAL NOT NULL, aside INTEGER NOT NULL);
CREATE TABLE past (id INTEGER PRIMARY KEY, oid TEXT NOT NULL UNIQUE, subject TEXT NOT NULL,
    files INTEGER NOT NULL);
CREATE VIRTUAL TABLE said USING fts5 (message, content='', tokenize='porter unicode61');
CREATE TABLE touched (past INTEGER NOT NULL, path TEXT NOT NULL, PRIMARY KEY (past,
    path)) WITHOUT ROWID;
CREATE INDEX touched_path ON touched (path);
CREATE TABLE before (past INTEGER PRIMARY KEY);
CREATE TABLE mark (name TEXT PRIMARY KEY, value TEXT NOT NULL);
"""
_DROPPED = (
    "doc",
    "code",
    "piece",
    "pieces",
    "symbol",
    "here",
    "past",
    "said",
    "touched",
    "before",
    "mark",
)


class SearchIndex:
    """The open index, in a folder or, without one, in memory.

    `readonly` opens what is there and never makes it: `ready` says whether there is one.
    """

    def __init__(self, folder: str, *, readonly: bool = False) -> None:
        self.path = os.path.join(folder, NAME) if folder else ":memory:"
        self.left_out = 0  # files of the commit that there was no time for
        self.unreadable: Mapping[str, str] = {}  # files without a grammar, each with its language
        self.ready = not readonly or os.path.exists(self.path)
        self.db = self._opened(readonly) if self.ready else sqlite.connect(":memory:")

    def _opened(self, readonly: bool) -> "sqlite.Connection":
        try:
            return self._open(self.path, readonly)
        except sqlite.Error as error:
            if readonly:
                self.ready = False
                return sqlite.connect(":memory:")
            if is_damage(error):
                self.remove()
            try:
                return self._open(self.path, False)
            except (sqlite.Error, OSError):  # a read-only disk, a full one
                return self._open(":memory:", False)

    def _open(self, path: str, readonly: bool) -> "sqlite.Connection":
        if path != ":memory:" and not readonly:
            ready(path)
        db = sqlite.connect(
            path,
            timeout=0.1 if readonly else PATIENCE,
            isolation_level=None,
            check_same_thread=False,
        )
        try:
            (schema,) = db.execute("PRAGMA user_version").fetchone()
            if schema != SCHEMA and readonly:
                self.ready = False
            elif schema != SCHEMA:
                use_wal(db, PATIENCE)
                _make(db)
        except BaseException:
            db.close()
            raise
        return db

    def close(self) -> None:
        """Close the file."""
        self.db.close()

    def remove(self) -> None:
        """Remove the file."""
        for ending in ("", "-wal", "-shm"):
            try:
                os.unlink(self.path + ending)
            except OSError:
                pass

    def remake(self) -> None:
        """Begin anew, with nothing."""
        _make(self.db)

    # -- writing

    def marked(self, name: str) -> str:
        """Return a mark, '' when it was never made."""
        row = self.db.execute("SELECT value FROM mark WHERE name = ?", (name,)).fetchone()
        return str(row[0]) if row else ""

    def mark(self, name: str, value: str) -> None:
        """Set a mark."""
        self.db.execute("INSERT OR REPLACE INTO mark VALUES (?, ?)", (name, value))

    def lacking(self, files: "Iterable[tuple[str, str]]") -> "list[tuple[str, str]]":
        """Return those (path, oid) that are not in the index yet."""
        indexed = set(self.db.execute("SELECT path, oid FROM doc"))
        return [file for file in files if file not in indexed]

    def add(
        self,
        rows: "Iterable[tuple[str, str, str, str, str, Sequence[tuple[str, str, str, int, int]], "
        "Sequence[tuple[str, int, str]]]]",
    ) -> None:
        """Add files.

        A row is (path, oid, words of the path, words of the symbols, text, definitions as (name,
        qualified, kind, line, last), pieces as (qualified, line, text)).
        """
        with transaction(self.db):
            for path, oid, words, symbols, body, defined, pieces in rows:
                cursor = self.db.execute(
                    "INSERT OR IGNORE INTO doc (path, oid) VALUES (?, ?)", (path, oid)
                )
                if not cursor.rowcount:  # another process was first
                    continue
                self.db.execute(
                    "INSERT INTO code (rowid, path, symbols, body) VALUES (?, ?, ?, ?)",
                    (cursor.lastrowid, words, symbols, body),
                )
                self.db.executemany(
                    "INSERT INTO symbol VALUES (?, ?, ?, ?, ?, ?)",
                    [(name, cursor.lastrowid, *rest) for name, *rest in defined],
                )
                for qualified, line, text in pieces:
                    piece = self.db.execute(
                        "INSERT INTO piece (doc, qualified, line) VALUES (?, ?, ?)",
                        (cursor.lastrowid, qualified, line),
                    )
                    self.db.execute(
                        "INSERT INTO pieces (rowid, path, body) VALUES (?, ?, ?)",
                        (piece.lastrowid, words, text),
                    )

    def settle(self, files: "Iterable[tuple[str, str, float, bool]]", *, store: bool = True) -> int:
        """Say which files are there now: (path, oid, rank, whether it stands aside).

        Return how many rows are of none of them.

        Without `store`, only for this connection.
        """
        ids = {
            (path, oid): id for id, path, oid in self.db.execute("SELECT id, path, oid FROM doc")
        }
        rows = [
            (ids[path, oid], value, int(aside))
            for path, oid, value, aside in files
            if (path, oid) in ids
        ]
        if store:
            with transaction(self.db):
                self.db.execute("DELETE FROM main.here")
                self.db.executemany("INSERT INTO main.here VALUES (?, ?, ?)", rows)
        else:
            self.db.execute(
                "CREATE TEMP TABLE IF NOT EXISTS here (doc INTEGER PRIMARY KEY, rank REAL NOT "
                "NULL, aside INTEGER NOT NULL)"
            )
            self.db.execute("DELETE FROM temp.here")
            self.db.executemany("INSERT INTO temp.here VALUES (?, ?, ?)", rows)
        return len(ids) - len(rows)

    def lacking_commits(self, oids: "Sequence[str]") -> "list[str]":
        """Return those commits that are not in the index yet."""
        indexed = {oid for (oid,) in self.db.execute("SELECT oid FROM past")}
        return [oid for oid in oids if oid not in indexed]

    def add_commits(self, rows: "Iterable[tuple[str, str, str, Sequence[str]]]") -> None:
        """Add commits: (id, subject, message, files)."""
        with transaction(self.db):
            for oid, subject, message, paths in rows:
                cursor = self.db.execute(
                    "INSERT OR IGNORE INTO past (oid, subject, files) VALUES (?, ?, ?)",
                    (oid, subject, len(paths)),
                )
                if cursor.rowcount and cursor.lastrowid:
                    self.db.execute(
                        "INSERT INTO said (rowid, message) VALUES (?, ?)",
                        (cursor.lastrowid, message),
                    )
                    if len(paths) <= WIDE:
                        self.db.executemany(
                            "INSERT OR IGNORE INTO touched VALUES (?, ?)",
                            [(cursor.lastrowid, path) for path in paths],
                        )

    def settle_commits(self, oids: "Sequence[str]", *, store: bool = True) -> None:
        """Say which commits are before what is looked at."""
        ids = dict(self.db.execute("SELECT oid, id FROM past"))
        rows = [(ids[oid],) for oid in oids if oid in ids]
        if not store:
            self.db.execute("CREATE TEMP TABLE IF NOT EXISTS before (past INTEGER PRIMARY KEY)")
        schema = "main" if store else "temp"
        with transaction(self.db):
            self.db.execute(f"DELETE FROM {schema}.before")
            self.db.executemany(f"INSERT INTO {schema}.before VALUES (?)", rows)

    # -- reading; a table of this connection hides the stored one of its name

    def files_by_words(self, query: str, most: int) -> "list[tuple[str, float, int]]":
        """Return (path, score, aside) of the files that a full-text query finds, best first.

        The value `aside` tells whether a file is for tests, examples or documentation alone.
        """
        if not query:
            return []
        return self.db.execute(
            "SELECT doc.path, -bm25(code, ?, ?, ?) AS score, here.aside FROM code CROSS JOIN here "
            "ON here.doc = code.rowid JOIN doc ON doc.id = code.rowid"
            " WHERE code MATCH ? ORDER BY score DESC, doc.path LIMIT ?",
            (PATH, SYMBOLS, BODY, query, most),
        ).fetchall()

    def pieces_by_words(self, query: str, most: int) -> "list[tuple[str, str, int, float]]":
        """Return (path, definition, line, score) of the pieces that a query finds, best first.

        The query is a full-text query. Files for tests, examples or documentation alone have no
        pieces.
        """
        if not query:
            return []
        return self.db.execute(
            "SELECT doc.path, piece.qualified, piece.line, -bm25(pieces, ?, ?) AS score FROM "
            "pieces CROSS JOIN piece ON piece.id = pieces.rowid"
            " JOIN here ON here.doc = piece.doc JOIN doc ON doc.id = piece.doc WHERE pieces MATCH "
            "? ORDER BY score DESC, doc.path, piece.line LIMIT ?",
            (SYMBOLS - 1, BODY, query, most),
        ).fetchall()

    def defining(self, name: str) -> "list[tuple[str, str, str, int]]":
        """Return (path, qualified, kind, line) of the definitions of a name, by path.

        Files for tests, examples or documentation alone are left out.
        """
        return self.db.execute(
            "SELECT doc.path, qualified, kind, line FROM symbol JOIN here ON here.doc = symbol.doc "
            "JOIN doc ON doc.id = symbol.doc"
            " WHERE name = ? AND here.aside = 0 ORDER BY doc.path, line",
            (name,),
        ).fetchall()

    def symbols(self, path: str) -> "list[tuple[str, str, str, int, int]]":
        """Return (name, qualified, kind, line, last line) of a file's definitions, in order."""
        return self.db.execute(
            "SELECT name, qualified, kind, line, last FROM symbol JOIN here ON here.doc = "
            "symbol.doc JOIN doc ON doc.id = symbol.doc WHERE doc.path = ? ORDER BY line",
            (path,),
        ).fetchall()

    def paths(self) -> "dict[str, tuple[float, int]]":
        """Return {path: (rank, whether it stands aside)} of the files that are there."""
        return {
            path: (value, aside)
            for path, value, aside in self.db.execute(
                "SELECT doc.path, here.rank, here.aside FROM here JOIN doc ON doc.id = here.doc"
            )
        }

    def commits_by_words(self, query: str, most: int) -> "list[tuple[int, str, str, int, float]]":
        """Return (number, id, subject, files, score) of commits that a query finds, best first.

        The full-text query searches their messages.
        """
        if not query:
            return []
        return self.db.execute(
            "SELECT past.id, past.oid, past.subject, past.files, -bm25(said) AS score FROM said "
            "CROSS JOIN before ON before.past = said.rowid JOIN past ON past.id = said.rowid"
            " WHERE said MATCH ? ORDER BY score DESC, past.id DESC LIMIT ?",
            (query, most),
        ).fetchall()

    def files_of(self, numbers: "Sequence[int]") -> "dict[int, list[str]]":
        """Return the files of commits by their numbers."""
        out: dict[int, list[str]] = {}
        for number in numbers:
            out[number] = [
                path
                for (path,) in self.db.execute(
                    "SELECT path FROM touched WHERE past = ? ORDER BY path", (number,)
                )
            ]
        return out

    def changed_with(self, path: str, most: int = 12) -> "list[tuple[str, int, int]]":
        """Return the files that change together with a file, most often first.

        Each is (path, how many commits changed both, how many changed this one).
        """
        (alone,) = self.db.execute(
            "SELECT count(*) FROM touched JOIN before ON before.past = touched.past WHERE path = ?",
            (path,),
        ).fetchone()
        if not alone:
            return []
        rows = self.db.execute(
            "SELECT other.path, count(*) AS both FROM touched AS own JOIN before ON before.past = "
            "own.past JOIN touched AS other ON other.past = own.past"
            " WHERE own.path = ? AND other.path <> own.path GROUP BY other.path ORDER BY both "
            "DESC, other.path LIMIT ?",
            (path, most),
        ).fetchall()
        return [(other, both, alone) for other, both in rows]

    def having(self, word: str, paths: "Sequence[str]") -> "set[str]":
        """Return those of some files that have a word."""
        marks = ",".join("?" * len(paths))
        return {
            path
            for (path,) in self.db.execute(
                f"SELECT doc.path FROM doc JOIN here ON here.doc = doc.id WHERE doc.path IN "
                f"({marks}) AND doc.id IN (SELECT rowid FROM code WHERE code MATCH ?)",
                (*paths, f'"{word}"'),
            )
        }

    def size(self) -> int:
        """Return how many files there are."""
        (count,) = self.db.execute("SELECT count(*) FROM here").fetchone()
        return int(count)

    def number(self, word: str) -> int:
        """Return how many files have a word, those counted that are not there any more."""
        (count,) = self.db.execute(
            "SELECT count(*) FROM code WHERE code MATCH ?", (f'"{word}"',)
        ).fetchone()
        return int(count)


def _make(db: "sqlite.Connection") -> None:
    with transaction(db):
        for name in _DROPPED:
            db.execute(f"DROP TABLE IF EXISTS {name}")
        for row in _TABLES.strip().split(";\n"):
            db.execute(row)
        db.execute(f"PRAGMA user_version = {SCHEMA}")
