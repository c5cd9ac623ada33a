"""The hours in which a repository was worked in: the clock by which facts fade.

Each replica keeps a mask of 24 bits for each day in UTC, bit n for hour n. Standard library only:
hooks load this.
"""

from bisect import bisect_left, bisect_right

from gitmem.clock import seconds, stamp

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

ALL_DAY = (1 << 24) - 1
HOUR, DAY = 3600, 86400  # seconds


class ActiveClock:
    """Counts the hours that masks name, `{"2026-11-21": mask}`; days without a mask have none.

    It is built once in the time of a sort; an answer takes a binary search.
    """

    def __init__(self, masks: "Mapping[str, int]") -> None:
        days = [(_day(day), mask) for day, mask in masks.items()]
        self._days = [day for day, _ in sorted(days)]
        self._masks = [mask for _, mask in sorted(days)]
        self._before = [0]  # active hours before each day, and at last all of them
        for mask in self._masks:
            self._before.append(self._before[-1] + mask.bit_count())
        self._counts: dict[float, int] = {}  # by hour, of those that were asked for

    def hours(self, since: float, until: float) -> float:
        """Return the active hours that began after one time and until another, epoch seconds."""
        return float(max(0, self._count(until) - self._count(since)))

    def before(self, until: float, hours: float) -> float:
        """Return the time before which more than so many hours, and one at least, passed.

        That is when the last of them began; 0.0 if there were not that many.
        """
        left = self._count(until) - max(1, int(hours) + 1)
        if left < 0:
            return 0.0
        place = bisect_right(self._before, left) - 1
        mask = self._masks[place]
        for _ in range(left - self._before[place]):
            mask &= mask - 1  # without its first hour
        return self._days[place] * DAY + ((mask & -mask).bit_length() - 1) * HOUR

    def _count(self, time: float) -> int:
        """Return how many active hours began until a time."""
        hour = time // HOUR
        if hour not in self._counts:
            self._counts[hour] = self._counted(time)
        return self._counts[hour]

    def _counted(self, time: float) -> int:
        day, second = divmod(time, DAY)
        place = bisect_left(self._days, day)
        count = self._before[place]
        if place < len(self._days) and self._days[place] == day:
            count += (self._masks[place] & ((2 << int(second // HOUR)) - 1)).bit_count()
        return count


def _day(text: str) -> int:
    return int(seconds(f"{text}T00:00:00Z")) // DAY


def masks_of(hours: "Iterable[int]") -> "dict[str, int]":
    """Return the masks of hours since the epoch."""
    days: dict[int, int] = {}
    for hour in hours:
        day, number = divmod(hour, 24)
        days[day] = days.get(day, 0) | 1 << number
    return {stamp(day * DAY)[:10]: mask for day, mask in days.items()}


def joined(several: "Iterable[Mapping[str, int]]") -> "dict[str, int]":
    """Return the hours that any of some masks has."""
    out: dict[str, int] = {}
    for masks in several:
        for day, mask in masks.items():
            out[day] = out.get(day, 0) | mask
    return out


def parse_hours(data: bytes | None) -> "dict[str, int]":
    """Return the masks in a replica's file `hours`: lines of a day and six hexadecimal digits.

    Damaged lines are passed over, they are only hours.
    """
    masks: dict[str, int] = {}
    for line in (data or b"").decode("ascii", "replace").split("\n"):
        day, _, digits = line.partition(" ")
        try:
            mask = int(digits, 16)
            _day(day)
        except ValueError:
            continue
        if len(day) == len("2026-11-21") and 0 < mask <= ALL_DAY:
            masks[day] = masks.get(day, 0) | mask
    return masks


def hours_bytes(masks: "Mapping[str, int]") -> bytes:
    """Return a file `hours`, sorted by day; days without an active hour are left out."""
    return "".join(f"{day} {masks[day]:06x}\n" for day in sorted(masks) if masks[day]).encode()
