"""What the index keeps of a record: the columns of its row, the words that search looks into."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from gitmem.records import epic
from gitmem.records.kinds import FACTS, error_patterns, text_key
from gitmem.records.record import Record
from gitmem.records.score import level_of_record
from gitmem.text.tokenizer import fold

SHOWN = 400  # characters of a note that a hook may tell
# what a session says of a fact that somebody has to answer
SAID_OF_FACTS = frozenset({"done", "ended", "replaced"})


STATEMENT = ("what", "role", "successor", "quote")  # of an entry


def columns(record: Record, *, attested: bool, own: bool) -> tuple[Any, ...]:
    """Return a record's row, from its id on, in the order of the table.

    A fact that the store's history does not attest (`gitmem.records.trust.is_attested`) counts as
    unconfirmed. `own` is whether nobody else writes to the store.
    """
    triggers = record.get("triggers") or {} if record.kind in {"memory", "gotcha"} else {}
    importance = record.get("importance") if record.kind == "memory" else None
    return (
        record.id,
        record.kind,
        str(record.fields.get("type") or record.get("type") or "")
        if record.kind == "memory"
        else "",
        record.status,
        record.get("agent"),
        record.get("session"),
        record.get("author"),
        record.get("origin"),
        record.title,
        record.created,
        record.updated if record.updated != record.created else None,
        record.rev,
        importance,
        record.get("severity") if record.kind == "gotcha" else "",
        record.get("category") if record.kind == "gotcha" else "",
        int(record.resolved),
        record.get("occurrences") if record.kind == "gotcha" else None,
        _own_text(record, "last_seen"),
        _own_text(record, "workaround"),
        (error_patterns(triggers) or [""])[0],
        int(bool(record.fields.get("conflict"))),
        _json(record.tags),
        _json(record.anchors),
        _json(triggers),
        record.get("decay_rate") if record.kind == "memory" else None,
        str(record.fields.get("project", "")),
        int(record.unconfirmed or not attested),
        _fix(record),
        _source(record),
        _time_of(record, "done"),
        str(record.fields.get("expires", "")),
        level_of_record(record, attested=attested, own=own) if record.kind in FACTS else 0,
        verify_json(record.get("verify")) if record.kind in FACTS else "",
    )


def verify_json(verify: Sequence[Mapping[str, Any]]) -> str:
    """Return the checks of a fact as the index has them; empty for none."""
    return _json(verify)


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")) if value else ""


def _own_text(record: Record, key: str) -> str:
    """Return a text that only a gotcha has; in other records a key may hold anything."""
    return str(record.fields.get(key, "")) if record.kind == "gotcha" else ""


def _time_of(record: Record, key: str) -> str:
    """Return the time in a map such as `done`; empty where there is none."""
    value = record.fields.get(key)
    return str(value.get("at") or "") if isinstance(value, Mapping) else ""


def _fix(record: Record) -> str:
    """Return how a gotcha was dealt with last, as JSON; empty when it never was.

    It has `at`, `commit`, `note` and `stat` as far as they are known.
    """
    if record.kind != "gotcha":
        return ""
    every = [fix for fix in [*record.get("fixes"), record.get("resolved")] if fix]
    last: dict[str, Any] = max(every, key=lambda fix: str(fix.get("at")), default={})
    details = {
        key: str(last[key])[:SHOWN] for key in ("at", "commit", "note", "stat") if last.get(key)
    }
    return _json(details)


def _source(record: Record) -> str:
    """Return the memory file of an agent that says what a record says, word for word.

    Empty when none does.
    """
    source = record.fields.get("source") if record.kind == "memory" else None
    if (
        not isinstance(source, Mapping)
        or source.get("gone")
        or not isinstance(source.get("file"), str)
    ):
        return ""
    return source["file"] if source.get("hash") == text_key(record.title, record.body) else ""


def bases(record: Record) -> set[tuple[str, str]]:
    """Return (path, blob) of each place.

    As long as the path holds that blob, the code is as it was anchored.

    '' instead of the blob: the place is the file itself; '?': that it is unchanged cannot be told
    by a blob.
    """
    out = set()
    for anchor in record.anchors:
        path, lines, blob = anchor.get("path"), anchor.get("lines"), anchor.get("blob")
        if isinstance(path, str) and "glob" not in anchor:
            whole = not lines and not anchor.get("symbol")
            is_exact = (
                isinstance(lines, list) and len(lines) == 2 and isinstance(blob, str) and blob
            )
            out.add((path, "" if whole else str(blob) if is_exact else "?"))
    return out


def texts(record: Record) -> tuple[str, str]:
    """Return what is searched beside title and tags: the text, and the words of the places.

    SQLite's `substr` ends at a zero byte.
    """
    return fold(_text(record)).replace("\0", " "), " ".join(_anchor_words(record))


def made(record: Record) -> list[tuple[str, str]]:
    """Return (commit, patch id) of the commits that a session's record names."""
    rows = record.fields.get("commits")
    anchors = [row for row in rows if isinstance(row, Mapping)] if isinstance(rows, list) else []
    return [
        (row["id"], str(row.get("patch") or ""))
        for row in anchors
        if isinstance(row.get("id"), str)
    ]


def answered(record: Record) -> list[str]:
    """Return the ids of the sessions whose statements about a fact somebody has answered."""
    rows = record.fields.get("settled") if record.kind in FACTS else None
    return [
        str(row["id"])
        for row in rows or ()
        if isinstance(row, Mapping) and str(row.get("id", "")).startswith("ses-")
    ]


def held(record: Record) -> list[tuple[str, str]]:
    """Return (id, digest of both words) of the facts that a person said hold beside this one."""
    rows = record.fields.get("settled") if record.kind in FACTS else None
    return [
        (str(row.get("id")), str(row.get("words")))
        for row in rows or ()
        if isinstance(row, Mapping) and row.get("choice") == "both"
    ]


def said_of_facts(record: Record) -> list[tuple[str, ...]]:
    """Return what a session says of facts that it knew.

    Each is (id of a fact, what is said of it, role, id of what takes its place, quote).
    """
    rows = record.fields.get("facts")
    return [
        (str(row.get("id")), *(str(row.get(key, "")) for key in STATEMENT))
        for row in rows or ()
        if isinstance(row, Mapping) and str(row.get("what")) in SAID_OF_FACTS
    ]


def _text(record: Record) -> str:
    """Return the text of a record that is searched: body, workaround and a session's topics."""
    rest = []
    if isinstance(record.fields.get("workaround"), str):
        rest.append(record.fields["workaround"])
    if record.kind == "session":
        topics = record.fields.get("topics")
        rest.append(" ".join(map(str, topics)) if isinstance(topics, list) else "")
    if record.kind == "work":
        every = epic.normal(record.fields.get("state")).get("stories", {})
        rest.append(
            "\n".join(f"{sid} {epic.value(every[sid], 'title') or ''}".strip() for sid in every)
        )
    return "\n".join([record.body, *rest]).strip()


def _anchor_words(record: Record) -> Iterator[str]:
    """Yield where a record applies: places, names and the words of the errors it waits for."""
    for anchor in record.anchors:
        for key in ("path", "symbol", "glob"):
            if isinstance(anchor.get(key), str):
                yield anchor[key]
    for pattern in error_patterns(record.fields.get("triggers")):
        yield re.sub(r"<\w+>", " ", pattern)
