"""What became of the lines that no form has in both texts.

Each is matched with the line most like it, between the found lines around it.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
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
        self, old: Sequence[str], new: Sequence[str], whole: bool = True, text: Text | None = None
    ) -> None:
        super().__init__(old, new, whole, text)
        self.liked: dict[int, tuple[int, float]] = {}  # line: (new line, likeness)
        self.compared: set[int] = set()

    def compare(self, line: int) -> None:
        """Compare the lines of a gap with what could have become of them."""
        n = len(self.old)
        a = next((i for i in range(line - 1, -1, -1) if self.to[i] >= 0), -1)
        c = next((i for i in range(line + 1, n) if self.to[i] >= 0), n)
        gap = [i for i in range(a + 1, c) if self.one[i]]
        self.compared.update(gap)
        b, d = self._around(a, c, len(gap))
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

    def _around(self, a: int, c: int, size: int) -> tuple[int, int]:
        """Return the new lines of two found ones, or how far a part may reach where one is missing.

        `size` is the number of lines between them.
        """
        is_end = c >= len(self.old)
        b = self.to[a] if a >= 0 else -1
        d = len(self.new) if is_end else self.to[c]
        if self.whole:
            return b, d
        room = 3 * size + 8
        if a < 0:
            b = len(self.new) if is_end else max(-1, d - room)
        return b, min(len(self.new), b + room) if is_end else d

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

    def _reflow(self, gap: list[int], free: list[int]) -> None:
        """Find lines that were broken into several, or joined.

        Their words are there, in order, on other lines.
        """
        old = {i: self._tokens(i, 0) for i in gap}
        new = {j: self._tokens(j, 1) for j in free}
        counts = [sum(map(len, tokens.values())) for tokens in (old, new)]
        if min(counts) == 0 or max(counts) > TOKENS:
            return
        flow = _TokenFlow(old, new)
        for i in gap:
            place = flow.place(i) if weight(self.one[i]) >= 4 else None
            if place is not None:
                self.liked[i] = place

    def _tokens(self, line: int, side: int) -> list[str]:
        text = (self.one if side == 0 else self.two)[line][: 3 * WIDE]
        gone = self.wild[side]
        return ["\x01" if t in gone else t for t in _TOKEN.findall(_STRING_PREFIX.sub("", text))]

    def _align(self, gap: list[int], free: list[int]) -> None:
        """Pair what is alike and in order, for the greatest sum of likeness."""
        if not gap or not free:
            return
        rows = [[self.likeness(i, j) for j in free] for i in gap]
        chosen = _greatest_sum(rows)
        is_whole = len(gap) == len(free) == len(chosen)
        for x, y in chosen.items():
            if is_whole or rows[x][y] >= _next_best(rows, x, y, chosen) + MARGIN:
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
        old_tokens, new_tokens = self._tokens(i, 0), self._tokens(j, 1)
        if not old_tokens or not new_tokens:
            return 0.0
        rest = list(new_tokens)
        shared = 0
        for token in old_tokens:
            if token in rest:
                rest.remove(token)
                shared += len(token) if token[0].isalnum() else 1
        total = sum(len(t) if t[0].isalnum() else 1 for t in old_tokens) + sum(
            len(t) if t[0].isalnum() else 1 for t in new_tokens
        )
        words = 2 * shared / total
        if words < 0.3:
            return 0.0
        from difflib import SequenceMatcher

        a, b = self.one[i][:WIDE], self.two[j][:WIDE]
        chars = SequenceMatcher(None, a, b, autojunk=False).ratio()
        return max((words + chars) / 2, words * 0.95 if words > 0.8 else 0.0)


class _TokenFlow:
    """Where the tokens of old lines stand in new lines; both are given by line."""

    def __init__(self, old: dict[int, list[str]], new: dict[int, list[str]]) -> None:
        self.old = old
        self.new = new
        mine = [(token, i) for i, tokens in old.items() for token in tokens]
        theirs = [(token, j) for j, tokens in new.items() for token in tokens]
        self.lines = [j for _, j in theirs]  # of each new token
        self.spots: dict[int, list[int]] = {i: [] for i in old}  # new tokens, by old line
        met: set[int] = set()
        for n, spot in _equal_items([token for token, _ in mine], [token for token, _ in theirs]):
            met.add(n)
            self.spots[mine[n][1]].append(spot)
        starts = {i: n for n, (_, i) in reversed(list(enumerate(mine)))}
        self.started = {i for i, n in starts.items() if n in met}  # their first token is there
        self.old_texts = Counter(map(tuple, old.values()))
        self.new_texts = Counter(map(tuple, new.values()))
        self.begun = Counter(self.lines[spots[0]] for spots in self.spots.values() if spots)

    def place(self, i: int) -> tuple[int, float] | None:
        """Return the new line where an old one begins, and how sure that is."""
        spots, count = self.spots[i], len(self.old[i])
        if not spots or len(spots) / count < 0.7:
            return None
        first = self.lines[spots[0]]
        if first == self.lines[spots[-1]]:
            return (first, 0.85) if self._is_joined(i, first) else None
        is_sure = len(spots) / count >= 0.9
        span = spots[-1] - spots[0] + 1
        if i in self.started and count >= 5 and span <= len(spots) * (1.3 if is_sure else 1.6) + 2:
            return first, 0.85 if is_sure else 0.75
        return None

    def _is_joined(self, i: int, line: int) -> bool:
        """Return whether an old line is in one new line as it was, beside others.

        Alone there it is an edit, and weighed as one.
        """
        spots, tokens = self.spots[i], self.old[i]
        text = tuple(tokens)
        if self.old_texts[text] > 1 or self.new_texts[text] > 1:
            return False
        if not len(tokens) == len(spots) == spots[-1] - spots[0] + 1:
            return False
        is_all = len(spots) == len(self.new[line])
        return is_all or (self.begun[line] > 1 and len(tokens) >= 3)


def _equal_items(old: list[str], new: list[str]) -> Iterator[tuple[int, int]]:
    from difflib import SequenceMatcher

    for block in SequenceMatcher(None, old, new, autojunk=False).get_matching_blocks():
        for n in range(block.size):
            yield block.a + n, block.b + n


def _next_best(rows: list[list[float]], x: int, y: int, chosen: dict[int, int]) -> float:
    """Return the greatest likeness that a chosen pair's row or column has with one not chosen."""
    used = set(chosen.values())
    likes = [like for k, like in enumerate(rows[x]) if k not in used]
    likes += [row[y] for k, row in enumerate(rows) if k not in chosen]
    return max(likes, default=0.0)


def _greatest_sum(rows: list[list[float]]) -> dict[int, int]:
    """Return {row: column} of the pairs in order whose likeness has the greatest sum."""
    n, m = len(rows), len(rows[0])
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
    return chosen
