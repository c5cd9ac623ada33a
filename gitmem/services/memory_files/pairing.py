"""Which statement of a file is which one of before: by its words, else by likeness and place.

Pure, and the same for the same input.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

LIKE = 0.6  # likeness from which a statement is an edit of another, wherever it is
NEAR = 0.4  # where it stands between the same neighbours
FEW = 1_500  # comparisons that are simply made
# of more: statements compared with one, words that choose them, statements that a word may choose
BEST, RARE, COMMON = 4, 12, 200
LONG = 600  # characters of a text that are compared


@dataclass(frozen=True, slots=True)
class PairedStatement:
    """One statement, old or new: its key, its line and its text.

    The key tells its words from those of others.
    """

    key: str
    line: int
    text: str


def pair(old: Sequence[PairedStatement], new: Sequence[PairedStatement]) -> list[tuple[int, int]]:
    """Return (old, new) positions of the same statements.

    Equal statements are paired first, then those that were edited.
    """
    pairs = _equal(old, new)
    return sorted([*pairs, *_edited(old, new, pairs)])


def _equal(old: Sequence[PairedStatement], new: Sequence[PairedStatement]) -> list[tuple[int, int]]:
    waiting: dict[str, list[int]] = {}
    for n in sorted(range(len(old)), key=lambda n: (old[n].line, n)):
        waiting.setdefault(old[n].key, []).append(n)
    out = []
    for n in sorted(range(len(new)), key=lambda n: (new[n].line, n)):
        if candidates := waiting.get(new[n].key):
            out.append((candidates.pop(0), n))
    return out


def _edited(
    old: Sequence[PairedStatement], new: Sequence[PairedStatement], pairs: Sequence[tuple[int, int]]
) -> list[tuple[int, int]]:
    before, after = {i for i, _ in pairs}, {j for _, j in pairs}
    left = [i for i in range(len(old)) if i not in before]
    right = [j for j in range(len(new)) if j not in after]
    anchors = sorted((old[i].line, new[j].line) for i, j in pairs)
    starts, ends = [line for line, _ in anchors], sorted(line for _, line in anchors)
    ranked = []
    for i, j in _candidates(old, new, left, right):
        near = bisect_left(starts, old[i].line) == bisect_left(ends, new[j].line)
        like = likeness(old[i].text, new[j].text)
        if like >= (NEAR if near else LIKE):
            ranked.append((-like - 0.15 * near, abs(old[i].line - new[j].line), i, j))
    return _first_of_each((i, j) for _, _, i, j in sorted(ranked))


def _first_of_each(pairs: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the pairs neither side of which an earlier pair has."""
    before, after = set[int](), set[int]()
    out = []
    for i, j in pairs:
        if i not in before and j not in after:
            before.add(i)
            after.add(j)
            out.append((i, j))
    return out


def _candidates(
    old: Sequence[PairedStatement],
    new: Sequence[PairedStatement],
    left: Sequence[int],
    right: Sequence[int],
) -> list[tuple[int, int]]:
    """Return the pairs that are worth a comparison: all of a few.

    Of many the ones that share most words, and those at the same place in the row.
    """
    if len(left) * len(right) <= FEW:
        return [(i, j) for i in left for j in right]
    words: dict[str, list[int]] = {}
    for j in right:
        for word in _words(new[j].text):
            words.setdefault(word, []).append(j)
    out = []
    for n, i in enumerate(left):
        shared: Counter[int] = Counter()
        for word in sorted(_words(old[i].text), key=lambda w: (len(words.get(w, ())), w))[:RARE]:
            shared.update(words.get(word, ())[:COMMON])
        best = sorted(shared, key=lambda j: (-shared[j], abs(old[i].line - new[j].line), j))[:BEST]
        out += [(i, j) for j in dict.fromkeys([*best, *right[max(0, n - 1) : n + 2]])]
    return out


def _words(text: str) -> set[str]:
    """Return the words of a text; of writing without spaces, each two letters."""
    text = text[:LONG].casefold()
    return {w for w in text.split() if w.isascii()} | {
        text[n : n + 2] for n in range(len(text) - 1) if not text[n : n + 2].isascii()
    }


def likeness(first: str, two: str) -> float:
    """Return how much two texts have in common, from 0 to 1.

    The measure is their characters in order, or their words if that is more.
    """
    first, two = first[:LONG].casefold(), two[:LONG].casefold()
    if not first or not two:
        return float(first == two)
    a, b = set(first.split()), set(two.split())
    words = 2 * len(a & b) / (len(a) + len(b)) if a and b else 0.0
    match = SequenceMatcher(None, first, two, autojunk=False)
    if match.quick_ratio() < NEAR:
        return words
    return max(words, match.ratio())
