"""Records in the shape of the index's rows, as `--json` and `--format` give them."""

from typing import Any

from gitmem.store.reader import Stored


def as_row(scope: str, stored: Stored) -> dict[str, Any]:
    """Return a record in the shape of the index's rows, with its body."""
    record = stored.record
    row: dict[str, Any] = {
        "store": scope,
        "id": record.id,
        "kind": record.kind,
        "title": record.title,
        **record.fields,
    }
    for key in (
        "status",
        "agent",
        "origin",
        "rev",
        "type",
        "importance",
        "severity",
        "category",
        "occurrences",
    ):
        value = (
            record.get(key)
            if key not in {"type", "importance"} or record.kind == "memory"
            else None
        )
        if value is not None:
            row[key] = value
    return {
        **row,
        "updated": record.updated,
        "body": record.body,
        "oid": stored.oid,
        "path": stored.path,
    }
