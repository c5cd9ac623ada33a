"""Where the lines of an old text are in a new one.

Lines are followed through edits, indentation, renames, reformatting and moves.

A line is taken as found when it is in both texts in one of four readings (see `equal_lines`), or,
only where somebody asks, by likeness between the found lines around it (`similar_lines`). Lines
that repeat (`}`, `return None`) go with the found lines that they touch. Of two places that are as
good, and of a line and its copy, neither is taken unless its place tells (see `kept_lines`).
"""

from collections import Counter
from collections.abc import Sequence
from itertools import islice

from gitmem.codemap.linemap.equal_lines import rising
from gitmem.codemap.linemap.indexed_text import Text
from gitmem.codemap.linemap.kept_lines import KeptLines
from gitmem.codemap.linemap.normal_forms import PLAIN, WORD, bare, says, shape, weight
from gitmem.codemap.linemap.similar_lines import LIKE, LikeLines

AROUND = 4  # lines on either side by which a copy is known
COPIED = 0.4  # share of those lines that a copy has
NEAR = 5  # lines to either side of an edited one that are looked at
COPIES = 20  # lines that are alike: more tell nothing


class LineMap(LikeLines):
    """Pairs of lines of two texts; each old line has at most one new one.

    Building it is linear in the texts but for gaps that changed; lines inside those are compared
    when they are asked for.
    """

    def __init__(
        self, old: Sequence[str], new: Sequence[str], whole: bool = True, text: Text | None = None
    ) -> None:
        super().__init__(old, new, whole, text)
        self._settled: dict[int, tuple[int, float]] = {}
        self._free_lines: dict[str, list[int]] | None = None
        self._order: set[int] | None = None
        self._in_order: KeptLines | None = None

    # -- what is found

    def find(self, line: int) -> tuple[int, float]:
        """Return (new line, confidence) of an old line, both from 0.

        (-1, 0.0) when it is gone or could be at two places.
        """
        if line not in self._settled:
            self._settled[line] = self._kept_place(line) or self._settle(line)
            if self._settled[line][0] < 0:
                self._settled[line] = self._edited_place(line)
        return self._settled[line]

    def is_doubtful(self, line: int) -> bool:
        """Return whether the block of a line was split, so that it may be in another one now."""
        return self.known is None and self._kept().is_doubtful(line)

    def _kept_place(self, line: int) -> tuple[int, float] | None:
        """Return the place of a line that is where it was, whatever was pasted around it."""
        if self.known is not None or not self.one[line]:
            return None
        to = self._kept().place(line)
        return (to, 1.0) if to >= 0 else None

    def _edited_place(self, line: int) -> tuple[int, float]:
        """Return the place of an edited line between two that are as far apart as they were."""
        if self.known is not None or not self.one[line]:
            return -1, 0.0
        kept = self._kept()
        above = next((i for i in range(line - 1, line - NEAR, -1) if kept.place(i) >= 0), -1)
        below = next((i for i in range(line + 1, line + NEAR) if kept.place(i) >= 0), -1)
        if above < 0 or below < 0 or kept.to[below] - kept.to[above] != below - above:
            return -1, 0.0
        to = kept.to[above] + line - above
        is_free = self.back[to] in {-1, line} and to not in kept.taken
        sure = self.likeness(line, to) if is_free else 0.0
        return (to, min(0.85, sure)) if sure >= LIKE else (-1, 0.0)

    def _kept(self) -> KeptLines:
        if self._in_order is None:
            self._in_order = KeptLines(self.one, self.two, self.new)
        return self._in_order

    def _settle(self, line: int) -> tuple[int, float]:
        to = self.to[line]
        if to >= 0 and not self.ordered(line) and self._alone(line, to) and self._rival(line):
            return -1, 0.0
        if to >= 0:
            return self._of_copies(line, to, 1.0 if self.one[line] == self.two[to] else 0.9)
        if line in self.tied or not self.one[line]:
            return -1, 0.0
        if line not in self.compared:
            self.compare(line)
        to, sure = self.liked.get(line, (-1, 0.0))
        return self._of_copies(line, to, sure) if to >= 0 else (-1, 0.0)

    def ordered(self, line: int) -> bool:
        """Say whether a found line kept its place among the others; what did not was moved."""
        if self._order is None:
            pairs = [(i, j) for i, j in enumerate(self.to) if j >= 0]
            self._order = {i for i, _ in rising(pairs)}
        return self.to[line] < 0 or line in self._order

    def _alone(self, i: int, j: int) -> bool:
        """Say whether no neighbour of a line went with it."""
        return not any(
            0 <= i + n < len(self.to) and self.to[i + n] == j + n and says(self.one[i + n], 3)
            for n in (-2, -1, 1, 2)
        )

    def _rival(self, line: int) -> bool:
        """Return whether a line that moved alone could as well be one of those at its old place."""
        a, c = line - 1, line + 1
        while a >= 0 and (self.to[a] < 0 or not self.ordered(a)):
            a -= 1
        while c < len(self.to) and (self.to[c] < 0 or not self.ordered(c)):
            c += 1
        free = self.free(
            a, self.to[a] if a >= 0 else -1, c, self.to[c] if c < len(self.to) else len(self.new)
        )
        return any(self.likeness(line, j) >= LIKE for j in free[:100])

    # -- copies

    def _of_copies(self, line: int, to: int, sure: float) -> tuple[int, float]:
        """Choose between a line's place and a copy of it.

        The one that is where the line was is taken, and neither when that is both or none.

        Code that was copied and then edited is like the copy more than like what it was, so
        likeness alone does not say which is which.
        """
        for copy in self._copies(line, to):
            top, end, same = self._extent(line, to, copy)
            above, below = self._frame(top, end)
            here, there = above < to < below, above < copy < below
            if here and not there:
                continue
            if (
                here
                and there
                and not same
                and self.one[line] == self.two[to]
                and self._renamed(line, to, copy, top, end)
            ):
                continue
            if there and not here and self.likeness(line, copy) >= LIKE:
                return copy, min(0.85, self.likeness(line, copy))
            return -1, 0.0
        return to, sure

    def _copies(self, line: int, to: int) -> list[int]:
        """Return untaken new lines that share the surroundings of an old line or of its place."""
        if not self._untaken():
            return []
        met, most = self._met(line, to)
        enough = max(4, COPIED * most)
        near = {
            j: count + max(met.get(j - 1, 0), met.get(j + 1, 0))
            for j, count in met.items()
            if 0 <= j < len(self.new)
        }
        best = sorted(
            (j for j, count in near.items() if count >= enough and j != to and self.two[j]),
            key=lambda j: -near[j],
        )
        return [j for j in best if self.back[j] in {-1, line}][:4]

    def _met(self, line: int, to: int) -> tuple[Counter[int], int]:
        """Return how much of a line's surroundings each new line has around it, and the most of it.

        A line that is in many places tells nothing.
        """
        met: Counter[int] = Counter()
        most = 0
        for n in range(-AROUND, AROUND + 1):
            worth = self._worth(line + n, n)
            if not worth:
                continue
            most += worth
            spots = {j for key in self._said(line + n, to + n) for j in self._saying(key)}
            if len(spots) <= COPIES:
                for j in spots:
                    met[j - n] += worth
        return met, most

    def _worth(self, i: int, distance: int) -> int:
        """Return how much an old line tells, which is so far from another one."""
        if not 0 <= i < len(self.one) or weight(self.one[i]) < 3:
            return 0
        if distance == 0:
            return 3
        return 2 if weight(self.one[i]) >= PLAIN else 1

    def _untaken(self) -> bool:
        """Say whether there are new lines that nobody took.

        They are read once, where they cannot be looked up.
        """
        if self.known is not None:
            return True
        if self._free_lines is None:
            self._free_lines = {}
            for j, i in enumerate(self.back):
                if i < 0 and weight(self.two[j]) >= 3:
                    self._free_lines.setdefault(bare(self.two[j]), []).append(j)
        return bool(self._free_lines)

    def _saying(self, key: str) -> Sequence[int]:
        """Return the first untaken new lines that have a bare form, at most COPIES + 1."""
        if self.known is None:
            return (self._free_lines or {}).get(key, ())[: COPIES + 1]
        free = (
            j for j in self.known.bare.spots(key) if self.back[j] < 0 and weight(self.two[j]) >= 3
        )
        return list(islice(free, COPIES + 1))

    def _said(self, i: int, j: int) -> set[str]:
        """Return what an old line says, and what the new one at its place."""
        return {
            bare(self.one[i]),
            *((bare(self.two[j]),) if 0 <= j < len(self.two) and self.back[j] == i else ()),
        }

    def _extent(self, line: int, to: int, copy: int) -> tuple[int, int, bool]:
        """Return (first, last, whether all are equal) of the old lines for which a copy goes on.

        These are lines around a given one. One strange line is allowed.
        """
        ends = [line, line]
        same = self.one[line] == self.two[copy]
        for side, step in enumerate((-1, 1)):
            odd = n = 0
            while odd < 2:
                n += step
                i, j = line + n, copy + n
                if not (0 <= i < len(self.one) and 0 <= j < len(self.two)) or self.back[j] not in {
                    -1,
                    i,
                }:
                    break
                if bare(self.two[j]) in self._said(i, to + n):
                    ends[side] = i
                    odd = 0
                else:
                    odd += 1
        return ends[0], ends[1], same

    def _frame(self, top: int, end: int) -> tuple[int, int]:
        """Return where the found lines around some old lines are.

        Only lines that kept their order and that were not copied too count.
        """
        a, c = top - 1, end + 1
        while a >= 0 and not self._tells(a):
            a -= 1
        while c < len(self.to) and not self._tells(c):
            c += 1
        return self.to[a] if a >= 0 else -1, self.to[c] if c < len(self.to) else len(self.new)

    def _tells(self, i: int) -> bool:
        return (
            self.to[i] >= 0
            and weight(self.one[i]) >= 3
            and self.ordered(i)
            and not any(self._saying(x) for x in self._said(i, self.to[i]))
        )

    def _renamed(self, line: int, to: int, copy: int, top: int, end: int) -> bool:
        """Return whether a block is unchanged and its copy is the block with another name.

        The name must differ in more than one line.
        """
        names: dict[str, str] = {}
        count = 0
        for i in range(top, end + 1):
            j, k = to + i - line, copy + i - line
            if (
                not 0 <= j < len(self.two)
                or self.one[i] != self.two[j]
                or shape(self.one[i]) != shape(self.two[k])
            ):
                return False
            count += self.one[i] != self.two[k]
            for before, after in zip(
                WORD.findall(self.one[i]), WORD.findall(self.two[k]), strict=False
            ):
                if names.setdefault(before, after) != after:
                    return False
        return count > 1
