"""Take texts and records out of `state.db`, and their bytes out of its file."""

import contextlib
import os
import re
import time
from collections.abc import Iterator, Sequence

from gitmem.base.fast import sqlite
from gitmem.base.open_files import processes_with
from gitmem.base.sqlite import transaction
from gitmem.repo.location import Home
from gitmem.services.maintenance.purge_places import CLEAN, HELD, REMOVED, PurgePlace
from gitmem.state.database import NAME, State
from gitmem.state.schema import TABLES
from gitmem.store.history.json_mask import mask_json
from gitmem.store.history.redact import Mask

PATIENCE = 5.0  # seconds that a process which reads the file is waited for
# Rows that count an error by its pattern: with a mask in it, it would be the pattern of no error.
_COUNTED = ("errors", "failing")
# Columns that name a thing by which others find it, and tell nothing.
_NAMES = frozenset(
    {
        "id",
        "session",
        "agent",
        "oid",
        "history",
        "process",
        "root",
        "transcript",
        "taker",
        "patch",
        "context",
        "call",
        "form",
        "mine",
    }
)
_WORDS = frozenset({"kind", "why", "how", "level", "role", "action"})
_WORD = re.compile(r"[A-Za-z_]{1,40}")
OWN_WORDS = f"SQLite format 3 {TABLES}".encode()  # of the file itself, whatever is in it


def erase_state(home: Home, mask: Mask, ids: Sequence[str]) -> PurgePlace:
    """Remove texts and records from the working state.

    Say who holds it when its bytes cannot be cleared.
    """
    path = home.join(NAME)
    if not os.path.exists(path) or not (mask or ids):
        return PurgePlace(NAME)
    with contextlib.closing(State(home)) as state:
        if state.in_memory:
            return PurgePlace(NAME, HELD, 0, _holders(path) or "it cannot be opened for writing")
        try:
            changed = _change(state.db, mask, ids)
            cleared = _clear_bytes(state.db)
        except sqlite.Error as error:
            return PurgePlace(NAME, HELD, 0, f"{error}{_named(path)}")
    if not cleared:
        return PurgePlace(
            NAME, HELD, changed, f"its old bytes cannot be cleared while it is open{_named(path)}"
        )
    # a word of every such file is looked for in the rows alone
    is_ours = mask.holds(OWN_WORDS)
    if count_in_state(home, mask) if is_ours else _in_file(path, mask):
        return PurgePlace(
            NAME, HELD, changed, "the text is part of names that sessions are found by"
        )
    return PurgePlace(NAME, REMOVED if changed else CLEAN, changed)


def count_in_state(home: Home, mask: Mask) -> int:
    """Return how many rows hold one of the texts."""
    if not os.path.exists(home.join(NAME)):
        return 0
    with contextlib.closing(State(home)) as state:
        return sum(1 for table in _tables(state.db) for _ in _held_rows(state.db, table, mask))


_NAMING = frozenset({"id", "newer", "older"})  # columns that name a record


def _change(db: sqlite.Connection, mask: Mask, ids: Sequence[str]) -> int:
    db.execute("PRAGMA secure_delete = ON")
    changed = 0
    with transaction(db):
        for table in _tables(db):
            columns = _columns(db, table)
            for column in _NAMING.intersection(columns) if ids and table != "sessions" else ():
                marks = ",".join("?" * len(ids))
                changed += db.execute(
                    f"DELETE FROM {table} WHERE {column} IN ({marks})", tuple(ids)
                ).rowcount
            for row in list(_held_rows(db, table, mask)):
                changed += _mask_row(db, table, row, mask)
    return changed


def _mask_row(db: sqlite.Connection, table: str, row: dict[str, object], mask: Mask) -> int:
    keys = _keys(db, table)
    old = tuple(row[key] for key in keys)
    where = " AND ".join(f"{key} IS ?" for key in keys)
    if table in _COUNTED:
        db.execute(f"DELETE FROM {table} WHERE {where}", old)
        return 1
    new = {name: _masked(name, value, mask) for name, value in row.items()}
    changed = [name for name in new if new[name] != row[name]]
    if not changed:
        return 0
    settings = ", ".join(f"{name} = ?" for name in changed)
    values = tuple(new[name] for name in changed)
    db.execute(f"UPDATE OR REPLACE {table} SET {settings} WHERE {where}", (*values, *old))
    return 1


def _masked(name: str, value: object, mask: Mask) -> object:
    if name in _NAMES:
        return value
    if isinstance(value, bytes):
        return mask.raw(value)
    if not isinstance(value, str) or (name in _WORDS and _WORD.fullmatch(value)):
        return value
    if value.startswith(("{", "[")):
        clean = mask_json(mask, value.encode("utf-8", "surrogateescape"))
        if clean is not None:
            return clean.decode("utf-8", "surrogateescape")
    return mask.text(value)


def _held_rows(db: sqlite.Connection, table: str, mask: Mask) -> Iterator[dict[str, object]]:
    """Yield the rows in which a text stands, with the columns that find them."""
    if not mask:
        return
    names = list(dict.fromkeys([*_keys(db, table), *_columns(db, table)]))
    for row in db.execute(f"SELECT {', '.join(names)} FROM {table}"):
        if any(mask.holds(_bytes(value)) for value in row):
            yield dict(zip(names, row, strict=True))


def _bytes(value: object) -> bytes:
    if isinstance(value, bytes):
        return value
    return value.encode("utf-8", "surrogateescape") if isinstance(value, str) else b""


def _tables(db: sqlite.Connection) -> list[str]:
    rows = db.execute(
        "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
    )
    return [str(name) for (name,) in rows]


def _columns(db: sqlite.Connection, table: str) -> list[str]:
    return [str(row[1]) for row in db.execute(f"PRAGMA table_info({table})")]


def _keys(db: sqlite.Connection, table: str) -> list[str]:
    rows = sorted(
        (row[5], str(row[1])) for row in db.execute(f"PRAGMA table_info({table})") if row[5]
    )
    return [name for _, name in rows] or ["rowid"]


def _clear_bytes(db: sqlite.Connection) -> bool:
    """Write the file anew and empty its log.

    False while another process reads an older state of it.
    """
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            db.execute("VACUUM")
            busy = db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
        except sqlite.OperationalError:
            busy = 1
        if not busy:
            return True
        if time.monotonic() > deadline:
            return False
        time.sleep(0.1)


def _in_file(path: str, mask: Mask) -> bool:
    for suffix in ("", "-wal"):
        with contextlib.suppress(FileNotFoundError), open(path + suffix, "rb") as file:
            if mask.holds(file.read()):
                return True
    return False


def _named(path: str) -> str:
    holders = _holders(path)
    return f": {holders}" if holders else " by another process"


def _holders(path: str) -> str:
    """Return the processes that have the file open, for people."""
    real = os.path.realpath(path)
    rows = processes_with(real)
    return ", ".join(f"process {pid} ({' '.join(command)[:60]})" for pid, command, _ in rows)
