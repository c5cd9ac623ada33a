"""Proposals: what sessions taught, as unconfirmed records for `git mem inbox`.

They are in the private store, with the evidence.

A proposal's id is made from its words: made twice it is one record, and one that was rejected does
not come back, in other words neither.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from gitmem.errors import InvalidRecord, UnknownId
from gitmem.fingerprint.category import category
from gitmem.git.commit_messages import Person
from gitmem.index.reader import Index
from gitmem.records.items import DECISION, ERROR, PATTERN, PREFERENCE, TASK, Item, item_id, plain
from gitmem.records.kinds import LIVE, derived_id
from gitmem.records.record import Record, make
from gitmem.records.summary_entries import beside, replaces, without_reason
from gitmem.records.trust import confirmed_by
from gitmem.services.records import write
from gitmem.services.records.write import Change, Writer, archivals, replaced_by, require_person
from gitmem.store import operations
from gitmem.store.layout import FILE_LIMIT, tombstone_path
from gitmem.store.store import Message, Store
from gitmem.text.paraphrase import Refused
from gitmem.text.same_statement import same
from gitmem.text.tokenizer import tokens

MOST = 12  # proposals of one session that wait at once
COMPARED = 200  # items that are compared with what is known
LOOKED = 6  # records that an item is compared with
LATEST = 400  # decisions that a new one may take the place of
PLACES = 6  # files that a proposal names
REFUSED = 5000  # rejected proposals, the latest, that new ones are compared with
TAG = "proposed"
IMPORTANCE = {DECISION: 6, PATTERN: 6, PREFERENCE: 5, TASK: 5}
TITLE = 160  # characters of a title
UNKNOWN = Person("somebody", "unknown")  # who wrote a commit that is not here
UNTOLD = "inbox"  # the namespace of what others said: no agent reads it before somebody accepts it


def record_of(item: Item, session: str, source: str, who: Writer) -> Record:
    """Return an item as an unconfirmed record.

    A fixed error becomes a gotcha, anything else a memory. Raises InvalidRecord.
    """
    title = _title(item.text)
    body = "\n\n".join(
        x
        for x in (
            item.text if title != item.text.strip() else "",
            beside(item.text, item.detail) if item.kind != ERROR else "",
            _evidence(item, source),
        )
        if x
    )
    now = who.clock.stamp()
    common: dict[str, Any] = {
        "created": item.at or now,
        "updated": now,
        "rev": 1,
        "author": f"{who.author[0]} <{who.author[1]}>",
        "agent": who.agent if who.agent != "global" else None,
        "session": session or None,
        "origin": "extracted",
        "tags": [TAG],
        "item": item_id(item.text),
        "anchors": [{"path": path} for path in item.files[:PLACES]] or None,
    }
    if item.kind == ERROR:
        return make(
            "gotcha",
            derived_id("got", f"proposed {plain(item.text)}"),
            title,
            body,
            workaround=item.detail,
            category=category(item.text, item.detail, ""),
            severity="warning",
            **common,
        )
    importance = IMPORTANCE.get(item.kind, 5) + (2 if item.marked else 0)
    return make(
        "memory",
        derived_id("mem", f"proposed {item.kind} {plain(item.text)}"),
        title,
        body,
        type=item.kind,
        importance=importance,
        **common,
    )


def _title(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= TITLE else line[: TITLE - 1].rstrip() + "…"


def _evidence(item: Item, source: str) -> str:
    said = {
        "user": "said by the user",
        "assistant": "said by the agent",
        "tool": "seen in tool output",
    }.get(item.role, "found")
    first, last = item.lines
    where = (
        f", commit {item.commit[:12]}"
        if item.commit
        else f", line {first}" + (f" to {last}" if last > first else "")
        if first
        else ""
    )
    return f"Evidence: {said} in {source}{where}." if source else ""


def choose(items: Iterable[Item]) -> list[Item]:
    """Return the items that are worth a proposal, marked ones first.

    They are sure, and they are to be kept beyond the session.
    """
    found = [
        item
        for item in items
        if (item.kind in IMPORTANCE or (item.kind == ERROR and item.detail))
        and (item.marked or item.sure)
    ]
    return sorted(found, key=lambda item: not item.marked)[:COMPARED]


def known(indexes: Sequence[Index], item: Item) -> dict[str, Any] | None:
    """Return a record that says the same as an item, None if there is none.

    Its status does not matter: it may be live, archived, or injected into this session.
    """
    query = " ".join(tokens(item.text)[:24])
    kinds = ("gotcha", "memory")
    for index in indexes:
        for hit in (
            index.search(
                query,
                limit=LOOKED,
                kinds=kinds,
                statuses=("active", "pinned", "archived", "decayed"),
                snippets=False,
            )
            if query
            else ()
        ):
            if same(item.text, hit["title"]) or same(without_reason(item.text), hit["title"]):
                return dict(hit)
    return None


def overruled(indexes: Sequence[Index], item: Item) -> list[str]:
    """Return the ids of shared, confirmed decisions that a decision takes the place of.

    They are put aside once somebody accepts it.
    """
    if item.kind != DECISION:
        return []
    rows = (
        row
        for index in indexes
        for row in index.rows(what=DECISION, statuses=("active",), limit=LATEST)
        if row["store"] == "shared" and row["origin"] == "extracted" and not row["unconfirmed"]
    )
    return [row["id"] for row in rows if replaces(item.text, row["title"])][:LOOKED]


def propose(
    store: Store,
    who: Writer,
    items: Sequence[Item],
    session: str,
    source: str,
    indexes: Callable[[], Sequence[Index]],
    elsewhere: Sequence[Store] = (),
) -> list[Record]:
    """Write proposals for what is not known yet; return them.

    One commit, none when there is nothing new.

    `source` says where it was found, in words; `elsewhere` are stores in which a rejected or
    accepted one may be.
    """
    return _write(store, who, choose(items), session, source, indexes, elsewhere)


def suggest(
    store: Store,
    who: Writer,
    items: Sequence[Item],
    source: str,
    indexes: Callable[[], Sequence[Index]],
    elsewhere: Sequence[Store] = (),
) -> list[Record]:
    """Write what somebody else said as proposals in their name, which no agent is told.

    Return the new ones.
    """
    by = replace(who, agent=UNTOLD, session="")
    return _write(store, by, items, "", source, indexes, elsewhere)


def suggest_of_commits(
    store: Store,
    who: Writer,
    items: Sequence[Item],
    authors: Mapping[str, Person],
    indexes: Callable[[], Sequence[Index]],
    elsewhere: Sequence[Store] = (),
) -> list[Record]:
    """Write what messages of commits by others say as proposals in their names.

    Return the new ones.
    """
    new = []
    for oid in dict.fromkeys(item.commit for item in items):
        author = authors.get(oid, UNKNOWN)
        said = [replace(item, commit="", role="") for item in items if item.commit == oid]
        by = replace(who, author=author)
        new += suggest(
            store, by, choose(said), f"commit {oid[:12]} by {author}", indexes, elsewhere
        )
    return new


def _write(
    store: Store,
    who: Writer,
    chosen: Sequence[Item],
    session: str,
    source: str,
    indexes: Callable[[], Sequence[Index]],
    elsewhere: Sequence[Store],
) -> list[Record]:
    there = indexes() if chosen else ()
    room = MOST - _waiting(there, session)
    refused = (
        Refused(said for one in (store, *elsewhere) for said in rejected(one)) if chosen else None
    )
    new: list[Record] = []
    for item in chosen:
        if len(new) >= room:
            break
        if known(there, item) or any(same(item.text, one.title) for one in new):
            continue
        try:
            record, _ = write.clean(record_of(item, session, source, who), who.allow)
        except InvalidRecord:  # an odd title must not cost the others theirs
            continue
        # as it was kept of those: without secrets
        if refused and refused.says_again(write.words_of(record)):
            continue
        if not any(_had(one, record.id) for one in (store, *elsewhere)):
            new.append(record.change(supersedes=overruled(there, item) or None))
    if new:
        subject = f"{len(new)} proposal{'' if len(new) == 1 else 's'} of {source}"
        store.write(
            [operations.put(one) for one in new],
            Message(f"inbox: {subject}", "propose", tuple(one.id for one in new), session=session),
        )
    return new


def _waiting(indexes: Sequence[Index], session: str) -> int:
    """Return how many proposals of a session nobody has looked at."""
    return (
        sum(
            index.number(sessions=(session,), tags=(TAG,), unconfirmed=True, statuses=LIVE)
            for index in indexes
        )
        if session
        else 0
    )


def _had(store: Store, id: str) -> bool:
    if store.read_file(tombstone_path(id)) is not None:
        return True
    try:
        store.get(id)
    except UnknownId:
        return False
    return True


def rejected(store: Store) -> list[str]:
    """Return what rejected proposals of a store said, the latest first.

    Only what their tombstones keep is known.
    """
    tree = store.tree()
    root = store.objects.find(tree, "tombstones") if tree else None
    shards = (
        [entry.oid for entry in store.objects.tree(root.oid) if entry.is_tree]
        if root and root.is_tree
        else []
    )
    marks = [
        entry.oid for shard in shards for entry in store.objects.tree(shard) if not entry.is_tree
    ]
    found = []
    for _, data in store.objects.read_many_small(marks, FILE_LIMIT):
        if not data or b'"said"' not in data:
            continue
        try:
            mark = json.loads(data)
        except (ValueError, RecursionError):  # damaged: doctor's to tell of
            continue
        if isinstance(mark, dict) and isinstance(mark.get("said"), str):
            found.append((str(mark.get("at", "")), mark["said"]))
    return [said for _, said in sorted(found, reverse=True)[:REFUSED]]


def accept(
    private: Store,
    shared: Store,
    who: Writer,
    record: Record,
    commit: str = "",
    more: Sequence[operations.Op] = (),
) -> Change:
    """Move a proposal to the shared store, confirmed, and archive what it replaces.

    This is one commit, together with `more`. The proposal leaves the private store.
    """
    require_person(who, "accept")
    tags = [tag for tag in record.tags if tag != TAG]
    agent = None if record.fields.get("agent") == UNTOLD else record.fields.get("agent")
    after = record.change(tags=tags or None, item=None, agent=agent)
    after = confirmed_by(after, who.clock.stamp(), who.author[0], commit).touched(who.clock.stamp())
    todo = [operations.put(after, revive=True), *more]
    todo += archivals(who, replaced_by(shared, record))
    written = shared.write(todo, who.message(after, "confirm"))
    private.write(
        [operations.collect(record.id)],
        Message(
            f"{record.kind}: moved {record.id} to the shared store",
            "move",
            (record.id,),
            session=who.session,
        ),
    )
    return Change(record, after, written)
