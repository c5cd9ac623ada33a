"""Builds and refreshes the index.

It works by tree diff when a store's ref has moved, and from nothing when it must.

Safe under many processes: one at a time is at it, under a lock that the kernel frees when it dies,
in transactions of some milliseconds (`index.store_update`). The truth is in git; the file may be
deleted at any time.
"""

import contextlib
import math
import os
import sqlite3
import sys
from collections.abc import Callable, Mapping, Sequence

from gitmem.base.files import Lock
from gitmem.base.sqlite import is_damage, is_locked, transaction, use_wal
from gitmem.errors import Busy, External, GitmemError
from gitmem.index.contexts import Contexts, count_due
from gitmem.index.filters import FLEETING, LASTING
from gitmem.index.reader import NAME, SCHEMA, Index
from gitmem.index.store_update import Progress, Steps, StoreUpdate
from gitmem.records.kinds import NAMED
from gitmem.repo.location import Home
from gitmem.store.layout import FOLDER
from gitmem.store.reader import Reader

LOCK = "index.lock"
PATIENCE = 10.0  # seconds to wait for another process that indexes
WAL_PAGES = 256  # pages of the write-ahead log that are left when nobody reads
EVERY = sys.maxsize - 1  # files: no bound

# What follows from other columns is not stored: a record's path (`store.layout.record_path`), when
# it was changed as long as it was not, who committed it where that is its author.
_FOLDERS = " ".join(f"WHEN '{kind}' THEN '{folder}'" for kind, folder in FOLDER.items())
_NAMED = ", ".join(f"'{kind}'" for kind in sorted(NAMED))
_PATH = (
    f"CASE kind {_FOLDERS} END || '/' || CASE WHEN kind IN ({_NAMED}) THEN substr(id, 5) "
    "ELSE substr(id, -2) || '/' || id END || '.md'"
)
_TABLES = f"""
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID;
CREATE TABLE tips (store TEXT PRIMARY KEY, tip TEXT) WITHOUT ROWID;
CREATE TABLE unfinished (store TEXT PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE records (n INTEGER PRIMARY KEY AUTOINCREMENT, store TEXT, id TEXT, kind TEXT,
    type TEXT, status TEXT, agent TEXT, session TEXT, author TEXT, origin TEXT, title TEXT,
  created TEXT, changed TEXT, rev INTEGER, importance REAL, severity TEXT, category TEXT,
      resolved INTEGER, occurrences INTEGER, last_seen TEXT, workaround TEXT,
  pattern TEXT, conflict INTEGER, tags TEXT, anchors TEXT, triggers TEXT, decay_rate REAL,
      project TEXT, unconfirmed INTEGER, fix TEXT, source TEXT, done TEXT, expires TEXT,
  level INTEGER, verify TEXT, blob BLOB,
  committed_by TEXT, vouchers TEXT, updated TEXT AS (IFNULL(changed, created)) VIRTUAL,
  oid TEXT AS (lower(hex(blob))) VIRTUAL,
  committer TEXT AS (IFNULL(committed_by, author)) VIRTUAL,
  path TEXT AS ({_PATH}) VIRTUAL, UNIQUE (id, store));
CREATE INDEX records_created ON records (created);
CREATE INDEX records_what ON records (CASE kind WHEN 'memory' THEN type ELSE kind END, created);
CREATE INDEX records_session ON records (session, created);
CREATE INDEX records_unconfirmed ON records (severity IS NOT 'critical', IFNULL(occurrences,
    0) DESC, last_seen DESC, id, kind, status, resolved)
  WHERE unconfirmed = 1;
CREATE INDEX records_worst ON records (CASE severity WHEN 'critical' THEN 0 WHEN 'warning' THEN 1
    WHEN 'info' THEN 2 ELSE 3 END, last_seen DESC) WHERE kind = 'gotcha';
CREATE INDEX records_pinned ON records (importance DESC, created DESC, id) WHERE {LASTING};
CREATE INDEX records_fleeting ON records (level, decay_rate, importance, created)
  WHERE {FLEETING};
CREATE INDEX records_counted ON records (occurrences, kind, status, resolved, category, severity,
    origin, unconfirmed) WHERE kind = 'gotcha';
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
CREATE TABLE damaged (store TEXT, path TEXT, oid TEXT, reason TEXT, PRIMARY KEY (store,
    path)) WITHOUT ROWID;
CREATE TABLE usage_files (n INTEGER PRIMARY KEY, store TEXT, path TEXT, UNIQUE (store, path));
CREATE TABLE usage (file INTEGER, id TEXT, n INTEGER, last TEXT, PRIMARY KEY (file, id))
    WITHOUT ROWID;
CREATE INDEX usage_id ON usage (id);
CREATE TABLE hours (file INTEGER, day TEXT, mask INTEGER, PRIMARY KEY (file, day)) WITHOUT ROWID;
CREATE TABLE statements (n INTEGER, id TEXT, what TEXT, role TEXT, successor TEXT, quote TEXT,
    PRIMARY KEY (n, id, what)) WITHOUT ROWID;
CREATE TABLE answers (n INTEGER, record TEXT, PRIMARY KEY (n, record)) WITHOUT ROWID;
CREATE TABLE settled (n INTEGER, id TEXT, words TEXT, PRIMARY KEY (n, id)) WITHOUT ROWID;
CREATE TABLE works (n INTEGER PRIMARY KEY, facts TEXT);
CREATE TABLE claims (claim BLOB, n INTEGER, PRIMARY KEY (claim, n)) WITHOUT ROWID;
CREATE INDEX claims_n ON claims (n);
CREATE TABLE rejected (store TEXT, path TEXT, claim BLOB, said TEXT, PRIMARY KEY (store, path))
    WITHOUT ROWID;
CREATE TABLE hidden (n INTEGER PRIMARY KEY);
CREATE TABLE due (n INTEGER PRIMARY KEY);
CREATE TABLE texts (n INTEGER PRIMARY KEY, body TEXT, anchors TEXT);
CREATE TABLE people (n INTEGER PRIMARY KEY, author TEXT, agent TEXT, UNIQUE (author, agent));
CREATE TABLE beside (n INTEGER PRIMARY KEY, after INTEGER, by INTEGER, near TEXT);
CREATE TABLE gone (n INTEGER PRIMARY KEY, title TEXT, begin TEXT);
CREATE VIRTUAL TABLE words USING fts5(context, title, tags, body, anchors, content = '',
    tokenize = "porter unicode61 remove_diacritics 2");
"""


