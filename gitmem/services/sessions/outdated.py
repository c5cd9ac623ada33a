"""Records that a later session says are done, or no longer valid.

Proposals are removed. What somebody confirmed is archived with a note.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from gitmem.errors import UnknownId
from gitmem.index import summaries
from gitmem.index.reader import Index
from gitmem.records.gotcha_notes import with_note
from gitmem.records.items import DECISION, DONE, TASK, Item
from gitmem.records.kinds import LIVE
from gitmem.records.summary_entries import replaces
from gitmem.services.records import write
from gitmem.services.records.write import Writer
from gitmem.services.sessions.proposals import TAG
from gitmem.services.sessions.summary_merge import PERHAPS, closes, finishes
from gitmem.store.store import Store

Row = Mapping[str, Any]
# what looks like a file with an ending
_FILE = re.compile(r"(?<![\w.@+/-])[\w.@+-]*(?:/[\w.@+-]+)*\.\w{1,8}\b")
MOST = 400  # records of a kind that are looked at, the newest


def settle(
    stores: Mapping[str, Store],
    who: Writer,
    items: Sequence[Item],
    source: str,
    indexes: Callable[[], Sequence[Index]],
) -> list[str]:
    """Put aside tasks that items say are done, and proposed decisions that items overrule.

    Return their ids. `stores` are by the names that the index has.
    """
    done = [item for item in items if item.kind == DONE]
    made = [item for item in items if item.kind == DECISION and (item.sure or item.marked)]
    out = []
    for row, item in _found(indexes, TASK, done) if done else ():
        if finishes(
            {"text": item.text, "at": item.at or who.clock.stamp()},
            {"text": row["title"], "at": row["created"]},
        ):
            out += _aside(stores, who, row, f"Done: {item.text} ({source})", "done")
    for row, item in _found(indexes, DECISION, made) if made else ():
        later = not item.at or item.at >= str(row["created"])
        if (
            later
            and TAG in row["tags"]
            and row["unconfirmed"]
            and replaces(item.text, row["title"])
        ):
            out += _aside(stores, who, row, f"Overruled: {item.text} ({source})", "overruled")
    return out


def perhaps(
    indexes: Sequence[Index],
    done: Sequence[Item],
    changed: Sequence[str],
    session: str,
    began: str,
    now: str,
) -> dict[str, dict[str, str]]:
    """Return the open tasks that may be done, by the id of their record or entry.

    A value has `text`, `why` (what was said) and `session`.

    `changed` are files that commits changed: a task from before the session `began` that names one
    may be done too.
    """
    out: dict[str, dict[str, str]] = {}
    if not done and not changed:
        return out
    for index in indexes:
        tasks = [
            (str(row["id"]), str(row["title"]), str(row["created"]))
            for row in index.rows(what=TASK, statuses=LIVE, limit=MOST)
        ]
        numbers = summaries.cumulative(index)
        tasks += [
            (e["id"], e["text"], e["at"])
            for e in (summaries.entries(index, numbers) if numbers else ())
            if e["kind"] == TASK
        ]
        for id, text, at in tasks:
            said = next(
                (
                    item
                    for item in done
                    if (item.at or now) >= at and closes(item.text, text) == PERHAPS
                ),
                None,
            )
            named = "" if said is not None or at >= began else _named(text, changed)
            if said is not None or named:
                out[id] = {
                    "text": text,
                    "why": said.text if said is not None else f"commits changed {named}",
                    "session": session,
                }
    return out


def _named(task: str, changed: Sequence[str]) -> str:
    """Return the changed file that a task names, by its path or the end of it; empty for none."""
    names = {name.strip("./") for name in _FILE.findall(task)}
    return next(
        (
            path
            for path in changed
            if any(path == name or path.endswith(f"/{name}") for name in names)
        ),
        "",
    )


def _found(
    indexes: Callable[[], Sequence[Index]], what: str, items: Sequence[Item]
) -> Iterator[tuple[Row, Item]]:
    rows = [row for index in indexes() for row in index.rows(what=what, statuses=LIVE, limit=MOST)]
    return ((row, item) for row in rows for item in items)


def _aside(stores: Mapping[str, Store], who: Writer, row: Row, why: str, op: str) -> list[str]:
    """Reject a proposal, archive what was confirmed.

    Nothing that is pinned, or of another store.
    """
    store = stores.get(str(row["store"]))
    if store is None:
        return []
    try:
        record = store.get(str(row["id"])).record
    except UnknownId:  # put aside by an item before
        return []
    if record.status != "active":
        return []
    if record.unconfirmed and TAG in record.tags:
        write.forget(store, who, [record], why, again=True)
    else:
        write.update(
            store,
            who,
            record,
            record.change(status="archived", body=with_note(record.body, why)),
            op,
        )
    return [record.id]
