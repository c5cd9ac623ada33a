"""Which commits of a store changed a record, so that nobody has to look through all of them.

The file `history.db` can be made again from git. It has ids and numbers, no words.
"""

import contextlib
import json
import os
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from typing import NamedTuple, TypeVar

from gitmem.base.fast import new_hash
from gitmem.base.files import Lock
from gitmem.base.sqlite import healing, is_damage, ready, transaction, use_wal
from gitmem.errors import External, GitFailed, MissingObject
from gitmem.git.process import Git
from gitmem.git.shallow import shallow_commits
from gitmem.repo.location import Home
from gitmem.store.layout import id_of_path

NAME = "history.db"
LOCK = "history.lock"
SCHEMA = 4
PATIENCE = 60.0  # seconds that another process is waited for which is at it
BATCH = 4000  # commits that are compared with their parents in one go
QUERY_IDS = 500  # values of one question
LATEST = 2**63 - 1  # seconds since the epoch that SQLite can hold
DEADLINE = 600.0  # seconds for one call of git
_TABLES = """
CREATE TABLE refs (n INTEGER PRIMARY KEY, name TEXT UNIQUE NOT NULL, tip TEXT, shallow TEXT,
  skewed INTEGER NOT NULL DEFAULT FALSE);
CREATE TABLE commits (n INTEGER PRIMARY KEY, ref INTEGER NOT NULL, oid BLOB NOT NULL,
  time INTEGER NOT NULL);
CREATE TABLE changes (id TEXT NOT NULL, n INTEGER NOT NULL, PRIMARY KEY (id, n)) WITHOUT ROWID;
"""
_REF = "(SELECT n FROM refs WHERE name = ?)"
Progress = Callable[[int, int], None]
T = TypeVar("T")


class _Listing(NamedTuple):
    """Commits with their committers' times, ancestors first; is one earlier than a parent?"""

    times: dict[str, int]
    is_skewed: bool


