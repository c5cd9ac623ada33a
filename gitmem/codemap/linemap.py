"""Where the lines of an old text are in a new one: through edits, indentation, renames, reformatting and moves.

A line is taken as found when what it says is in both texts once; lines that repeat (`}`, `return None`) go with the found lines
that they touch. What is left is matched in four looser readings: without quotes and commas, without what makes a comment of it, without names that came
or went, and last, only where somebody asks, by likeness between the found lines around it. Of two places that are as good, neither is
taken. The idea is patience diff's (Bram Cohen) and histogram diff's, with what they leave out of order kept as moves.
"""

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from operator import lt

TELLING = 20  # characters of a line that is known again without its neighbours
PLAIN = 8  # ... and between its neighbours
BLOCK = 20  # ... with a neighbour that went the same way
LIKE = 0.6  # likeness above which a changed line still counts as the same
PLACED = 0.4  # ... where as many lines as before are between the same two
STEADY = 8  # lines of such a gap
MARGIN = 0.06  # by which a likeness must beat the next one
PAIRS = 2_000  # lines compared with lines in one gap
TOKENS = 3_000  # compared in one gap
AROUND = 4  # lines on either side by which a copy is known
COPIED = 0.4  # share of those lines that a copy has
COPIES = 20  # lines that are alike: more tell nothing
WIDE = 400  # characters of a line that are compared

_LOOSE = str.maketrans({"'": '"', "`": '"', ",": None, ";": None, "\\": None, " ": None, "\t": None})
_WORD = re.compile(r"[^\W\d]\w*")
_TOKEN = re.compile(r"\w+|[^\w\s'\"`,;\\()]")
_SAYS_SOME = re.compile(r"(?:[\W_]*[^\W_]){3}")
_SAYS_PLAIN = re.compile(rf"(?:[\W_]*[^\W_]){{{PLAIN}}}")
_STRING_PREFIX = re.compile(r'\b[rbuf]{1,2}(?=")', re.IGNORECASE)
_COMMENT = re.compile(r"\s*(?:#+|/{2,}|--+|;+|%+|>|/\*+|<!--|\*|REM\b)\s?")

Keys = Sequence[str] | dict[int, str]  # of all lines, or of some


def squash(line: str) -> str:
    """Return a line with single spaces and none at its ends."""
    return " ".join(line.split())


def weight(key: str) -> int:
    """Return how much a line says: its letters and digits."""
    return sum(map(str.isalnum, key[:WIDE]))


def says(key: str, least: int) -> bool:
    """Say whether a line's weight is at least 3, or at least PLAIN: a fifth of the time of weighing all of it."""
    return (_SAYS_PLAIN if least == PLAIN else _SAYS_SOME).match(key, 0, WIDE) is not None


