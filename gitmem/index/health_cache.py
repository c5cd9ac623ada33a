"""What health was computed from and came to, so that a state of the past is read once.

The file `health.db` can be made again from git. It has numbers, ids and digests, no words.
"""

import os
from collections.abc import Iterable, Mapping, Sequence

from gitmem.base.fast import dumps, loads, sqlite
from gitmem.base.sqlite import healing, is_damage, ready, transaction, use_wal

NAME = "health.db"
SCHEMA = 4  # of the tables and of what the rows hold
PATIENCE = 2.0
SOME = 500  # values of one question
KEPT = 60_000  # rows of a table, the newest
_TABLES = ("facts", "states")
Row = Sequence[object]


class HealthCache:
    """The open cache of a folder; where that cannot be written it is in memory.

    A damaged file is removed and begun anew, also when the damage shows late.
    """

    def __init__(self, folder: str) -> None:
        self.path = os.path.join(folder, NAME)
        try:
            self.db = self._open()
        except sqlite.Error as error:
            self.db = self._anew(is_damage(error))

    def _open(self) -> sqlite.Connection:
        ready(self.path)
        if not os.access(self.path, os.W_OK):
            return _in_memory()
        db = sqlite.connect(self.path, timeout=PATIENCE, isolation_level=None)
        try:
            use_wal(db, PATIENCE)
            with transaction(db):
                version = db.execute("PRAGMA user_version").fetchone()[0]
                if version != SCHEMA:
                    _make(db)
        except sqlite.Error:
            db.close()
            raise
        return db

    def _anew(self, is_damaged: bool) -> sqlite.Connection:
        """Open a new file instead of a damaged one; in memory where that cannot be done."""
        if is_damaged:
            try:
                self.remove()
                return self._open()
            except (OSError, sqlite.Error):
                pass
        return _in_memory()

    def heal(self) -> bool:
        """Go on with a new file, or in memory."""
        self.db.close()
        self.db = self._anew(is_damaged=True)
        return True

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
        return self._read("facts", list(oids))

    def add_facts(self, rows: Mapping[str, Row | None]) -> None:
        """Keep what blobs hold."""
        self._add("facts", rows)

    def states(self, keys: Iterable[str]) -> dict[str, Row | None]:
        """Return what is kept of states of the past."""
        return self._read("states", list(keys))

    def add_states(self, rows: Mapping[str, Row]) -> None:
        """Keep what states of the past came to."""
        self._add("states", rows)

    @healing
    def _read(self, table: str, names: Sequence[str]) -> dict[str, Row | None]:
        out: dict[str, Row | None] = {}
        for start in range(0, len(names), SOME):
            some = names[start : start + SOME]
            marks = ",".join("?" * len(some))
            sql = f"SELECT name, row FROM {table} WHERE name IN ({marks})"
            for name, text in self.db.execute(sql, some):
                try:
                    out[name] = loads(text)
                except ValueError:  # damage that SQLite does not see: it is computed again
                    continue
        return out

    @healing
    def _add(self, table: str, rows: Mapping[str, Row | None]) -> None:
        values = [(name, dumps(row)) for name, row in rows.items()]
        if not values:
            return
        try:
            with transaction(self.db):
                self.db.executemany(
                    f"INSERT OR REPLACE INTO {table} (name, row) VALUES (?, ?)", values
                )
                number = self.db.execute(f"SELECT COUNT(*) FROM {table}").fetchone()[0]
                oldest = f"SELECT n FROM {table} ORDER BY n LIMIT ?"
                self.db.execute(
                    f"DELETE FROM {table} WHERE n IN ({oldest})", (max(0, number - KEPT),)
                )
        except sqlite.OperationalError as error:
            if is_damage(error):
                raise
            return  # a full disk, or another process that writes: it is computed again


def _in_memory() -> sqlite.Connection:
    db = sqlite.connect(":memory:", isolation_level=None)
    _make(db)
    return db


def _make(db: sqlite.Connection) -> None:
    for table in _TABLES:
        db.execute(f"DROP TABLE IF EXISTS {table}")
        db.execute(f"CREATE TABLE {table} (n INTEGER PRIMARY KEY, name TEXT UNIQUE, row TEXT)")
    db.execute(f"PRAGMA user_version = {SCHEMA}")
