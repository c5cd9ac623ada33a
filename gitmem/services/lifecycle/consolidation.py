"""What a consolidation writes: it collects what has faded, and merges what is said twice.

Each is one commit for each store. A second run changes nothing.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import product
from typing import Any, NamedTuple

from gitmem.clock import seconds
from gitmem.errors import UnknownId
from gitmem.git.objects import Commit
from gitmem.index import joined
from gitmem.index.joined import Indexes
from gitmem.records.codec import encode
from gitmem.records.kinds import FACTS, LIVE
from gitmem.records.merge import restamp
from gitmem.records.record import Record
from gitmem.records.score import FIELDS as SCORED
from gitmem.services.facts.stores import shareable
from gitmem.services.lifecycle.duplicates import duplicates, group_key_of, same_statements
from gitmem.services.lifecycle.fact_check import is_doubted
from gitmem.services.lifecycle.merging import merged
from gitmem.services.records.write import Writer, archivals
from gitmem.store import operations
from gitmem.store.reader import Damaged, Stored
from gitmem.store.store import Message, Store, Written
from gitmem.store.trailers import trailers
from gitmem.text.plural import counted

STEPS = ("collect", "check", "merge", "code", "index", "summary", "pages", "health")
OP = "consolidate"
UNSEEN = 90 * 86400.0  # seconds that a proposal waits for somebody who looks at it
RECENT = 20 * 3600.0  # seconds: another clone's consolidation counts for this one too
LOOKED_AT = 500  # commits of a fetched history
FIELDS = (
    *("store", "id", "kind", "type", "status", "agent", "project", "title", "created", "updated"),
    *("expires", "triggers", "unconfirmed", "oid", *SCORED),
)
Row = dict[str, Any]
Reads = Mapping[str, tuple[int, str]]
Keys = Mapping[str, str]
Progress = Callable[[int, int], None]


class Merge(NamedTuple):
    """A fact that stays, those that it takes the place of, and the ids of the doubted of these.

    What a fact is that is doubted, `fact_check.is_doubted` says.
    """

    kept: Record
    others: tuple[Record, ...]
    doubted: frozenset[str] = frozenset()


def live_facts(indexes: Indexes, scope: str, at: str) -> list[Row]:
    """Return the facts of a store that hold at a time, as rows with `FIELDS`."""
    return joined.rows(
        indexes,
        (scope,),
        kinds=tuple(sorted(FACTS)),
        statuses=LIVE,
        resolved=False,
        valid_at=at,
        fields=FIELDS,
    )


# -- collecting


def faded(rows: Iterable[Row], is_collectable: Callable[[Row], bool]) -> list[str]:
    """Return the ids of facts that may be collected: nobody vouches for them, and they faded."""
    return [row["id"] for row in rows if row["unconfirmed"] and is_collectable(row)]


def unseen_proposals(rows: Iterable[Row], reads: Reads, now: float) -> list[str]:
    """Return the ids of private proposals that nobody looked at for 90 days."""
    out = []
    for row in rows:
        if not row["unconfirmed"] or row["store"] != "private" or row["status"] == "pinned":
            continue
        last = max(str(row["updated"]), reads.get(row["id"], (0, ""))[1])
        out += [row["id"]] if now - seconds(last) > UNSEEN else []
    return out


def collect(store: Store, who: Writer, versions: Mapping[str, str]) -> list[str]:
    """Remove facts without a tombstone; return the ids of those that were removed.

    `versions` are the oids of their files, by id: a fact that was changed since stays. `git mem
    restore` brings the others back.
    """
    records = [
        stored.record
        for stored in _stored(store, versions)
        if stored.oid == versions[stored.record.id]
    ]
    if records:
        todo = [operations.collect(record.id, encode(record)) for record in records]
        subject = f"consolidate: collect {counted(len(records), 'fact')} that faded unread"
        _write(store, who, todo, subject, [record.id for record in records])
    return [record.id for record in records]


# -- merging


def merges(
    store: Store, rows: Sequence[Row], keys: Keys, progress: Progress | None = None
) -> Iterator[Merge]:
    """Yield the facts of a store that are to be merged.

    `rows` are its live facts, `keys` what duplicates among them have in common, by oid.
    """
    unconfirmed = {row["id"] for row in rows if row["unconfirmed"]}
    doubted = frozenset(row["id"] for row in rows if is_doubted(row))
    groups = same_statements(rows, keys)
    for number, ids in enumerate(groups):
        if progress:
            progress(number, len(groups))
        for records in _by_key(_records(store, ids)):
            for kept, *others in duplicates(records, unconfirmed):
                yield Merge(kept, tuple(others), doubted.intersection(ids))


def _by_key(records: Iterable[Record]) -> Collection[list[Record]]:
    """Return facts whose keys are equal now: what a cache says of them decides nothing."""
    groups: dict[str, list[Record]] = {}
    for record in records:
        groups.setdefault(group_key_of(record), []).append(record)
    return groups.values()


def merge(store: Store, who: Writer, groups: Sequence[Merge]) -> Written:
    """Merge facts, all in one commit; a group stays as it is if a fact of it changed since."""
    todo = [merged([group.kept, *group.others], who, group.doubted) for group in groups]
    number = sum(len(group.others) for group in groups)
    kept = "another" if len(groups) == 1 else f"{len(groups)} others"
    subject = f"consolidate: merge {counted(number, 'fact')} that said what {kept} said"
    ids = [record.id for group in groups for record in (group.kept, *group.others)]
    return _write(store, who, todo, subject, ids)


def repeated_proposals(
    private: Iterable[Row], shared: Iterable[Row], keys: Keys, store: Store, kept: Store
) -> list[tuple[Record, Record]]:
    """Return private proposals that say what a shared fact says already, each with the fact."""
    proposals = [row for row in private if row["unconfirmed"]]
    by_id = {row["id"]: row for row in (*proposals, *shared)}
    unconfirmed = {id for id, row in by_id.items() if row["unconfirmed"]}
    private_ids = {row["id"] for row in proposals}
    out: dict[str, tuple[Record, Record]] = {}
    for ids in same_statements(by_id.values(), keys):
        own, others = private_ids.intersection(ids), set(ids) - private_ids
        pairs = product(_records(store, sorted(own)), _records(kept, sorted(others)))
        out |= {p.id: (p, fact) for p, fact in pairs if _repeats(p, fact, unconfirmed)}
    return list(out.values())


def _repeats(proposal: Record, fact: Record, unconfirmed: Collection[str]) -> bool:
    groups = duplicates([fact, proposal], unconfirmed)
    return bool(groups) and groups[0][0].id == fact.id


def archive_repeated(
    private: Store, shared: Store, who: Writer, repeated: Sequence[tuple[Record, Record]]
) -> None:
    """Archive private proposals; the shared facts that they repeat get where they were seen.

    The shared store is written first, so that a kill loses no source.
    """
    facts = {fact.id: fact for _, fact in repeated}
    after = dict(facts)
    for proposal, fact in repeated:
        after[fact.id] = _with_sources(after[fact.id], proposal)
    changed = [
        operations.put(restamp(facts[id], record.touched(who.clock.stamp())), facts[id])
        for id, record in after.items()
        if record != facts[id]
    ]
    if changed:
        subject = f"consolidate: {counted(len(changed), 'fact')} seen again in proposals"
        _write(shared, who, changed, subject, list(facts))
    proposals = [proposal for proposal, _ in repeated]
    subject = f"consolidate: archive {counted(len(proposals), 'proposal')} that shared facts repeat"
    _write(
        private, who, archivals(who, proposals), subject, [proposal.id for proposal in proposals]
    )


def _with_sources(fact: Record, proposal: Record) -> Record:
    """Return a shared fact that was seen where a private proposal was."""
    sources = fact.get("sources")
    more = [source for source in shareable(proposal.get("sources")) if source not in sources]
    return fact.change(sources=[*sources, *more]) if more else fact


# -- both


def _records(store: Store, ids: Iterable[str]) -> list[Record]:
    return [stored.record for stored in _stored(store, ids)]


def _stored(store: Store, ids: Iterable[str]) -> Iterator[Stored]:
    for id in ids:
        try:
            stored = store.get(id)
        except UnknownId:  # it went away meanwhile
            continue
        if not isinstance(stored, Damaged):
            yield stored


def _write(
    store: Store, who: Writer, todo: Sequence[operations.Op], subject: str, ids: Sequence[str]
) -> Written:
    return store.write(todo, Message(subject, OP, tuple(ids), session=who.session))


def is_recent(commits: Iterable[Commit], now: float) -> bool:
    """Return whether a history has a consolidation of the last 20 hours."""
    for number, commit in enumerate(commits):
        if number >= LOOKED_AT or now - commit.committer.time > RECENT:
            return False
        if OP in trailers(commit.message).get("op", ()):
            return True
    return False
