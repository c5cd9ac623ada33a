"""Which lines of a text are where they were, whatever was pasted around them.

A diff in order: lines that occur once in both texts are laid beside each other, and between them
the longest common subsequence, if there are not too many, by bit vectors (Hyyrö, "Bit-parallel
LCS-length computation revisited", 2004). A run of new lines may often begin at several lines, as a
copy of a function below it. Then it begins where the indentation is least, as in git's indent
heuristic, and at the last of such lines: what was there keeps its place, and the copy comes after.
"""

import re
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

from gitmem.codemap.linemap.normal_forms import PLAIN, TELLING, indent, weight

LARGE = 4_000_000  # pairs of lines between two lines that occur once; more are not compared
WIDE = 20_000  # lines of either text there
CLIMB = 400  # lines that a run of new lines is moved up at most
AROUND = 60  # lines on either side by which a line is known again
_CONFLICT = re.compile(r"<{7}|\|{7}|={7}|>{7}")  # a line of git's that marks a conflict
_NO_INDENT = 1 << 20


class KeptLines:
    """Pairs of equal lines of two texts, in order. `to` has -1 for a line that has none.

    `old` and `changed` are the lines as they are compared, `new` is the new text.
    """

    def __init__(self, old: Sequence[str], changed: Sequence[str], new: Sequence[str]) -> None:
        self._one = old
        self._two = changed
        self._depths = _depths(changed, new)
        self.to = [-1] * len(old)
        self._lone = self._lone_pairs()
        ends = [(-1, -1), *self._lone, (len(old), len(changed))]
        for (a, b), (c, d) in pairwise(ends):
            self._align(a + 1, c, b + 1, d)
        self._slide()
        self.taken = frozenset(self.to)
        self._doubtful = self._split_lines()

    def place(self, line: int) -> int:
        """Return the new line of an old one, both from 0; -1 where that cannot be told."""
        if not 0 <= line < len(self.to) or line in self._doubtful or not self._is_telling(line):
            return -1
        return self.to[line]

    def is_doubtful(self, line: int) -> bool:
        """Return whether new lines beside an old one end the block that it was in."""
        return line in self._doubtful

    def _lone_pairs(self) -> list[tuple[int, int]]:
        """Return lines that occur once in both texts and say something, as far as in order."""
        from gitmem.codemap.linemap.equal_lines import rising

        counts = Counter(self._one), Counter(self._two)
        at = {key: j for j, key in enumerate(self._two) if counts[1][key] == 1}
        pairs = [
            (i, at[key])
            for i, key in enumerate(self._one)
            if counts[0][key] == 1 and key in at and weight(key) >= PLAIN
        ]
        out = rising(pairs)
        for i, j in out:
            self.to[i] = j
        return out

    def _align(self, a: int, c: int, b: int, d: int) -> None:
        """Pair the lines from `a` to before `c` with those from `b` to before `d`."""
        while a < c and b < d and self._one[a] == self._two[b]:
            self.to[a] = b
            a, b = a + 1, b + 1
        while a < c and b < d and self._one[c - 1] == self._two[d - 1]:
            c, d = c - 1, d - 1
            self.to[c] = d
        if a < c and b < d and (c - a) * (d - b) <= LARGE and max(c - a, d - b) <= WIDE:
            for i, j in _common(self._one[a:c], self._two[b:d]):
                self.to[a + i] = b + j

    def _slide(self) -> None:
        """Have each run of new lines begin where it most likely does."""
        back = {j: i for i, j in enumerate(self.to) if j >= 0}
        last = len(self._two)
        end = last
        while end > 0:
            if end - 1 in back:
                end -= 1
                continue
            start = end - 1
            while start > 0 and start - 1 not in back:
                start -= 1
            end = self._slide_run(back, start, end)

    def _slide_run(self, back: dict[int, int], start: int, end: int) -> int:
        """Move a run of new lines down or up; return the first line that it leaves above."""
        two = self._two
        while end < len(two) and end in back and two[start] == two[end]:
            self._move(back, end, start)
            start, end = start + 1, end + 1
        best, shift, at = self._cost(start, end), 0, 0
        while at < CLIMB and self._can_rise(back, start - at, end - at):
            at += 1
            cost = self._cost(start - at, end - at)
            if cost < best:
                best, shift = cost, at
        if self._repeats(start, end, at):
            shift = 0  # the first are the old ones
        for n in range(shift):
            self._move(back, start - 1 - n, end - 1 - n)
        return start - shift

    def _can_rise(self, back: dict[int, int], start: int, end: int) -> bool:
        return start > 0 and start - 1 in back and self._two[start - 1] == self._two[end - 1]

    def _move(self, back: dict[int, int], line: int, to: int) -> None:
        i = back.pop(line)
        back[to] = i
        self.to[i] = to

    def _repeats(self, start: int, end: int, size: int) -> bool:
        """Return whether new lines are the `size` ones above them, once or several times."""
        return (
            size > 0
            and (end - start) % size == 0
            and all(self._two[j] == self._two[j - size] for j in range(start, end))
        )

    def _cost(self, start: int, end: int) -> int:
        return max(self._depth(start), self._depth(end))

    def _depth(self, line: int) -> int:
        """Return the indentation at a line; of a blank one that of the next with text."""
        return self._depths[line] if line < len(self._depths) else 0

    def _split_lines(self) -> frozenset[int]:
        """Return old lines beside new ones that stand less deep than both their neighbours.

        Such new lines end a block: which lines are the old ones cannot be told by their order.
        """
        lone = {i for i, _ in self._lone}
        out: set[int] = set()
        stops = set(lone)
        before = -1
        for i, j in [(i, j) for i, j in enumerate(self.to) if j >= 0]:
            above = self.to[before] if before >= 0 else -1
            if j - above > 1 and before >= 0 and self._splits(above, j):
                out.update(_until(before, -1, stops))
                out.update(_until(i, len(self.to), lone))
                stops.add(before)
            before = i
        return frozenset(out)

    def _splits(self, above: int, below: int) -> bool:
        start, risen = above + 1, 0
        while (
            risen < min(start, CLIMB)
            and self._two[start - 1 - risen] == self._two[below - 1 - risen]
        ):
            risen += 1
        if self._repeats(start, below, risen):
            return False
        depth = min(self._depth(above), self._depth(below))
        inserted = (
            self._depths[j]
            for j in range(above + 1, below)
            if self._two[j] and not _CONFLICT.match(self._two[j])
        )
        return min(inserted, default=_NO_INDENT) < depth

    def _is_telling(self, line: int) -> bool:
        """Return whether a line and those that went with it say enough to be known again."""
        to = self.to[line]
        if to < 0:
            return False
        said = weight(self._one[line])
        for step in (-1, 1):
            n = step
            while said < TELLING and abs(n) <= AROUND and self._are_equal(line + n, to + n):
                said += weight(self._one[line + n])
                n += step
        return said >= TELLING

    def _are_equal(self, i: int, j: int) -> bool:
        return 0 <= i < len(self.to) and self.to[i] == j


