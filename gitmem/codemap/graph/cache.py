"""What was read of the code, kept in `codemap.db` of the common git directory.

It holds what each blob says of itself, and the graph of trees.

All of it can be made again from git: a damaged or unwritable file costs time, nothing else. A
blob's row is kept until it is pruned, so that going from branch to branch reads nothing twice. Rows
are JSON: a folder of somebody else may hold such a file, and reading it must run nothing.
"""

import json
import os
import sys
import zlib
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from gitmem.base.fast import loads, sqlite
from gitmem.base.sqlite import is_damage, ready, transaction, use_wal
from gitmem.codemap import grammars
from gitmem.codemap.tags.import_statements import Import
from gitmem.codemap.tags.tags import FORMAT, Tags

Use = tuple[str, int, int, bool]  # see `tags.uses_at`
NAME = "codemap.db"
SCHEMA = 4
TREES = 12  # trees whose graph is kept
PATIENCE = 5.0
_TABLES = """
CREATE TABLE IF NOT EXISTS version (id INTEGER PRIMARY KEY, text TEXT UNIQUE NOT NULL);
CREATE TABLE IF NOT EXISTS blob (oid BLOB NOT NULL, version INTEGER NOT NULL, said BLOB NOT NULL,
    PRIMARY KEY (oid, version)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS uses (oid BLOB NOT NULL, version INTEGER NOT NULL, places BLOB NOT NULL,
    PRIMARY KEY (oid, version)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS tree (key TEXT PRIMARY KEY, at INTEGER NOT NULL, ranks BLOB,
    state BLOB NOT NULL);
CREATE INDEX IF NOT EXISTS tree_at ON tree (at, key);
"""


