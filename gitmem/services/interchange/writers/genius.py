"""Genius Team: lists of decisions, patterns, progress and errors."""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from gitmem.records.kinds import LIVE
from gitmem.records.record import Record
from gitmem.services.interchange.exporting import ExportedFact, ForeignWriter, group_of

NAME = "genius"
FOLDER = ".genius/memory"
Row = dict[str, Any]


def _decision(record: Record) -> Row:
    return {"decision": record.title, "reason": _text(record), **_common(record)}


def _pattern(record: Record) -> Row:
    return {"pattern": record.title, "context": _text(record), **_common(record)}


def _task(record: Record) -> Row:
    status = "pending" if record.status in LIVE else "completed"
    return {"task": record.title, "status": status, **_common(record)}


def _error(record: Record) -> Row:
    solution = str(record.fields.get("workaround") or "") or _text(record)
    return {"error": record.title, "solution": solution, **_common(record)}


FILES: Mapping[str, tuple[frozenset[str], Callable[[Record], Row]]] = {
    "decisions.json": (frozenset({"decision"}), _decision),
    "patterns.json": (frozenset({"pattern", "rule"}), _pattern),
    "progress.json": (frozenset({"task"}), _task),
    "errors.json": (frozenset({"gotcha", "bug"}), _error),
}


def takes(record: Record) -> bool:
    """Return whether the format has a place for a fact."""
    return any(group_of(record) in groups for groups, _ in FILES.values())


def files(facts: Sequence[ExportedFact]) -> Mapping[str, str]:
    """Return the four lists."""
    out = {}
    for name, (groups, row_of) in FILES.items():
        rows = [row_of(fact.record) for fact in facts if group_of(fact.record) in groups]
        out[f"{FOLDER}/{name}"] = json.dumps(rows, ensure_ascii=False, indent=2) + "\n"
    return out


def _common(record: Record) -> Row:
    return {"id": record.id, "timestamp": record.created, "tags": list(record.tags)}


def _text(record: Record) -> str:
    return record.body.strip()


WRITER = ForeignWriter(NAME, is_folder=True, files=files, takes=takes)