class RecordHistory:
    """The commits that changed each record of the stores in a folder, as of the last look.

    A merge changed a record when it has another form than on each side. Close it.
    """

    def __init__(self, home: Home, git: Git, progress: Progress | None = None) -> None:
        self._home = home
        self._git = git
        self._progress = progress
        self.path = home.join(NAME)
        self._in_memory = False
        self._db = self._opened()

    def __enter__(self) -> "RecordHistory":
        return self

    def __exit__(self, *_: object) -> None:
        self._db.close()

    def heal(self) -> bool:
        """Go on with a new file, or in memory, where the damage of the old one shows late."""
        self._db.close()
        self._remove()
        is_left = os.path.lexists(self.path)  # it may not be removed
        self._db = self._opened_in_memory() if is_left else self._opened()
        return True

    @healing
    def commits(
        self, ref: str, tip: str, ids: Iterable[str], start: str | None = None
    ) -> list[str]:
        """Return the commits up to the tip of a ref that changed some records.

        Ancestors come first; of commits on different lines, the earlier one. With `start`, those
        up to that commit: below the tip, or on a line of its own. Raises MissingObject, and Busy
        when another process looks for long.
        """
        wanted = set(ids)
        return self._answer(ref, tip, lambda seen: self._changing(ref, seen, start or tip, wanted))

    @healing
    def last_commits(self, ref: str, tip: str) -> dict[str, str]:
        """Return {id: the last commit that changed it}, the latest of these commits first.

        It has the records that are gone too. Raises what `commits` raises.
        """
        return self._answer(ref, tip, lambda seen: self._last(ref, seen, tip))

    @healing
    def follow(self, ref: str, tip: str) -> None:
        """Note what changed up to a tip. Raises what `commits` raises."""
        self._answer(ref, tip, lambda _: None)

    def _answer(self, ref: str, tip: str, question: Callable[[str], T]) -> T:
        """Return what a question, that is given the noted tip, finds in rows of one moment.

        The noted tip is the one that is asked for, or one that came after it.
        """
        try:
            with self._snapshot():
                if self._seen_tip(ref) == tip:
                    return question(tip)
            with self._alone():
                self._look(ref, tip)
                with self._snapshot():
                    return question(self._seen_tip(ref) or tip)
        except GitFailed as error:
            raise MissingObject(
                f"the store's history is incomplete: {error}", "Run: git mem doctor --fix"
            ) from error

    @contextlib.contextmanager
    def _snapshot(self) -> Iterator[None]:
        self._db.execute("BEGIN")
        try:
            yield
        finally:
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")

    @contextlib.contextmanager
    def _alone(self) -> Iterator[None]:
        if self._in_memory:
            yield
        else:
            with Lock(self._home.touch(LOCK), PATIENCE):
                yield

    def _changing(self, ref: str, seen: str, start: str, ids: Set[str]) -> list[str]:
        times = self._noted_changes(ref, ids)
        sql = "SELECT skewed FROM refs WHERE name = ?"
        (is_skewed,) = self._db.execute(sql, (ref,)).fetchone()
        if seen != start:
            later = self._listed(seen, start).times
            beside = self._changes_beside(start, seen, ids)
            times = {oid: times[oid] for oid in times if oid not in later} | beside.times
            is_skewed = is_skewed or beside.is_skewed
        if is_skewed and sorted(times.values()) != list(times.values()):
            return [oid for oid in self._listed(start).times if oid in times]
        return sorted(times, key=times.__getitem__)

    def _noted_changes(self, ref: str, ids: Set[str]) -> dict[str, int]:
        """Return {commit that changed some records: its time}, ancestors first."""
        wanted = list(ids)
        rows: dict[int, tuple[str, int]] = {}
        for first in range(0, len(wanted), QUERY_IDS):
            part = wanted[first : first + QUERY_IDS]
            sql = (
                "SELECT c.n, c.oid, c.time FROM changes h JOIN commits c ON c.n = h.n "
                f"WHERE c.ref = {_REF} AND h.id IN ({', '.join('?' * len(part))})"
            )
            rows |= {n: (oid.hex(), time) for n, oid, time in self._db.execute(sql, (ref, *part))}
        return dict(rows[n] for n in sorted(rows))

    def _changes_beside(self, start: str, seen: str, ids: Set[str]) -> _Listing:
        """Return the commits up to `start` that changed some records, without those of the tip."""
        listing = self._listed(start, seen)
        times: dict[str, int] = {}
        for batch in _batches(list(listing.times)):
            for oid, changed in self._changes_of(batch):
                if not ids.isdisjoint(changed):
                    times[oid] = listing.times[oid]
        return _Listing(times, listing.is_skewed)

    def _last(self, ref: str, seen: str, tip: str) -> dict[str, str]:
        later = [] if seen == tip else list(self._listed(seen, tip).times)
        sql = (
            "SELECT h.id, c.oid, MAX(c.n) FROM changes h JOIN commits c ON c.n = h.n "
            f"WHERE c.ref = {_REF} AND c.n NOT IN (SELECT value FROM json_each(?)) "
            "GROUP BY h.id ORDER BY 3 DESC"
        )
        rows = self._db.execute(sql, (ref, self._numbers_of(ref, later)))
        return {id: oid.hex() for id, oid, _ in rows}

    def _opened(self) -> sqlite3.Connection:
        for is_again in (False, True):
            try:
                return self._open()
            except (External, OSError, sqlite3.Error) as error:
                if is_again or not (isinstance(error, sqlite3.Error) and is_damage(error)):
                    break
                self._remove()
        return self._opened_in_memory()

    def _opened_in_memory(self) -> sqlite3.Connection:
        self._in_memory = True
        db = sqlite3.connect(":memory:", isolation_level=None)
        db.executescript(_TABLES)
        return db

    def _open(self) -> sqlite3.Connection:
        self._home.make()
        ready(self.path)
        if not os.access(self.path, os.W_OK):
            raise PermissionError(self.path)
        db = sqlite3.connect(self.path, timeout=PATIENCE, isolation_level=None)
        try:
            use_wal(db, PATIENCE)
            # derived: after a power cut it is made again
            db.execute("PRAGMA synchronous = OFF")
            with transaction(db):
                if db.execute("PRAGMA user_version").fetchone()[0] != SCHEMA:
                    for table in ("tips", "refs", "commits", "changes"):
                        db.execute(f"DROP TABLE IF EXISTS {table}")
                    for statement in _TABLES.split(";\n"):
                        db.execute(statement)
                    db.execute(f"PRAGMA user_version = {SCHEMA}")
        except sqlite3.Error:
            db.close()
            raise
        return db

    def _remove(self) -> None:
        for suffix in ("", "-wal", "-shm"):
            with contextlib.suppress(OSError):
                os.unlink(self.path + suffix)

    def _look(self, ref: str, tip: str) -> None:
        """Note what changed up to a tip; a look that was ended before is gone on with.

        Of a tip that is below the noted one all is noted: a process that read the ref before
        another one takes nothing away from it.
        """
        shallow = self._shallow()
        with transaction(self._db):
            self._db.execute("INSERT OR IGNORE INTO refs (name) VALUES (?)", (ref,))
            (before,) = self._db.execute(
                "SELECT shallow FROM refs WHERE name = ?", (ref,)
            ).fetchone()
            if before != shallow:  # a commit without parents adds what it has
                self._drop(ref, list(self._numbers(ref)))
                self._db.execute(
                    "UPDATE refs SET tip = NULL, shallow = ? WHERE name = ?", (shallow, ref)
                )
        seen = self._seen_tip(ref)
        new, lost = self._between(ref, seen, tip)
        if seen and not new.times:
            return
        with transaction(self._db):
            self._db.execute(
                "UPDATE refs SET tip = NULL, skewed = skewed OR ? WHERE name = ?",
                (new.is_skewed, ref),
            )
            self._drop(ref, lost)
        done = 0
        for batch in _batches(list(new.times)):
            self._add(ref, batch, new.times)
            done += len(batch)
            if self._progress:
                self._progress(done, len(new.times))
        with transaction(self._db):
            self._db.execute("UPDATE refs SET tip = ? WHERE name = ?", (tip, ref))

    def _seen_tip(self, ref: str) -> str | None:
        """Return the tip that all is noted of, None when there is none for this history."""
        sql = "SELECT tip FROM refs WHERE name = ? AND shallow = ?"
        row = self._db.execute(sql, (ref, self._shallow())).fetchone()
        return row[0] if row else None

    def _shallow(self) -> str:
        """Return a digest of where the history ends, '' in a full clone."""
        oids = sorted(shallow_commits(self._git.gitdir))
        return new_hash("sha256", " ".join(oids).encode()).hexdigest() if oids else ""

    def _numbers(self, ref: str) -> dict[str, int]:
        """Return {commit: its number} of a ref."""
        rows = self._db.execute(f"SELECT oid, n FROM commits WHERE ref = {_REF}", (ref,))
        return {oid.hex(): n for oid, n in rows}

    def _between(self, ref: str, old: str | None, tip: str) -> tuple[_Listing, list[str]]:
        """Return (new commits; commits that are in the history no more)."""
        if old:
            try:
                return self._listed(tip, old), list(self._listed(old, tip).times)
            except GitFailed:
                pass  # a purge removed the old tip
        noted = self._numbers(ref)
        times, is_skewed = self._listed(tip)
        new = {oid: time for oid, time in times.items() if oid not in noted}
        return _Listing(new, is_skewed), sorted(noted.keys() - times.keys())

    def _listed(self, tip: str, without: str = "") -> _Listing:
        names = f"{tip}\n^{without}\n" if without else f"{tip}\n"
        args = ("--date-order", "--reverse", "--timestamp", "--parents", "--boundary", "--stdin")
        out = self._git.run("rev-list", *args, stdin=names.encode(), timeout=DEADLINE)
        times: dict[str, int] = {}
        edge: dict[str, int] = {}  # parents that are not part of it
        parents: dict[str, list[str]] = {}
        for line in out.decode().splitlines():
            time, oid, *above = line.split()
            if oid.startswith("-"):
                edge[oid[1:]] = int(time)
            else:
                times[oid], parents[oid] = min(int(time), LATEST), above
        every = edge | times
        is_skewed = any(
            every.get(parent, 0) > time for oid, time in times.items() for parent in parents[oid]
        )
        return _Listing(times, is_skewed)

    def _drop(self, ref: str, oids: Sequence[str]) -> None:
        numbers = self._numbers_of(ref, oids)
        for table in ("changes", "commits"):
            self._db.execute(
                f"DELETE FROM {table} WHERE n IN (SELECT value FROM json_each(?))", (numbers,)
            )

    def _numbers_of(self, ref: str, oids: Sequence[str]) -> str:
        """Return the numbers of some commits of a ref, as a JSON array."""
        numbers = self._numbers(ref) if oids else {}
        return json.dumps([numbers[oid] for oid in oids if oid in numbers])

    def _changes_of(self, oids: Sequence[str]) -> Iterator[tuple[str, list[str]]]:
        """Return (commit, ids of the records it changed) of those that changed any."""
        args = ("--stdin", "-r", "-c", "--root", "--no-renames", "--name-status", "-z")
        stdin = "".join(f"{oid}\n" for oid in oids).encode()
        return _changed_ids(self._git.run("diff-tree", *args, stdin=stdin, timeout=DEADLINE))

    def _add(self, ref: str, oids: Sequence[str], times: Mapping[str, int]) -> None:
        changes = self._changes_of(oids)
        with transaction(self._db):
            (last,) = self._db.execute("SELECT IFNULL(MAX(n), 0) FROM commits").fetchone()
            rows = list(enumerate(changes, last + 1))
            self._db.executemany(
                f"INSERT INTO commits VALUES (?, {_REF}, ?, ?)",
                [(n, ref, bytes.fromhex(oid), times[oid]) for n, (oid, _) in rows],
            )
            self._db.executemany(
                "INSERT OR IGNORE INTO changes VALUES (?, ?)",
                [(id, n) for n, (_, ids) in rows for id in ids],
            )


def _batches(oids: Sequence[str]) -> Iterator[Sequence[str]]:
    for start in range(0, len(oids), BATCH):
        yield oids[start : start + BATCH]


def _changed_ids(out: bytes) -> Iterator[tuple[str, list[str]]]:
    """Yield (commit, ids of the records it changed) of what `git diff-tree -z` printed.

    It prints a commit's id, then for each file the letters of what was done, and the name.
    """
    commit, ids = "", list[str]()
    parts = iter(out.split(b"\0"))
    for part in parts:
        if part.isupper():
            id = id_of_path(next(parts, b"").decode("utf-8", "surrogateescape"))
            ids += [id] if id else []
            continue
        if ids:
            yield commit, ids
        commit, ids = part.decode("ascii", "replace"), []
    if ids:
        yield commit, ids
