"""Search for what was said and done before, by words in the histories of sessions.

The search covers what is marked, what was condensed, and every row.

Words are the same as in a search for records: the rows go into a full-text table of the same kind,
in memory, for this one question.
"""

import contextlib
import re
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from gitmem.base.fast import dumps
from gitmem.records.items import plain
from gitmem.repo.location import Home
from gitmem.services.session_log import reader, rotation
from gitmem.text.tokenizer import fold, match_query, parts, tokens, unfold

Hit = dict[str, Any]

TABLE = (
    'CREATE VIRTUAL TABLE words USING fts5(text, more, tokenize = "porter unicode61 '
    'remove_diacritics 2")'
)
KINDS: Mapping[str, str] = {
    "PromptSubmit": "asked",
    "TurnEnd": "answered",
    "Said": "answered",
    "AfterTool": "did",
    "ToolFailed": "failed",
}
CONDENSED = ("decided", "wanted", "next", "learned", "done")
WEIGHT: Mapping[str, float] = {
    "marked": 2.0,
    "noted": 1.9,
    "decided": 1.6,
    "wanted": 1.6,
    "next": 1.4,
    "learned": 1.4,
    "asked": 1.2,
    "answered": 1.2,
    "did": 0.8,
}
TEXT = 8000  # characters of a row that are looked at
# rows, the newest, that are all looked at; and of the others those that may fit
WHOLE, KEPT = 8_000, 4_000
_RECALLED = re.compile(
    r"\bgit[ -]mem\s{1,9}(?:-\S{1,60}\s{1,9}){0,6}(?:recall|search)\b|^\s*/(?:[\w-]+[:.])?recall\b"
)


def find(home: Home, ids: Sequence[str], words: str, limit: int, since: str = "") -> list[Hit]:
    """Return what matches words best in the histories of sessions, best first.

    A result has session, line, at, kind, text, snippet and score.

    `since` is a time as rows have it. What asked for these words before is not an answer to them.
    """
    query = match_query(words)
    if not query or limit < 1:
        return []
    db = sqlite3.connect(":memory:", isolation_level=None)
    try:
        db.execute("PRAGMA temp_store = MEMORY")
        db.execute(TABLE)
        hits_by_number = _filled(db, home, ids, words, since)
        sql = (
            "SELECT rowid, bm25(words, 1.0, 0.3), snippet(words, 0, char(2), char(3), '…', 24) "
            "FROM words WHERE words MATCH ? ORDER BY 2 LIMIT ?"
        )
        hits = []
        for n, rank, snippet in db.execute(sql, (query, max(50, 4 * limit))):
            hit_of_row = hits_by_number[n]
            score = float(f"{-rank * WEIGHT.get(hit_of_row['kind'], 1.0):.6g}")
            hits.append(
                {**hit_of_row, "score": score, "snippet": unfold(" ".join(snippet.split()))}
            )
    finally:
        db.close()
    hits.sort(key=lambda hit: (-hit["score"], hit["at"] == "", _newest(hit["at"]), -hit["line"]))
    return _once(hits)[:limit]


def _newest(at: str) -> tuple[int, ...]:
    return tuple(-ord(c) for c in at)


def _filled(
    db: sqlite3.Connection, home: Home, ids: Sequence[str], words: str, since: str
) -> dict[int, Hit]:
    """Put rows into the table, the newest part of each history first.

    Return them by their number.
    """
    may = [stem for word in tokens(words) if (stem := _stem(word))]
    hits_by_number: dict[int, Hit] = {}
    insert = "INSERT INTO words (rowid, text, more) VALUES (?, ?, ?)"
    db.execute("BEGIN")
    for id in ids:
        for hit in _texts(home, id, may, lambda: len(hits_by_number) < WHOLE):
            if len(hits_by_number) >= WHOLE + KEPT:
                break
            if since and hit["at"] < since:
                continue
            number = len(hits_by_number) + 1
            db.execute(
                insert, (number, fold(hit["text"]), f"{fold(hit['more'])} {parts(hit['text'])}")
            )
            hits_by_number[number] = {
                "session": id,
                **{key: value for key, value in hit.items() if key != "more"},
            }
    db.execute("COMMIT")
    return hits_by_number


