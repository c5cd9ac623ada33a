"""Which lines of two texts are equal.

Lines that occur once are matched first, then lines that touch them, then lines between them.

Lines that say the same in both texts are taken; what is left is read looser, without quotes and
commas, without what makes a comment of it, without names that came or went. The idea is patience
diff's (Bram Cohen) and histogram diff's, with what they leave out of order kept as moves.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from operator import lt

from gitmem.codemap.linemap.indexed_text import Reading, Text
from gitmem.codemap.linemap.normal_forms import (
    PLAIN,
    TELLING,
    WIDE,
    WORD,
    bare,
    indent,
    loose,
    says,
    squash,
    weight,
)

BLOCK = 20  # characters of a line that went away together with a neighbour
STEADY = 8  # lines of a gap in which as many are as before

Gap = tuple[int, int, int, int]  # (a, b, c, d): after the pair of lines (a, b), before (c, d)
Keys = Sequence[str] | dict[int, str] | Reading  # of all lines, or of some


class EqualLines:
    """Pairs of equal lines of two texts.

    Each old line has at most one new one, and no new line is taken twice.

    `whole`: the old text is a whole file, so the ends of the two belong together. `text`: the new
    text, where it is the same for many old ones that are a few lines each: then what it says is
    looked up.
    """

    def __init__(
        self, old: Sequence[str], new: Sequence[str], whole: bool = True, text: Text | None = None
    ) -> None:
        self.old = old
        self.new = new
        self.whole = whole
        self.known = text
        self.to = [-1] * len(old)
        self.back = [-1] * len(new)
        self.tied: set[int] = set()
        # names that only one of the texts has
        self.wild: tuple[frozenset[str], frozenset[str]] = (frozenset(), frozenset())
        if text is not None:
            self.one = [squash(x) for x in old]
            self.two = text.plain.keys
            self._match_few(text)
            return
        plain = {x: squash(x) for x in {*old, *new}}  # most lines are in both
        self.one = [plain[x] for x in old]
        self.two = [plain[x] for x in new]
        self._match_all()

    def _match_all(self) -> None:
        counts = Counter(self.two)
        self._often: Callable[[str], int] = counts.__getitem__
        self._many = Counter(self.one)
        self._pass(self.one, self.two, range(len(self.old)), range(len(self.new)))
        left, right = self._left()
        for loosen in (loose, bare):
            if not (left and right):
                return
            self._pass_by(loosen, left, right)
            left, right = self._left()
        if left and right and self.whole:
            self._match_renamed(left, right)

    def _match_renamed(self, left: list[int], right: list[int]) -> None:
        """Match what is left without the names that only one of the texts has."""
        words = [
            {word for i in side for word in WORD.findall(text[i][:WIDE])}
            for side, text in ((left, self.one), (right, self.two))
        ]
        self.wild = frozenset(words[0] - words[1]), frozenset(words[1] - words[0])
        if all(self.wild):
            self._pass_by(None, left, right)

    def _match_few(self, text: Text) -> None:
        self._often = text.plain.count
        self._many = Counter(self.one)
        self._pass(self.one, text.plain, range(len(self.old)))
        for loosen, reading in ((loose, "loose"), (bare, "bare")):
            left = [
                i for i, j in enumerate(self.to) if j < 0 and i not in self.tied and self.one[i]
            ]
            if left:
                self._pass({i: loosen(self.one[i]) for i in left}, getattr(text, reading), left)

    def _left(self) -> tuple[list[int], list[int]]:
        return (
            [i for i, j in enumerate(self.to) if j < 0 and i not in self.tied and self.one[i]],
            [j for j, i in enumerate(self.back) if i < 0 and self.two[j]],
        )

    def _pass_by(
        self, loosen: Callable[[str], str] | None, left: list[int], right: list[int]
    ) -> None:
        """Match what is left by a looser reading of it."""
        old_keys, new_keys = dict.fromkeys(range(0), ""), dict.fromkeys(range(0), "")
        for i in left:
            old_keys[i] = loosen(self.one[i]) if loosen else self._masked(self.one[i], 0)
        for j in right:
            new_keys[j] = loosen(self.two[j]) if loosen else self._masked(self.two[j], 1)
        self._pass(old_keys, new_keys, left, right)

    def _masked(self, line: str, side: int) -> str:
        gone = self.wild[side]
        return loose(WORD.sub(lambda m: "\x01" if m[0] in gone else m[0], line[: 2 * WIDE]))

    def _pass(
        self,
        old_keys: Keys,
        new_keys: Keys,
        left: Iterable[int],
        right: Iterable[int] | None = None,
    ) -> None:
        """Match lines whose keys are equal.

        These are lines that occur once, lines that touch them, and lines between them.
        """
        at = _once(old_keys, left)
        there = self._there(new_keys, at, 0, len(self.new), right)
        pairs = [
            (i, there[key])
            for key, i in at.items()
            if i >= 0 and there.get(key, -1) >= 0 and says(key, PLAIN)
        ]
        pairs.sort()
        steady = set(rising(pairs))
        before, after = self._bounds()
        many, often = self._many, self._often
        for i, j in pairs:
            if many[self.one[i]] > 1 or often(self.two[j]) > 1:
                continue  # what repeats is known by its place alone
            in_order = (i, j) in steady and before[i] < j < after[i]
            if in_order or self._is_telling(i, j, old_keys[i]):
                self._take(i, j)
        for gap in self._segments():
            self._solve(old_keys, new_keys, gap)

    def _is_telling(self, i: int, j: int, key: str) -> bool:
        """Return whether two equal lines say enough to be paired out of order.

        They do by themselves, or together with equal neighbours.
        """
        near = sum(weight(self.one[i + n]) for n in (-2, -1, 1, 2) if self._equal(i + n, j + n))
        if near > 0 and near + weight(key) >= BLOCK:
            return True
        return weight(key) >= TELLING and "\x01" not in key

    def _there(
        self,
        two: Keys,
        wanted: Iterable[str],
        low: int,
        high: int,
        lines: Iterable[int] | None = None,
    ) -> dict[str, int]:
        """Return {key: line} of the free new lines in a range, for at least the wanted keys.

        The line is -1 for a key that occurs more than once.
        """
        if isinstance(two, Reading):
            return {key: two.lone(key, low, high, self.back) for key in wanted}
        return _once(
            two, (j for j in range(low, high) if self.back[j] < 0) if lines is None else lines
        )

    def _equal(self, i: int, j: int) -> bool:
        return 0 <= i < len(self.one) and 0 <= j < len(self.two) and self.one[i] == self.two[j]

    def _take(self, i: int, j: int) -> None:
        if self.to[i] < 0 and self.back[j] < 0:
            self.to[i] = j
            self.back[j] = i

    def _bounds(self) -> tuple[list[int], list[int]]:
        """Return for each old line the new lines of the found ones around it that are in order."""
        n, m = len(self.old), len(self.new)
        before, after = [-1] * n, [m] * n
        in_order = dict(rising([(i, j) for i, j in enumerate(self.to) if j >= 0]))
        last = -1
        for i in range(n):
            before[i] = last
            last = in_order.get(i, last)
        last = m
        for i in range(n - 1, -1, -1):
            after[i] = last
            last = in_order.get(i, last)
        return before, after

    def _segments(self) -> list[Gap]:
        """Return (a, b, c, d) for each run of old lines a < i < c that are not found.

        Line a went to b, and line c to d.
        """
        out = []
        a, b = -1, -1
        for c, d in enumerate([*self.to, len(self.new)]):
            if d >= 0:
                if c - a > 1:
                    out.append((a, b, c, d))
                a, b = c, d
        return out

    def _solve(self, old_keys: Keys, new_keys: Keys, gap: Gap) -> None:
        """Match lines between two found lines.

        Lines that touch them come first, then lines that occur once, and so on inwards.
        """
        stack = [gap]
        while stack:
            a, b, c, d = stack.pop()
            if c - a < 2:
                continue
            broken = not b < d or self.others(b, d)
            down, up = self._take_runs(old_keys, new_keys, (a, b, c, d), broken)
            if down + up >= c - a - 1:
                continue
            a, b, c, d = a + down, b + down, c - up, d - up
            if not 0 < d - b - 1 <= (500 if broken else 20_000):
                continue
            pairs = self._lone_pairs(old_keys, new_keys, (a, b, c, d), broken)
            for i, j in pairs:
                self._take(i, j)
            if pairs:
                edges = [(a, b), *pairs, (c, d)]
                stack.extend((*x, *y) for x, y in pairwise(edges))

    def _take_runs(self, old_keys: Keys, new_keys: Keys, gap: Gap, broken: bool) -> tuple[int, int]:
        """Match the lines that touch the found ones; return how many below and above them."""
        a, b, c, d = gap
        down = self._run(old_keys, new_keys, a, b, c, 1, broken) if a >= 0 or self.whole else 0
        up = (
            self._run(old_keys, new_keys, c, d, a, -1, broken)
            if c < len(self.old) or self.whole
            else 0
        )
        if up >= STEADY // 2 and self._copied(old_keys, new_keys, a, b, c, d, up):
            up = 0
        for i, j in zip(range(a + 1, a + down + 1), range(b + 1, b + down + 1), strict=True):
            if i < c - up or j == d - (c - i):
                self._take(i, j)
            else:
                self._tie(i, j, d - (c - i))
        for i in range(c - 1, max(c - up - 1, a + down), -1):
            self._take(i, d - (c - i))
        return down, up

    def _lone_pairs(
        self, old_keys: Keys, new_keys: Keys, gap: Gap, broken: bool
    ) -> list[tuple[int, int]]:
        """Return the pairs of lines that occur once in a gap, those that are in order."""
        a, b, c, d = gap
        mine = _once(
            old_keys, (i for i in range(a + 1, c) if self.to[i] < 0 and i not in self.tied)
        )
        theirs = self._there(new_keys, mine, b + 1, d)
        pairs = sorted(
            (i, theirs[key])
            for key, i in mine.items()
            if key
            and i >= 0
            and theirs.get(key, -1) >= 0
            and self._alike(i, theirs[key], key, broken)
        )
        return rising(pairs)

    def _copied(
        self, old_keys: Keys, new_keys: Keys, a: int, b: int, c: int, d: int, up: int
    ) -> bool:
        """Take the lines that continue the found line above, if the run below is a copy of them.

        The run goes up from the found line below.

        A definition was copied below itself and then edited: what belongs to its head is not what
        stands before the next one.
        """
        if c - a == d - b:
            return False
        run = [i for i in range(c - up, c) if weight(self.one[i]) >= 3]
        same = [
            i
            for i in run
            if b + i - a < d
            and self.back[b + i - a] < 0
            and _key(old_keys, i) == _key(new_keys, b + i - a)
        ]
        if 2 * len(same) < len(run) or not same:
            return False
        for i in range(c - up, c):
            if (
                b + i - a < d
                and _key(old_keys, i)
                and _key(old_keys, i) == _key(new_keys, b + i - a)
            ):
                self._take(i, b + i - a)
        return True

    def others(self, b: int, d: int) -> bool:
        """Return whether lines from elsewhere are between two new lines now.

        If so, what touches the one does not touch the other.
        """
        return any(self.back[j] >= 0 for j in range(b + 1, min(d, b + 2_000)))

    def _run(
        self, old_keys: Keys, new_keys: Keys, i: int, j: int, stop: int, step: int, broken: bool
    ) -> int:
        """Return how many lines from a found one on are equal and free.

        Where the order is broken, as far as its paragraph goes.
        """
        count = 0
        while True:
            i += step
            j += step
            if (
                i == stop
                or not 0 <= j < len(self.new)
                or self.to[i] >= 0
                or self.back[j] >= 0
                or i in self.tied
            ):
                return count
            key = _key(old_keys, i)
            if key != _key(new_keys, j) or (not key and isinstance(old_keys, dict)):
                return count
            if broken and (not self.one[i] or (step < 0 and weight(self.one[i]) < 3)):
                return count
            count += 1

    def _tie(self, i: int, above: int, below: int) -> None:
        """Choose between the place after what stood above and the one before what stood below.

        Neither when they are alike.
        """
        raw = self.old[i].rstrip()
        exact = [j for j in (above, below) if self.new[j].rstrip() == raw and self.back[j] < 0]
        other = above if exact == [below] else below
        if len(exact) == 1 and not self._shifted(i, other, -1 if other == above else 1):
            self._take(i, exact[0])
        else:
            self.tied.add(i)

    def _shifted(self, i: int, j: int, step: int) -> bool:
        """Return whether a line and the line that it touches were indented by the same amount.

        If so, the line moved together with the other one.
        """
        if (
            not (0 <= i + step < len(self.old) and 0 <= j + step < len(self.new))
            or not self.one[i + step]
        ):
            return False
        by = indent(self.new[j]) - indent(self.old[i])
        return (
            by != 0
            and self.one[i + step] == self.two[j + step]
            and by == indent(self.new[j + step]) - indent(self.old[i + step])
        )

    def _alike(self, i: int, j: int, key: str, broken: bool) -> bool:
        """Return whether a line that occurs once between two found lines may be taken.

        Where the order is broken, it must occur once in all.
        """
        if broken and (
            weight(key) < PLAIN or self._many[self.one[i]] > 1 or self._often(self.two[j]) > 1
        ):
            return False
        return weight(key) >= 3 or self.old[i].rstrip() == self.new[j].rstrip()


def _key(keys: Keys, line: int) -> str:
    return keys.get(line, "") if isinstance(keys, dict) else keys[line]


def _once(keys: Keys, lines: Iterable[int]) -> dict[str, int]:
    """Return {key: line}, -1 for what is there more than once."""
    out: dict[str, int] = {}
    read: Callable[[int], str | None] = keys.get if isinstance(keys, dict) else keys.__getitem__
    for i in lines:
        key = read(i)
        if key:
            out[key] = -1 if key in out else i
    return out


def rising(pairs: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the longest choice of pairs, sorted by the first, whose second rises too."""
    seconds = [j for _, j in pairs]
    if all(map(lt, seconds, seconds[1:])):  # most edits leave all in order
        return list(pairs)
    ends: list[int] = []
    tops: list[int] = []
    link = [-1] * len(pairs)
    for n, (_, j) in enumerate(pairs):
        at = bisect_left(ends, j)
        link[n] = tops[at - 1] if at else -1
        if at == len(ends):
            ends.append(j)
            tops.append(n)
        else:
            ends[at] = j
            tops[at] = n
    out = []
    n = tops[-1] if tops else -1
    while n >= 0:
        out.append(pairs[n])
        n = link[n]
    return out[::-1]