# of a file that has tables, it holds from the next VACUUM on
_GIVES_ROOM_BACK = "PRAGMA auto_vacuum = INCREMENTAL"


class IndexCache:
    """The writable side of the index of one repository.

    `close` it, or use it as a context manager.
    """

    def __init__(self, home: Home) -> None:
        self._home = home
        self.path = home.join(NAME)
        self.in_memory = False
        self.db = self._open()

    def __enter__(self) -> "IndexCache":
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
                    raise External(
                        f"the index cannot be opened: {error}.",
                        "Run 'git mem doctor --fix' to build it anew.",
                    ) from error
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
        if not db.execute("PRAGMA page_count").fetchone()[0]:
            # a new file can give free room back; asked of any file, this waits for its writers
            db.execute(_GIVES_ROOM_BACK)
        use_wal(db, PATIENCE)
        db.execute(f"PRAGMA wal_autocheckpoint = {WAL_PAGES}")
        db.execute(f"PRAGMA journal_size_limit = {WAL_PAGES * 4096}")
        # derived: after a power cut it is checked and built anew
        db.execute("PRAGMA synchronous = OFF")
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
        dropped: list[str] = []
        with transaction(db):
            if _schema(db) != str(SCHEMA):
                for name, kind in db.execute(
                    "SELECT name, type FROM sqlite_master WHERE type IN ('table', 'view') ORDER BY "
                    "name = 'words' DESC"
                ).fetchall():
                    shadow = name.startswith(("sqlite_", "words_"))
                    if not shadow:
                        db.execute(f'DROP {kind} IF EXISTS "{name}"')
                        dropped.append(name)
                for statement in _TABLES.split(";\n"):
                    if statement.strip():
                        db.execute(statement)
                db.execute("INSERT INTO meta VALUES ('schema', ?)", (str(SCHEMA),))
        if dropped:
            # the room of the other schema; others that read keep it
            with contextlib.suppress(sqlite3.OperationalError):
                db.execute(_GIVES_ROOM_BACK)
                db.execute("VACUUM")

    def refresh(
        self,
        stores: Mapping[str, Reader],
        progress: Progress | None = None,
        *,
        patience: float = PATIENCE,
        most: int = EVERY,
        until: float = math.inf,
        defers: bool = False,
    ) -> int:
        """Bring the index to the stores' tips; return how many files were looked at.

        Raises Busy when another process keeps it for longer than `patience` seconds, External,
        Unfinished when more than `most` files of a store have changed, or it is later than `until`
        of the monotonic clock: then another call goes on from there. Where it `defers`, the context
        of what stands beside a changed record is left to `settle`.
        """
        try:
            self.db.execute(f"PRAGMA busy_timeout = {int(patience * 1000)}")
            return self._refresh(stores, progress, patience, most, until, defers=defers)
        except sqlite3.DatabaseError as error:
            if is_damage(error):
                return self.rebuild(stores, progress)
            if self.in_memory or is_locked(error):
                raise self._failed(error) from error
            # a full or read-only disk: reading goes on
            self.db.close()
            self.db = self._open_in_memory()
            return self._refresh(stores, progress)

    def settle(
        self, stores: Mapping[str, Reader], patience: float = PATIENCE, least: int = 1
    ) -> None:
        """Write the contexts that are due, if they are `least`, in short transactions.

        A damaged file is built anew. Raises Busy, External.
        """
        try:
            self.db.execute(f"PRAGMA busy_timeout = {int(patience * 1000)}")
            if count_due(self.db) >= least:
                self._settle(patience)
        except sqlite3.DatabaseError as error:
            if not is_damage(error):
                raise self._failed(error) from error
            self.rebuild(stores)

    def _settle(self, patience: float) -> None:
        contexts, steps = Contexts(self.db), Steps(self.db, math.inf)
        with self._alone(patience), steps:
            while contexts.settle():
                if steps.is_long:
                    steps.next()
            contexts.forget_gone()

    def _alone(self, patience: float) -> contextlib.AbstractContextManager[object]:
        """Return what keeps other processes from indexing; raises Busy."""
        if self.in_memory:
            return contextlib.nullcontext()
        return Lock(self._home.touch(LOCK), patience)

    def rebuild(self, stores: Mapping[str, Reader], progress: Progress | None = None) -> int:
        """Throw the file away and build it from git; raises Busy, External."""
        self.db.close()
        self._discard()
        self.db = self._open()
        try:
            return self._refresh(stores, progress)
        except sqlite3.DatabaseError as error:
            raise self._failed(error) from error

    def _failed(self, error: Exception) -> GitmemError:
        if is_locked(error):
            return Busy("the index is locked by another process.", "Try again in a moment.")
        return External(
            f"the index cannot be written: {error}.",
            "Free some disk space; the memories themselves are safe in git.",
        )

    def _refresh(
        self,
        stores: Mapping[str, Reader],
        progress: Progress | None,
        patience: float = PATIENCE,
        most: int = EVERY,
        until: float = math.inf,
        *,
        defers: bool = False,
    ) -> int:
        # a store that was emptied or left out must lose its rows too
        if self._is_at([(name, store.tip()) for name, store in stores.items()]):
            return 0
        with self._alone(patience):
            done = 0
            for name, store in stores.items():
                # it may have waited while another process was at it
                tip, old = store.tip(), Index(self.db).tips().get(name)
                if not self._is_at([(name, tip)]):
                    contexts = Contexts(self.db, defers=defers)
                    update = StoreUpdate(
                        self.db, name, store, Steps(self.db, until), progress, contexts
                    )
                    done += update.run(old, tip, most)
        return done

    def _is_at(self, tips: Sequence[tuple[str, str | None]]) -> bool:
        """Say whether stores are indexed at these commits, each to its end."""
        indexed = Index(self.db).tips()
        unfinished = {name for (name,) in self.db.execute("SELECT store FROM unfinished")}
        return all(indexed.get(name) == tip and name not in unfinished for name, tip in tips)


def _schema(db: sqlite3.Connection) -> str | None:
    try:
        row = db.execute("SELECT value FROM meta WHERE key = 'schema'").fetchone()
    except sqlite3.OperationalError as error:
        if "no such table" in str(error) or "no such column" in str(error):
            return None
        raise
    return row[0] if row else None
