"""Whole records in the shape of the index's rows."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from gitmem.cli.json_shapes import whole_row_json
from gitmem.records.record import Record
from gitmem.store.reader import Stored

if TYPE_CHECKING:
    from gitmem.services.records.write import Change


def as_row(scope: str, stored: "Stored") -> dict[str, Any]:
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
        "store": scope,
        "kind": record.kind,
        "updated": record.updated,
        "body": record.body,
        "oid": stored.oid,
        "path": stored.path,
        "unconfirmed": record.unconfirmed,
    }


def whole_record_json(scope: str, record: Record) -> dict[str, Any]:
    """Return a record that was read from its file, or is to be written."""
    return whole_row_json(as_row(scope, Stored(record, "", "")))


def written_json(scope: str, change: "Change") -> dict[str, Any]:
    """Return a record that was written, and whether and where it was.

    `store_commit` is null for a write that changed nothing, or that waits in the journal.
    """
    written = change.written
    return {
        **whole_record_json(scope, change.after),
        "changed": written.changed,
        "store_commit": written.commit,
        "journaled": written.journaled,
    }


def source_line(source: Mapping[str, Any]) -> str:
    """Return in words where a fact was seen."""
    role = str(source.get("role") or "")
    said = {"user": "said by the user", "agent": "said by the agent"}.get(role, "seen")
    session, program = str(source.get("session") or "")[:8], source.get("program")
    where = source.get("in") or (f"session {session}" if session else program)
    place = f" in {where}" if where else ""
    lines = source.get("lines")
    span = ""
    if source.get("commit"):
        span = f", commit {source['commit']}"
    elif isinstance(lines, list) and lines and all(isinstance(line, int) for line in lines):
        span = f", line {lines[0]}" + (f" to {lines[-1]}" if lines[-1] > lines[0] else "")
    return f"Evidence: {said}{place}{span}."
