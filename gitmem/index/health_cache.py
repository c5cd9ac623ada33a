"""What health was computed from and came to, so that a state of the past is read once.

The file `health.db` can be made again from git. It has numbers, ids and digests, no words.
"""

import os
from collections.abc import Iterable, Mapping, Sequence

from gitmem.base.fast import dumps, loads, sqlite
from gitmem.base.sqlite import is_damage, ready, transaction, use_wal

NAME = "health.db"
SCHEMA = 3  # of the tables and of what the rows hold
PATIENCE = 2.0
SOME = 500  # values of one question
KEPT = 60_000  # facts, and states of the past
_TABLES = """
CREATE TABLE facts (oid TEXT PRIMARY KEY, fact TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE states (key TEXT PRIMARY KEY, counts TEXT NOT NULL) WITHOUT ROWID;
"""
Row = Sequence[object]


class HealthCache:
    """The open cache of a folder; where that cannot be written it is in memory."""

    def __init__(self, folder: str) -> None:
        self.path = os.path.join(folder, NAME)
        try:
            self.db = self._open()
        except sqlite.Error as error:
            if not is_damage(error):
                self.db = self._in_memory()
                return
            self.remove()
            self.db = self._open()

    def _open(self) -> sqlite.Connection:
        ready(self.path)
        if not os.access(self.path, os.W_OK):
            return self._in_memory()
        db = sqlite.connect(self.path, timeout=PATIENCE, isolation_level=None)
        use_wal(db, PATIENCE)
        with transaction(db):
            version = db.execute("PRAGMA user_version").fetchone()[0]
            if version != SCHEMA:
                _make(db)
        return db

    def _in_memory(self) -> sqlite.Connection:
        db = sqlite.connect(":memory:", isolation_level=None)
        _make(db)
        return db

    def remove(self) -> None:
        """Remove the file."""
        for end in ("", "-wal", "-shm"):
            try:
                os.unlink(self.path + end)
            except FileNotFoundError:
                continue

    def close(self) -> None:
        """Close the file."""
        self.db.close()

    def facts(self, oids: Iterable[str]) -> dict[str, Row | None]:
        """Return what is kept of blobs, by oid; None for one that holds no fact."""
        return self._read("SELECT oid, fact FROM facts WHERE oid", oids)

    def add_facts(self, rows: Mapping[str, Row | None]) -> None:
        """Keep what blobs hold."""
        self._add("facts", rows)

    def states(self, keys: Iterable[str]) -> dict[str, Row | None]:
        """Return what is kept of states of the past."""
        return self._read("SELECT key, counts FROM states WHERE key", keys)

    def add_states(self, rows: Mapping[str, Row]) -> None:
        """Keep what states of the past came to."""
        self._add("states", rows)

    def _read(self, question: str, names: Iterable[str]) -> dict[str, Row | None]:
        out: dict[str, Row | None] = {}
        wanted = list(names)
        for start in range(0, len(wanted), SOME):
            some = wanted[start : start + SOME]
            marks = ",".join("?" * len(some))
            for name, text in self.db.execute(f"{question} IN ({marks})", some):
                out[name] = loads(text)
        return out

    def _add(self, table: str, rows: Mapping[str, Row | None]) -> None:
        if not rows:
            return
        values = [(name, dumps(row)) for name, row in rows.items()]
        try:
            with transaction(self.db):
                number = self.db.execute(f"SELECT COUNT(*) FROM {table}").fetchone()[0]
                if number + len(values) > KEPT:
                    self.db.execute(f"DELETE FROM {table}")
                self.db.executemany(f"INSERT OR REPLACE INTO {table} VALUES (?, ?)", values)
        except sqlite.OperationalError:
            return  # a full disk, or another process that writes: it is computed again


def _make(db: sqlite.Connection) -> None:
    for table in ("facts", "states"):
        db.execute(f"DROP TABLE IF EXISTS {table}")
    for statement in filter(str.strip, _TABLES.split(";")):
        db.execute(statement)
    db.execute(f"PRAGMA user_version = {SCHEMA}")
