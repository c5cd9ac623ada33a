"""The health of a store now and at commits of its past, read from git.

One state follows from the one before it by the difference of their trees. What was read of a blob
is kept by its oid, what a state came to by its commit.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from gitmem.clock import seconds
from gitmem.git.objects import Commit, TreeEntry, diff
from gitmem.index.health_cache import HealthCache
from gitmem.records.active_hours import ActiveClock
from gitmem.records.codec import sane
from gitmem.records.kinds import FACTS, LIVE
from gitmem.records.record import Record
from gitmem.records.score import DECAYED, is_sinking, rate_of, row_of, score_of
from gitmem.services.lifecycle.health import FactMeasures, HealthCounts, measure
from gitmem.store.layout import FILE_LIMIT, FOLDER, PLAIN_LIMIT
from gitmem.store.reader import Reader
from gitmem.store.usage_file import parse_usage

POINTS = 200  # states of a history
DAY = 86400  # seconds
FOLDERS = tuple(f"{FOLDER[kind]}/" for kind in sorted(FACTS))
Reads = Mapping[str, tuple[int, str]]  # how many, and when the last was, by id


class HealthAt(NamedTuple):
    """The health of one commit of a store; `at` is its time in epoch seconds."""

    commit: str
    at: float
    counts: HealthCounts


def health_now(
    store: Reader, cache: HealthCache, clock: ActiveClock, now: float, reads: Reads
) -> HealthCounts:
    """Return the health of a store at its tip, with reads that are in no commit yet."""
    tip = store.tip()
    state = _State(store, cache)
    if tip is not None:
        state.move_to(store.objects.commit(tip))
    return state.counts(now, clock, reads)


def health_at(store: Reader, cache: HealthCache, clock: ActiveClock, commit: str) -> HealthAt:
    """Return the health of a store as it was at a commit."""
    return next(health_points(store, cache, clock, [store.objects.commit(commit)]))


def health_points(
    store: Reader, cache: HealthCache, clock: ActiveClock, commits: Sequence[Commit]
) -> Iterator[HealthAt]:
    """Yield the health of a store at commits, oldest first."""
    begin = 0.0
    keys = [f"{commit.oid} {clock.hours(begin, commit.committer.time):.0f}" for commit in commits]
    kept = cache.states(keys)
    state = _State(store, cache)
    new: dict[str, Sequence[object]] = {}
    for commit, key in zip(commits, keys, strict=True):
        row = kept.get(key)
        if row is not None:
            counts = HealthCounts(*row)  # type: ignore[arg-type]
        else:
            state.move_to(commit)
            counts = state.counts(commit.committer.time, clock)
            new[key] = counts
        yield HealthAt(commit.oid, commit.committer.time, counts)
    cache.add_states(new)


def commits_of_history(store: Reader, most: int = POINTS) -> list[Commit]:
    """Return commits of a store, oldest first: the last of each day, at most so many of them."""
    tip = store.tip()
    days: dict[int, Commit] = {}
    for commit in store.objects.walk([tip] if tip else []):
        if commit.parents:  # not the beginning, which all stores share
            days.setdefault(commit.committer.time // DAY, commit)
    ordered = [days[day] for day in sorted(days)]
    if len(ordered) <= most:
        return ordered
    step = (len(ordered) - 1) / (most - 1)
    return [ordered[round(number * step)] for number in range(most)]


class _State:
    """The facts and the reads of one commit."""

    def __init__(self, store: Reader, cache: HealthCache) -> None:
        self._objects = store.objects
        self._cache = cache
        self._tree: str | None = None
        self._facts: dict[str, FactMeasures] = {}  # by path
        self._usage: dict[str, dict[str, tuple[int, float]]] = {}  # by path, by id

    def move_to(self, commit: Commit) -> None:
        """Follow the difference from the commit before."""
        facts: dict[str, str] = {}
        for change in diff(self._objects, self._tree, commit.tree):
            if change.path.startswith("usage/"):
                self._read_usage(change.path, change.new)
                continue
            if not change.path.startswith(FOLDERS):
                continue
            self._facts.pop(change.path, None)
            if change.new is not None and not change.new.is_tree:
                facts[change.path] = change.new.oid
        self._read_facts(facts)
        self._tree = commit.tree

    def counts(self, now: float, clock: ActiveClock, reads: Reads | None = None) -> HealthCounts:
        """Return the counts at a time; `reads` take the place of those that are committed."""
        if reads is None:
            last_reads = self._reads()
        else:
            last_reads = {id: (number, _time(last)) for id, (number, last) in reads.items()}
        return measure(self._facts.values(), last_reads, now, clock, DECAYED)

    def _reads(self) -> dict[str, tuple[int, float]]:
        out: dict[str, tuple[int, float]] = {}
        for rows in self._usage.values():
            for id, (number, last) in rows.items():
                before = out.get(id, (0, 0.0))
                out[id] = (before[0] + number, max(before[1], last))
        return out

    def _read_usage(self, path: str, entry: TreeEntry | None) -> None:
        data = self._objects.read_small(entry.oid, PLAIN_LIMIT) if entry else None
        rows = parse_usage(data) if path.endswith(".jsonl") else {}
        self._usage[path] = {id: (row["n"], _time(row["last"])) for id, row in rows.items()}

    def _read_facts(self, oids: Mapping[str, str]) -> None:
        kept = self._cache.facts(set(oids.values()))
        wanted = {oid: path for path, oid in oids.items() if oid not in kept}
        new: dict[str, Sequence[object] | None] = {}
        for oid, data in self._objects.read_many_small(wanted, FILE_LIMIT):
            record = sane(data) if data else None
            new[oid] = measured(record) if isinstance(record, Record) else None
        self._cache.add_facts(new)
        for path, oid in oids.items():
            row = kept[oid] if oid in kept else new.get(oid)
            if row is not None and path.endswith(f"/{row[0]}.md"):
                self._facts[path] = FactMeasures(*row)  # type: ignore[arg-type]


def measured(record: Record) -> FactMeasures | None:
    """Return what health looks at of a fact; None for one that is not live."""
    is_over = record.resolved or record.get("done") or record.status not in LIVE
    if record.kind not in FACTS or is_over:
        return None
    # what a state of the past that is kept does without takes 60 ms to load
    from gitmem.services.lifecycle.duplicates import group_key_of, reason_key

    row = row_of(record)
    created = seconds(record.created)
    score = score_of(row, (0, ""), created, ActiveClock({}))
    sinks = is_sinking(row, score.level)
    statement = group_key_of(record)
    return FactMeasures(
        record.id,
        record.status == "pinned",
        score.is_fleeting,
        score.importance + score.bonus,
        rate_of(record.get("decay_rate"), 0) if sinks else None,
        created,
        _end(str(record.fields.get("expires") or "")),
        len(record.get("links") or ()),
        statement,
        reason_key(record),
        tuple(record.get("supersedes") or ()),
    )


def statement_of(row: Sequence[object]) -> str:
    """Return what duplicates of a fact have in common, of a row of the cache."""
    return str(row[FactMeasures._fields.index("statement")])


def _end(expires: str) -> float:
    """Return when a fact ends, in epoch seconds; a bare date holds until its end. 0 for never."""
    is_day = len(expires) == len("2026-11-21")
    return (_time(f"{expires}T00:00:00Z") + DAY) if is_day else _time(expires)


def _time(stamp: object) -> float:
    try:
        return seconds(str(stamp or ""))
    except ValueError:
        return 0.0
