"""What a session's digest says of the commits that the session had a part in: so another clone knows it, and this one when its own notes are lost.

Its field `commits` is a list of {id: COMMIT, patch: what `git patch-id` says, how: wrote, files: {src/pay.py: "3-9,12"}}.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from gitmem.records.record import Record
from gitmem.state.links import COMMITTED, EDITED, WROTE, Link

COMMITS, FILES, SPANS = 60, 40, 60  # of each that a digest names
_ID = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_SPAN = re.compile(r"(\d{1,9})(?:-(\d{1,9}))?")


def field(rows: Sequence[tuple[Link, str]], hides: Callable[[str], bool]) -> list[dict[str, Any]] | None:
    """Return the field `commits` of (link, patch id); None when there is nothing to say."""
    out = []
    for link, patch in rows[-COMMITS:]:
        files = {path: _spans(spans) for path, spans in sorted(link.files.items()) if not hides(path)}
        files = dict(list(files.items())[:FILES])
        facts = {"id": link.oid, "patch": patch, "how": link.how, "agent": link.agent, "model": link.model, "files": files}
        out.append({key: value for key, value in facts.items() if value})
    return out or None


def _spans(rows: Iterable[Sequence[Any]]) -> str:
    """Return lines as `3-9,12`; those that two edits wrote side by side are joined."""
    joined: list[list[int]] = []
    for first, last, *_ in rows:
        if joined and joined[-1][1] + 1 >= first:
            joined[-1][1] = max(joined[-1][1], last)
        else:
            joined.append([first, last])
    return ",".join(str(first) if first == last else f"{first}-{last}" for first, last in joined[:SPANS])


def links(record: Record) -> list[tuple[Link, str]]:
    """Return (link, patch id) of what a digest says, what cannot be read left out; times are not told."""
    out = []
    rows = record.fields.get("commits")
    for row in rows if isinstance(rows, list) else ():
        if not isinstance(row, Mapping) or not isinstance(row.get("id"), str) or not _ID.fullmatch(row["id"]):
            continue
        files: Mapping[str, Any] = row["files"] if isinstance(row.get("files"), Mapping) else {}
        spans = {str(path): _parsed(text) for path, text in files.items() if isinstance(text, str)}
        how = row.get("how") if row.get("how") in {COMMITTED, WROTE, EDITED} else WROTE
        agent, model, patch = (str(row.get(key) or "") for key in ("agent", "model", "patch"))
        out.append((Link(row["id"], str(record.get("session")), agent, model, str(how), 0.0, spans), patch))
    return out


def _parsed(text: str) -> list[list[int]]:
    found = (_SPAN.fullmatch(part) for part in text.split(","))
    return [[int(one[1]), int(one[2] or one[1]), 0] for one in found if one]
