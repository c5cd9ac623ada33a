"""What no undo brings back: what was purged, and what belongs to a session that was forgotten."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from gitmem.records.kinds import FACTS, error_patterns, session_record_id
from gitmem.records.record import Record
from gitmem.store.layout import tombstone_path
from gitmem.store.store import Store

FORGOTTEN, ITS_SESSION = "the session was forgotten", "its session was forgotten"  # tombstones
PURGED = "it was purged"
EVIDENCE = frozenset({"in", "lines", "quote"})  # of a source, what is taken from the session's text


def reason(id: str, stores: Sequence[Store]) -> str:
    """Return why a record is gone for good, as its tombstones say; empty where it is not."""
    for store in stores:
        try:
            mark = json.loads(store.read_file(tombstone_path(id)) or b"{}")
        except (ValueError, RecursionError):
            continue
        if isinstance(mark, dict) and mark.get("purged"):
            return PURGED
        if isinstance(mark, dict) and mark.get("reason") in {FORGOTTEN, ITS_SESSION}:
            return str(mark["reason"])
    return ""


def rest(record: Record, stores: Sequence[Store]) -> Record | str:
    """Return what may come back of a record; or why nothing of it may."""
    if why := reason(record.id, stores):
        return why
    sources = record.fields.get("sources") or ()
    sessions = [record.fields.get("session"), *(source.get("session") for source in sources)]
    for session in dict.fromkeys(str(name) for name in sessions if name):
        if not reason(session_record_id(session), stores):
            continue
        left = without_session(record, session) if record.kind in FACTS else _if_asked_for(record)
        if left is None:
            return ITS_SESSION
        record = left
    return record


def _if_asked_for(record: Record) -> Record | None:
    """Return a snapshot or the like that somebody asked for; None for one that a session made."""
    return None if record.get("origin") == "captured" else record


def without_session(
    record: Record, session: str, shared_errors: frozenset[str] = frozenset()
) -> Record | None:
    """Return a fact without what it has from a session; None when it has nothing else.

    `shared_errors` are patterns that other sessions met as well.
    """
    sources = [dict(source) for source in record.fields.get("sources") or ()]
    others = [source for source in sources if source.get("session") != session]
    is_its_own = record.fields.get("session") == session
    if len(others) == len(sources) and not is_its_own:
        return record
    if not record.unconfirmed:
        kept = [_without_evidence(source, session) for source in sources]
        return record if kept == sources else record.change(sources=kept)
    patterns = error_patterns(record.get("triggers"))
    if not others and shared_errors.isdisjoint(patterns):
        return None
    left = None if is_its_own else record.fields.get("session")
    return record.change(sources=others or None, session=left)


def _without_evidence(source: Mapping[str, Any], session: str) -> dict[str, Any]:
    if source.get("session") != session:
        return dict(source)
    return {key: value for key, value in source.items() if key not in EVIDENCE}