class GraphCache:
    """Opens the file when it is first used.

    Where it cannot be written, what is put is kept for as long as the process runs.
    """

    def __init__(self, folder: str) -> None:
        self.path = os.path.join(folder, NAME)
        self._versions: dict[str, int] = {}
        self._db: sqlite.Connection | None = None

    @property
    def db(self) -> sqlite.Connection:
        """The open database."""
        if self._db is None:
            try:
                self._db = self._open(self.path)
            except sqlite.Error as error:
                if is_damage(error):
                    self._remove()
                try:
                    self._db = self._open(self.path)
                except sqlite.Error:  # a read-only disk, a full one
                    self._db = self._open(":memory:")
        return self._db

    def _open(self, path: str) -> sqlite.Connection:
        if path != ":memory:":
            ready(path)
        db = sqlite.connect(path, timeout=PATIENCE, isolation_level=None, check_same_thread=False)
        try:
            (schema,) = db.execute("PRAGMA user_version").fetchone()
            if schema != SCHEMA:
                use_wal(db, PATIENCE)
                with transaction(db):
                    for name in ("blob", "uses", "tree", "version"):
                        db.execute(f"DROP TABLE IF EXISTS {name}")
                    for row in _TABLES.strip().split(";\n"):
                        db.execute(row)
                    db.execute(f"PRAGMA user_version = {SCHEMA}")
            db.execute("PRAGMA synchronous = NORMAL")
        except BaseException:
            db.close()
            raise
        return db

    def _remove(self) -> None:
        for ending in ("", "-wal", "-shm"):
            try:
                os.unlink(self.path + ending)
            except OSError:
                pass

    def close(self) -> None:
        """Close the file."""
        if self._db is not None:
            self._db.close()
            self._db = None

    def forget(self) -> None:
        """Throw all away, as what is damaged needs."""
        self.close()
        self._versions.clear()
        self._remove()

    # -- blobs

    def version(self, language: str) -> int:
        """Return the number of the version with which a language's blobs are read now.

        It covers grammar, queries, Python and format.
        """
        if language not in self._versions:
            text = (
                f"{FORMAT} {sys.version_info.major}.{sys.version_info.minor} "
                f"{grammars.version_of(language)}"
            )
            row = self.db.execute("SELECT id FROM version WHERE text = ?", (text,)).fetchone()
            if row is None:
                self._written("INSERT OR IGNORE INTO version (text) VALUES (?)", [(text,)])
                row = self.db.execute("SELECT id FROM version WHERE text = ?", (text,)).fetchone()
            if row is None:
                return -1  # it cannot be written: nothing is known of it
            self._versions[language] = row[0]
        return self._versions[language]

    def missing(self, wanted: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
        """Return those (oid, language) that nothing is known of yet, in order."""
        rows = sorted(set(wanted))
        out: list[tuple[str, str]] = []
        if len(rows) > 2000:
            stored = set(self.db.execute("SELECT oid, version FROM blob"))
            return [
                row for row in rows if (bytes.fromhex(row[0]), self.version(row[1])) not in stored
            ]
        for oid, language in rows:
            newest = self.db.execute(
                "SELECT 1 FROM blob WHERE oid = ? AND version = ?",
                (bytes.fromhex(oid), self.version(language)),
            ).fetchone()
            if newest is None:
                out.append((oid, language))
        return out

    def put(self, rows: Iterable[tuple[str, str, bytes]]) -> None:
        """Keep (oid, language, what `pack` made) of blobs."""
        values = [
            (bytes.fromhex(oid), self.version(language), data) for oid, language, data in rows
        ]
        self._written("INSERT OR REPLACE INTO blob VALUES (?, ?, ?)", values)

    def get(self, oid: str, language: str) -> "Tags | str":
        """Return what a blob says of itself, or in a word why nothing was read of it."""
        row = self.db.execute(
            "SELECT said FROM blob WHERE oid = ? AND version = ?",
            (bytes.fromhex(oid), self.version(language)),
        ).fetchone()
        return unpack(row[0]) if row else "unread"

    def all(
        self, wanted: Mapping[tuple[str, str], object]
    ) -> Iterator[tuple[str, str, "Tags | str"]]:
        """Yield (oid, language, what it says) of many blobs, by one pass over all."""
        names = {self.version(language): language for _, language in wanted}
        for oid, version, data in self.db.execute("SELECT oid, version, said FROM blob"):
            language = names.get(version, "")
            if (oid.hex(), language) in wanted:
                yield oid.hex(), language, unpack(data)

    def uses(self, oid: str, language: str) -> "list[Use] | None":
        """Return the uses of names in a blob, as `tags.uses_at` does; None when none were kept."""
        row = self.db.execute(
            "SELECT places FROM uses WHERE oid = ? AND version = ?",
            (bytes.fromhex(oid), self.version(language)),
        ).fetchone()
        try:
            kept = _loads(zlib.decompress(row[0])) if row else None
            return (
                None if kept is None else [(str(k), int(a), int(b), bool(i)) for k, a, b, i in kept]
            )
        except (zlib.error, ValueError, TypeError):
            return None

    def put_uses(self, rows: "Iterable[tuple[str, str, list[Use]]]") -> None:
        """Keep (oid, language, uses) of blobs."""
        values = [
            (bytes.fromhex(oid), self.version(language), zlib.compress(_dumps(places), 1))
            for oid, language, places in rows
        ]
        self._written("INSERT OR REPLACE INTO uses VALUES (?, ?, ?)", values)

    # -- trees

    def state(self, key: str) -> "dict[str, Any] | None":
        """Return what was kept of a tree."""
        row = self.db.execute("SELECT state FROM tree WHERE key = ?", (key,)).fetchone()
        return _record(row[0]) if row else None

    def latest(self, prefix: str) -> "Iterator[tuple[str, dict[str, Any]]]":
        """Yield (key, state) of trees whose key begins with a text, the one used last first."""
        keys = self.db.execute(
            "SELECT key FROM tree WHERE substr(key, 1, ?) = ? ORDER BY at DESC",
            (len(prefix), prefix),
        ).fetchall()
        for (key,) in keys:  # to sort the states too would read them all
            if (state := self.state(key)) is not None:
                yield key, state

    def put_state(self, key: str, state: "dict[str, Any]", like: str = "") -> None:
        """Keep the graph of a tree, with the ranks of the one that it is `like`.

        The oldest goes when there are many.
        """
        insert = (
            "INSERT OR REPLACE INTO tree SELECT ?, coalesce(max(at), 0) + 1, (SELECT ranks FROM "
            "tree WHERE key = ?), ? FROM tree"
        )
        self._written(insert, [(key, like, _dumps(state))])
        self._written(
            "DELETE FROM tree WHERE key NOT IN (SELECT key FROM tree ORDER BY at DESC LIMIT ?)",
            [(TREES,)],
        )

    def _written(self, statement: str, rows: "list[tuple[Any, ...]]") -> None:
        """Write rows in one transaction.

        Where others keep the file for long, or a disk takes nothing, they are read again the next
        time.
        """
        try:
            with transaction(self.db):
                self.db.executemany(statement, rows)
        except sqlite.OperationalError as error:
            if is_damage(error):
                raise

    def ranks(self, key: str) -> "dict[str, float] | None":
        """Return the ranks of a tree's files."""
        row = self.db.execute("SELECT ranks FROM tree WHERE key = ?", (key,)).fetchone()
        return _record(row[0]) if row and row[0] else None

    def put_ranks(self, key: str, ranks: "dict[str, float]") -> None:
        """Keep the ranks of a tree's files."""
        self._written("UPDATE tree SET ranks = ? WHERE key = ?", [(_dumps(ranks), key)])

    def prune(self, needed: "set[str]", keys: "set[str]") -> tuple[int, int]:
        """Remove unneeded blobs and trees; return (blobs removed, blobs kept).

        What older versions read is removed too.
        """
        current = {self.version(language) for language in grammars.GRAMMARS}
        gone = [
            (oid, version)
            for oid, version in self.db.execute("SELECT oid, version FROM blob")
            if oid.hex() not in needed or version not in current
        ]
        with transaction(self.db):
            self.db.executemany("DELETE FROM blob WHERE oid = ? AND version = ?", gone)
            self.db.executemany("DELETE FROM uses WHERE oid = ?", {(oid,) for oid, _ in gone})
            have = [key for (key,) in self.db.execute("SELECT key FROM tree")]
            self.db.executemany(
                "DELETE FROM tree WHERE key = ?", [(key,) for key in have if key not in keys]
            )
        (kept,) = self.db.execute("SELECT count(*) FROM blob").fetchone()
        self.db.execute("VACUUM")
        return len(gone), kept


def pack(said: "Tags | str") -> bytes:
    """Return the bytes in which what a blob says of itself is kept."""
    data = _dumps(said)
    return b"z" + zlib.compress(data, 1) if len(data) > 16_000 else data


def unpack(data: bytes) -> "Tags | str":
    """Return what `pack` was given; 'unread' for bytes that it did not make."""
    try:
        kept = _loads(zlib.decompress(data[1:]) if data[:2] == b"zx" else data)
        return kept if isinstance(kept, str) else _tags(kept)
    except (zlib.error, ValueError, TypeError):
        return "unread"


def _tags(kept: Any) -> Tags:
    """Return tags out of their JSON, whose lists were tuples.

    Raises ValueError, TypeError for anything else.
    """
    if (
        not isinstance(kept, list)
        or len(kept) != len(Tags._fields)
        or not isinstance(kept[4], dict)
    ):
        raise ValueError("no tags")
    (
        language,
        package,
        symbols,
        imports,
        uses,
        declared,
        exported,
        main,
        environment,
        routes,
        lines,
        fallbacks,
    ) = kept
    return Tags(
        language,
        package,
        tuple(map(tuple, symbols)),
        tuple(
            [Import(module, tuple(map(tuple, names)), *rest) for module, names, *rest in imports]
        ),
        uses,
        tuple(declared),
        tuple(map(tuple, exported)),
        main,
        tuple(environment),
        tuple(map(tuple, routes)),
        lines,
        tuple(fallbacks),
    )


def _dumps(value: Any) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()


def _loads(data: bytes) -> Any:
    """Return the value of JSON bytes; raises ValueError."""
    return loads(data.decode("ascii"))


def _record(data: bytes) -> "dict[str, Any] | None":
    try:
        value = _loads(data)
    except (ValueError, TypeError, AttributeError):
        return None
    return value if isinstance(value, dict) else None
