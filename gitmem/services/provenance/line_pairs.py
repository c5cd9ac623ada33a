"""Which lines of two texts are laid beside each other, in bounded time. Pure.

Few lines are compared as `difflib` does. In longer texts the lines that stand once in both come
first, and then what is between two of these. What would take longer is left open: nothing is said
of such lines.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Mapping, Sequence
from difflib import SequenceMatcher
from itertools import pairwise

WORK = 20_000  # pairs of equal lines that are compared for two texts
STEPS = 64  # segments without a line that stands once, of which the ends are compared


class LinePairs:
    """Two texts laid beside each other.

    `pairs` is {place in `old`: place in `new`} of lines that stand in both, in their order;
    `undecided` are the places in `new` of lines that may stand in `old` too.
    """

    def __init__(self, old: Sequence[int], new: Sequence[int]) -> None:
        self.pairs: dict[int, int] = {}
        self.undecided: set[int] = set()
        self._old = old
        self._new = new
        self._work = WORK
        self._steps = STEPS
        self._open: list[tuple[range, range]] = [
            self._without_ends(range(len(old)), range(len(new)), only_single=True)
        ]
        while self._open:
            self._lay(*self._open.pop())

    def _lay(self, ours: range, theirs: range) -> None:
        """Lay two segments beside each other, or open smaller ones."""
        counts_old, counts_new = _counts(self._old, ours), _counts(self._new, theirs)
        work = sum(
            count * counts_new[mark] for mark, count in counts_old.items() if mark in counts_new
        )
        if not work:
            return
        if work <= self._work:
            self._work -= work
            self._compare(ours, theirs)
        elif anchors := self._anchors(ours, theirs, counts_old, counts_new):
            self.pairs.update(anchors)
            ends = [(ours.start - 1, theirs.start - 1), *anchors, (ours.stop, theirs.stop)]
            for (upper, first), (lower, last) in pairwise(ends):
                if lower - upper > 1 and last - first > 1:
                    self._open.append((range(upper + 1, lower), range(first + 1, last)))
        else:
            self._lay_ends(ours, theirs, counts_old)

    def _compare(self, ours: range, theirs: range) -> None:
        """Take the longest runs that stand in both segments."""
        old, new = self._old[ours.start : ours.stop], self._new[theirs.start : theirs.stop]
        for first, second, size in SequenceMatcher(
            None, old, new, autojunk=False
        ).get_matching_blocks():
            for step in range(size):
                self.pairs[ours.start + first + step] = theirs.start + second + step

    def _anchors(
        self,
        ours: range,
        theirs: range,
        counts_old: Mapping[int, int],
        counts_new: Mapping[int, int],
    ) -> list[tuple[int, int]]:
        """Return the most lines that stand once in both segments, in the same order in both."""
        spots = {self._new[line]: line for line in theirs if counts_new[self._new[line]] == 1}
        single = [
            (place, spots[self._old[place]])
            for place in ours
            if counts_old[self._old[place]] == 1 and self._old[place] in spots
        ]
        return _rising(single)

    def _lay_ends(self, ours: range, theirs: range, counts_old: Mapping[int, int]) -> None:
        """Take what two segments begin and end with.

        Leave the rest open where that does not help.
        """
        rest_ours, rest_theirs = self._without_ends(ours, theirs, only_single=False)
        if self._steps and len(rest_ours) < len(ours):
            self._steps -= 1
            self._open.append((rest_ours, rest_theirs))
            return
        self.undecided.update(line for line in rest_theirs if self._new[line] in counts_old)

    def _without_ends(
        self, ours: range, theirs: range, *, only_single: bool
    ) -> tuple[range, range]:
        """Take the lines that two segments begin and end with; return what is between them.

        A line that stands once in both has no other place: this is most of a file.
        """
        counts_old = _counts(self._old, ours) if only_single else {}
        counts_new = _counts(self._new, theirs) if only_single else {}

        def are_equal(place: int, line: int) -> bool:
            mark = self._old[place]
            return mark == self._new[line] and (
                not only_single or counts_old[mark] == counts_new[mark] == 1
            )

        start, most = 0, min(len(ours), len(theirs))
        while start < most and are_equal(ours[start], theirs[start]):
            self.pairs[ours[start]] = theirs[start]
            start += 1
        end = 0
        while end < most - start and are_equal(ours[-1 - end], theirs[-1 - end]):
            self.pairs[ours[-1 - end]] = theirs[-1 - end]
            end += 1
        return ours[start : len(ours) - end], theirs[start : len(theirs) - end]


def _counts(marks: Sequence[int], places: range) -> "Counter[int]":
    return Counter(marks[places.start : places.stop])


def _rising(pairs: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the most pairs of which both numbers rise; the first ones rise already."""
    lowest: list[int] = []  # the second number that so many pairs can end with at the lowest
    ends: list[int] = []  # and which pair that is
    before: list[int] = []
    for number, (_, second) in enumerate(pairs):
        length = bisect_left(lowest, second)
        before.append(ends[length - 1] if length else -1)
        lowest[length : length + 1] = [second]
        ends[length : length + 1] = [number]
    out: list[tuple[int, int]] = []
    at = ends[-1] if ends else -1
    while at >= 0:
        out.append(pairs[at])
        at = before[at]
    return out[::-1]
