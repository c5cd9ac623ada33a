"""What the same thing looks like in the JSON of every command: `schemas/common.json` has the names.

Kept light: lists load it on the way to their first row.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from gitmem.clock import stamp
from gitmem.services.records.committers import claim, trust_marks, writers

if TYPE_CHECKING:
    from gitmem.codemap.anchors.placement import Placement
    from gitmem.git.commit_log import CodeCommit
    from gitmem.services.provenance.why import SessionLines
    from gitmem.state.links import Link

# a row's column or key -> its name in JSON
_NAMES = {"oid": "blob", "path": "store_path", "done": "completion"}
# columns that only the index looks at, or that have a short form of a field
_INTERNAL = frozenset("n pattern committer vouchers fix reason snippet level behind".split())
_SHORTENED = frozenset({"resolved", "unconfirmed", "source"})


def record_json(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a record, from a row of the index.

    The index says only whether a gotcha is resolved and when a task was done; the whole record says
    how and by whom.
    """
    out = _named_values(row, _INTERNAL | _SHORTENED)
    if row.get("done"):
        out["completion"] = {"at": row["done"]}
    if row.get("fix"):
        out["last_fix"] = json.loads(row["fix"])
    if row.get("unconfirmed"):
        out["unconfirmed"] = True
    if claim(row):
        out["committed_by"] = writers(row["committer"])
    return out


def whole_row_json(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a whole record, from `rows.as_row`, with unknown fields as they are."""
    out = _named_values(row, frozenset())
    if not row["unconfirmed"]:
        del out["unconfirmed"]
    return out


def _named_values(row: Mapping[str, Any], left_out: frozenset[str]) -> dict[str, Any]:
    """Return the fields of a record that have a value, by their names in JSON."""
    out = {
        _NAMES.get(key, key): value
        for key, value in row.items()
        if key not in left_out and value is not None and value not in ("", [], {})
    }
    if not row.get("conflict"):
        out.pop("conflict", None)
    if row.get("kind") == "gotcha":
        out["is_resolved"] = bool(row.get("resolved"))
    return out


_COLUMNS = {value: (key,) for key, value in _NAMES.items()} | {
    "last_fix": ("fix",),
    "is_resolved": ("kind", "resolved"),
}


def columns(names: Iterable[str]) -> tuple[str, ...]:
    """Return the columns of the index that fields of a record are made of."""
    return tuple(column for name in names for column in _COLUMNS.get(name, (name,)))


def hit_json(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a record that a search found, with its rank and why it was found."""
    return {
        **record_json(row),
        "score": row["score"],
        "reasons": str(row["reason"]).split("; "),
        "snippet": unmarked(row["snippet"]),
    }


def match_json(row: Mapping[str, Any], score: float, reasons: Sequence[str]) -> dict[str, Any]:
    """Return a record that fits a task, with its rank and why it fits."""
    return {**record_json(row), "score": round(score, 3), "reasons": list(reasons)}


def unmarked(snippet: str) -> str:
    """Return a part of a text without the marks around the words that match."""
    return snippet.replace("\x02", "").replace("\x03", "")


def said_json(statements: Sequence[Mapping[str, str]] | None) -> dict[str, str] | None:
    """Return what a session said last of a fact, of the statements that nobody answered."""
    last = statements[-1] if statements else None
    return (
        {"claim": last["what"], "session": last["session"], "said_by": last["role"]}
        if last
        else None
    )


def mention_json(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return the few fields of a record that another thing refers to."""
    keys = ("id", "kind", "type", "severity", "title")
    return {**{key: row.get(key) or None for key in keys}, "trust_marks": trust_marks(row)}


def span_json(span: Sequence[int]) -> dict[str, int]:
    """Return lines of a text from the first to the last, both included."""
    return {"line": span[0], "end_line": span[1]}


def place_json(where: "Placement") -> dict[str, Any]:
    """Return where code is now that a record is about."""
    has_lines = where.state not in {"adrift", "file", "glob"}
    return {
        "path": where.path,
        "line": where.first if has_lines else None,
        "end_line": where.last if has_lines else None,
        "state": where.state,
        "stale": where.stale,
    }


def anchor_json(anchor: Mapping[str, Any]) -> dict[str, Any]:
    """Return the place that a record names, as it was written down."""
    lines = anchor.get("lines") or [None, None]
    return {
        "path": anchor.get("path"),
        "line": lines[0],
        "end_line": lines[1],
        "symbol": anchor.get("symbol"),
    }


def commit_json(commit: "CodeCommit") -> dict[str, Any]:
    """Return a commit of the code."""
    return {
        "commit": commit.oid,
        "at": stamp(commit.authored),
        "author": f"{commit.author} <{commit.mail}>",
        "subject": commit.subject,
    }


def session_part_json(part: "Link | SessionLines") -> dict[str, Any]:
    """Return a session that had a part in a commit."""
    return {
        "id": part.session,
        "agent": part.agent or None,
        "model": part.model or None,
        "how": part.how,
        "kind": part.kind,
    }


def epic_json(row: Mapping[str, Any], by: str) -> dict[str, Any]:
    """Return an epic in short, from a row of `index.epics`; `by` is who else wrote it."""
    return {
        "id": row["id"],
        "title": row["title"],
        "status": row["status"],
        "condition": row["standing"],
        "committed_by": by or None,
    }