class LineMap:
    """Pairs of lines of two texts; each old line has at most one new one, and no new line is taken twice.

    `whole`: the old text is a whole file, so the ends of the two belong together. Building it is linear in the texts but for gaps
    that changed; lines inside those are compared when they are asked for.
    """

    def __init__(self, old: Sequence[str], new: Sequence[str], whole: bool = True) -> None:
        self.old = old
        self.new = new
        self.whole = whole
        self.to = [-1] * len(old)
        self.back = [-1] * len(new)
        self.tied: set[int] = set()
        self._liked: dict[int, tuple[int, float]] = {}
        self._settled: dict[int, tuple[int, float]] = {}
        self._free_lines: dict[str, list[int]] | None = None
        self._done: set[int] = set()
        self._order: set[int] | None = None
        plain = {x: squash(x) for x in {*old, *new}}  # most lines are in both
        self.one = [plain[x] for x in old]
        self.two = [plain[x] for x in new]
        self._many = Counter(self.one), Counter(self.two)
        self._pass(self.one, self.two, range(len(old)), range(len(new)))
        self._wild: tuple[frozenset[str], frozenset[str]] = (frozenset(), frozenset())
        left, right = self._left()
        if left and right:
            self._pass_by(_loose, left, right)
            left, right = self._left()
        if left and right:
            self._pass_by(_bare, left, right)
            left, right = self._left()
        if left and right and whole:
            words = [{w for i in side for w in _WORD.findall(text[i][:WIDE])} for side, text in ((left, self.one), (right, self.two))]
            self._wild = frozenset(words[0] - words[1]), frozenset(words[1] - words[0])
            if self._wild[0] and self._wild[1]:
                self._pass_by(None, left, right)

    # -- what is found

    def find(self, line: int) -> tuple[int, float]:
        """Return (new line, confidence) of an old line, both from 0; (-1, 0.0) when it is gone or could be at two places."""
        if line not in self._settled:
            self._settled[line] = self._settle(line)
        return self._settled[line]

    def _settle(self, line: int) -> tuple[int, float]:
        to = self.to[line]
        if to >= 0 and not self.ordered(line) and self._alone(line, to) and self._rival(line):
            return -1, 0.0
        if to >= 0:
            return self._of_copies(line, to, 1.0 if self.one[line] == self.two[to] else 0.9)
        if line in self.tied or not self.one[line]:
            return -1, 0.0
        if line not in self._done:
            self._compare(line)
        to, sure = self._liked.get(line, (-1, 0.0))
        return self._of_copies(line, to, sure) if to >= 0 else (-1, 0.0)

    def ordered(self, line: int) -> bool:
        """Say whether a found line kept its place among the others; what did not was moved."""
        if self._order is None:
            pairs = [(i, j) for i, j in enumerate(self.to) if j >= 0]
            self._order = {i for i, _ in rising(pairs)}
        return self.to[line] < 0 or line in self._order

    def _alone(self, i: int, j: int) -> bool:
        """Say whether no neighbour of a line went with it."""
        return not any(0 <= i + n < len(self.to) and self.to[i + n] == j + n and says(self.one[i + n], 3) for n in (-2, -1, 1, 2))

    def _rival(self, line: int) -> bool:
        """Say whether a line that went away alone could as well be one of those that stand where it was."""
        a, c = line - 1, line + 1
        while a >= 0 and (self.to[a] < 0 or not self.ordered(a)):
            a -= 1
        while c < len(self.to) and (self.to[c] < 0 or not self.ordered(c)):
            c += 1
        free = self._free(a, self.to[a] if a >= 0 else -1, c, self.to[c] if c < len(self.to) else len(self.new))
        return any(self.likeness(line, j) >= LIKE for j in free[:100])

    def _left(self) -> tuple[list[int], list[int]]:
        return (
            [i for i, j in enumerate(self.to) if j < 0 and i not in self.tied and self.one[i]],
            [j for j, i in enumerate(self.back) if i < 0 and self.two[j]],
        )

    # -- copies

    def _of_copies(self, line: int, to: int, sure: float) -> tuple[int, float]:
        """Choose between a line's place and a copy of it: the one that stands where the line stood; neither when that is both or none.

        Code that was copied and then edited is like the copy more than like what it was, so likeness alone does not say which is which.
        """
        for copy in self._copies(line, to):
            top, end, same = self._extent(line, to, copy)
            above, below = self._frame(top, end)
            here, there = above < to < below, above < copy < below
            if here and not there:
                continue
            if here and there and not same and self.one[line] == self.two[to] and self._renamed(line, to, copy, top, end):
                continue
            if there and not here and self.likeness(line, copy) >= LIKE:
                return copy, min(0.85, self.likeness(line, copy))
            return -1, 0.0
        return to, sure

    def _copies(self, line: int, to: int) -> list[int]:
        """Return new lines that nobody took and that stand among what stood around an old one, or stands around its place."""
        if self._free_lines is None:
            self._free_lines = {}
            for j, i in enumerate(self.back):
                if i < 0 and weight(self.two[j]) >= 3:
                    self._free_lines.setdefault(_bare(self.two[j]), []).append(j)
        if not self._free_lines:
            return []
        met: Counter[int] = Counter()
        told = 0
        for n in range(-AROUND, AROUND + 1):
            if 0 <= line + n < len(self.one) and weight(self.one[line + n]) >= 3:
                worth = 3 if n == 0 else 2 if weight(self.one[line + n]) >= PLAIN else 1
                told += worth
                spots = {j for key in self._said(line + n, to + n) for j in self._free_lines.get(key, ())[: COPIES + 1]}
                for j in spots if len(spots) <= COPIES else ():
                    met[j - n] += worth
        enough = max(4, COPIED * told)
        near = {j: count + max(met.get(j - 1, 0), met.get(j + 1, 0)) for j, count in met.items() if 0 <= j < len(self.new)}
        best = sorted((j for j, count in near.items() if count >= enough and j != to and self.two[j]), key=lambda j: -near[j])
        return [j for j in best if self.back[j] in {-1, line}][:4]

    def _said(self, i: int, j: int) -> set[str]:
        """Return what an old line says, and what the new one at its place."""
        return {_bare(self.one[i]), *((_bare(self.two[j]),) if 0 <= j < len(self.two) and self.back[j] == i else ())}

    def _extent(self, line: int, to: int, copy: int) -> tuple[int, int, bool]:
        """Return (first, last, whether all are equal) of the old lines around one that a copy goes on for, one strange line allowed."""
        ends = [line, line]
        same = self.one[line] == self.two[copy]
        for side, step in enumerate((-1, 1)):
            odd = n = 0
            while odd < 2:
                n += step
                i, j = line + n, copy + n
                if not (0 <= i < len(self.one) and 0 <= j < len(self.two)) or self.back[j] not in {-1, i}:
                    break
                if _bare(self.two[j]) in self._said(i, to + n):
                    ends[side] = i
                    odd = 0
                else:
                    odd += 1
        return ends[0], ends[1], same

    def _frame(self, top: int, end: int) -> tuple[int, int]:
        """Return where the found lines around old ones are that kept their order, and that were not copied too."""
        a, c = top - 1, end + 1
        while a >= 0 and not self._tells(a):
            a -= 1
        while c < len(self.to) and not self._tells(c):
            c += 1
        return self.to[a] if a >= 0 else -1, self.to[c] if c < len(self.to) else len(self.new)

    def _tells(self, i: int) -> bool:
        free = self._free_lines or {}
        return self.to[i] >= 0 and weight(self.one[i]) >= 3 and self.ordered(i) and not any(x in free for x in self._said(i, self.to[i]))

    def _renamed(self, line: int, to: int, copy: int, top: int, end: int) -> bool:
        """Say whether a block is as it was and its copy is that with another name, in more than one line."""
        names: dict[str, str] = {}
        count = 0
        for i in range(top, end + 1):
            j, k = to + i - line, copy + i - line
            if not 0 <= j < len(self.two) or self.one[i] != self.two[j] or _shape(self.one[i]) != _shape(self.two[k]):
                return False
            count += self.one[i] != self.two[k]
            for before, after in zip(_WORD.findall(self.one[i]), _WORD.findall(self.two[k]), strict=False):
                if names.setdefault(before, after) != after:
                    return False
        return count > 1

    # -- equal lines

    def _pass_by(self, loosen: Callable[[str], str] | None, left: list[int], right: list[int]) -> None:
        """Match what is left by a looser reading of it."""
        one, two = dict.fromkeys(range(0), ""), dict.fromkeys(range(0), "")
        for i in left:
            one[i] = loosen(self.one[i]) if loosen else self._masked(self.one[i], 0)
        for j in right:
            two[j] = loosen(self.two[j]) if loosen else self._masked(self.two[j], 1)
        self._pass(one, two, left, right)

    def _masked(self, line: str, side: int) -> str:
        gone = self._wild[side]
        return _loose(_WORD.sub(lambda m: "\x01" if m[0] in gone else m[0], line[: 2 * WIDE]))

    def _pass(self, one: Keys, two: Keys, left: Iterable[int], right: Iterable[int]) -> None:
        """Match lines whose keys are equal: those that are there once, what touches them, and what is between them."""
        at, there = _once(one, left), _once(two, right)
        pairs = [(i, there[key]) for key, i in at.items() if i >= 0 and there.get(key, -1) >= 0 and says(key, PLAIN)]
        pairs.sort()
        steady = set(rising(pairs))
        before, after = self._bounds()
        many_old, many_new = self._many
        for i, j in pairs:
            key = one[i]
            if many_old[self.one[i]] > 1 or many_new[self.two[j]] > 1:
                continue  # what repeats is known by its place alone
            sure = (i, j) in steady and before[i] < j < after[i]
            if not sure:
                near = sum(weight(self.one[i + n]) for n in (-2, -1, 1, 2) if self._equal(i + n, j + n))
                sure = (near > 0 and near + weight(key) >= BLOCK) or (weight(key) >= TELLING and "\x01" not in key)
            if sure:
                self._take(i, j)
        for a, b, c, d in self._segments():
            self._solve(one, two, a, b, c, d)

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
        found = dict(rising([(i, j) for i, j in enumerate(self.to) if j >= 0]))
        last = -1
        for i in range(n):
            before[i] = last
            last = found.get(i, last)
        last = m
        for i in range(n - 1, -1, -1):
            after[i] = last
            last = found.get(i, last)
        return before, after

    def _segments(self) -> list[tuple[int, int, int, int]]:
        """Return (a, b, c, d) for each run of old lines a < i < c that are not found: a went to b, c to d."""
        out = []
        a, b = -1, -1
        for c, d in enumerate([*self.to, len(self.new)]):
            if d >= 0:
                if c - a > 1:
                    out.append((a, b, c, d))
                a, b = c, d
        return out

    def _solve(self, one: Keys, two: Keys, a: int, b: int, c: int, d: int) -> None:
        """Match between two found lines: what touches them, then what is there once, and so on inwards."""
        stack = [(a, b, c, d)]
        while stack:
            a, b, c, d = stack.pop()
            if c - a < 2:
                continue
            broken = not b < d or self._others(b, d)
            down = self._run(one, two, a, b, c, 1, broken) if a >= 0 or self.whole else 0
            up = self._run(one, two, c, d, a, -1, broken) if c < len(self.old) or self.whole else 0
            size = c - a - 1
            if up >= STEADY // 2 and self._copied(one, two, a, b, c, d, up):
                up = 0
            for n in range(1, down + 1):
                i, j = a + n, b + n
                if i < c - up or j == d - (c - i):
                    self._take(i, j)
                else:
                    self._tie(i, j, d - (c - i))
            for n in range(1, up + 1):
                if c - n > a + down:
                    self._take(c - n, d - n)
            if down + up >= size:
                continue
            a, b, c, d = a + down, b + down, c - up, d - up
            if not 0 < d - b - 1 <= (500 if broken else 20_000):
                continue
            mine = _once(one, (i for i in range(a + 1, c) if self.to[i] < 0 and i not in self.tied))
            theirs = _once(two, (j for j in range(b + 1, d) if self.back[j] < 0))
            pairs = sorted(
                (i, theirs[key])
                for key, i in mine.items()
                if key and i >= 0 and theirs.get(key, -1) >= 0 and self._alike(i, theirs[key], key, broken)
            )
            pairs = rising(pairs)
            for i, j in pairs:
                self._take(i, j)
            if pairs:
                edges = [(a, b), *pairs, (c, d)]
                stack.extend((*x, *y) for x, y in pairwise(edges))

    def _copied(self, one: Keys, two: Keys, a: int, b: int, c: int, d: int, up: int) -> bool:
        """Take the lines that go on from the found one above, when a run up from the one below is a copy of them.

        A definition was copied below itself and then edited: what belongs to its head is not what stands before the next one.
        """
        if c - a == d - b:
            return False
        run = [i for i in range(c - up, c) if weight(self.one[i]) >= 3]
        same = [i for i in run if b + i - a < d and self.back[b + i - a] < 0 and _key(one, i) == _key(two, b + i - a)]
        if 2 * len(same) < len(run) or not same:
            return False
        for i in range(c - up, c):
            if b + i - a < d and _key(one, i) and _key(one, i) == _key(two, b + i - a):
                self._take(i, b + i - a)
        return True

    def _others(self, b: int, d: int) -> bool:
        """Say whether lines from elsewhere are between two new ones now: then what touches the one is not what touches the other."""
        return any(self.back[j] >= 0 for j in range(b + 1, min(d, b + 2_000)))

    def _run(self, one: Keys, two: Keys, i: int, j: int, stop: int, step: int, broken: bool) -> int:
        """Return how many lines from a found one on are equal and free; where the order is broken, as far as its paragraph goes."""
        count = 0
        while True:
            i += step
            j += step
            if i == stop or not 0 <= j < len(self.new) or self.to[i] >= 0 or self.back[j] >= 0 or i in self.tied:
                return count
            key = _key(one, i)
            if key != _key(two, j) or (not key and isinstance(one, dict)):
                return count
            if broken and (not self.one[i] or (step < 0 and weight(self.one[i]) < 3)):
                return count
            count += 1

    def _tie(self, i: int, above: int, below: int) -> None:
        """Choose between the place after what stood above and the one before what stood below; neither when they are alike."""
        raw = self.old[i].rstrip()
        exact = [j for j in (above, below) if self.new[j].rstrip() == raw and self.back[j] < 0]
        other = above if exact == [below] else below
        if len(exact) == 1 and not self._shifted(i, other, -1 if other == above else 1):
            self._take(i, exact[0])
        else:
            self.tied.add(i)

    def _shifted(self, i: int, j: int, step: int) -> bool:
        """Say whether a line and the one that it touches were indented, both by as much: it went with it."""
        if not (0 <= i + step < len(self.old) and 0 <= j + step < len(self.new)) or not self.one[i + step]:
            return False
        by = _indent(self.new[j]) - _indent(self.old[i])
        return by != 0 and self.one[i + step] == self.two[j + step] and by == _indent(self.new[j + step]) - _indent(self.old[i + step])

    def _alike(self, i: int, j: int, key: str, broken: bool) -> bool:
        """Say whether a line that is there once between two found ones may be taken: where the order is broken, once in all."""
        if broken and (weight(key) < PLAIN or self._many[0][self.one[i]] > 1 or self._many[1][self.two[j]] > 1):
            return False
        return weight(key) >= 3 or self.old[i].rstrip() == self.new[j].rstrip()

    # -- like lines

    def _compare(self, line: int) -> None:
        """Compare the lines of a gap with what could have become of them."""
        to, n = self.to, len(self.old)
        a = line - 1
        while a >= 0 and to[a] < 0:
            a -= 1
        c = line + 1
        while c < n and to[c] < 0:
            c += 1
        gap = [i for i in range(a + 1, c) if self.one[i]]
        self._done.update(gap)
        b = to[a] if a >= 0 else -1
        d = to[c] if c < n else len(self.new)
        if not self.whole and (a < 0 or c >= n):
            b = b if a >= 0 else max(-1, d - 3 * len(gap) - 8) if c < n else len(self.new)
            d = d if c < n else min(len(self.new), b + 3 * len(gap) + 8)
        free = self._free(a, b, c, d)
        if not free or not gap:
            return
        if len(gap) * len(free) > PAIRS:
            at = gap.index(line)
            gap = gap[max(0, at - 8) : at + 9]
            free = free[: PAIRS // len(gap)]
        self._reflow(gap, free)
        rest = [i for i in gap if i not in self._liked]
        taken = {j for j, _ in self._liked.values()}
        self._align(rest, [j for j in free if j not in taken])
        if b < d and a >= 0 and c < n and len(gap) == len(free) <= STEADY and not self._others(b, d):
            self._by_position(gap, free)

    def _free(self, a: int, b: int, c: int, d: int) -> list[int]:
        """Return the new lines that nobody took between two found ones; around each when their order changed."""
        if b < d:
            return [j for j in range(b + 1, d) if self.back[j] < 0 and self.two[j]][:2_000]
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
        """Find lines that were broken in several, or joined: their words are there, in order, on other lines."""
        mine = [(t, i) for i in gap for t in self._tokens(i, 0)]
        theirs = [(t, j) for j in free for t in self._tokens(j, 1)]
        if not mine or not theirs or len(mine) > TOKENS or len(theirs) > TOKENS:
            return
        from difflib import SequenceMatcher

        matcher = SequenceMatcher(None, [t for t, _ in mine], [t for t, _ in theirs], autojunk=False)
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
        said = Counter(tuple(self._tokens(i, 0)) for i in gap), Counter(tuple(self._tokens(j, 1)) for j in free)
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
                if share == 1.0 and span == len(spots) and (len(spots) == full[first] or (joined[first] > 1 and count[i] >= 3)):
                    self._liked[i] = first, 0.85
            elif starts[i] in hit and count[i] >= 5 and span <= len(spots) * (1.3 if share >= 0.9 else 1.6) + 2:
                self._liked[i] = first, 0.85 if share >= 0.9 else 0.75

    def _tokens(self, line: int, side: int) -> list[str]:
        text = (self.one if side == 0 else self.two)[line][: 3 * WIDE]
        gone = self._wild[side]
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
                self._liked[gap[x]] = free[y], min(0.9, rows[x][y])

    def _by_position(self, gap: list[int], free: list[int]) -> None:
        """Pair as many lines as before, between the same two: one by one, when nothing speaks against it."""
        pairs = list(zip(gap, free, strict=True))
        if any(self._liked.get(i, (j, 0.0))[0] != j for i, j in pairs):
            return
        taken = {j for j, _ in self._liked.values()}
        for i, j in pairs:
            if i not in self._liked and j not in taken and (self.likeness(i, j) >= PLACED or _shape(self.one[i]) == _shape(self.two[j])):
                self._liked[i] = j, LIKE

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
        total = sum(len(t) if t[0].isalnum() else 1 for t in one) + sum(len(t) if t[0].isalnum() else 1 for t in two)
        words = 2 * shared / total
        if words < 0.3:
            return 0.0
        from difflib import SequenceMatcher

        a, b = self.one[i][:WIDE], self.two[j][:WIDE]
        chars = SequenceMatcher(None, a, b, autojunk=False).ratio()
        return max((words + chars) / 2, words * 0.95 if words > 0.8 else 0.0)


def _key(keys: Keys, line: int) -> str:
    return keys.get(line, "") if isinstance(keys, dict) else keys[line]


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _shape(line: str) -> str:
    """Return how a line is built, whatever the names in it are."""
    return _WORD.sub("x", line[: 2 * WIDE])


def _loose(line: str) -> str:
    """Return a line without what formatters change: quotes, spaces, commas and semicolons."""
    return line.translate(_LOOSE)


def _bare(line: str) -> str:
    """Return a line in its loose form, and without what makes a comment of it."""
    while match := _COMMENT.match(line):
        line = line[match.end() :]
    return _loose(line.removesuffix("*/").removesuffix("-->"))


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
