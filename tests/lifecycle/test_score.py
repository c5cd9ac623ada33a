"""The score of a fact against a plain model of the formulas: importance x rate ^ hours."""

from datetime import UTC, datetime
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from gitmem.clock import Clock, seconds, stamp
from gitmem.records.active_hours import ActiveClock, hours_bytes, joined, parse_hours
from gitmem.records.kinds import TYPES
from gitmem.records.promotion import level_of, lowered, seen_in
from gitmem.records.record import make
from gitmem.records.score import (
    COLLECTABLE,
    DECAYED,
    hours_to_decay,
    level_of_record,
    score_of,
)
from tests.lifecycle.memories import EachHour

NOW = seconds("2026-11-28T10:30:00Z")
HOUR, DAY = 3600.0, 86400.0
SPARED = {"decision", "rule", "pattern", "preference", "task"}

times = st.floats(NOW - 400 * DAY, NOW + 20 * DAY)
days = st.integers(-400, 2).map(lambda n: stamp(NOW + n * DAY)[:10])
masks = st.dictionaries(days, st.integers(1, (1 << 24) - 1), max_size=30)
rows = st.fixed_dictionaries(
    {
        "kind": st.just("memory"),
        "type": st.sampled_from(TYPES),
        "status": st.sampled_from(["active", "pinned", "archived"]),
        "importance": st.floats(0, 10),
        "severity": st.just(""),
        "decay_rate": st.sampled_from([0.5, 0.9, 0.995, 0.9985, 0.999, 1.5]),
        "created": times.map(stamp),
        "last_seen": st.just(""),
        "done": st.sampled_from(["", stamp(NOW)]),
        "level": st.integers(0, 2),
    }
)
reads = st.tuples(st.integers(0, 9), st.one_of(st.just(""), times.map(stamp)))


def begun_hours(masks: dict[str, int]) -> list[datetime]:
    """Return when each hour of masks began."""
    return [
        datetime.fromisoformat(f"{day}T{hour:02d}:00:00+00:00")
        for day, mask in masks.items()
        for hour in range(24)
        if mask >> hour & 1
    ]


def hours_between(masks: dict[str, int], since: float, until: float) -> int:
    """Count the active hours that began after the hour of one time, and not after another."""
    first, last = (datetime.fromtimestamp(time, UTC) for time in (since, until))
    first = first.replace(minute=0, second=0, microsecond=0)
    return sum(first < hour <= last for hour in begun_hours(masks))


def model(row: dict[str, Any], read: tuple[int, str], masks: dict[str, int]) -> float:
    """Return the score as the formulas of the format have it."""
    count, last = read
    bonus = {0: 0, 1: 2, 2: 3}[row["level"]]
    importance = max(row["importance"], min(10, row["importance"] + bonus))
    is_open_task = row["type"] == "task" and not row["done"]
    if row["status"] == "pinned" or row["level"] == 2 or is_open_task:
        return importance
    since = max([seconds(row["created"]), *([seconds(last)] if last else [])])
    hours = 0 if since > NOW else hours_between(masks, since, NOW)
    return importance * min(0.999, row["decay_rate"] + 0.001 * count) ** hours


@given(rows, reads, masks)
def test_the_score_is_that_of_the_formula(
    row: dict[str, Any], read: tuple[int, str], masks: dict[str, int]
) -> None:
    """With any clock, any reads, any times, those of the future included."""
    score = score_of(row, read, NOW, ActiveClock(masks))

    assert abs(score.value - model(row, read, masks)) < 1e-9


@given(rows, reads, masks)
def test_only_what_is_fleeting_decays(
    row: dict[str, Any], read: tuple[int, str], masks: dict[str, int]
) -> None:
    """Decisions, rules, patterns, preferences, tasks and what is pinned sink in order at most."""
    score = score_of(row, read, NOW, ActiveClock(masks))
    spared = row["type"] in SPARED or row["status"] == "pinned" or row["level"] == 2
    has_aged = score.hours >= 1 and not spared

    assert score.decayed == (has_aged and model(row, read, masks) < DECAYED)
    assert score.collectable == (has_aged and model(row, read, masks) < COLLECTABLE)


