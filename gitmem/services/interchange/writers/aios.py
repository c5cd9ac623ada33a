"""AIOS and AIOX: gotchas.json in the shape that their tools read."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from gitmem.records.record import Record
from gitmem.services.interchange.exporting import ExportedFact, ForeignWriter
from gitmem.services.interchange.values import map_of

VERSION = "1.0.0"
NAME = "aios"


def takes(record: Record) -> bool:
    """Return whether the format has a place for a fact."""
    return record.kind == "gotcha"


def files(facts: Sequence[ExportedFact]) -> Mapping[str, str]:
    """Return the file of gotchas."""
    gotchas = [_gotcha(fact.record) for fact in facts]
    newest = max((fact.record.updated for fact in facts), default="")
    whole = {
        "schema": "aios-gotchas",
        "version": VERSION,
        "lastUpdated": newest,
        "statistics": {
            "total": len(gotchas),
            "resolved": sum(row["resolved"] for row in gotchas),
            "unresolved": sum(not row["resolved"] for row in gotchas),
        },
        "gotchas": gotchas,
    }
    return {".aiox/gotchas.json": json.dumps(whole, ensure_ascii=False, indent=2) + "\n"}


def _gotcha(record: Record) -> dict[str, Any]:
    resolved = map_of(record.fields.get("resolved"))
    paths = [str(anchor["path"]) for anchor in record.anchors if anchor.get("path")]
    pattern = map_of(record.fields.get("triggers")).get("error")
    return {
        "id": record.id,
        "title": record.title,
        "description": record.body.strip(),
        "category": record.get("category"),
        "severity": record.get("severity"),
        "workaround": record.fields.get("workaround"),
        "relatedFiles": paths,
        "trigger": {"errorPattern": pattern, "files": paths} if pattern else None,
        "source": {
            "type": record.get("source") or "manual",
            "occurrences": record.get("occurrences") or 1,
            "firstSeen": record.get("first_seen") or record.created,
            "lastSeen": record.get("last_seen") or record.updated,
        },
        "resolved": bool(resolved),
        "resolvedAt": resolved.get("at"),
        "resolvedBy": resolved.get("by"),
        "createdAt": record.created,
        "tags": list(record.tags),
    }


WRITER = ForeignWriter(NAME, is_folder=True, files=files, takes=takes)
