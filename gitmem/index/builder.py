"""Build and refresh the index: by tree diff when a store's ref has moved, from nothing when it must be.

Safe under many processes: one transaction under SQLite's write lock, checked again once it is had. The
truth is in git; the file may be deleted at any time.
"""

import contextlib
import json
import os
import sqlite3
from collections.abc import Callable, Mapping
from typing import Any

from gitmem.base.sqlite import is_damage, is_locked, transaction, use_wal
from gitmem.errors import Busy, External, GitmemError, MissingObject
from gitmem.git.objects import Objects, diff, files
from gitmem.index.columns import bases, columns, context_words, entries, made, settled, words
from gitmem.index.neighbours import BESIDE, LINKED, LINKING, NEIGHBOURS, Map
from gitmem.index.reader import NAME, SCHEMA, Index
from gitmem.records.epic import facts
from gitmem.records.kinds import command_heads, error_patterns
from gitmem.records.record import Record, is_stamp, kind_of
from gitmem.repo.location import Home
from gitmem.store.layout import PLAIN_LIMIT, in_record_folder
from gitmem.store.reader import GONE, Damaged, Reader, Stored
from gitmem.store.usage_file import parse_usage
from gitmem.text.tokenizer import parts

Progress = Callable[[int, int], None]
CONTEXT_TEXT = 240  # characters of a neighbour's body that count as context
BULK = 200  # more new records than this are indexed in two passes
PATIENCE = 10.0  # seconds to wait for another process that indexes

_TABLES = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID;
CREATE TABLE tips (store TEXT PRIMARY KEY, tip TEXT) WITHOUT ROWID;
CREATE TABLE records (n INTEGER PRIMARY KEY, store TEXT, id TEXT, kind TEXT, type TEXT, status TEXT, agent TEXT, session TEXT, author TEXT, origin TEXT, title TEXT,
  created TEXT, updated TEXT, rev INTEGER, importance REAL, severity TEXT, category TEXT, resolved INTEGER, occurrences INTEGER, last_seen TEXT, workaround TEXT,
  pattern TEXT, conflict INTEGER, tags TEXT, anchors TEXT, triggers TEXT, decay_rate REAL, project TEXT, confirmed INTEGER, fix TEXT, source TEXT, oid TEXT, path TEXT, UNIQUE (store, path));
CREATE INDEX records_id ON records (id);
CREATE INDEX records_created ON records (created, id);
CREATE INDEX records_what ON records (CASE kind WHEN 'memory' THEN type ELSE kind END, created, id);
CREATE INDEX records_session ON records (session, created, id);
CREATE INDEX records_unconfirmed ON records (severity IS NOT 'critical', IFNULL(occurrences, 0) DESC, last_seen DESC, id, kind, status, resolved, confirmed, origin)
  WHERE confirmed = 0 AND origin IN ('captured', 'extracted');
