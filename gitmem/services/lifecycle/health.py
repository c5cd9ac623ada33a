"""How healthy a memory is: a number from 0 to 100, with what it is made of. Pure.

    100 - 2   x facts that nobody read for 7 days
        - 5   x facts that say what another one says
        - 0.5 x their mean age in days
        - 1   x facts with a low score
        + 2   x pinned facts
        + 0.5 x links

The raw formula gives 0 to any large memory: fifty unread facts cost 100 points. So the number that
is shown first has every count divided by the number of facts and multiplied by 20: a memory of 20
facts has the same number by both.
"""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from gitmem.records.active_hours import ActiveClock
from gitmem.records.score import rate_of

UNREAD = 7 * 24.0  # hours after which a fact counts as unread, on the clock by which facts fade
LEAST = 0.5  # points that a term takes away before it is worth a word
OLDEST = 10 * 365 * 24.0  # hours that the age of a fact counts at most: a date may be wrong
SCALE = 20  # facts that a memory is scaled to
RANGES = ((80, "healthy"), (60, "attention"), (40, "alert"), (0, "critical"))
WEIGHTS = {
    "unread": -2.0,
    "duplicates": -5.0,
    "age": -0.5,
    "low": -1.0,
    "pinned": 2.0,
    "links": 0.5,
}
ADVICE = {
    "unread": "Look at them: git mem list --sort score",
    "duplicates": "Merge them: git mem consolidate",
    "age": "Ask whether old facts still hold: git mem check",
    "low": "Archive what is not needed, or pin it: git mem list --decayed",
}


class FactMeasures(NamedTuple):
    """What health looks at of a fact.

    `importance` has the bonus of its sources. `decay_rate` is None for what does not sink.
    `created` is in epoch seconds, `expires` too, 0 for never. `statement` is equal for facts that
    say the same, `reason` for those that explain it in the same words, empty for none. `replaced`
    has the ids of the facts that it takes the place of.
    """

    id: str
    is_pinned: bool
    is_fleeting: bool
    importance: float
    decay_rate: float | None
    created: float
    expires: float
    links: int
    statement: str
    reason: str
    replaced: tuple[str, ...]


class HealthCounts(NamedTuple):
    """What the formula is about, of a number of facts; `age` is their mean age in days."""

    facts: int = 0
    unread: int = 0
    duplicates: int = 0
    age: float = 0.0
    low: int = 0
    pinned: int = 0
    links: int = 0
    mean_score: float = 0.0

    def points(self, *, raw: bool = False) -> dict[str, float]:
        """Return what each term adds to 100 or takes away."""
        scale = 1.0 if raw or not self.facts else SCALE / self.facts
        out = {}
        for name, weight in WEIGHTS.items():
            points = weight * getattr(self, name)
            out[name] = round(points if name == "age" else points * scale, 6) + 0.0
        return out

    def health(self, *, raw: bool = False) -> float:
        """Return the health, 0.0 to 100.0."""
        return min(100.0, max(0.0, 100.0 + sum(self.points(raw=raw).values())))

    @property
    def worst(self) -> str:
        """The term that takes most away; empty if none does."""
        points = self.points()
        name = min(points, key=lambda name: points[name])
        return name if points[name] <= -LEAST else ""


def range_of(health: float) -> str:
    """Return what a health means: healthy, attention, alert or critical."""
    return next(name for least, name in RANGES if health >= least)


def measure(
    facts: Iterable[FactMeasures],
    reads: Mapping[str, tuple[int, float]],
    now: float,
    clock: ActiveClock,
    low: float,
) -> HealthCounts:
    """Return the counts of the facts that hold at a time.

    `reads` are how many and when the last was, by id, in epoch seconds. `low` is the score below
    which a fact counts as low.
    """
    every = list(facts)
    replaced = {id for fact in every for id in fact.replaced}
    held = [fact for fact in every if fact.id not in replaced and not 0 < fact.expires <= now]
    if not held:
        return HealthCounts()
    unread = sinking = links = pinned = 0
    age = score = 0.0
    for fact in held:
        number, read = reads.get(fact.id, (0, 0.0))
        since_made = clock.hours(fact.created, now)
        hours = clock.hours(read, now) if read > fact.created else since_made
        value = fact.importance
        if fact.decay_rate is not None:
            value *= rate_of(fact.decay_rate, number) ** hours
        unread += hours > UNREAD
        sinking += fact.is_fleeting and value < low
        links += fact.links
        pinned += fact.is_pinned
        score += value
        age += min(since_made, OLDEST)
    return HealthCounts(
        len(held),
        unread,
        _duplicates(held),
        age / 24 / len(held),
        sinking,
        pinned,
        links,
        score / len(held),
    )


def _duplicates(facts: Iterable[FactMeasures]) -> int:
    """Return how many facts say nothing that another one does not say."""
    reasons: dict[str, list[str]] = {}
    for fact in facts:
        if fact.statement:
            reasons.setdefault(fact.statement, []).append(fact.reason)
    return sum(len(some) - max(1, len(set(some) - {""})) for some in reasons.values())
