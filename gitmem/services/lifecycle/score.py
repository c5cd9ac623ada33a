"""The scores of the facts that a reader joins: what was read, and the clock, loaded once.

Part of the hot path.
"""

from gitmem.clock import stamp
from gitmem.records.active_hours import HOUR, ActiveClock, joined, masks_of
from gitmem.records.promotion import RULE, lowered
from gitmem.records.score import FIELDS, FLEETING, hours_to_decay, score_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence
    from typing import Any

    from gitmem.index.filters import Aged
    from gitmem.index.reader import Index
    from gitmem.records.score import Score
    from gitmem.state.database import State

    Row = Mapping[str, Any]

STORES = ("shared", "private")


class FactScores:
    """Answers for rows of some indexes at one time, epoch seconds.

    `states` opens what is in no commit yet: this repository's first. `refuted` finds the ids of
    facts that a check refutes. Each is called on first use. `ids` are those that are asked about,
    None for any.
    """

    def __init__(
        self,
        indexes: "Sequence[Index]",
        states: "Callable[[], Sequence[State]]",
        now: float,
        refuted: "Callable[[], Collection[str]]" = frozenset,
        ids: "Sequence[str] | None" = None,
    ) -> None:
        self.now = now
        self._indexes = indexes
        self._open_states = states
        self._find_refuted = refuted
        self._ids = ids
        self._states: Sequence[State] | None = None
        self._reads: dict[str, tuple[int, str]] | None = None
        self._refuted: Collection[str] | None = None
        self._clock: ActiveClock | None = None

    def of(self, row: "Row") -> "Score":
        """Return the score of a fact; its row has `records.score.FIELDS`."""
        id = row["id"]
        is_refuted = bool(row["level"]) and id in self.refuted
        return score_of(row, self.reads.get(id, (0, "")), self.now, self.clock, refuted=is_refuted)

    def is_decayed(self, row: "Row") -> bool:
        """Return whether age put a fact away; what is young needs neither reads nor a clock."""
        if row["type"] not in FLEETING or row["status"] != "active":
            return False
        lowest = lowered(int(row["level"] or 0), refuted=True)  # a check may have lowered it
        hours = hours_to_decay(lowest, row["decay_rate"], row["importance"])
        is_young = row["created"] >= stamp(self.now - (hours - 1) * HOUR)
        return not is_young and self.of(row).decayed

    def read_last(self, limit: int = 60) -> "list[str]":
        """Return the ids of the facts that were read last."""
        reads = self.reads
        return sorted(reads, key=lambda fact: (reads[fact][1], fact), reverse=True)[:limit]

    def hiding(self) -> "dict[str, Any]":
        """Return the filters of `Index.rows` and `search` that leave out what has decayed."""
        aged, spared, lowered = self._aged()
        return {"aged": aged, "spared": spared, "without": lowered} if aged or lowered else {}

    def decayed(self) -> "frozenset[str]":
        """Return the ids of the facts that age put away."""
        aged, spared, lowered = self._aged()
        ids = {id for index in self._indexes for id in (index.aged(aged) if aged else ())}
        return frozenset(ids.difference(spared).union(lowered))

    def _aged(self) -> "tuple[list[Aged], list[str], list[str]]":
        """Return which facts have decayed if nobody read them, and the exceptions.

        These are the ids of those that reads keep, and of those that a check puts away earlier.
        """
        oldest = self._oldest()
        dated = [(*kind, self._before(*kind, created)) for kind, created in oldest.items()]
        aged = [kind for kind in dated if kind[3]]
        read = tuple(self.reads) if aged else ()
        some = [id for index in self._indexes if read for id in index.aged(aged, read)]
        spared = [row["id"] for row in self._rows(some) if not self.of(row).decayed]
        refuted = self.refuted if any(level for level, *_ in oldest) else ()
        lowered = [row["id"] for row in self._rows(refuted) if self.of(row).decayed]
        return aged, spared, lowered

    def _oldest(self) -> "dict[tuple[int, float, float], str]":
        """Return when the oldest fact of each kind of `Index.fleeting` was made."""
        oldest: dict[tuple[int, float, float], str] = {}
        for index in self._indexes:
            for level, rate, importance, created in index.fleeting():
                key = level, rate, importance
                oldest[key] = min(created, oldest.get(key, created))
        return oldest

    def _before(self, level: int, rate: float, importance: float, oldest: str) -> str:
        """Return before when a fact of a kind has to be made to have decayed; "" if none has."""
        hours = hours_to_decay(level, rate, importance)
        # hours that were begun are at most one more than the time between
        if level == RULE or oldest >= stamp(self.now - (hours - 1) * HOUR):
            return ""
        before = self.clock.before(self.now, hours)
        return stamp(before) if before > 0 else ""

    def _rows(self, ids: "Collection[str]") -> "list[Row]":
        rows: list[Row] = []
        for index in self._indexes if ids else ():
            rows += index.rows(ids=tuple(ids), fields=("id", *FIELDS))
        return rows

    @property
    def clock(self) -> "ActiveClock":
        """What counts the hours."""
        if self._clock is None:
            local = masks_of(self.states[0].active_hours()) if self.states else {}
            self._clock = ActiveClock(
                joined([*(index.active_hours() for index in self._indexes), local])
            )
        return self._clock

    @property
    def reads(self) -> "dict[str, tuple[int, str]]":
        """How often each fact was read, and when last; with the reads that are in no commit yet."""
        if self._reads is None:
            counts = [
                index.all_usage() if self._ids is None else index.usage(self._ids)
                for index in self._indexes
            ]
            counts += [state.reads(store) for state in self.states for store in STORES]
            self._reads = _summed(counts)
        return self._reads

    @property
    def refuted(self) -> "Collection[str]":
        """The ids of the facts that a check refutes."""
        if self._refuted is None:
            self._refuted = self._find_refuted()
        return self._refuted

    @property
    def states(self) -> "Sequence[State]":
        """The working states of what is read."""
        if self._states is None:
            self._states = self._open_states()
        return self._states


def _summed(counts: "Sequence[dict[str, tuple[int, str]]]") -> "dict[str, tuple[int, str]]":
    out: dict[str, tuple[int, str]] = {}
    for some in counts:
        for id, (number, at) in some.items():
            before, last = out.get(id, (0, ""))
            out[id] = (before + number, max(last, at))
    return out