def _depths(lines: Sequence[str], texts: Sequence[str]) -> list[int]:
    """Return the indentation at each line; of a blank one that of the next with text."""
    out, depth = [0] * len(lines), 0
    for n in range(len(lines) - 1, -1, -1):
        depth = indent(texts[n]) if lines[n] else depth
        out[n] = depth
    return out


def _until(line: int, end: int, stops: set[int]) -> range:
    step = 1 if end > line else -1
    last = line
    while last != end and last not in stops:
        last += step
    return range(line, last, step)


def _common(first: Sequence[str], second: Sequence[str]) -> list[tuple[int, int]]:
    """Return the pairs of a longest common subsequence, each with the first new line it can have.

    Row i has a bit set for each j where the common part of one[i:] and two[j:] is no longer than
    that of one[i:] and two[j + 1:].
    """
    size = len(second)
    full = (1 << size) - 1
    masks: dict[str, int] = dict.fromkeys(first, 0)
    for j, key in enumerate(reversed(second)):
        if key in masks:
            masks[key] |= 1 << j
    rows = [full]
    for key in reversed(first):
        row = rows[-1]
        met = row & masks[key]
        rows.append(((row + met) | (row - met)) & full)
    rows.reverse()

    def length(i: int, j: int) -> int:
        low = (1 << (size - j)) - 1
        return (size - j) - (rows[i] & low).bit_count()

    out = []
    i = j = 0
    while i < len(first) and j < size:
        if first[i] == second[j]:
            out.append((i, j))
            i, j = i + 1, j + 1
        elif length(i, j + 1) == length(i, j):
            j += 1
        else:
            i += 1
    return out