def _stem(word: str) -> bytes:
    """Return what any form of a word begins with, as a history's line has it in lower case."""
    word = word.rstrip("*")
    return (
        dumps(word[: max(3, len(word) - 3)] if word.isascii() else word[:1])[1:-1].encode().lower()
    )


def _texts(
    home: Home, id: str, may: Sequence[bytes], everything: Callable[[], bool]
) -> Iterator[Hit]:
    """Yield what can be found of a session: what was condensed first, then its rows.

    Of the newest rows all are included, of the others those that may match.
    """
    for stem in reversed(reader.stems(home, id)):
        live, segments = reader.snapshot(stem)
        with contextlib.ExitStack() as stack:
            if live is not None:
                stack.enter_context(live)
            first, parts = 1, list[tuple[int, Iterator[bytes]]]()
            for segment in segments:
                short = rotation.short_of(segment)
                for topic in short["topics"] if isinstance(short.get("topics"), list) else ():
                    yield from _condensed(topic)
                parts.append((first, reader.of_segment(segment)))
                first += int(short.get("lines") or sum(1 for _ in reader.of_segment(segment)))
            if live is not None:
                parts.append((first, reader.of_file(live)))
            for begin, lines in reversed(parts):
                yield from _matching(enumerate(lines, begin), may, everything)


def _matching(
    lines: Iterable[tuple[int, bytes]], may: Sequence[bytes], everything: Callable[[], bool]
) -> Iterator[Hit]:
    """Yield what can be found in lines that may match, or in all."""
    for number, line in lines:
        low = b"" if everything() else line.lower()
        if low and not any(word in low for word in may):
            continue
        row = reader.parse(line)
        hit = _said(number, row) if row is not None else None
        if hit:
            yield hit


def _said(number: int, row: Mapping[str, Any]) -> Hit | None:
    """Return a row as something that can be found, None when there is nothing in it."""
    text, about = reader.content(row)[:TEXT], reader.facts(row)
    kind = (
        "noted"
        if reader.event(row) == "Note"
        else "marked"
        if reader.marked(row)
        else KINDS.get(reader.event(row), "")
    )
    files = " ".join(reader.files(row))
    if not kind or not (text or files) or (kind in {"did", "asked"} and _RECALLED.search(text)):
        return None
    at = row["timestamp"] if isinstance(row.get("timestamp"), str) else ""
    of = about.get("line")  # a mark is about a line above it
    return {
        "line": of if reader.event(row) == "Mark" and isinstance(of, int) else number,
        "at": at,
        "kind": kind,
        "text": text or f"{about.get('action') or about.get('tool') or 'used'} {files}",
        "more": files,
    }


def _condensed(topic: object) -> Iterator[Hit]:
    if not isinstance(topic, dict):
        return
    lines = topic.get("lines")
    line = lines[0] if isinstance(lines, list) and lines and isinstance(lines[0], int) else 0
    for kind in CONDENSED:
        for text in topic[kind] if isinstance(topic.get(kind), list) else ():
            if isinstance(text, str):
                yield {
                    "line": line,
                    "at": str(topic.get("from", "")),
                    "kind": kind,
                    "text": text[:TEXT],
                    "more": str(topic.get("title", "")),
                }


def _once(hits: list[Hit]) -> list[Hit]:
    """Return hits without those that say what a better one says."""
    out: list[Hit] = []
    said: list[tuple[str, str]] = []
    for hit in hits:
        text = plain(hit["text"])
        if any(
            hit["session"] == session
            and (text == other or (hit["kind"] in CONDENSED and text in other))
            for session, other in said
        ):
            continue
        said.append((hit["session"], text))
        out.append(hit)
    return out
