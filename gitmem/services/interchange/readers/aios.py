"""AIOS and AIOX: gotchas in three shapes, and digests of sessions."""

import os
from collections.abc import Iterator, Sequence
from typing import Any

from gitmem.fingerprint.fingerprint import fingerprint
from gitmem.records.kinds import CATEGORIES
from gitmem.services.interchange.files import files_below, name_in, read_json, read_text, with_front
from gitmem.services.interchange.item import (
    ForeignFormat,
    ForeignItem,
    ForeignSource,
    Surroundings,
)
from gitmem.services.interchange.statements import statements, text_id
from gitmem.services.interchange.values import (
    counted,
    headline,
    joined,
    map_of,
    maps_of,
    section,
    text_of,
    texts_of,
    time_of,
)

NAME = "aios"
FOLDERS = (".aiox", ".aios")
GOTCHAS = "gotchas.json"
DIGESTS = "session-digests"
SEVERITIES = {
    **dict.fromkeys(("critical", "high", "error"), "critical"),
    **dict.fromkeys(("info", "low"), "info"),
}
SECTIONS = {"user_corrections": "rule", "patterns_observed": "pattern", "axioms_learned": "rule"}
ELSEWHERE = {
    "error-tracking.json": "counts of errors are no facts",
    "session-state.json": "it is the state of a session",
    "gotchas.md": "it is made from gotchas.json",
}
_MAPPED = frozenset(
    {
        *("id", "title", "description", "category", "severity", "workaround", "relatedFiles"),
        *("source", "resolved", "resolvedAt", "resolvedBy", "createdAt", "wrong", "right"),
        *("reason", "discoveredAt", "tags"),
    }
)


def _places(here: Surroundings) -> Sequence[str]:
    return here.below_root(*FOLDERS)


def _folder(path: str) -> str:
    """Return the folder of the tool: the path, or what it has in it."""
    for name in FOLDERS:
        if os.path.isdir(os.path.join(path, name)):
            return os.path.join(path, name)
    return path


def _fits(path: str) -> bool:
    folder = _folder(path)
    has = [name for name in (GOTCHAS, DIGESTS) if os.path.exists(os.path.join(folder, name))]
    return bool(has) or os.path.basename(path) == GOTCHAS


def _read(source: ForeignSource) -> Iterator[ForeignItem]:
    if os.path.isfile(source.path):
        yield from _gotchas(source, source.path)
        return
    source.path = folder = _folder(source.path)
    if os.path.exists(os.path.join(folder, GOTCHAS)):
        yield from _gotchas(source, os.path.join(folder, GOTCHAS))
    for path in files_below(source, os.path.join(folder, DIGESTS), ".yaml", ".yml", ".md"):
        yield from _digest(source, path)
    for name, why in ELSEWHERE.items():
        if os.path.exists(os.path.join(folder, name)):
            source.leave_out(name, why)
    snapshots = list(files_below(source, os.path.join(folder, "snapshots"), ".json"))
    if snapshots:
        source.leave_out(counted(len(snapshots), "snapshot"), "they are of another work tree")


def _gotchas(source: ForeignSource, path: str) -> Iterator[ForeignItem]:
    """Yield the gotchas of a file: a list, or an object that has one."""
    whole = read_json(source, path)
    rows = maps_of(whole if isinstance(whole, list) else map_of(whole).get("gotchas"))
    for number, row in enumerate(rows, 1):
        title = text_of(row.get("title"))
        if title:
            yield _gotcha(title, row)
        else:
            source.leave_out(f"{name_in(source, path)} {number}", "it has no title")


def _gotcha(title: str, row: dict[str, Any]) -> ForeignItem:
    seen, category = map_of(row.get("source")), text_of(row.get("category")).lower()
    description, right = text_of(row.get("description")), text_of(row.get("right"))
    body = joined(
        description,
        section("Wrong", text_of(row.get("wrong"))),
        section("Right", right),
        section("Why", text_of(row.get("reason"))),
    )
    created = time_of(row.get("createdAt")) or time_of(row.get("discoveredAt"))
    is_detected = text_of(seen.get("type")) == "auto_detected"
    error = fingerprint(description, "", "") if is_detected and description else None
    fields = {
        "category": category if category in CATEGORIES else "general",
        "severity": SEVERITIES.get(text_of(row.get("severity")).lower(), "warning"),
        "workaround": text_of(row.get("workaround")) or right or None,
        "source": "auto_detected" if is_detected else "manual",
        "occurrences": _count(seen.get("occurrences")),
        "first_seen": time_of(seen.get("firstSeen")) or created or None,
        "last_seen": time_of(seen.get("lastSeen")) or None,
        "resolved": _resolved(row),
        "triggers": {"error": error.pattern} if error else None,
    }
    return ForeignItem(
        NAME,
        text_of(row.get("id")) or text_id(title),
        title,
        kind="gotcha",
        body=body,
        created=created,
        updated=max(created, time_of(row.get("resolvedAt"))),
        tags=texts_of(row.get("tags")),
        files=texts_of(row.get("relatedFiles")),
        fields={key: value for key, value in fields.items() if value is not None},
        extra={key: value for key, value in row.items() if key not in _MAPPED and value},
    )


def _count(value: Any) -> int | None:
    is_number = isinstance(value, int) and not isinstance(value, bool)
    return value if is_number and 0 < value < 2**31 else None


def _resolved(row: dict[str, Any]) -> dict[str, str] | None:
    if row.get("resolved") is not True:
        return None
    facts = {"at": time_of(row.get("resolvedAt")), "by": text_of(row.get("resolvedBy"))}
    return {key: value for key, value in facts.items() if value} or {"by": NAME}


def _digest(source: ForeignSource, path: str) -> Iterator[ForeignItem]:
    """Yield what a session's digest says of corrections, patterns and axioms."""
    name = name_in(source, path)
    text = read_text(source, path)
    if text is None:
        return
    front, body = with_front(source, name, text)
    session, at = text_of(front.get("session_id")), time_of(front.get("timestamp"))
    for statement in statements(body):
        if statement.heading not in SECTIONS:
            continue
        title, rest = headline(statement.text)
        yield ForeignItem(
            NAME,
            f"digest {session} {text_id(statement.text)}",
            title,
            type=SECTIONS[statement.heading],
            body=rest,
            created=at,
            updated=at,
            session=session,
            tags=("session-digest",),
        )


FORMAT = ForeignFormat(NAME, "AIOS", _places, _fits, _read)
