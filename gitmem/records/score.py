"""How much of a fact is left: its effective score, which is computed and never stored.

`importance x rate ^ hours since the last access`, a forgetting curve that each access flattens:
`rate = min(0.999, decay_rate + 0.001 x accesses)`. Pure; hooks load this.
"""

from math import log

from gitmem.clock import seconds
from gitmem.records.promotion import BONUS, LEVELS, RULE, is_said_by_user, level_of, lowered

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from gitmem.records.active_hours import ActiveClock
    from gitmem.records.record import Record


DECAYED = 3.0  # below: told no more, still found on request
COLLECTABLE = 1.0  # below: may be collected; git still has it
HIGHEST = 10  # importance
RATE, SLOWEST, STEP = 0.995, 0.999, 0.001
WEIGHT = {"critical": 9.0, "warning": 6.0, "info": 3.0}  # of a gotcha, as an importance
# types of memories that age may put away (`gitmem.index.filters` too); others sink in order alone
FLEETING = frozenset({"bug", "context", "fact", "insight"})
# what is looked at of a row of the index
FIELDS = (
    "kind",
    "type",
    "status",
    "importance",
    "severity",
    "decay_rate",
    "created",
    "last_seen",
    "done",
    "level",
)


class Score:
    """The score of a fact and what moves it.

    `importance` is the one that was given, `bonus` what its sources add (`level` is an index into
    `promotion.LEVELS`), `hours` how many the clock counts since the last access. What does not
    sink has the rate 1.0.
    """

    __slots__ = ("accesses", "bonus", "hours", "importance", "is_fleeting", "level", "rate")

    def __init__(
        self,
        importance: float,
        level: int,
        accesses: int,
        hours: float,
        rate: float,
        *,
        is_fleeting: bool,
    ) -> None:
        self.importance = importance
        self.level = level
        self.bonus = min(BONUS[level], max(0.0, HIGHEST - importance))
        self.accesses = accesses
        self.hours = hours
        self.rate = rate
        self.is_fleeting = is_fleeting

    @property
    def value(self) -> float:
        """The effective score."""
        return float((self.importance + self.bonus) * self.rate**self.hours)

    @property
    def promotion(self) -> str:
        """What it is by its sources: insight, pattern or rule."""
        return LEVELS[self.level]

    @property
    def half_life(self) -> float | None:
        """In how many hours the score is half of what it is; None for what does not sink."""
        if self.rate >= 1:
            return None
        return log(0.5) / log(self.rate) if self.rate > 0 else 0.0

    @property
    def decayed(self) -> bool:
        """Whether age put it away; an hour has to pass before."""
        return self.is_fleeting and self.hours >= 1 and self.value < DECAYED

    @property
    def collectable(self) -> bool:
        """Whether it may be collected."""
        return self.decayed and self.value < COLLECTABLE


def score_of(
    row: "Mapping[str, Any]",
    reads: "tuple[int, str]",
    now: float,
    clock: "ActiveClock",
    *,
    refuted: bool = False,
) -> Score:
    """Return the score of a fact at a time in epoch seconds.

    `row` has `FIELDS`, `level` before a check refuted the fact. `reads` are how many and when the
    last was. A time in the future counts as now.
    """
    is_gotcha, accesses = row["kind"] == "gotcha", max(0, reads[0])
    level = lowered(int(row["level"] or 0), refuted)
    importance = WEIGHT.get(str(row["severity"]), 6.0) if is_gotcha else row["importance"]
    # stamps are ordered as texts
    last = max(str(row["created"]), reads[1], str(row["last_seen"] or "") if is_gotcha else "")
    sinks = is_sinking(row, level)
    return Score(
        5.0 if importance is None else float(importance),
        level,
        accesses,
        clock.hours(_time(last), now),
        rate_of(row["decay_rate"], accesses) if sinks else 1.0,
        is_fleeting=sinks and not is_gotcha and row["type"] in FLEETING,
    )


def row_of(record: "Record") -> "dict[str, Any]":
    """Return what `score_of` looks at of a record of a store that no index has."""
    names = ("type", "importance", "severity", "decay_rate", "last_seen", "done")
    return {
        **{name: record.get(name) for name in names},
        "kind": record.kind,
        "status": record.status,
        "created": record.created,
        "level": level_of_record(record),
    }


def level_of_record(record: "Record", *, attested: bool = True, own: bool = False) -> int:
    """Return what a record is by its sources: an index into `LEVELS`; 0 for what is no fact.

    `attested` is whether the store's history denies nothing of who vouches for it. `own` is
    whether nobody else writes to the store: only there does a source prove that the user said it.
    """
    sources = record.get("sources") or ()
    by_person = (attested and not record.unconfirmed) or (own and is_said_by_user(sources))
    return level_of(str(record.get("type") or ""), sources, by_person=by_person)


def is_sinking(row: "Mapping[str, Any]", level: int) -> bool:
    """Return whether age lowers a fact's score: not if it is pinned, a rule or an open task."""
    is_open_task = row["type"] == "task" and not row["done"]
    return row["status"] != "pinned" and level < RULE and not is_open_task


def rate_of(decay_rate: float | None, accesses: int) -> float:
    """Return by what a score is multiplied in an hour."""
    rate = RATE if decay_rate is None else float(decay_rate)
    return max(0.0, min(SLOWEST, rate + STEP * accesses))


def hours_to_decay(level: int, decay_rate: float | None, importance: float) -> float:
    """Return after how many hours the score of a fact that nobody read falls to `DECAYED`."""
    rate = rate_of(decay_rate, 0)
    value = max(importance, min(HIGHEST, importance + BONUS[level]))
    if value < DECAYED or rate <= 0:
        return 0.0
    return log(DECAYED / value) / log(rate)


def _time(stamp: str) -> float:
    try:
        return seconds(stamp)
    except ValueError:
        return 0.0
