"""What a session says of facts that it knew: that a task is done, that one is replaced.

Nothing is changed: the session's record names the facts, and a person answers.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from gitmem.index.reader import Index
from gitmem.records.items import DECISION, Item
from gitmem.records.kinds import LIVE
from gitmem.text.replacement import closes, replaces

Row = Mapping[str, Any]
CHOSEN = (DECISION, "pattern", "rule", "preference")  # types that another choice replaces
DONE, REPLACED = "done", "replaced"
ROLES = {"assistant": "agent"}  # of who speaks in a transcript
# what looks like a file with an ending
_FILE = re.compile(r"(?<![\w.@+/-])[\w.@+-]*(?:/[\w.@+-]+)*\.\w{1,8}\b")
SECONDS = len("2026-01-01T00:00:00")
MOST = 400  # records of a type that are looked at, the newest


def finished_tasks(
    indexes: Sequence[Index],
    done: Sequence[Item],
    changed: Sequence[str],
    began: str,
    now: str,
) -> list[dict[str, Any]]:
    """Return a statement for each open task that items say is done: {id, what, role, lines}.

    `changed` are files that commits changed: a task from before the session `began` that names one
    may be done too.
    """
    out: dict[str, dict[str, Any]] = {}
    rows = _live(indexes, ("task",)) if done or changed else ()
    for row in rows:
        said = next((item for item in done if _is_about(item, row, now)), None)
        if said is not None:
            out.setdefault(row["id"], _statement(str(row["id"]), DONE, said))
        elif str(row["created"]) < began and _names_one(str(row["title"]), changed):
            out.setdefault(row["id"], {"id": row["id"], "what": DONE, "role": "commit"})
    return list(out.values())


def _is_about(item: Item, task: Row, now: str) -> bool:
    later = _is_later(item.at or now, task)
    return later and bool(closes(item.text, str(task["title"])))


def _is_later(at: str, row: Row) -> bool:
    """Return whether a time is not before a record was made; of both, whole seconds count."""
    return not at or at[:SECONDS] >= str(row["created"])[:SECONDS]


def replaced_facts(indexes: Sequence[Index], item: Item) -> list[str]:
    """Return the ids of the facts whose place a decision takes, once somebody accepts it."""
    if item.kind != DECISION:
        return []
    rows = _live(indexes, CHOSEN)
    return [
        str(row["id"])
        for row in rows
        if _is_later(item.at, row) and replaces(item.text, row["title"])
    ]


def of_items(found: Iterable[tuple[str, str, Item]]) -> list[dict[str, Any]]:
    """Return what a session's record says of facts, from (id, what, item)."""
    return [_statement(id, what, item) for id, what, item in found]


def _statement(id: str, what: str, item: Item) -> dict[str, Any]:
    facts = {"id": id, "what": what, "role": ROLES.get(item.role, item.role)}
    return {**facts, "lines": list(item.lines)} if item.lines[0] else facts


def _live(indexes: Sequence[Index], types: Iterable[str]) -> list[Row]:
    return [
        row
        for index in indexes
        for what in types
        for row in index.rows(
            what=what, statuses=LIVE, limit=MOST, fields=("id", "title", "created")
        )
    ]


def _names_one(task: str, changed: Sequence[str]) -> bool:
    """Return whether a task names a changed file, by its path or the end of it."""
    names = {name.strip("./") for name in _FILE.findall(task)}
    return any(path == name or path.endswith(f"/{name}") for path in changed for name in names)
