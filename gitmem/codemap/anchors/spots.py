"""Which place of a repeated line has most of what stood around it."""

from bisect import bisect_left
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from gitmem.codemap.anchors.context import AROUND
from gitmem.codemap.linemap.indexed_text import Text
from gitmem.codemap.linemap.normal_forms import TELLING, says, weight

TRIVIAL = 3  # letters and digits that a line of the surroundings has, or it tells nothing


class Spot(NamedTuple):
    """The place of a repeated line with most of the old surroundings."""

    line: int
    support: float  # how many lines with words are around it, at most `most`
    score: float  # ... with other lines
    most: int
    is_alone: bool  # the only place, of lines that say enough

    @property
    def is_sure(self) -> bool:
        """Whether all around it is as it was."""
        return self.support >= self.most > 0

    def fits(self) -> bool:
        """Return whether enough of the surroundings is there."""
        return self.is_alone or self.support >= max(1.0, 0.5 * self.most)

    def fits_at_home(self) -> bool:
        """Return whether it fits in the anchor's definition, where a neighbour is enough."""
        return self.is_alone or self.most == 0 or self.support >= 1.0 or self.score >= 0.5

    def fits_elsewhere(self, *, is_gone: bool) -> bool:
        """Return whether it is like nothing else, out of its definition, which may be gone."""
        if self.is_alone and (is_gone or self.support >= min(2.0, self.most)):
            return True
        return is_gone and self.support >= max(2.0, 0.67 * self.most)


def best_spot(
    text: Text,
    scores: Mapping[int, tuple[float, int]],
    home: Sequence[int],
    before: Sequence[str],
    keys: Sequence[str],
    after: Sequence[str],
) -> Spot:
    """Return the spot with most of the surroundings, of those at `home` where there are any."""
    sums = {spot: total(scores[spot]) for spot in home or scores}
    line = _first_place(text, home, sums, before, keys, after)
    most = sum(1 for x in (*before, *after) if weight(x) >= TRIVIAL)
    most += min(6, sum(map(bool, keys)) - 1)
    is_alone = len(scores) == 1 and sum(map(weight, keys)) >= TELLING
    return Spot(line, scores[line][0], sums[line], most, is_alone)


def _first_place(
    text: Text,
    spots: Sequence[int],
    sums: Mapping[int, float],
    before: Sequence[str],
    keys: Sequence[str],
    after: Sequence[str],
) -> int:
    """Return the first spot beside which all is as it was, else the first with the greatest sum.

    Of a line and its copies, the first is the line.
    """
    beside = before[-AROUND:], keys, after[:AROUND]
    same = [spot for spot in spots if _is_beside(text, spot, *beside)]
    if same:
        return min(same)
    top = max(sums.values())
    return min(spot for spot, score in sums.items() if score == top)


def _is_beside(
    text: Text, spot: int, before: Sequence[str], keys: Sequence[str], after: Sequence[str]
) -> bool:
    """Return whether some lines stand at a spot, with the same lines above and below."""
    wanted = [*before, *keys, *after]
    low = spot - len(before)
    return low >= 0 and text.plain.keys[low : low + len(wanted)] == wanted


def supports(
    text: Text,
    spots: Sequence[int],
    keys: Sequence[str],
    before: Sequence[str],
    after: Sequence[str],
) -> dict[int, tuple[float, int]]:
    """Return how much of the old surroundings is around each spot, on the same side.

    The two values count lines with words, and other lines.

    A line right there counts one, a line near by less.
    """
    support, blank, same = dict.fromkeys(spots, 0.0), Counter[int](), Counter[int]()
    _add_side(text, support, blank, before[::-1], -1, -1)
    _add_side(text, support, blank, after, 1, len(keys))
    for n, key in enumerate(keys[1:], 1):
        if key:
            same.update({at - n for at in text.plain.spots(key)} & support.keys())
    return {spot: (much + min(same[spot], 6), blank[spot]) for spot, much in support.items()}


def _add_side(
    text: Text,
    support: dict[int, float],
    blank: Counter[int],
    near: Sequence[str],
    step: int,
    start: int,
) -> None:
    """Add to the spots what of the lines on one side, the nearest first, is on that side of them.

    The nearest line is `start` lines from a spot, each further one a `step`.
    """
    spots = list(support)
    width = 2 * max(AROUND, len(near))
    around: dict[str, Collection[int]] = {}
    for n, key in enumerate(near):
        if not key:
            continue
        there = {at - start - step * n for at in text.plain.spots(key)} & support.keys()
        if not says(key, TRIVIAL):
            blank.update(there)
            continue
        if key not in around:
            around[key] = _close(spots, text.plain.spots(key), step, start, width)
        for spot in around[key]:
            support[spot] += 1.0 if spot in there else 0.6


def _close(
    spots: Sequence[int], lines: Sequence[int], step: int, start: int, width: int
) -> Collection[int]:
    """Return the spots that have one of these lines among the `width` ones on a side.

    Both are in order.
    """
    if len(lines) * width <= len(spots):
        return {at - start - step * n for at in lines for n in range(width)}.intersection(spots)
    out = []
    for spot in spots:
        low = spot + start if step > 0 else spot + start - width + 1
        at = bisect_left(lines, low)
        if at < len(lines) and lines[at] < low + width:
            out.append(spot)
    return out


def total(support: tuple[float, int]) -> float:
    """Return what a support is worth in all."""
    support_of, blank = support
    return support_of + 0.25 * blank
