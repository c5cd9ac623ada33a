"""A record's file out of what the index keeps of it, for when git has lost the file."""

import json
import sqlite3
from collections.abc import Callable, Iterator
from itertools import combinations
from typing import Any

from gitmem.errors import InvalidRecord
from gitmem.records.codec import encode
from gitmem.records.record import DEFAULTS, SHARED_DEFAULTS, Record, make
from gitmem.store.layout import id_of_path
from gitmem.text.tokenizer import unfold

_ROW = (
    "store, id, kind, type, status, agent, session, author, origin, title, created, updated, rev, "
    "importance, severity, category, occurrences, "
    "last_seen, workaround, tags, anchors, triggers, decay_rate, project, resolved, unconfirmed"
)
_PLAIN = (
    "type",
    "status",
    "agent",
    "session",
    "author",
    "origin",
    "created",
    "updated",
    "rev",
    "importance",
    "severity",
    "category",
    "occurrences",
    "last_seen",
    "workaround",
    "decay_rate",
    "project",
)
KINDS = ("memory", "gotcha")  # of others the index keeps too little


def paths(db: sqlite3.Connection, store: str) -> dict[str, str]:
    """Return {path: oid} of the files of a store's records, as of the commit that was indexed."""
    rows = [*db.execute("SELECT path, oid FROM records WHERE store = ?", (store,))]
    return dict([*rows, *db.execute("SELECT path, oid FROM damaged WHERE store = ?", (store,))])


def rebuilt(
    db: sqlite3.Connection, store: str, path: str, oid: str, oid_of: Callable[[bytes], str]
) -> tuple[bytes, bool] | None:
    """Return the file of a record, and whether it is the very file with this oid.

    None when the index does not know it.
    """
    stored = db.execute(
        f"SELECT n, {_ROW} FROM records WHERE id = ? AND store = ?", (id_of_path(path), store)
    ).fetchone()
    if stored is None:
        return None
    n, *values = stored
    row = dict(zip((name.strip() for name in _ROW.split(",")), values, strict=True))
    if row["kind"] not in KINDS:
        return None
    text = db.execute("SELECT body FROM texts WHERE n = ?", (n,)).fetchone()
    fields = _fields(db, n, row)
    body = unfold(text[0]) if text else ""
    if row["kind"] == "gotcha" and row["workaround"]:
        body = body.removesuffix(row["workaround"]).rstrip("\n")
    try:
        plain = make(
            row["kind"],
            row["id"],
            row["title"],
            body,
            **{k: v for k, v in fields.items() if not _is_default(row["kind"], k, v, fields)},
        )
        # what was resolved or confirmed says when and by whom, which the index does not keep
        for record in (
            _versions(plain, fields)
            if not row["resolved"] and (row["origin"] == "manual" or row["unconfirmed"])
            else ()
        ):
            data = encode(record)
            if oid_of(data) == oid:
                return data, True
    except InvalidRecord:
        return None
    return encode(plain), False


def _fields(db: sqlite3.Connection, n: int, row: dict[str, Any]) -> dict[str, Any]:
    fields: dict[str, Any] = {key: row[key] for key in _PLAIN if row[key] not in ("", None)}
    for key in ("tags", "anchors", "triggers"):
        if row[key]:
            fields[key] = json.loads(row[key])
    for rel in ("links", "supersedes"):
        targets = [
            dst for (dst,) in db.execute("SELECT dst FROM edges WHERE n = ? AND rel = ?", (n, rel))
        ]
        if targets:
            fields[rel] = targets
    if row["kind"] == "gotcha" and row["occurrences"] is not None:
        fields["first_seen"] = row["created"]
    return fields


def _is_default(kind: str, key: str, value: Any, fields: dict[str, Any]) -> bool:
    if key == "first_seen" or (key == "updated" and value == fields.get("created")):
        return True
    return bool(value == DEFAULTS.get(kind, {}).get(key, SHARED_DEFAULTS.get(key)))


def _versions(plain: Record, fields: dict[str, Any]) -> Iterator[Record]:
    """Yield the record with each choice of the defaults that a writer may have written."""
    asked = [key for key in fields if key not in plain.fields]
    for count in range(len(asked) + 1):
        for chosen in combinations(asked, count):
            yield plain.change(**{key: fields[key] for key in chosen})