@given(rows, st.integers(0, 9), masks)
def test_a_read_never_weakens(row: dict[str, Any], count: int, masks: dict[str, int]) -> None:
    """One more read, now, keeps the score or raises it."""
    before = score_of(row, (count, ""), NOW, ActiveClock(masks))
    after = score_of(row, (count + 1, stamp(NOW)), NOW, ActiveClock(masks))

    assert after.value >= before.value


@given(rows, times)
def test_the_future_counts_as_now(row: dict[str, Any], at: float) -> None:
    """A creation or a read that is dated ahead has the score of one at this moment."""
    ahead = {**row, "created": stamp(max(at, NOW) + 1)}
    score = score_of(ahead, (0, ""), NOW, EachHour())

    assert score.hours == 0
    assert score.value == score_of(row, (0, stamp(NOW + DAY)), NOW, EachHour()).value


@given(masks, times, times)
def test_the_clock_counts_begun_hours(masks: dict[str, int], one: float, two: float) -> None:
    """As many as somebody who looks at each hour; none backwards."""
    clock = ActiveClock(masks)

    assert clock.hours(one, two) == hours_between(masks, one, two)


@given(masks, times, st.floats(0, 300))
def test_the_way_back_is_exact(masks: dict[str, int], at: float, hours: float) -> None:
    """Before it, and only before it, more than so many hours passed, and one at least."""
    clock = ActiveClock(masks)
    passed = clock.hours(at, NOW)

    assert (at < clock.before(NOW, hours)) == (passed > hours and passed >= 1)


@given(rows, masks)
def test_age_tells_what_has_decayed_that_nobody_read(
    row: dict[str, Any], masks: dict[str, int]
) -> None:
    """As the score does, for facts that can decay."""
    clock = ActiveClock(masks)
    fact = {**row, "type": "fact", "status": "active", "level": row["level"] % 2}
    hours = hours_to_decay(fact["level"], fact["decay_rate"], fact["importance"])
    is_old = seconds(fact["created"]) < clock.before(NOW, hours)

    assert is_old == score_of(fact, (0, ""), NOW, clock).decayed


@given(masks, masks)
def test_hours_of_two_replicas_join_to_the_hours_of_either(
    one: dict[str, int], two: dict[str, int]
) -> None:
    """In either order, once or twice; the file gives back what was written."""
    both = joined((one, two))

    assert both == joined((two, one)) == joined((both, one, two))
    assert set(begun_hours(both)) == {*begun_hours(one), *begun_hours(two)}
    assert parse_hours(hours_bytes(both)) == both


def test_a_damaged_file_of_hours_keeps_its_other_lines() -> None:
    """They are only hours."""
    data = b"2026-11-27 00000f\nnonsense\n2026-13-01 000001\n\xff\xfe 1\n2026-11-28 fffffff\n"

    assert parse_hours(data) == {"2026-11-27": 0xF}
    assert parse_hours(None) == {}


roles = st.sampled_from(["user", "agent"])
names = st.sampled_from(["s1", "s2", "s3", "s4"])
sources = st.lists(
    st.one_of(
        st.fixed_dictionaries({"session": names, "role": roles}),
        st.fixed_dictionaries({"commit": st.sampled_from(["a" * 12, "a" * 40, "b" * 40])}),
    ),
    max_size=8,
)


@given(sources, st.booleans(), st.booleans(), st.booleans())
def test_the_level_counts_places(
    said: list[dict[str, str]], vouched: bool, own: bool, refuted: bool
) -> None:
    """Sessions and commits, not repeats within one; agents alone make no rule; a check lowers it.

    That the user said it counts where nobody else can have written the source.
    """
    places = {one.get("session") or one["commit"][:12] for one in said}
    by_person = vouched or (own and any(one.get("role") == "user" for one in said))
    level = min(max(len(places) - 1, 0), 2 if by_person else 1)
    fact = make(
        "memory",
        f"mem-{Clock(lambda: 0.0).ulid()}",
        "A fact",
        "",
        created=stamp(0),
        updated=stamp(0),
        rev=1,
        author="Ana <ana@example.org>",
        origin="manual" if vouched else "agent",
        type="fact",
        sources=said or None,
    )

    assert len(seen_in(said)) == len(places)
    assert level_of("fact", said, by_person=by_person) == level
    assert level_of_record(fact, own=own) == level
    assert lowered(level, refuted) == max(0, level - refuted)
    assert level_of("task", said, by_person=by_person) == 0
