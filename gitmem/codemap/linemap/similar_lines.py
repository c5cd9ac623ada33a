"""What became of the lines that no form has in both texts.

Each is matched with the line most like it, between the found lines around it.
"""

import re
from collections import Counter
from collections.abc import Sequence
from itertools import islice

from gitmem.codemap.linemap.equal_lines import STEADY, EqualLines
from gitmem.codemap.linemap.indexed_text import Text
from gitmem.codemap.linemap.normal_forms import WIDE, shape, weight

LIKE = 0.6  # likeness above which a changed line still counts as the same
PLACED = 0.4  # ... where as many lines as before are between the same two
MARGIN = 0.06  # by which a likeness must beat the next one
PAIRS = 2_000  # lines compared with lines in one gap
TOKENS = 3_000  # compared in one gap

_TOKEN = re.compile(r"\w+|[^\w\s'\"`,;\\()]")
_STRING_PREFIX = re.compile(r'\b[rbuf]{1,2}(?=")', re.IGNORECASE)


class LikeLines(EqualLines):
    """Pairs of equal lines, and on demand of lines that are alike."""

    def __init__(
        self, old: Sequence[str], new: Sequence[str], whole: bool = True, known: Text | None = None
    ) -> None:
        super().__init__(old, new, whole, known)
        self.liked: dict[int, tuple[int, float]] = {}  # line: (new line, likeness)
        self.compared: set[int] = set()

    def compare(self, line: int) -> None:
        """Compare the lines of a gap with what could have become of them."""
        to, n = self.to, len(self.old)
        a = line - 1
        while a >= 0 and to[a] < 0:
            a -= 1
        c = line + 1
        while c < n and to[c] < 0:
            c += 1
        gap = [i for i in range(a + 1, c) if self.one[i]]
        self.compared.update(gap)
        b = to[a] if a >= 0 else -1
        d = to[c] if c < n else len(self.new)
        if not self.whole and (a < 0 or c >= n):
            b = b if a >= 0 else max(-1, d - 3 * len(gap) - 8) if c < n else len(self.new)
            d = d if c < n else min(len(self.new), b + 3 * len(gap) + 8)
        free = self.free(a, b, c, d)
        if not free or not gap:
            return
        if len(gap) * len(free) > PAIRS:
            at = gap.index(line)
            gap = gap[max(0, at - 8) : at + 9]
            free = free[: PAIRS // len(gap)]
        self._reflow(gap, free)
        rest = [i for i in gap if i not in self.liked]
        taken = {j for j, _ in self.liked.values()}
        self._align(rest, [j for j in free if j not in taken])
        if b < d and a >= 0 and c < n and len(gap) == len(free) <= STEADY and not self.others(b, d):
            self._by_position(gap, free)

    def free(self, a: int, b: int, c: int, d: int) -> list[int]:
        """Return the new lines that nobody took between two found ones.

        Around each when their order changed.
        """
        if b < d:
            return list(
                islice((j for j in range(b + 1, d) if self.back[j] < 0 and self.two[j]), 2_000)
            )
        out: list[int] = []
        j = b + 1
        while a >= 0 and j < len(self.new) and self.back[j] < 0 and len(out) < 200:
            out.append(j)
            j += 1
        j = d - 1
        while c < len(self.old) and j >= 0 and self.back[j] < 0 and len(out) < 400:
            out.append(j)
            j -= 1
        return sorted({j for j in out if self.two[j]})

    def _reflow(self, gap: list[int], free: list[int]) -> None:  # noqa: C901
        """Find lines that were broken into several, or joined.

        Their words are there, in order, on other lines.
        """
        mine = [(t, i) for i in gap for t in self._tokens(i, 0)]
        theirs = [(t, j) for j in free for t in self._tokens(j, 1)]
        if not mine or not theirs or len(mine) > TOKENS or len(theirs) > TOKENS:
            return
        from difflib import SequenceMatcher

        matcher = SequenceMatcher(
            None, [t for t, _ in mine], [t for t, _ in theirs], autojunk=False
        )
        met: dict[int, list[int]] = {i: [] for i in gap}
        hit: set[int] = set()  # tokens that were met
        for block in matcher.get_matching_blocks():
            hit.update(range(block.a, block.a + block.size))
            for n in range(block.size):
                met[mine[block.a + n][1]].append(block.b + n)
        count = dict.fromkeys(gap, 0)
        full = Counter(j for _, j in theirs)
        starts: dict[int, int] = {}
        for n, (_, i) in enumerate(mine):
            count[i] += 1
            starts.setdefault(i, n)
        said = (
            Counter(tuple(self._tokens(i, 0)) for i in gap),
            Counter(tuple(self._tokens(j, 1)) for j in free),
        )
        joined = Counter(theirs[s][1] for spots in met.values() for s in spots[:1])
        for i in gap:
            spots = met[i]
            share = len(spots) / max(1, count[i])
            if not spots or share < 0.7 or weight(self.one[i]) < 4:
                continue
            first, last = theirs[spots[0]][1], theirs[spots[-1]][1]
            span = spots[-1] - spots[0] + 1
            if first == last:  # in one line: alone there it is an edit, and weighed as one
                tokens = tuple(self._tokens(i, 0))
                if said[0][tokens] > 1 or said[1][tokens] > 1:
                    continue
                if (
                    share == 1.0
                    and span == len(spots)
                    and (len(spots) == full[first] or (joined[first] > 1 and count[i] >= 3))
                ):
                    self.liked[i] = first, 0.85
            elif (
                starts[i] in hit
                and count[i] >= 5
                and span <= len(spots) * (1.3 if share >= 0.9 else 1.6) + 2
            ):
                self.liked[i] = first, 0.85 if share >= 0.9 else 0.75

    def _tokens(self, line: int, side: int) -> list[str]:
        text = (self.one if side == 0 else self.two)[line][: 3 * WIDE]
        gone = self.wild[side]
        return ["\x01" if t in gone else t for t in _TOKEN.findall(_STRING_PREFIX.sub("", text))]

    def _align(self, gap: list[int], free: list[int]) -> None:
        """Pair what is alike and in order, for the greatest sum of likeness."""
        if not gap or not free:
            return
        rows = [[self.likeness(i, j) for j in free] for i in gap]
        n, m = len(gap), len(free)
        best = [[0.0] * (m + 1) for _ in range(n + 1)]
        for x in range(n - 1, -1, -1):
            for y in range(m - 1, -1, -1):
                with_it = best[x + 1][y + 1] + rows[x][y] if rows[x][y] >= LIKE else 0.0
                best[x][y] = max(best[x + 1][y], best[x][y + 1], with_it)
        chosen: dict[int, int] = {}
        x = y = 0
        while x < n and y < m:
            if rows[x][y] >= LIKE and best[x][y] == best[x + 1][y + 1] + rows[x][y]:
                chosen[x] = y
                x, y = x + 1, y + 1
            elif best[x][y] == best[x + 1][y]:
                x += 1
            else:
                y += 1
        used = set(chosen.values())
        for x, y in chosen.items():
            rivals = [rows[x][k] for k in range(m) if k != y and k not in used] + [
                rows[k][y] for k in range(n) if k != x and k not in chosen
            ]
            if n == m == len(chosen) or rows[x][y] >= max(rivals, default=0.0) + MARGIN:
                self.liked[gap[x]] = free[y], min(0.9, rows[x][y])

    def _by_position(self, gap: list[int], free: list[int]) -> None:
        """Pair the lines of a gap one by one, if there are as many as before.

        The gap is between the same two lines. Nothing must speak against a pair.
        """
        pairs = list(zip(gap, free, strict=True))
        if any(self.liked.get(i, (j, 0.0))[0] != j for i, j in pairs):
            return
        taken = {j for j, _ in self.liked.values()}
        for i, j in pairs:
            if (
                i not in self.liked
                and j not in taken
                and (self.likeness(i, j) >= PLACED or shape(self.one[i]) == shape(self.two[j]))
            ):
                self.liked[i] = j, LIKE

    def likeness(self, i: int, j: int) -> float:
        """Return how alike an old and a new line are, 0 to 1: their words and their characters."""
        one, two = self._tokens(i, 0), self._tokens(j, 1)
        if not one or not two:
            return 0.0
        rest = list(two)
        shared = 0
        for token in one:
            if token in rest:
                rest.remove(token)
                shared += len(token) if token[0].isalnum() else 1
        total = sum(len(t) if t[0].isalnum() else 1 for t in one) + sum(
            len(t) if t[0].isalnum() else 1 for t in two
        )
        words = 2 * shared / total
        if words < 0.3:
            return 0.0
        from difflib import SequenceMatcher

        a, b = self.one[i][:WIDE], self.two[j][:WIDE]
        chars = SequenceMatcher(None, a, b, autojunk=False).ratio()
        return max((words + chars) / 2, words * 0.95 if words > 0.8 else 0.0)
