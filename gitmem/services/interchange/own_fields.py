"""The fields of a record that one of our own exports may set, whoever has edited it since."""

from collections.abc import Mapping
from typing import Any

from gitmem.records.kinds import FACTS
from gitmem.records.record import SCHEMA, kind_of

# who vouches for a fact is decided where it is imported
_DECIDED_HERE = frozenset(
    {
        *("id", "kind", "rev", "origin", "author", "session", "confirmed", "settled", "sources"),
        *("imported", "stamps", "conflict", "created", "updated", "tags", "done"),
    }
)


def is_fact_id(id: str, kind: str) -> bool:
    """Return whether an id is one of ours, of a fact of this kind."""
    return kind in FACTS and kind_of(id) == kind


def taken_over(fields: Mapping[str, Any], kind: str) -> dict[str, Any]:
    """Return the fields that a record of this kind takes over from an export."""
    out = {
        key: value
        for key, value in fields.items()
        if key in SCHEMA[kind] and key not in _DECIDED_HERE
    }
    if isinstance(resolved := out.get("resolved"), Mapping):  # that it is, and how; not by whom
        out["resolved"] = {key: value for key, value in resolved.items() if key != "by"}
    return out
