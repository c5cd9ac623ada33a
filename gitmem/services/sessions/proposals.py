"""Proposals: what sessions taught, as unconfirmed records for `git mem inbox`.

They are in the private store, with the evidence.

A proposal's id is made from its words: made twice it is one record, and one that was rejected does
not come back, in other words neither.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from gitmem.errors import InvalidRecord, UnknownId
from gitmem.fingerprint.category import category
from gitmem.git.commit_messages import Person
from gitmem.index.reader import Index
from gitmem.records.claims import claims_of
from gitmem.records.items import (
    CONTEXT,
    DECISION,
    ERROR,
    PATTERN,
    PREFERENCE,
    TASK,
    Item,
    item_id,
    plain,
)
from gitmem.records.kinds import LIVE, derived_id
from gitmem.records.record import Record, make
from gitmem.services.facts.stores import PROPOSED, UNREAD
from gitmem.services.records import write
from gitmem.services.records.write import Writer
from gitmem.services.sessions.statements import ROLES, replaced_facts
from gitmem.store import operations
from gitmem.store.layout import tombstone_path
from gitmem.store.rejected import Rejected, marks
from gitmem.store.store import Message, Store
from gitmem.text.replacement import beside, without_reason
from gitmem.text.same_statement import same
from gitmem.text.tokenizer import tokens

MOST = 12  # proposals of one session that wait at once
COMPARED = 200  # items that are compared with what is known
LOOKED = 6  # records that an item is compared with
LATEST = 400  # decisions that a new one may take the place of
PLACES = 6  # files that a proposal names
IMPORTANCE = {DECISION: 6, PATTERN: 6, PREFERENCE: 5, TASK: 5, CONTEXT: 5}
TYPES = {"done": "context", ERROR: "bug"}  # of marked items whose kind is no type
LASTING = frozenset({DECISION, PATTERN, PREFERENCE, TASK})  # kinds worth a fact unmarked
TITLE = 160  # characters of a title
UNKNOWN = Person("somebody", "unknown")  # who wrote a commit that is not here


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
        )
        if x
    )
    now = who.clock.stamp()
    common: dict[str, Any] = {
        "created": item.at or now,
        "updated": item.at or now,
        "rev": 1,
        "author": who.person,
        "agent": who.agent if who.agent != "global" else None,
        "session": session or None,
        "origin": "extracted",
        "tags": [PROPOSED],
        "item": item_id(item.text),
        "anchors": [{"path": path} for path in item.files[:PLACES]] or None,
        "sources": [source_of(item, session, source)],
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
        type=TYPES.get(item.kind, item.kind),
        importance=importance,
        **common,
    )


def _title(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= TITLE else line[: TITLE - 1].rstrip() + "…"


def source_of(item: Item, session: str, place: str) -> dict[str, Any]:
    """Return where a fact was seen: session, role, time, commit, and lines of what was read.

    `place` is the source in words.
    """
    role = ROLES.get(item.role, item.role)
    facts: dict[str, Any] = {"session": session, "role": role, "at": item.at, "in": place}
    facts |= {"commit": item.commit[:12], "lines": list(item.lines) if item.lines[0] else None}
    return {key: value for key, value in facts.items() if value}


def _lasts(item: Item) -> bool:
    return item.kind in LASTING or bool(item.replaces) or (item.kind == ERROR and bool(item.detail))


def choose(items: Iterable[Item]) -> list[Item]:
    """Return the items that are worth a proposal, marked ones first.

    They are sure, and they are to be kept beyond the session.
    """
    lasting = [item for item in items if item.marked or (item.sure and _lasts(item))]
    return sorted(lasting, key=lambda item: not item.marked)


def same_record(indexes: Sequence[Index], item: Item) -> dict[str, Any] | None:
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
            says, title = without_reason(item.text), str(hit["title"])
            if same(item.text, title) or same(says, title) or same(says, without_reason(title)):
                return dict(hit)
    return None


@dataclass(slots=True)
class Learned:
    """What items add up to: new facts, each with its item, and facts that were there already."""

    made: list[tuple[Record, Item]] = field(default_factory=list)
    seen: list[tuple[dict[str, Any], Item]] = field(default_factory=list)

    @property
    def operations(self) -> list[operations.Op]:
        """What writes the new facts."""
        return [operations.put(record) for record, _ in self.made]


def learn(
    stores: Sequence[Store],
    who: Writer,
    items: Sequence[Item],
    session: str,
    source: str,
    indexes: Sequence[Index],
    *,
    limited: bool = True,
) -> Learned:
    """Return what items add to what is known. Nothing is written.

    `source` says where they were found, in words; `stores` are those in which a rejected or
    accepted fact may be. What sessions leave by themselves is `limited`.
    """
    out = Learned()
    chosen = choose(items)
    room = len(chosen)
    if limited:
        chosen, room = chosen[:COMPARED], MOST - _waiting(indexes, session)
    refused = (
        Rejected(mark for store in stores for mark in marks(store.objects, store.ref))
        if chosen
        else None
    )
    for item in chosen:
        before = same_record(indexes, item)
        if before is not None:
            out.seen.append((before, item))
        elif (item.marked or len(out.made) < room) and not _repeats(out, item):
            record = _proposal(stores, who, item, session, source, refused)
            if record is not None:
                old = replaced_facts(indexes, item)[:LOOKED]
                out.made.append((record.change(supersedes=old or None), item))
    return out


def _repeats(learned: Learned, item: Item) -> bool:
    return any(same(item.text, record.title) for record, _ in learned.made)


def _proposal(
    stores: Sequence[Store],
    who: Writer,
    item: Item,
    session: str,
    source: str,
    refused: Rejected | None,
) -> Record | None:
    """Return an item as a proposal; None for one that was there, or was rejected in other words."""
    try:
        record, _ = write.clean(record_of(item, session, source, who), who.allow)
    except InvalidRecord:  # an odd title must not cost the others theirs
        return None
    # as it was kept of those: without secrets
    if refused and refused.find_any(claims_of(record)):
        return None
    return None if any(_had(store, record.id) for store in stores) else record


def propose(
    store: Store,
    who: Writer,
    items: Sequence[Item],
    session: str,
    source: str,
    indexes: Callable[[], Sequence[Index]],
    elsewhere: Sequence[Store] = (),
    *,
    limited: bool = True,
) -> list[Record]:
    """Write proposals for what is not known yet; return them. One commit, none without news.

    `limited` is as in `learn`.
    """
    if not choose(items):
        return []
    stores = (store, *elsewhere)
    learned = learn(stores, who, items, session, source, indexes(), limited=limited)
    new = [record for record, _ in learned.made]
    if new:
        subject = f"{len(new)} proposal{'' if len(new) == 1 else 's'} of {source}"
        ids = tuple(record.id for record in new)
        message = Message(f"inbox: {subject}", "propose", ids, session=session)
        store.write(learned.operations, message)
    return new


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
    by = who._replace(agent=UNREAD, session="")
    return propose(store, by, items, "", source, indexes, elsewhere)


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
        by = who._replace(author=author)
        new += suggest(store, by, said, f"commit {oid[:12]} by {author}", indexes, elsewhere)
    return new


def _waiting(indexes: Sequence[Index], session: str) -> int:
    """Return how many proposals of a session nobody has looked at."""
    return (
        sum(
            index.number(sessions=(session,), tags=(PROPOSED,), unconfirmed=True, statuses=LIVE)
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
