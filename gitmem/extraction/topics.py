"""What a session is about: its most telling words and pairs of words.

They are counted as turns come, in bounded memory.
"""

import re
from collections import Counter
from functools import cache

from gitmem.extraction.phrases import LANGUAGES, vocabulary

KEPT = 4000  # words and pairs that are counted at one time
HAN = (2, 3, 4)  # characters of what may be a word in Chinese
LOOKED_AT = 4000  # characters of a turn
_WORD = re.compile(r"`([^`\n]{2,40})`|([^\W\d_][\w-]*(?:\.[a-z]\w*)?)")
# what introduces a line and is not what it is about, and a table's line
_LABEL = re.compile(r"(?m)^[^\w\n]{0,4}[^\W\d_][\w -]{2,20}[:：](?=\s)|^[ \t]*\|.*$|(?s:```.*?```)")
_HAN = re.compile(r"[\u4e00-\u9fff]{2,}")
_HAN_STOP = re.compile(
    "[的了是在把就都也要和与吧呢吗啊我你们他这那个会有不用为被到上下里中对从请先再现还让给没以可能需做改看好加很去说]"
)


@cache
def _stop() -> frozenset[str]:
    """Return what tells nothing in any language: a message may have a word of another one."""
    return frozenset().union(*(vocabulary(name) for name in LANGUAGES))


class Topics:
    """Counts words of what was said: those of users weigh more, and those of several turns."""

    def __init__(self) -> None:
        self.weight: dict[str, float] = {}
        self.turns: Counter[str] = Counter()
        self.times: Counter[str] = Counter()
        self.shown: dict[str, str] = {}

    def add(self, text: str, language: str, weight: float) -> None:
        """Count the words of one turn."""
        text = _LABEL.sub("", text[:LOOKED_AT])
        found, shown = _latin(text)
        if language == "zh":
            found.update(_han(text))
        for word, times in found.items():
            self.shown.setdefault(word, shown.get(word, word))
            self.times[word] += times
            self.turns[word] += 1
            self.weight[word] = self.weight.get(word, 0.0) + weight * min(times, 3) * _worth(
                word, self.shown[word]
            )
        if len(self.weight) > 2 * KEPT:
            self._trim()

    def _trim(self) -> None:
        kept = sorted(self.weight, key=lambda word: -self.weight[word])[:KEPT]
        self.weight = {word: self.weight[word] for word in kept}
        self.turns = Counter({word: self.turns[word] for word in kept})
        self.times = Counter({word: self.times[word] for word in kept})
        self.shown = {word: self.shown[word] for word in kept}

    def best(self, most: int = 8) -> tuple[str, ...]:
        """Return the most telling ones, the best first; no word that a pair has already."""
        ranked = sorted(
            self.weight,
            key=lambda word: (-self.weight[word] * (1 + min(self.turns[word], 6)), word),
        )
        out: list[str] = []
        for word in ranked:
            if len(out) == most or (out and self.weight[word] < 2):
                break
            han = _HAN.fullmatch(word) is not None
            if self.times[word] < 2 and (" " in word or han):
                continue  # two words side by side once are no name
            parts = set(word) if han else set(word.split())
            if not any(parts & (set(one) if han else set(one.split())) for one in out):
                out.append(word)
        return tuple(self.shown[word] for word in out)


def _worth(word: str, shown: str) -> float:
    """Return how much a word tells: a pair, a name and a longer Chinese word tell more."""
    if _HAN.fullmatch(word):
        return len(word) - 1
    return 1.6 if " " in word or not shown.islower() else 1.0


def _latin(text: str) -> tuple[Counter[str], dict[str, str]]:
    """Return the words and pairs of words of a text, and how they are written."""
    found: Counter[str] = Counter()
    shown: dict[str, str] = {}
    before, end = "", 0
    for match in _WORD.finditer(text):
        word = (match[1] or match[2]).strip()
        low = word.lower()
        if low in _stop() or (len(low) < 3 and not match[1]) or _HAN.search(low) or not low:
            before = ""
            continue
        if match.start() == 0 or text[match.start() - 2 : match.start()].strip(" *-") in tuple(
            ".!?\n"
        ):
            word = low if word.istitle() else word  # a beginning is no name
        found[low] += 1
        shown.setdefault(low, word)
        if before and text[end : match.start()] == " " and not match[1]:
            pair = f"{before} {low}"
            found[pair] += 1
            shown.setdefault(pair, f"{shown[before]} {word}")
        before, end = low, match.end()
    return found, shown


def _han(text: str) -> Counter[str]:
    found: Counter[str] = Counter()
    for run in _HAN.findall(text):
        for part in _HAN_STOP.sub(" ", run).split():
            for size in HAN:
                found.update(part[n : n + size] for n in range(len(part) - size + 1))
    return found
