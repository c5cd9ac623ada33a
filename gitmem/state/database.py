"""`state.db`: working state that is not yet a commit.

Standard library only; the hot path writes it.

Reads since the last flush, errors seen, open sessions, what a session has been told. Losing it
costs counts, never a memory. All changes are single transactions, safe under many processes.
"""

import os
import time

from gitmem.base.fast import sqlite
from gitmem.base.sqlite import healing, is_damage, is_locked, transaction, use_wal
from gitmem.repo.location import Home

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

NAME = "state.db"
VERSION = 21  # of the tables in `schema`
ROOM = 1 << 20  # bytes of free disk below which nothing is taken for damaged
COUNT_READ = (  # (store, id, when) of a read
    "INSERT INTO reads VALUES (?, ?, 1, ?) ON CONFLICT DO UPDATE SET n = n + 1, "
    "last = MAX(last, excluded.last)"
)
HOURS_KEPT = 7 * 86400.0  # seconds that active hours stay after they were committed
KEPT = 7 * 86400.0  # seconds that errors are remembered, beyond any window in use


def is_aside(name: str) -> bool:
    """Say whether a file of our folder is a `state.db` that was not yet in its place."""
    return name.startswith(f"{NAME}.") and ".tmp" in name


class State:
    """An open `state.db`; a copy in memory when it cannot be written, so that reading goes on.

    What is `in_memory` is lost with the process: who must keep something refuses.
    A damaged file is set aside and begun anew, also when the damage shows late.
    """

    def __init__(self, home: Home, *, timeout: float = 5.0) -> None:
        self.in_memory = self.busy = False
        self._home = home
        self._timeout = timeout
        self._inode = 0
        try:
            if not os.path.exists(home.join(NAME)):
                self._create()
            path = home.touch(NAME)
            file = os.stat(path)
            self._inode = file.st_ino
            if file.st_nlink > 1:
                self._remove_other_name()
            self.db = self._connect(path, timeout)
        except Exception as error:  # noqa: BLE001 - a full or read-only disk, a damaged file
            self.busy = is_locked(error)
            self.db = self._anew(isinstance(error, sqlite.Error) and is_damage(error))

    def _create(self) -> None:
        """Put a whole file in its place at once.

        If many processes start in a new repository, none waits for another's disk.

        Where that cannot be done (no hard links, a log that is left of an older file), `_connect`
        makes the tables in place.
        """
        path = self._home.join(NAME)
        if os.path.exists(path + "-wal"):
            return  # SQLite would play it into the new file; into an empty one it does not
        aside = self._home.touch(f"{NAME}.{os.getpid()}.{time.monotonic_ns()}.tmp")
        try:
            db = sqlite.connect(aside, timeout=self._timeout, isolation_level=None)
            try:
                db.execute("PRAGMA synchronous = OFF")
                db.execute("PRAGMA journal_mode = MEMORY")  # whoever is killed now leaves one file
                self._make_tables(db)
                use_wal(db, self._timeout)
            finally:
                db.close()
            os.link(aside, path)
        except (OSError, sqlite.Error):
            pass  # another process was quicker, or the file is made in place
        finally:
            for suffix in ("", "-wal", "-shm", "-journal"):
                try:
                    os.unlink(aside + suffix)
                except OSError:
                    continue

    def _remove_other_name(self) -> None:
        """Remove the other name of the file.

        It is left by a process that was killed while it put the file in its place.
        """
        for name in os.listdir(self._home.path):
            path = self._home.join(name)
            try:
                if is_aside(name) and os.stat(path).st_ino == self._inode:
                    os.unlink(path)
            except OSError:
                continue

    def _connect(self, path: str, timeout: float) -> sqlite.Connection:
        db = sqlite.connect(path, timeout=timeout, isolation_level=None, check_same_thread=False)
        try:
            db.execute("PRAGMA synchronous = NORMAL")
            if db.execute("PRAGMA user_version").fetchone()[0] != VERSION:
                use_wal(db, timeout)
                self._make_tables(db)
        except BaseException:
            db.close()
            raise
        return db

    @staticmethod
    def _make_tables(db: sqlite.Connection) -> None:
        """Make the tables, unless another process has done so meanwhile; older ones are dropped.

        Raises sqlite.OperationalError for newer ones.
        """
        with transaction(db):
            version = db.execute("PRAGMA user_version").fetchone()[0]
            if version == VERSION:
                return
            if version > VERSION:
                raise sqlite.OperationalError("state.db is of a newer version of git mem")
            from gitmem.state.schema import TABLES  # most processes find them made

            names = db.execute(
                "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
            ).fetchall()
            for (name,) in names:
                db.execute(f'DROP TABLE "{name}"')
            for statement in TABLES.split(";\n"):
                db.execute(statement)
            db.execute(f"PRAGMA user_version = {VERSION}")

    def heal(self) -> bool:
        """Go on with a new file, or in memory; False when that would hide half a transaction."""
        if self.in_memory or self.db.in_transaction:
            return False
        self.db.close()
        self.db = self._anew(damaged=True)
        return True

    def _anew(self, damaged: bool) -> sqlite.Connection:
        """Set a damaged file aside, unless another process has done so already, and connect.

        In memory when nothing else works.
        """
        path = self._home.join(NAME)
        try:
            disk = os.statvfs(self._home.path)
            # on a full disk SQLite's errors look like damage
            if disk.f_bavail * disk.f_frsize < ROOM:
                damaged = False
            if damaged and os.stat(path).st_ino == self._inode:
                os.replace(path, path + ".damaged")
                for suffix in ("-wal", "-shm"):  # SQLite would play the old log into the new file
                    if os.path.exists(path + suffix):
                        os.unlink(path + suffix)
            if damaged:
                self._home.touch(NAME)
                self._inode = os.stat(path).st_ino
                return self._connect(path, self._timeout)
        except Exception:  # noqa: BLE001 - fall through to memory
            pass
        self.in_memory = True
        return (None if self.busy else self._copied(path)) or self._connect(
            ":memory:", self._timeout
        )

    def leave_disk(self) -> None:
        """Go on with a copy in memory: what is written from now on is lost."""
        copy = sqlite.connect(":memory:", isolation_level=None, check_same_thread=False)
        self.db.backup(copy)
        self.db.close()
        self.db = copy
        self.in_memory = True

    def _copied(self, path: str) -> "sqlite.Connection | None":
        """Return a copy in memory of a file that can only be read; None when it cannot be."""
        log = path + "-wal"
        beside = [path + suffix for suffix in ("-wal", "-shm", "-journal")]
        # to open a pipe waits for its other end
        if not all(os.path.isfile(name) for name in (path, *filter(os.path.lexists, beside))):
            return None
        # without its log a file can be read alone: nothing is in the log then
        alone = not os.path.exists(log) or not os.path.getsize(log)
        ways = ("mode=ro", "immutable=1") if alone else ("mode=ro",)
        name = path.replace("%", "%25").replace("?", "%3f").replace("#", "%23")
        for way in ways:
            db = sqlite.connect(":memory:", isolation_level=None, check_same_thread=False)
            try:
                disk = sqlite.connect(f"file:{name}?{way}", uri=True, timeout=self._timeout)
                try:
                    disk.backup(db)
                finally:
                    disk.close()
                if (
                    db.execute("PRAGMA user_version").fetchone()[0] == VERSION
                    and db.execute("PRAGMA quick_check(1)").fetchone()[0] == "ok"
                ):
                    return db
            except sqlite.Error:
                pass
            db.close()
        return None

    def close(self) -> None:
        """Release the file."""
        self.db.close()

    @healing
    def add_reads(self, store: str, ids: "Iterable[str]", at: str) -> None:
        """Count one read of each id."""
        rows = [(store, id, at) for id in ids]
        if rows:
            self._many(COUNT_READ, rows)

    def _many(self, sql: str, rows: "Sequence[tuple[object, ...]]") -> None:
        with transaction(self.db):
            self.db.executemany(sql, rows)

    @healing
    def reads(self, store: str) -> "dict[str, tuple[int, str]]":
        """Return {id: (reads, last)} that are not yet in the store."""
        return {
            id: (n, last)
            for id, n, last in self.db.execute(
                "SELECT id, n, last FROM reads WHERE store = ?", (store,)
            )
        }

    @healing
    def usage_committed(self, store: str) -> float:
        """Return when reads of a store were last committed; 0.0 when they never were."""
        sql = "SELECT at FROM usage_commits WHERE store = ?"
        row = self.db.execute(sql, (store,)).fetchone()
        return float(row[0]) if row else 0.0

    @healing
    def active_hours(self, since: float = 0.0) -> "list[int]":
        """Return the hours since the epoch in which somebody worked here, from a time on."""
        sql = "SELECT hour FROM active_hours WHERE hour >= ?"
        return [hour for (hour,) in self.db.execute(sql, (int(since // 3600),))]

    @healing
    def add_active_hours(self, times: "Iterable[float]") -> None:
        """Note that somebody worked here at times in epoch seconds."""
        rows = [(int(time // 3600),) for time in times]
        self._many("INSERT OR IGNORE INTO active_hours VALUES (?)", rows)

    @healing
    def take_reads(self, store: str, taken: "dict[str, tuple[int, str]]", at: float) -> None:
        """Subtract reads that were committed at a time; those counted meanwhile stay."""
        rows = [(n, store, id) for id, (n, _) in taken.items()]
        with transaction(self.db):
            self.db.executemany("UPDATE reads SET n = n - ? WHERE store = ? AND id = ?", rows)
            self.db.execute("DELETE FROM reads WHERE n <= 0")
            self.db.execute("INSERT OR REPLACE INTO usage_commits VALUES (?, ?)", (store, at))
            if store == "shared":  # the hours before are in a store that everybody reads
                kept = int((at - HOURS_KEPT) // 3600)
                self.db.execute("DELETE FROM active_hours WHERE hour < ?", (kept,))

    @healing
    def add_error(
        self, pattern: str, at: float, session: str, window: float, *, again: bool = False
    ) -> int:
        """Record a hit of an error and return how many fall into the window that ends now.

        `again`: it may have been recorded, and then it is known by its time.
        """
        with transaction(self.db):
            stamp = at
            while (
                not again
                and self.db.execute(
                    "SELECT 1 FROM errors WHERE pattern = ? AND at = ? AND session = ?",
                    (pattern, stamp, session),
                ).fetchone()
            ):
                stamp += 1e-6
            self.db.execute(
                "INSERT OR IGNORE INTO errors VALUES (?, ?, ?, NULL)", (pattern, stamp, session)
            )
            self.db.execute("DELETE FROM errors WHERE at < ?", (at - max(window, KEPT),))
            count = self.db.execute(
                "SELECT COUNT(*) FROM errors WHERE pattern = ? AND at > ?", (pattern, at - window)
            ).fetchone()[0]
        return int(count)

    @healing
    def hits(self, pattern: str, at: float, window: float) -> int:
        """Return how many hits of an error the window that ends at a time holds."""
        return int(
            self.db.execute(
                "SELECT COUNT(*) FROM errors WHERE pattern = ? AND at > ?",
                (pattern, at - window),
            ).fetchone()[0]
        )

    @healing
    def claim_hits(self, pattern: str, at: float, window: float) -> "tuple[int, float]":
        """Take the hits in the window that nobody has told the store of.

        Return (how many, when the first was).

        Of processes that ask at once, one gets each hit.
        """
        with transaction(self.db):
            unsent = "pattern = ? AND at > ? AND sent IS NULL"
            count, first = self.db.execute(
                f"SELECT COUNT(*), MIN(at) FROM errors WHERE {unsent}", (pattern, at - window)
            ).fetchone()
            self.db.execute(
                f"UPDATE errors SET sent = ? WHERE {unsent}", (at, pattern, at - window)
            )
        return int(count), float(first or at)

    @healing
    def waiting_hits(self, until: float) -> "list[tuple[str, float]]":
        """Return (pattern, last hit) of errors with a hit before a time that no store was told."""
        sql = (
            "SELECT pattern, MAX(at) FROM errors WHERE sent IS NULL GROUP BY pattern "
            "HAVING MIN(at) <= ? ORDER BY pattern"
        )
        return [(pattern, float(last)) for pattern, last in self.db.execute(sql, (until,))]

    @healing
    def return_hits(self, pattern: str, at: float) -> None:
        """Undo `claim_hits`: the store could not be told."""
        self.db.execute(
            "UPDATE errors SET sent = NULL WHERE pattern = ? AND sent = ?", (pattern, at)
        )

    @healing
    def expire(self, before: float) -> None:
        """Forget sessions without a sign of life since a time, and what they were told.

        One that is still to be recorded stays.
        """
        self.db.execute("DELETE FROM requests WHERE at < ?", (before,))
        self.db.execute(
            "DELETE FROM sessions WHERE last < ? AND id NOT IN (SELECT session FROM requests)",
            (before,),
        )
        for table in ("failing", "steps", "acts", "edits", "files_before"):
            self.db.execute(f"DELETE FROM {table} WHERE at < ?", (before,))
        self.db.execute("DELETE FROM contexts WHERE last < ?", (before,))
        self.db.execute("DELETE FROM tool_calls WHERE until < ?", (before,))
        self.db.execute("DELETE FROM trigger_hits WHERE root NOT IN (SELECT root FROM sessions)")
        self.db.execute("DELETE FROM costs WHERE session NOT IN (SELECT id FROM sessions)")
        session = (
            "CASE instr(context, '/') WHEN 0 THEN context "
            "ELSE substr(context, 1, instr(context, '/') - 1) END"
        )
        self.db.execute("DELETE FROM facts_used WHERE session NOT IN (SELECT id FROM sessions)")
        for table in ("context_flags", "injections", "late_answers"):
            self.db.execute(f"DELETE FROM {table} WHERE {session} NOT IN (SELECT id FROM sessions)")

    @healing
    def errors(self, since: float) -> "list[tuple[str, int, float]]":
        """Return (pattern, hits, last) of errors since a time, most first."""
        sql = (
            "SELECT pattern, COUNT(*), MAX(at) FROM errors WHERE at > ? GROUP BY pattern ORDER BY "
            "2 DESC, 1"
        )
        return [(p, int(n), float(t)) for p, n, t in self.db.execute(sql, (since,))]

    @healing
    def sessions_of(self, pattern: str, since: float) -> "tuple[int, float]":
        """Return in how many sessions an error happened since a time, and when first."""
        sql = "SELECT COUNT(DISTINCT session), MIN(at) FROM errors WHERE pattern = ? AND at > ?"
        count, first = self.db.execute(sql, (pattern, since)).fetchone()
        return int(count), float(first or 0.0)

    # -- what its reader does not want to see for a while

    @healing
    def snooze(self, id: str, until: float) -> None:
        """Hide a gotcha from this user until a time (epoch seconds)."""
        self.db.execute("INSERT OR REPLACE INTO snoozes VALUES (?, ?)", (id, until))

    @healing
    def unsnooze(self, id: str) -> bool:
        """Show a gotcha again; False if it was not hidden."""
        return self.db.execute("DELETE FROM snoozes WHERE id = ?", (id,)).rowcount > 0

    @healing
    def snoozed(self, now: float) -> "dict[str, float]":
        """Return {id: until} of what is hidden from this user."""
        return {
            id: float(until)
            for id, until in self.db.execute(
                "SELECT id, until FROM snoozes WHERE until > ?", (now,)
            )
        }
