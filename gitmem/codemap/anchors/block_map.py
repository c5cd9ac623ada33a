"""Where a line or a block of lines went, by the map of its text to the one of today."""

from collections.abc import Sequence

from gitmem.codemap.anchors.placement import Placement
from gitmem.codemap.linemap.equal_lines import rising
from gitmem.codemap.linemap.line_map import LineMap

ALIKE = 0.75  # share of the anchored lines that must be as they were, or the record is stale
MAPS = 8  # pairs of texts whose lines are remembered as mapped

_maps: list[tuple[list[str], list[str], LineMap]] = []  # replaced, never changed: threads share it


def mapped(old: Sequence[str], new: Sequence[str]) -> LineMap:
    """Return the map between two texts, the last few from memory.

    Compared by content, so a changed list is seen.
    """
    global _maps
    have_old, have_new = (x if isinstance(x, list) else list(x) for x in (old, new))
    maps = _maps
    for old_lines, new_lines, made in maps:
        if (
            len(old_lines) == len(have_old)
            and len(new_lines) == len(have_new)
            and new_lines == have_new
            and old_lines == have_old
        ):
            return made
    old_lines, new_lines = list(have_old), list(have_new)
    made = LineMap(old_lines, new_lines)
    _maps = [(old_lines, new_lines, made), *maps[: MAPS - 1]]
    return made


def through(lines: LineMap, first: int, last: int) -> Placement | None:
    """Return the place of old lines by the map of their text."""
    if first == last:
        to, sure = lines.find(first)
        if to < 0:
            return None
        state = "changed" if sure < 1.0 else "same" if lines.ordered(first) else "moved"
        return Placement(
            "",
            to + 1,
            to + 1,
            state,
            min(sure, 0.9) if state == "moved" else sure,
            stale=state == "changed" and not _alike(lines, first, to),
        )
    return _block(lines, first, last)


def _alike(lines: LineMap, i: int, j: int) -> bool:
    """Say whether a line says what it said, but for its format."""
    return "".join(c for c in lines.one[i] if c.isalnum()) == "".join(
        c for c in lines.two[j] if c.isalnum()
    )


def _block(lines: LineMap, first: int, last: int) -> Placement | None:
    size = last - first + 1
    full = [i for i in range(first, last + 1) if lines.one[i]]
    if not full:
        return None
    places = _together(_places(lines, full, size), size)
    if 2 * len(places) < len(full):
        return None
    low, high = min(places), max(places)
    start = _tied_end(lines, full[0], low, places[low], -1)
    stop = _tied_end(lines, full[-1], high, places[high], 1)
    start, stop = min(start, stop), max(start, stop)
    above, below = low - first, last - high  # empty lines, where the block begins or ends so
    if low == full[0] and _are_empty(lines, start - above, start):
        start -= above
    if high == full[-1] and _are_empty(lines, stop + 1, stop + 1 + below):
        stop += below
    same = sum(1 for i, j in places.items() if lines.one[i] == lines.two[j])
    share = same / len(full)
    if same < len(full) or stop - start + 1 > size:
        state, sure = "changed", round(0.6 + 0.4 * share, 2)
    else:
        state, sure = ("same", 1.0) if lines.ordered(low) else ("moved", 0.9)
    return Placement("", start + 1, stop + 1, state, sure, stale=share < ALIKE)


def _places(lines: LineMap, full: Sequence[int], size: int) -> dict[int, int]:
    """Return where lines of a block are; of a long one, only its ends are compared."""
    ends = {*full[:3], *full[-3:]}
    places = {i: (lines.find(i)[0] if i in ends or size <= 200 else lines.to[i]) for i in full}
    return {i: j for i, j in places.items() if j >= 0}


def _are_empty(lines: LineMap, start: int, stop: int) -> bool:
    """Return whether some new lines are there, and say nothing."""
    return start >= 0 and stop <= len(lines.new) and not any(lines.two[start:stop])


def _tied_end(lines: LineMap, end: int, old_end: int, at: int, step: int) -> int:
    """Return the end of a block whose last lines could be at two places.

    The place where the block continues is taken.
    """
    while old_end != end:
        old_end += step
        if not 0 <= at + step < len(lines.new) or lines.one[old_end] != lines.two[at + step]:
            return at
        at += step
    return at


def _together(pairs: dict[int, int], size: int) -> dict[int, int]:
    """Return the most found lines of a block that are still in order and near each other."""
    order = rising(sorted(pairs.items()))
    best: list[tuple[int, int]] = []
    low = 0
    for high in range(len(order)):
        while order[high][1] - order[low][1] > 2 * size + 5:
            low += 1
        if high - low + 1 > len(best):
            best = order[low : high + 1]
    return dict(best)
