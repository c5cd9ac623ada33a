"""What a consolidation writes: it collects what has faded, and merges what is said twice.

Each is one commit for each store. A second run changes nothing.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from gitmem.clock import seconds
from gitmem.errors import UnknownId
from gitmem.git.objects import Commit
from gitmem.index import joined
from gitmem.index.joined import Indexes
from gitmem.records.codec import encode
from gitmem.records.kinds import FACTS, LIVE
from gitmem.records.record import Record
from gitmem.records.score import FIELDS as SCORED
from gitmem.services.lifecycle.duplicates import duplicates, same_statements
from gitmem.services.lifecycle.merging import merged
from gitmem.services.records.write import Writer
from gitmem.store import operations
from gitmem.store.reader import Damaged
from gitmem.store.store import Message, Store, Written
from gitmem.store.trailers import trailers

STEPS = ("collect", "check", "merge", "code", "index", "summary", "health")
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
    """A fact that stays, and those that it takes the place of."""

    kept: Record
    others: tuple[Record, ...]


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


def collect(store: Store, who: Writer, ids: Collection[str]) -> list[str]:
    """Remove facts without a tombstone, as they are now; return the ids that were there.

    `git mem restore` brings them back. One that is changed meanwhile stays.
    """
    records = [record for record in _records(store, ids) if record.status != "pinned"]
    if records:
        todo = [operations.collect(record.id, encode(record)) for record in records]
        subject = f"consolidate: collect {_facts(len(records))} that faded unread"
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
    groups = same_statements(rows, keys)
    for number, ids in enumerate(groups):
        if progress:
            progress(number, len(groups))
        records = _records(store, ids)
        group = duplicates(records, unconfirmed) if len(records) > 1 else []
        if group:
            yield Merge(group[0], tuple(group[1:]))


def merge(store: Store, who: Writer, groups: Sequence[Merge]) -> Written:
    """Merge facts, all in one commit."""
    todo = [op for group in groups for op in merged([group.kept, *group.others], who)]
    number = sum(len(group.others) for group in groups)
    kept = "another" if len(groups) == 1 else f"{len(groups)} others"
    subject = f"consolidate: merge {_facts(number)} that said what {kept} said"
    ids = [record.id for group in groups for record in (group.kept, *group.others)]
    return _write(store, who, todo, subject, ids)


def repeated_proposals(
    private: Iterable[Row], shared: Iterable[Row], keys: Keys, store: Store, kept: Store
) -> list[Record]:
    """Return private proposals that say what a shared fact says already."""
    proposals = [row for row in private if row["unconfirmed"]]
    by_id = {row["id"]: row for row in (*proposals, *shared)}
    unconfirmed = {id for id, row in by_id.items() if row["unconfirmed"]}
    out: list[Record] = []
    for ids in same_statements(by_id.values(), keys):
        own, others = (_of_store(ids, by_id, scope) for scope in ("private", "shared"))
        facts = _records(kept, others[:1])
        for proposal in _records(store, own if facts else ()):
            out += [proposal] if _repeats(proposal, facts[0], unconfirmed) else []
    return out


def _of_store(ids: Sequence[str], rows: Mapping[str, Row], scope: str) -> list[str]:
    return [id for id in ids if rows[id]["store"] == scope]


def _repeats(proposal: Record, fact: Record, unconfirmed: Collection[str]) -> bool:
    group = duplicates([fact, proposal], unconfirmed)
    return bool(group) and group[0].id == fact.id


# -- both


def _records(store: Store, ids: Iterable[str]) -> list[Record]:
    out = []
    for id in ids:
        try:
            stored = store.get(id)
        except UnknownId:  # it went away meanwhile
            continue
        if not isinstance(stored, Damaged):
            out.append(stored.record)
    return out


def _write(
    store: Store, who: Writer, todo: Sequence[operations.Op], subject: str, ids: Sequence[str]
) -> Written:
    return store.write(todo, Message(subject, OP, tuple(ids), session=who.session))


def _facts(number: int) -> str:
    return "1 fact" if number == 1 else f"{number:,} facts"


def is_recent(commits: Iterable[Commit], now: float) -> bool:
    """Return whether a history has a consolidation of the last 20 hours."""
    for number, commit in enumerate(commits):
        if number >= LOOKED_AT or now - commit.committer.time > RECENT:
            return False
        if OP in trailers(commit.message).get("op", ()):
            return True
    return False
