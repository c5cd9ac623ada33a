"""What the index keeps of a record: the columns of its row, the words that search looks into."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from gitmem.records import epic
from gitmem.records.kinds import error_patterns, text_key
from gitmem.records.record import Record
from gitmem.text.tokenizer import fold, parts

SHOWN = 400  # characters of a note that a hook may tell
FOREVER = "~"  # greater than any date
SAID = frozenset({"text", "detail"})  # of an entry, what somebody said


def columns(record: Record) -> tuple[Any, ...]:
    """Return a record's row, from its id on, in the order of the table."""
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
        record.updated,
        record.rev,
        importance,
        record.get("severity") if record.kind == "gotcha" else "",
        record.get("category") if record.kind == "gotcha" else "",
        int(record.resolved),
        record.get("occurrences") if record.kind == "gotcha" else None,
        record.fields.get("last_seen", ""),
        record.fields.get("workaround", ""),
        (error_patterns(triggers) or [""])[0],
        int(bool(record.fields.get("conflict"))),
        json.dumps(record.tags, ensure_ascii=False) if record.tags else "",
        json.dumps(record.anchors, ensure_ascii=False) if record.anchors else "",
        json.dumps(triggers, ensure_ascii=False) if triggers else "",
        record.get("decay_rate") if record.kind == "memory" else None,
        str(record.fields.get("project", "")),
        int(record.unconfirmed),
        _fix(record),
        _source(record),
    )


def _fix(record: Record) -> str:
    """Return how a gotcha was dealt with last, as JSON; empty when it never was.

    It has `at`, `commit`, `note` and `stat` as far as they are known.
    """
    if record.kind != "gotcha":
        return ""
    every = [fix for fix in [*record.get("fixes"), record.get("resolved")] if fix]
    last: dict[str, Any] = max(every, key=lambda fix: str(fix.get("at")), default={})
    known = {
        key: str(last[key])[:SHOWN] for key in ("at", "commit", "note", "stat") if last.get(key)
    }
    return json.dumps(known, ensure_ascii=False) if known else ""


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
            known = isinstance(lines, list) and len(lines) == 2 and isinstance(blob, str) and blob
            out.add((path, "" if whole else str(blob) if known else "?"))
    return out


def words(record: Record) -> tuple[str, str, str, str, str]:
    """Return the columns of the full-text table.

    They are title, tags, body, anchors, and the context's first words.
    """
    title, text = fold(record.title), fold(_text(record))
    return (
        title,
        fold(" ".join(record.tags)),
        text,
        " ".join(_anchor_words(record)),
        parts(f"{title} {text}"),
    )


def context_words(own: str, title: str, near: Sequence[tuple[str, str]]) -> str:
    """Return a record's context: the parts of its own names, and title and text of each neighbour.

    A neighbour's title is left out when it only repeats the beginning of its text, or is that of
    another one too (who spoke, and when): a word that is beside every record tells none from
    another.
    """
    out = [own]
    titles = [title, *(t for t, _ in near)]
    for other, text in near:
        telling = not text or (
            titles.count(other) == 1 and not " ".join(text.split()).startswith(other.rstrip("…"))
        )
        out.append(f"{other} {text}" if telling else text)
    return " ".join(out).strip()


def entries(record: Record) -> list[tuple[Any, ...]]:
    """Return the entries of a summary's sections, in the order of the table, from their place on.

    What is not an entry is passed over.
    """
    sections = record.fields.get("sections")
    out: list[tuple[Any, ...]] = []
    for section, rows in sections.items() if isinstance(sections, Mapping) else ():
        for row in rows if isinstance(rows, list) else ():
            one = row if isinstance(row, Mapping) else {"text": row}
            texts = [
                one[key] if isinstance(one.get(key), str) else ""
                for key in ("id", "kind", "text", "detail", "at", "session")
            ]
            files = (
                [x for x in one.get("files") or () if isinstance(x, str)]
                if isinstance(one.get("files"), list)
                else []
            )
            if texts[2].strip():
                flags = (int(bool(one.get("pinned"))), int(bool(one.get("critical"))))
                out.append(
                    (
                        len(out),
                        str(section),
                        *texts,
                        json.dumps(files, ensure_ascii=False) if files else "",
                        *flags,
                    )
                )
    return out


def made(record: Record) -> list[tuple[str, str]]:
    """Return (commit, patch id) of the commits that a session's digest names."""
    rows = record.fields.get("commits")
    found = [row for row in rows if isinstance(row, Mapping)] if isinstance(rows, list) else []
    return [
        (row["id"], str(row.get("patch") or "")) for row in found if isinstance(row.get("id"), str)
    ]


def settled(record: Record) -> str:
    """Return what a summary has settled of a session's digest, as JSON {id: until when}.

    This is what it has, also in other words, and what people removed.
    """
    sections = record.fields.get("sections")
    out: dict[str, str] = {}
    for rows in sections.values() if isinstance(sections, Mapping) else ():
        for row in rows if isinstance(rows, list) else ():
            if isinstance(row, Mapping) and isinstance(row.get("at"), str):
                also = row["also"] if isinstance(row.get("also"), list) else ()
                out |= {
                    id: max(row["at"], out.get(id, ""))
                    for id in (row.get("id"), *also)
                    if isinstance(id, str)
                }
    ids = record.fields.get("gone")
    out |= {id: FOREVER for id in (ids if isinstance(ids, list) else ()) if isinstance(id, str)}
    return json.dumps(out) if out else ""


def _text(record: Record) -> str:
    """Return the text of a record that is searched: body, workaround and a summary's sections."""
    rest = []
    if isinstance(record.fields.get("workaround"), str):
        rest.append(record.fields["workaround"])
    if record.kind == "summary":
        rest.append("\n".join(_said(record.fields.get("sections"))))
    if record.kind == "work":
        every = epic.normal(record.fields.get("state")).get("stories", {})
        rest.append(
            "\n".join(f"{sid} {epic.value(every[sid], 'title') or ''}".strip() for sid in every)
        )
    return "\n".join([record.body, *rest]).strip()


def _said(value: Any) -> Iterator[str]:
    """Yield what a summary's sections say, without ids and dates of their entries."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, item in value.items():
            if key in SAID or (key != "also" and not isinstance(item, str)):
                yield from _said(item)
    elif isinstance(value, Sequence):
        for item in value:
            yield from _said(item)


def _anchor_words(record: Record) -> Iterator[str]:
    """Yield where a record applies: places, names and the words of the errors it waits for."""
    for anchor in record.anchors:
        for key in ("path", "symbol", "glob"):
            if isinstance(anchor.get(key), str):
                yield anchor[key]
    for pattern in error_patterns(record.fields.get("triggers")):
        yield re.sub(r"<\w+>", " ", pattern)
