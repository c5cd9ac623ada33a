"""Lines of an edit that a formatter joined or split: found in the place where the edit left them.

Pure.

Whether two texts are the same but for their line breaks is seen by their CRCs, which can be joined
(`text.line_marks`).
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

from gitmem.state.edits import Edit
from gitmem.text.line_marks import Unit, joined, unit

GAP = 120  # lines between two that stayed that are compared
RUN = 40  # lines that are joined
LEAST = 6  # characters of a text that says what it is


def reformatted(
    edit: Edit, places: Sequence[int], pairs: Mapping[int, int], lines: Sequence[bytes]
) -> Iterator[tuple[int, int]]:
    """Yield (line of the edit, line of the version) of what is the same text in other lines."""
    if not places:
        return
    kept = sorted(pairs.items())
    bounds = [(-1, -1), *kept, (len(edit.after), len(lines))]
    wanted = set(places)
    for (first, line), (last, until) in pairwise(bounds):
        mine = [place for place in range(first + 1, last) if place in wanted]
        if mine and 0 < until - line - 1 <= GAP and last - first - 1 <= GAP:
            yield from _in_gap(edit, mine, range(line + 1, until), lines)


def _in_gap(
    edit: Edit, places: Sequence[int], gap: Sequence[int], lines: Sequence[bytes]
) -> Iterator[tuple[int, int]]:
    """Yield the pairs between two lines that stayed."""
    there = _texts([(number, unit(lines[number])) for number in gap if lines[number]])
    at = 0
    while at < len(places):
        longest = _longest(edit, places[at:], there)
        if longest is None:
            at += 1
            continue
        count, numbers = longest
        for number in numbers:
            yield places[at], number
        at += count


def _texts(units: Sequence[tuple[int, Unit]]) -> dict[tuple[int, int], list[tuple[int, ...]]]:
    """Return {(CRC, length): [lines that make this text, ...]}."""
    out: dict[tuple[int, int], list[tuple[int, ...]]] = {}
    for first in range(len(units)):
        for last in range(first + 1, min(first + RUN, len(units)) + 1):
            some = units[first:last]
            key = joined([part for _, part in some])
            if key[1] >= LEAST:
                out.setdefault(key, []).append(tuple(number for number, _ in some))
    return out


def _longest(
    edit: Edit, places: Sequence[int], there: Mapping[tuple[int, int], Sequence[tuple[int, ...]]]
) -> tuple[int, tuple[int, ...]] | None:
    """Return (how many lines of the edit, the lines of the version that have the same text).

    None for no such.
    """
    run: list[Unit] = []
    for count, place in enumerate(places[:RUN], 1):
        if place != places[0] + count - 1:
            break
        run.append(edit.units[place - edit.start])
        candidates = there.get(joined(run), ())
        if len(candidates) == 1 and len(candidates[0]) != count:
            return count, candidates[0]
    return None
