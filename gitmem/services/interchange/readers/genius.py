"""Genius Team: lists of decisions, patterns, progress and errors in JSON."""

import os
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from gitmem.services.interchange.files import files_below, json_lines, read_json, read_text
from gitmem.services.interchange.item import (
    ForeignFormat,
    ForeignItem,
    ForeignSource,
    Surroundings,
)
from gitmem.services.interchange.statements import statements, text_id
from gitmem.services.interchange.values import (
    counted,
    first_text,
    headline,
    joined,
    maps_of,
    text_of,
    texts_of,
    time_of,
)

NAME = "genius"
FOLDER = ".genius/memory"
DONE = frozenset({"done", "completed", "complete", "finished", "closed"})
RULES = "learned-rules.md"


class Table(NamedTuple):
    """A file: the key of its words, that of the text below, and what an entry becomes."""

    words: tuple[str, ...]
    below: tuple[str, ...]
    kind: str
    type: str


TABLES = {
    "decisions.json": Table(("decision",), ("reason",), "memory", "decision"),
    "patterns.json": Table(("pattern",), ("context",), "memory", "pattern"),
    "progress.json": Table(("task",), (), "memory", "task"),
    "errors.json": Table(("error",), (), "gotcha", ""),
    "corrections.jsonl": Table(
        ("correction", "rule", "text", "content"), ("context", "reason"), "memory", "rule"
    ),
    "observations.jsonl": Table(
        ("observation", "text", "content"), ("context", "evidence"), "memory", "insight"
    ),
}


def _places(here: Surroundings) -> Sequence[str]:
    return here.below_root(FOLDER)


def _fits(path: str) -> bool:
    if os.path.basename(os.path.dirname(path)) == ".genius":
        return os.path.isdir(path)
    names = ("decisions.json", "patterns.json")
    return all(os.path.isfile(os.path.join(path, name)) for name in names)


def _read(source: ForeignSource) -> Iterator[ForeignItem]:
    for name, table in TABLES.items():
        path = os.path.join(source.path, name)
        if not os.path.exists(path):
            continue
        for number, row in _rows(source, path):
            words = first_text(row, table.words)
            if words:
                yield _item(name, table, words, row)
            else:
                source.leave_out(f"{name} {number}", "it has no text")
    yield from _rules(source)
    logs = list(files_below(source, os.path.join(source.path, "session-logs"), ".md"))
    if logs:
        source.leave_out(counted(len(logs), "log"), "logs of sessions are no facts")


def _rows(source: ForeignSource, path: str) -> Iterator[tuple[int, dict[str, Any]]]:
    if path.endswith(".jsonl"):
        yield from json_lines(source, path)
    else:
        yield from enumerate(maps_of(read_json(source, path)), 1)


def _item(name: str, table: Table, words: str, row: dict[str, Any]) -> ForeignItem:
    title, rest = headline(words)
    at = time_of(row.get("timestamp")) or time_of(row.get("ts"))
    status = text_of(row.get("status")).casefold()
    is_done = table.type == "task" and status in DONE
    used = {"id", "timestamp", "ts", "tags", "solution", *table.words, *table.below}
    return ForeignItem(
        NAME,
        text_of(row.get("id")) or f"{name} {text_id(words)}",
        title,
        kind=table.kind,
        type=table.type,
        body=joined(rest, *(text_of(row.get(key)) for key in table.below)),
        created=at,
        updated=at,
        tags=texts_of(row.get("tags")),
        status="archived" if is_done else "active",
        done=at if is_done else "",
        fields=_fields(table, row),
        extra={key: value for key, value in row.items() if key not in used and value},
    )


def _fields(table: Table, row: dict[str, Any]) -> dict[str, Any]:
    solution = text_of(row.get("solution"))
    return {"workaround": solution} if table.kind == "gotcha" and solution else {}


def _rules(source: ForeignSource) -> Iterator[ForeignItem]:
    """Yield the rules of the page that newer versions keep, with the line that verifies each."""
    path = os.path.join(source.path, RULES)
    text = read_text(source, path) if os.path.exists(path) else None
    for statement in statements(text or ""):
        title, rest = headline(statement.text)
        yield ForeignItem(NAME, f"rule {text_id(title)}", title, type="rule", body=rest)


FORMAT = ForeignFormat(NAME, "Genius Team", _places, _fits, _read)
