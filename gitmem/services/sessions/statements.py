"""What a session says of facts that it knew: that one is done, no longer true, or replaced.

Nothing is changed: the session's record names the facts, and a person answers.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from gitmem.index.reader import Index
from gitmem.records.items import (
    DECISION,
    DONE,
    ENDED,
    KEPT,
    REPLACED,
    Item,
    SpokenChange,
)
from gitmem.records.kinds import FACTS, LIVE
from gitmem.services.session_log.changes import LAST, fits, is_of, item_of
from gitmem.text.replacement import closes, named, replaces
from gitmem.text.revision import about, content, is_said, remainder
from gitmem.text.same_statement import same
from gitmem.transcripts.turn import USER

Row = Mapping[str, Any]
CHOSEN = (DECISION, "pattern", "rule", "preference")  # types that another choice replaces
ROLES = {"assistant": "agent"}  # of who speaks in a transcript
# what looks like a file with an ending
_FILE = re.compile(r"(?<![\w.@+/-])[\w.@+-]*(?:/[\w.@+-]+)*\.\w{1,8}\b")
SECONDS = len("2026-01-01T00:00:00")
MOST = 400  # records of a type that are looked at, the newest
LIKELY = 60  # records that share words with what is said of one
KINDS = tuple(sorted(FACTS))
QUOTE = 300  # characters
FIELDS = ("id", "kind", "type", "title", "created")
Changed = Sequence[tuple[Row, SpokenChange]]


def finished_tasks(
    indexes: Sequence[Index],
    done: Sequence[Item],
    changed: Sequence[str],
    began: str,
    now: str,
    agents: Sequence[str] = (),
) -> list[dict[str, Any]]:
    """Return a statement for each open task that items say is done, the user's words first.

    `changed` are files that commits changed: a task from before the session `began` that names one
    may be done too.
    """
    out: dict[str, dict[str, Any]] = {}
    said_by_user_first = sorted(done, key=lambda item: item.role != USER)
    rows = _live(indexes, ("task",), agents) if done or changed else ()
    for row in rows:
        said = next((item for item in said_by_user_first if _is_about(item, row, now)), None)
        if said is not None:
            out.setdefault(row["id"], of_item(str(row["id"]), DONE, said))
        elif str(row["created"]) < began and _names_changed_file(str(row["title"]), changed):
            out.setdefault(row["id"], {"id": row["id"], "what": DONE, "role": "commit"})
    return list(out.values())


def _is_about(item: Item, task: Row, now: str) -> bool:
    later = _is_later(item.at or now, task)
    return later and bool(closes(item.text, str(task["title"])))


def _is_later(at: str, row: Row) -> bool:
    """Return whether a time is not before a record was made; of both, whole seconds count."""
    return not at or at[:SECONDS] >= str(row["created"])[:SECONDS]


def replaced_facts(indexes: Sequence[Index], item: Item) -> list[str]:
    """Return the ids of the facts whose place an item takes, once somebody accepts it."""
    rows = _live(indexes, CHOSEN) if item.kind == DECISION else ()
    replaced = (
        str(row["id"])
        for row in rows
        if _is_later(item.at, row) and replaces(item.text, row["title"])
    )
    return list(dict.fromkeys((*item.replaces, *replaced)))


def changed_facts(
    indexes: Sequence[Index], changes: Sequence[SpokenChange], agents: Sequence[str], now: str
) -> Changed:
    """Return the live facts of which a session says that they are not so any more, each once.

    What the user said counts more than what an agent said, and of two the later. Where several
    facts may be meant, none is.
    """
    out: dict[str, tuple[Row, SpokenChange]] = {}
    for change in changes:
        taken_back = [id for id, (_, said) in out.items() if said.text in change.before[:1]]
        for id in taken_back:
            del out[id]
        row = None if taken_back else _meant(indexes, change, agents, now)
        if row is None:
            continue
        id, before = str(row["id"]), out.get(str(row["id"]))
        if before is not None and before[1].role == USER != change.role:
            continue
        out.pop(id, None)
        if change.what != KEPT:
            out[id] = row, change
    return list(out.values())


def _meant(
    indexes: Sequence[Index], change: SpokenChange, agents: Sequence[str], now: str
) -> Row | None:
    """Return the one fact that a change is about; None where there is none, or several."""
    rows = _likely(indexes, change, agents, now)
    for sentence in change.before if content(change.gone) else change.before[:LAST]:
        if said := [row for row in rows if _is_pointed_at(row, sentence, change)]:
            return said[0] if len(said) == 1 else None
    names = [row for row in rows if fits(change, str(row["title"]))]
    chosen = [row for row in names if row["type"] in CHOSEN] or names
    return chosen[0] if len(chosen) == 1 and _is_whole(chosen[0], change) else None


def _is_whole(row: Row, change: SpokenChange) -> bool:
    """Return whether a change is about all that a fact says, and not the same once more."""
    title = str(row["title"])
    return not (remainder(change.gone, title) or same(change.new, title))


def _is_pointed_at(row: Row, sentence: str, change: SpokenChange) -> bool:
    title, gone = str(row["title"]), content(change.gone)
    return is_said(sentence, title) and len(named(gone, about(title))) == len(gone)


def _likely(
    indexes: Sequence[Index], change: SpokenChange, agents: Sequence[str], now: str
) -> list[Row]:
    """Return the live facts that share words with what a change names or points at."""
    text = " ".join((change.gone, *change.before[:LAST]))
    rows: list[Row] = []
    for index in indexes:
        hits = index.search(
            text, limit=LIKELY, kinds=KINDS, statuses=LIVE, agents=agents, resolved=False
        )
        ids = [hit["id"] for hit in hits]
        rows += index.rows(ids=ids, valid_at=now, agents=agents, fields=FIELDS) if ids else ()
    return [row for row in rows if _is_later(change.at, row)]


def with_successors(items: Sequence[Item], changed: Changed) -> tuple[Item, ...]:
    """Return what a session taught, with what holds instead of facts."""
    out = list(items)
    for row, change in changed:
        if not change.new or row["kind"] != "memory":
            continue
        at = next((n for n, item in enumerate(out) if is_of(item, change)), None)
        made = item_of(change, str(row["type"])) if at is None else out.pop(at)
        made = replace(made, text=change.new, replaces=(*made.replaces, str(row["id"])))
        out.append(made)
    return tuple(out)


def of_changes(changed: Changed, proposed: Mapping[str, str]) -> list[dict[str, Any]]:
    """Return what a session's record says of facts that changed.

    `proposed` has the id of what takes a fact's place, by the fact's.
    """
    out = []
    for row, change in changed:
        id, successor = str(row["id"]), proposed.get(str(row["id"]), "")
        item = item_of(change)
        if successor and successor != id:
            out.append({**of_item(id, REPLACED, item, change.text), "successor": successor})
        elif change.what == ENDED:
            out.append(of_item(id, ENDED, item, change.text))
    return out


def of_items(items: Iterable[tuple[str, str, Item]]) -> list[dict[str, Any]]:
    """Return what a session's record says of facts, from (id, what, item)."""
    return [of_item(id, what, item) for id, what, item in items]


def of_item(id: str, what: str, said: Item, quote: str = "") -> dict[str, Any]:
    """Return what a session's record says of one fact."""
    facts: dict[str, Any] = {"id": id, "what": what, "role": ROLES.get(said.role, said.role)}
    facts |= {"lines": list(said.lines)} if said.lines[0] else {}
    return facts | ({"quote": quote[:QUOTE]} if quote else {})


def _live(indexes: Sequence[Index], types: Iterable[str], agents: Sequence[str] = ()) -> list[Row]:
    return [
        row
        for index in indexes
        for what in types
        for row in index.rows(
            what=what, statuses=LIVE, agents=agents, limit=MOST, fields=("id", "title", "created")
        )
    ]


def _names_changed_file(task: str, changed: Sequence[str]) -> bool:
    """Return whether a task names a changed file, by its path or the end of it."""
    names = {name.strip("./") for name in _FILE.findall(task)}
    return any(path == name or path.endswith(f"/{name}") for path in changed for name in names)
