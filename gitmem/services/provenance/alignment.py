"""Which lines of a file are lines of another version of it: only pairs that are sure. Pure.

Lines are compared by their marks. Where a line stands twice and either could be the other
version's, neither is taken: the longest runs are looked for from the beginning and from the end,
and what both find counts.
"""

from collections.abc import Collection, Mapping, Sequence
from itertools import pairwise

from gitmem.services.provenance.line_pairs import LinePairs
from gitmem.text.line_marks import BLANK

LONGEST = 20_000  # lines of a file that are compared


def agreed(old: Sequence[int], new: Sequence[int], own: Collection[int] = ()) -> dict[int, int]:
    """Return {line of `old`: line of `new`} of the pairs that are sure, blank lines left out.

    `own` are lines of `old` that were written together: where one of them could be either of two
    lines, it is the one beside the others.
    """
    first, second = _numbered(old), _numbered(new)
    old_marks, new_marks = [mark for _, mark in first], [mark for _, mark in second]
    forward = LinePairs(old_marks, new_marks).pairs
    backward = LinePairs(old_marks[::-1], new_marks[::-1]).pairs
    last_old, last_new = len(first) - 1, len(second) - 1
    sure = {
        old_line: other
        for old_line, other in forward.items()
        if backward.get(last_old - old_line) == last_new - other
    }
    mine = {at: number for at, (number, _) in enumerate(first) if number in own}
    if mine:
        sure = _Slides(old_marks, new_marks, sure, mine).settled()
    return {first[old_line][0]: second[other][0] for old_line, other in sure.items()}


class _Slides:
    """Lines that could as well be the ones on the other side of what was put in between."""

    def __init__(
        self,
        old: Sequence[int],
        new: Sequence[int],
        pairs: Mapping[int, int],
        own: Mapping[int, int],
    ) -> None:
        self._old = old
        self._new = new
        self._pairs = dict(pairs)
        self._own = own

    def settled(self) -> dict[int, int]:
        """Return the pairs with such lines beside their own, or left out."""
        places = [-1, *sorted(self._pairs), len(self._old)]
        for upper, lower in pairwise(places):
            first = self._pairs.get(upper, -1 if upper < 0 else None)
            last = self._pairs.get(lower, len(self._new) if lower == len(self._old) else None)
            if first is None or last is None or last - first < 2:
                continue
            if lower - upper == 1:
                self._settle_insertion(upper, lower, first, last)
            else:
                self._settle_change(upper, lower, set(self._new[first + 1 : last]))
        return self._pairs

    def _settle_insertion(self, upper: int, lower: int, first: int, last: int) -> None:
        """Settle the lines around lines of `new` that were put between two that stood together."""
        below = self._length(lower, last, first + 1, 1, last - first - 1)
        above = self._length(upper, first, last - 1, -1, last - first - 1)
        bond = self._bond(upper, lower)
        if below:
            beyond = lower + below
            rest = self._bond(beyond - 1, beyond) if self._pairs.get(beyond) == last + below else 0
            self._move(range(lower, beyond), first + 1 - lower, near=bond, far=rest)
        if above:
            beyond = upper - above
            rest = self._bond(beyond, beyond + 1) if self._pairs.get(beyond) == first - above else 0
            self._move(range(beyond + 1, upper + 1), last - 1 - upper, near=bond, far=rest)

    def _bond(self, old_line: int, other: int) -> int:
        """Return how close together two lines were written.

        The result is 2 for side by side, 1 for blank lines between, and 0 for not together.
        """
        if old_line not in self._own or other not in self._own:
            return 0
        return 2 if self._own[other] - self._own[old_line] == 1 else 1

    def _length(self, place: int, line: int, other: int, step: int, most: int) -> int:
        """Return how many lines from a place on could as well stand at another line."""
        count = 0
        while (
            count < most
            and 0 <= place + step * count < len(self._old)
            and self._pairs.get(place + step * count) == line + step * count
            and self._new[other + step * count] == self._old[place + step * count]
        ):
            count += 1
        return count

    def _move(self, places: range, shift: int, *, near: int, far: int) -> None:
        """Put lines to the other side where they are bound closer to it.

        Leave them where they are bound closer here.
        """
        for place in places:
            if place not in self._own or far > near:
                continue
            if near > far:
                self._pairs[place] = place + shift
            else:
                self._pairs.pop(place, None)

    def _settle_change(self, upper: int, lower: int, between: Collection[int]) -> None:
        """Leave out lines beside a change that also stand in the change.

        They stay if lines of the edit are on their other side.
        """
        for place, beyond in ((upper, upper - 1), (lower, lower + 1)):
            is_own = place in self._own and self._old[place] in between
            if is_own and (
                beyond not in self._own
                or abs(self._pairs.get(beyond, -9) - self._pairs[place]) != 1
            ):
                self._pairs.pop(place, None)


def unmatched(old: Sequence[int], new: Sequence[int]) -> list[int]:
    """Return the lines of `new` that match no line of `old`, however the two are aligned."""
    first = [mark for mark in old if mark != BLANK]
    second = _numbered(new)
    marks = [mark for _, mark in second]
    forward = LinePairs(first, marks)
    backward = LinePairs(first[::-1], marks[::-1])
    old_lines = {*forward.pairs.values(), *forward.undecided}
    old_lines |= {len(marks) - 1 - at for at in (*backward.pairs.values(), *backward.undecided)}
    return [number for at, (number, _) in enumerate(second) if at not in old_lines]


def _numbered(marks: Sequence[int]) -> list[tuple[int, int]]:
    return [(number, mark) for number, mark in enumerate(marks[:LONGEST]) if mark != BLANK]