CREATE INDEX records_worst ON records (CASE severity WHEN 'critical' THEN 0 WHEN 'warning' THEN 1 WHEN 'info' THEN 2 ELSE 3 END, last_seen DESC, id);
CREATE INDEX records_pinned ON records (importance DESC, created DESC, id) WHERE status = 'pinned';
CREATE INDEX records_counted ON records (occurrences, kind, status, resolved, category, severity, origin, confirmed);
CREATE TABLE edges (n INTEGER, rel TEXT, dst TEXT, PRIMARY KEY (n, rel, dst)) WITHOUT ROWID;
CREATE INDEX edges_dst ON edges (dst);
CREATE TABLE places (path TEXT, n INTEGER, PRIMARY KEY (path, n)) WITHOUT ROWID;
CREATE INDEX places_n ON places (n);
CREATE TABLE bases (path TEXT, blob TEXT, n INTEGER, PRIMARY KEY (path, blob, n)) WITHOUT ROWID;
CREATE INDEX bases_n ON bases (n);
CREATE TABLE globs (n INTEGER, glob TEXT, PRIMARY KEY (n, glob)) WITHOUT ROWID;
CREATE TABLE codes (n INTEGER PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE patterns (pattern TEXT, n INTEGER, PRIMARY KEY (pattern, n)) WITHOUT ROWID;
CREATE INDEX patterns_n ON patterns (n);
CREATE TABLE commands (head TEXT, n INTEGER, PRIMARY KEY (head, n)) WITHOUT ROWID;
CREATE INDEX commands_n ON commands (n);
CREATE TABLE made (oid TEXT, patch TEXT, n INTEGER, PRIMARY KEY (oid, n)) WITHOUT ROWID;
CREATE INDEX made_patch ON made (patch);
CREATE INDEX made_n ON made (n);
CREATE TABLE damaged (store TEXT, path TEXT, oid TEXT, reason TEXT, PRIMARY KEY (store, path)) WITHOUT ROWID;
CREATE TABLE usage (store TEXT, file TEXT, id TEXT, n INTEGER, last TEXT, PRIMARY KEY (id, store, file)) WITHOUT ROWID;
CREATE TABLE summaries (n INTEGER PRIMARY KEY, scope TEXT, settled TEXT);
CREATE TABLE entries (n INTEGER, place INTEGER, section TEXT, id TEXT, kind TEXT, text TEXT, detail TEXT, at TEXT, session TEXT, files TEXT, pinned INTEGER,
  critical INTEGER, PRIMARY KEY (n, place)) WITHOUT ROWID;
CREATE TABLE works (n INTEGER PRIMARY KEY, facts TEXT);
CREATE VIRTUAL TABLE words USING fts5(title, tags, body, anchors, context, tokenize = "porter unicode61 remove_diacritics 2");
"""


class Cache:
    """The writable side of the index of one repository. `close` it, or use it as a context manager."""

    def __init__(self, home: Home) -> None:
        self._home = home
        self.path = home.join(NAME)
        self.in_memory = False
        self.db = self._open()

    def __enter__(self) -> "Cache":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Release the file."""
        self.db.close()

    def index(self, mend: Callable[[], sqlite3.Connection] | None = None) -> Index:
        """Return the reading side on the same connection."""
        return Index(self.db, mend)

    def _open(self) -> sqlite3.Connection:
        for attempt in (0, 1):
            db = None
            try:
                self._home.touch(NAME)
                db = self._connect(self.path)
                self._prepare(db)
            except External:
                break  # the folder cannot be written: nothing to heal there
            except sqlite3.DatabaseError as error:
                if db is not None:
                    db.close()
                text = str(error)
                if any(part in text for part in ("readonly", "unable to open", "full", "disk I/O")):
                    break
                if attempt or is_locked(error):
                    raise External(f"the index cannot be opened: {error}.", "Run 'git mem doctor --fix' to build it anew.") from error
                self._discard()
            else:
                return db
        return self._open_in_memory()

    def _open_in_memory(self) -> sqlite3.Connection:
        self.in_memory = True
        db = self._connect(":memory:")
        self._prepare(db)
        return db

    def _connect(self, path: str) -> sqlite3.Connection:
        db = sqlite3.connect(path, timeout=PATIENCE, isolation_level=None, check_same_thread=False)
        use_wal(db, PATIENCE)
        db.execute("PRAGMA synchronous = OFF")  # derived: after a power cut it is checked and built anew
        db.execute("PRAGMA temp_store = MEMORY")
        return db

    def _discard(self) -> None:
        for suffix in ("", "-wal", "-shm", "-journal"):
            with contextlib.suppress(FileNotFoundError):
                os.unlink(self.path + suffix)

    def _prepare(self, db: sqlite3.Connection) -> None:
        """Make the tables, or make them anew when they are of another schema, older or newer."""
        if _schema(db) == str(SCHEMA):
            return
        with transaction(db):
            if _schema(db) != str(SCHEMA):
                for name, kind in db.execute(
                    "SELECT name, type FROM sqlite_master WHERE type IN ('table', 'view') ORDER BY name = 'words' DESC"
                ).fetchall():
                    shadow = name.startswith(("sqlite_", "words_"))
                    if not shadow:
                        db.execute(f'DROP {kind} IF EXISTS "{name}"')
                for statement in _TABLES.split(";\n"):
                    if statement.strip():
                        db.execute(statement)
                db.execute("INSERT INTO meta VALUES ('schema', ?)", (str(SCHEMA),))

    def refresh(
        self, stores: Mapping[str, Reader], progress: Progress | None = None, *, full: bool = False, patience: float = PATIENCE
    ) -> int:
        """Bring the index to the stores' tips; return how many files were looked at.

        Raises Busy when another process keeps it for longer than `patience` seconds, External.
        """
        try:
            self.db.execute(f"PRAGMA busy_timeout = {int(patience * 1000)}")
            return self._refresh(stores, progress, full)
        except sqlite3.DatabaseError as error:
            if is_damage(error):
                return self.rebuild(stores, progress)
            if self.in_memory or is_locked(error):
                raise self._failed(error) from error
            # a full or read-only disk: reading goes on
            self.db.close()
            self.db = self._open_in_memory()
            return self._refresh(stores, progress, full=True)

    def rebuild(self, stores: Mapping[str, Reader], progress: Progress | None = None) -> int:
        """Throw the file away and build it from git; raises Busy, External."""
        self.db.close()
        self._discard()
        self.db = self._open()
        try:
            return self._refresh(stores, progress, full=True)
        except sqlite3.DatabaseError as error:
            raise self._failed(error) from error

    def _failed(self, error: Exception) -> GitmemError:
        if is_locked(error):
            return Busy("the index is locked by another process.", "Try again in a moment.")
        return External(f"the index cannot be written: {error}.", "Free some disk space; the memories themselves are safe in git.")

    def _refresh(self, stores: Mapping[str, Reader], progress: Progress | None, full: bool) -> int:
        # a store that was emptied or left out must lose its rows too
        todo = [(name, store, store.tip()) for name, store in stores.items()]
        known = Index(self.db).tips()
        if not full and all(known.get(name) == tip for name, _, tip in todo):
            return 0
        with transaction(self.db):
            done = 0
            known = Index(self.db).tips()
            for name, store, tip in todo:
                if full or known.get(name) != tip:
                    done += self._store(name, store, None if full else known.get(name), tip, progress)
        return done

    def _store(self, name: str, store: Reader, old: str | None, tip: str | None, progress: Progress | None) -> int:
        objects = store.objects
        new_tree = store.tree(tip) if tip else None
        old_tree = _tree_of(objects, old) if old else None
        touched = _Touched()
        if old_tree is None:
            self._clear(name, touched)
        lost: list[Damaged] = []
        if old_tree and self._lacks(name) and not _lost_folders(objects, new_tree):  # the store was mended
            old_tree = None
            self._clear(name, touched)
        # what stood in a folder that is gone stays as it was: there is no better knowledge of it
        changes = list(diff(objects, old_tree, new_tree, lost=lambda path, oid: lost.append(Damaged(path, oid, GONE))))
        for gone in lost:
            self._damage(name, gone)
        removed = [c.path for c in changes if c.old is not None]
        added = [c for c in changes if c.new is not None and (in_record_folder(c.path) or c.path.startswith("usage/"))]
        if old_tree is not None:
            for path in removed:
                self._remove(name, path, touched)
        rows = [(c.path, c.new.oid) for c in added if c.new and c.new.mode in {0o100644, 0o100755}]
        for change in added:
            if change.new and change.new.mode not in {0o100644, 0o100755}:
                self._damage(name, Damaged(change.path, change.new.oid, "it is not a regular file."))
        bulk = len(rows) > BULK
        if bulk:
            self.db.execute("CREATE TEMP TABLE IF NOT EXISTS staged (n INTEGER PRIMARY KEY, title, tags, body, anchors, parts)")
        for path, oid in (row for row in rows if row[0].startswith("usage/")):
            with contextlib.suppress(MissingObject):
                self._usage(name, path, objects.read_small(oid, PLAIN_LIMIT))
        rows = [row for row in rows if not row[0].startswith("usage/")]
        for number, found in enumerate(store.load(rows)):
            if isinstance(found, Damaged):
                self._damage(name, found)
            elif bulk:
                self._stage(self._rows(name, found), found.record)
            else:
                self._insert(name, found, touched)
            if progress and number % 500 == 499:
                progress(number + 1, len(rows))
        if bulk:
            self._unstage(touched)
        self._contexts(touched)
        self.db.execute("INSERT OR REPLACE INTO tips VALUES (?, ?)", (name, tip))
        if tip is None:
            self.db.execute("DELETE FROM tips WHERE store = ?", (name,))
        if progress and rows:
            progress(len(rows), len(rows))
        return len(changes)

    def _lacks(self, name: str) -> bool:
        return self.db.execute("SELECT 1 FROM damaged WHERE store = ? AND reason = ? LIMIT 1", (name, GONE)).fetchone() is not None

    def _clear(self, name: str, touched: "_Touched") -> None:
        if self.db.execute("SELECT 1 FROM records WHERE store <> ? LIMIT 1", (name,)).fetchone():
            for row in self.db.execute("SELECT id, session, created FROM records WHERE store = ?", (name,)):
                touched.around(*row)
            touched.ids.update(
                d for (d,) in self.db.execute("SELECT dst FROM edges e JOIN records r ON r.n = e.n WHERE r.store = ?", (name,))
            )
        self.db.execute("DELETE FROM words WHERE rowid IN (SELECT n FROM records WHERE store = ?)", (name,))
        for table in ("edges", "places", "bases", "patterns", "commands", "globs", "codes", "summaries", "entries", "works", "made"):
            self.db.execute(f"DELETE FROM {table} WHERE n IN (SELECT n FROM records WHERE store = ?)", (name,))
        for table in ("records", "damaged", "usage"):
            self.db.execute(f"DELETE FROM {table} WHERE store = ?", (name,))

    def _remove(self, name: str, path: str, touched: "_Touched") -> None:
        path = _storable(path)
        if path.startswith("usage/"):
            self.db.execute("DELETE FROM usage WHERE store = ? AND file = ?", (name, path))
            return
        row = self.db.execute("SELECT n, id, session, created FROM records WHERE store = ? AND path = ?", (name, path)).fetchone()
        self.db.execute("DELETE FROM damaged WHERE store = ? AND path = ?", (name, path))
        if row is None:
            return
        n, id, session, created = row
        touched.around(id, session, created)
        touched.ids.update(dst for (dst,) in self.db.execute("SELECT dst FROM edges WHERE n = ?", (n,)))
        for table in (
            "records",
            "edges",
            "places",
            "bases",
            "patterns",
            "commands",
            "globs",
            "codes",
            "summaries",
            "entries",
            "works",
            "made",
        ):
            self.db.execute(f"DELETE FROM {table} WHERE n = ?", (n,))
        self.db.execute("DELETE FROM words WHERE rowid = ?", (n,))

    def _damage(self, name: str, found: Damaged) -> None:
        self.db.execute("INSERT OR REPLACE INTO damaged VALUES (?, ?, ?, ?)", (name, _storable(found.path), found.oid, found.reason))

    def _usage(self, name: str, path: str, data: bytes | None) -> None:
        counts = ((id, row) for id, row in parse_usage(data).items() if kind_of(id) and abs(row["n"]) < 2**53)
        rows = [(name, _storable(path), id, row["n"], row["last"] if is_stamp(row["last"]) else "") for id, row in counts]
        self.db.executemany("INSERT OR REPLACE INTO usage VALUES (?, ?, ?, ?, ?)", rows)

    def _insert(self, name: str, stored: Stored, touched: "_Touched") -> None:
        record = stored.record
        n = self._rows(name, stored)
        self.db.execute("INSERT INTO words (rowid, title, tags, body, anchors, context) VALUES (?, ?, ?, ?, ?, ?)", (n, *words(record)))
        touched.around(record.id, str(record.get("session")), record.created)
        touched.ids.update((*(record.get("links") or []), *(record.get("supersedes") or [])))

    def _rows(self, name: str, stored: Stored) -> int:
        """Insert what is not full text: the row, its edges, its places."""
        record = stored.record
        cursor = self.db.execute(
            f"INSERT OR REPLACE INTO records VALUES (NULL, {', '.join('?' * 32)})", (name, *columns(record), stored.oid, stored.path)
        )
        n = cursor.lastrowid
        for rel in ("links", "supersedes"):
            self.db.executemany("INSERT OR IGNORE INTO edges VALUES (?, ?, ?)", [(n, rel, dst) for dst in record.get(rel) or []])
        places = {str(a["path"]) for a in record.anchors if isinstance(a.get("path"), str)}
        self.db.executemany("INSERT OR IGNORE INTO places VALUES (?, ?)", [(p, n) for p in places])
        if record.kind == "gotcha":
            self.db.executemany("INSERT OR IGNORE INTO bases VALUES (?, ?, ?)", [(*base, n) for base in bases(record)])
        globs = {str(a["glob"]) for a in record.anchors if isinstance(a.get("glob"), str)}
        self.db.executemany("INSERT OR IGNORE INTO globs VALUES (?, ?)", [(n, glob) for glob in globs])
        if {"code", "query"} & set(record.get("triggers") or {}) and record.kind == "gotcha":
            self.db.execute("INSERT OR IGNORE INTO codes VALUES (?)", (n,))
        self.db.executemany("INSERT OR IGNORE INTO patterns VALUES (?, ?)", [(p, n) for p in error_patterns(record.get("triggers"))])
        if record.kind == "gotcha":
            self.db.executemany("INSERT OR IGNORE INTO commands VALUES (?, ?)", [(c, n) for c in command_heads(record.get("triggers"))])
        if record.kind == "summary":
            self.db.execute("INSERT OR REPLACE INTO summaries VALUES (?, ?, ?)", (n, str(record.get("scope") or ""), settled(record)))
            self.db.executemany("INSERT OR IGNORE INTO made VALUES (?, ?, ?)", [(*one, n) for one in made(record)])
            self.db.executemany(f"INSERT INTO entries VALUES ({', '.join('?' * 12)})", [(n, *row) for row in entries(record)])
        if record.kind == "work":
            self.db.execute(
                "INSERT OR REPLACE INTO works VALUES (?, ?)", (n, json.dumps(facts(record.fields.get("state")), ensure_ascii=False))
            )
        assert n is not None
        return n

    def _stage(self, n: int, record: Record) -> None:
        """Put a record's words aside until all its neighbours are known: FTS5 updates cost twice an insert."""
        self.db.execute("INSERT OR REPLACE INTO staged VALUES (?, ?, ?, ?, ?, ?)", (n, *words(record)))

    def _unstage(self, touched: "_Touched") -> None:
        """Insert the staged words, each with the words of its neighbours: those that `_neighbours` would name."""
        fresh = self.db.execute("SELECT 1 FROM words LIMIT 1").fetchone() is None
        heads = {n: (t, b) for n, t, b in self.db.execute(f"SELECT n, title, substr(body, 1, {CONTEXT_TEXT}) FROM staged")}
        staged = set(heads)
        every = Map(self.db)
        for n, title, tags, body, anchors, own in self.db.execute("SELECT n, title, tags, body, anchors, parts FROM staged ORDER BY n"):
            near = every.neighbours(n)
            for other in near:
                if other not in heads:
                    heads[other] = self.db.execute(
                        f"SELECT title, substr(body, 1, {CONTEXT_TEXT}) FROM words WHERE rowid = ?", (other,)
                    ).fetchone() or ("", "")
            context = context_words(own, title, [heads[x] for x in near])
            self.db.execute(
                "INSERT INTO words (rowid, title, tags, body, anchors, context) VALUES (?, ?, ?, ?, ?, ?)",
                (n, title, tags, body, anchors, context),
            )
        self.db.execute("DELETE FROM staged")
        touched.done = staged
        if not fresh:  # what was there before has new neighbours
            for n in staged:
                touched.around(*every.rows[n])
                touched.ids.update(every.targets.get(n, ()))

    def _contexts(self, touched: "_Touched") -> None:
        """Give the context column of what changed, and of what stands beside it, its neighbours' words."""
        for n, id, session, created in self._affected(touched):
            near = self._neighbours(n, id, session, created)
            row = self.db.execute("SELECT title, body FROM words WHERE rowid = ?", (n,)).fetchone()
            if row is None:
                continue
            context = context_words(parts(f"{row[0]} {row[1]}"), row[0], [(t, b[:CONTEXT_TEXT]) for t, b in near])
            self.db.execute("UPDATE words SET context = ? WHERE rowid = ? AND context <> ?", (context, n, context))

    def _affected(self, touched: "_Touched") -> list[tuple[Any, ...]]:
        found: dict[int, tuple[Any, ...]] = {}
        for id in touched.ids:
            for row in self.db.execute("SELECT n, id, session, created FROM records WHERE id = ?", (id,)):
                found[row[0]] = row
            for row in self.db.execute(
                "SELECT r.n, r.id, r.session, r.created FROM edges e JOIN records r ON r.n = e.n WHERE e.dst = ?", (id,)
            ):
                found[row[0]] = row
        for id, session, created in touched.spots:
            for sql in BESIDE if session else ():
                for row in self.db.execute(sql.format("n, id, session, created"), (created, id, session, NEIGHBOURS)):
                    found[row[0]] = row
        return [row for n, row in found.items() if n not in touched.done]

    def _neighbours(self, n: int, id: str, session: str, created: str) -> list[tuple[str, str]]:
        """Return title and body of what a record links to, what links to it, what stands before and after it in its session."""
        ids: list[int] = [r[0] for r in self.db.execute(LINKED, (n,))]
        ids += [r[0] for r in self.db.execute(LINKING, (id,))]
        for sql in BESIDE if session else ():
            ids += [r[0] for r in self.db.execute(sql.format("n"), (created, id, session, NEIGHBOURS))]
        unique = [i for i in dict.fromkeys(ids) if i != n][:8]
        rows = (self.db.execute("SELECT title, body FROM words WHERE rowid = ?", (i,)).fetchone() for i in unique)
        return [r for r in rows if r]


class _Touched:
    """Which records' surroundings changed."""

    def __init__(self) -> None:
        self.ids: set[str] = set()
        self.spots: set[tuple[str, str, str]] = set()
        self.done: set[int] = set()  # rows whose context is right already

    def around(self, id: str, session: str, created: str) -> None:
        self.ids.add(id)
        self.spots.add((id, session, created))


def _storable(text: str) -> str:
    """Return a path as SQLite can keep it: bytes that are not UTF-8 are shown by their numbers."""
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode()


def _schema(db: sqlite3.Connection) -> str | None:
    try:
        row = db.execute("SELECT value FROM meta WHERE key = 'schema'").fetchone()
    except sqlite3.OperationalError as error:
        if "no such table" in str(error) or "no such column" in str(error):
            return None
        raise
    return row[0] if row else None


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
