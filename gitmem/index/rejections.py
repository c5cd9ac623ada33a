"""Facts that nobody confirmed and that say what was forgotten or rejected here: no view shows them.

Another clone's agent may have written the same words under an id of its own.
"""

import json
import sqlite3
from hashlib import sha256

from gitmem.records.claims import claims_of, key_of
from gitmem.records.kinds import FACTS
from gitmem.records.record import Record

_SAYING = (
    "SELECT r.n, r.id, r.kind FROM rejected x CROSS JOIN claims c ON c.claim = x.claim "
    "JOIN records r ON r.n = c.n"
)


def _digest(claim: str) -> bytes:
    return sha256(key_of(claim).encode("utf-8", "replace")).digest()[:8]


def add_claims(db: sqlite3.Connection, n: int, record: Record, *, attested: bool) -> None:
    """Note what a fact claims that nobody confirmed, or whose words others wrote."""
    if record.kind not in FACTS or (attested and not record.unconfirmed):
        return
    claims = {(_digest(claim), n) for claim in claims_of(record) if key_of(claim)}
    db.executemany("INSERT OR IGNORE INTO claims VALUES (?, ?)", claims)


def add_tombstone(db: sqlite3.Connection, store: str, path: str, data: bytes | None) -> None:
    """Note the words of a tombstone; a damaged one has none."""
    try:
        mark = json.loads(data or b"{}")
    except (ValueError, RecursionError):
        return
    said = mark.get("said") if isinstance(mark, dict) else None
    if isinstance(said, str) and key_of(said):
        row = (store, path, _digest(said), said)
        db.execute("INSERT OR REPLACE INTO rejected VALUES (?, ?, ?, ?)", row)


def remove_tombstones(
    db: sqlite3.Connection, store: str, path: str | None = None
) -> list[tuple[str, str]]:
    """Forget a tombstone, or all of a store; return (id, kind) of what is shown again."""
    where = "x.store = ?" + (" AND x.path = ?" if path is not None else "")
    values = (store,) if path is None else (store, path)
    rows = db.execute(f"{_SAYING} WHERE {where}", values).fetchall()
    db.executemany("DELETE FROM hidden WHERE n = ?", [(n,) for n, _, _ in rows])
    db.execute(f"DELETE FROM rejected AS x WHERE {where}", values)
    return [(id, kind) for _, id, kind in rows]


def hide(db: sqlite3.Connection) -> None:
    """Hide what says again what a tombstone has."""
    db.execute(f"INSERT OR IGNORE INTO hidden SELECT n FROM ({_SAYING})")
