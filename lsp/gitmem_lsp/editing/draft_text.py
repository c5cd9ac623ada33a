"""A record as a document for an editor, and back.

It has what the user may change, in Markdown with front matter. This module is pure.

Places are written as people type them (`app/pay.py:40-52`); those that are left as they were keep
what the anchor remembers.
"""

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

from gitmem.errors import InvalidRecord
from gitmem.records.codec import decode, encode
from gitmem.records.kinds import CATEGORIES, SEVERITIES, STATUSES, TYPES
from gitmem.records.record import Record

EDITED: Mapping[str, tuple[str, ...]] = {
    "gotcha": ("severity", "category", "workaround", "status", "tags", "links"),
    "memory": ("type", "importance", "status", "tags", "links", "project"),
}
# even when they have their defaults
SHOWN = {"gotcha": ("severity", "category", "workaround"), "memory": ("type", "importance")}
CHOICES = {"severity": SEVERITIES, "category": CATEGORIES, "status": STATUSES, "type": TYPES}
PLACES = "places"
_HINT = re.compile(r"^<!-- git-mem:.*?-->\n?", re.MULTILINE | re.DOTALL)
_KEY = re.compile(r"([A-Za-z_][\w-]*):")


def spec_of(anchor: Mapping[str, Any]) -> str:
    """Return a place as a user types it."""
    if isinstance(anchor.get("glob"), str):
        return str(anchor["glob"])
    span = anchor.get("lines")
    path = str(anchor.get("path") or "")
    if isinstance(span, list) and len(span) == 2:
        return f"{path}:{span[0]}" if span[0] == span[1] else f"{path}:{span[0]}-{span[1]}"
    return f"{path}#{anchor['symbol']}" if anchor.get("symbol") else path


def render(record: Record, hint: str = "") -> str:
    """Return a record as a document; a title that is not there yet leaves its line open."""
    keys = EDITED.get(record.kind, ("tags", "links"))
    rows = []
    for key in keys:
        value = record.fields.get(key)
        if value is None and key in SHOWN.get(record.kind, ()):
            value = record.get(key) or ""
        if value is not None:
            is_plain = isinstance(value, str) and value.isidentifier()
            rows.append(f"{key}: {value if is_plain else json.dumps(value, ensure_ascii=False)}")
    if record.kind in {"gotcha", "memory"}:
        rows.append(f"{PLACES}:" + ("" if record.anchors else " []"))
        rows += [
            f"  - {json.dumps(spec_of(anchor), ensure_ascii=False)}" for anchor in record.anchors
        ]
    note = f"<!-- git-mem: {hint} -->\n" if hint else ""
    return (
        "---\n"
        + "\n".join(rows)
        + f"\n---\n{note}# {record.title}\n"
        + (f"\n{record.body}" if record.body else "\n")
    )


def parse(text: str, base: Record, anchor: Callable[[str], dict[str, Any]]) -> Record:
    """Return a record with what a document says of it; raises InvalidRecord, UserError.

    `anchor` makes one from a place.
    """
    text = _HINT.sub("", text.replace("\r\n", "\n"), count=1)
    if not text.startswith("---\n"):
        raise InvalidRecord("the document does not start with front matter ('---').")
    kept = {"id": base.id, "kind": base.kind, "created": base.created}
    head = "".join(f"{key}: {value}\n" for key, value in kept.items())
    decoded = decode(("---\n" + head + text[4:]).encode("utf-8", "surrogatepass"))
    for key, allowed in CHOICES.items():
        if (
            key in EDITED.get(base.kind, ())
            and key in decoded.fields
            and decoded.fields[key] not in allowed
        ):
            raise InvalidRecord(f"{key} is '{decoded.fields[key]}'; allowed: {', '.join(allowed)}.")
    changes: dict[str, Any] = {
        key: decoded.fields.get(key) for key in EDITED.get(base.kind, ("tags", "links"))
    }
    # a default
    changes = {
        key: None if key not in base.fields and value == base.get(key) else value
        for key, value in changes.items()
    }
    places = decoded.fields.get(PLACES)
    if places is not None and base.kind in {"gotcha", "memory"}:
        if not isinstance(places, list) or not all(isinstance(place, str) for place in places):
            raise InvalidRecord(f"{PLACES} is not a list of places such as 'app/pay.py:40-52'.")
        anchors = {spec_of(a): a for a in reversed(base.anchors)}
        changes["anchors"] = [
            dict(anchors[place]) if place in anchors else anchor(place)
            for place in places
            if place.strip()
        ] or None
    changes = {key: None if value in ("", [], {}) else value for key, value in changes.items()}
    after = base.change(
        title=decoded.title,
        body=decoded.body.rstrip("\n") + "\n" if decoded.body.strip() else "",
        **changes,
    )
    return decode(encode(after))


def line_of(text: str, error: str) -> int:
    """Return the line, from 0, that an error is about.

    It is the first line that starts with a key named in the error, else the first line.
    """
    lines = text.split("\n")
    counted = re.search(r"\(line (\d+)\)", error)
    if counted:  # of what was parsed: three lines are ours
        return max(0, min(int(counted[1]) - 4, len(lines) - 1))
    if "title" in error:
        return next((n for n, line in enumerate(lines) if line.startswith("#")), 0)
    for number, line in enumerate(lines):
        match = _KEY.match(line)
        if match and re.search(rf"\b{re.escape(match[1])}\b", error):
            return number
    return 0
