"""What a session is about: its most telling words and pairs of words, counted as its turns come, in memory that is bounded."""

import math
import re
from collections import Counter
from functools import lru_cache
from importlib import resources

from gitmem.summarise.cues import cues
from gitmem.summarise.senses import acts

NAME = 0.3  # how much a name tells, however usual
KEPT = 4000  # words and pairs that are counted at one time
USUAL, RARE = 4, 0.5  # percent of all sessions from which on a word tells nothing, and of a word that is not among the common ones
_WORD = re.compile(r"`([^`\n]{2,40})`|([^\W\d_][\w-]*(?:\.[a-z]\w*)?)")
_HAN = re.compile(r"[\u4e00-\u9fff]{2,}")
_HAN_STOP = re.compile(
    "[的了是在把就都也要和与吧呢吗啊我你们他这那个会有不用为被到上下里中对从请先再现还让给没以可能需们做改看下好加很去说]"
)
_ARTICLE = {
    "en": re.compile(r" (?:an?|the|our|my|your|this|that|these|those|all|some|any|every|it|them)\b", re.IGNORECASE),
    "pt": re.compile(r" (?:um|uma|uns|umas|os|as|o|a|todos|todas|este|esta|esse|essa|isso|nosso|nossa)\b", re.IGNORECASE),
    "es": re.compile(r" (?:una?|unos|unas|los|las|el|la|todos|todas|este|esta|ese|esa|eso|nuestro|nuestra)\b", re.IGNORECASE),
}


def _is_verb(text: str, start: int, end: int, language: str) -> bool:
    """Whether the word there is a verb by its place: an article follows; in languages whose nouns have one before a name too, at a sentence's beginning alone."""
    article = _ARTICLE.get(language)
    if article is None or not article.match(text, end):
        return False
    return language == "en" or not text[:start].rstrip() or text[:start].rstrip()[-1] in ".!?:;,"


@lru_cache(maxsize=1)
def _common() -> dict[str, int]:
    """Return the words that are said in many sessions, whatever they are about, with the percentage of those in their language that have them."""
    text = resources.files("gitmem.summarise").joinpath("phrases", "common.txt").read_text(encoding="utf-8")
    found: dict[str, int] = {}
    for line in text.splitlines():
        _, share, *words = line.split(" ")
        found.update((word, max(found.get(word, 0), int(share))) for word in words)
    return found


def _rare(word: str, common: dict[str, int]) -> float:
    """Return how much a word tells, from its share of all sessions: the inverse document frequency, 1 for one in a hundred, 0 for what is usual."""
    share = common.get(word, RARE)
    return 0.0 if share >= USUAL else math.log(100 / share) / math.log(100)


class Topics:
    """Counts words of what was said; those of users weigh more, those that come in several turns, and those that few sessions have."""

    def __init__(self, *, common: bool = True) -> None:
        self._common = common
        self.weight: Counter[str] = Counter()
        self.turns: Counter[str] = Counter()
        self.shown: dict[str, str] = {}

    def add(self, text: str, language: str, weight: float) -> None:
        """Count the words of one turn."""
        here = cues(language)
        found: Counter[str] = Counter()
        names: set[str] = set()
        before = ""
        end = 0
        for match in _WORD.finditer(text[:4000]):
            word = match[1] or match[2]
            low = word.lower()
            if (
                (len(low) < 3 and not match[1])
                or low in here.stop
                or low in here.words
                or (language == "zh" and _HAN.search(low))
                or (not match[1] and (acts(low, language) or _is_verb(text, match.start(), match.end(), language)))
            ):
                before = ""
                continue
            if low.isalpha() or match[1] or any(mark in low for mark in "-_."):
                found[low] += 1
                self.shown.setdefault(low, word)
                if not word.islower() and text[: match.start()].rstrip(" `(\"'")[-1:] not in {"", ".", "!", "?", ":", "\n"}:
                    names.add(low)
                if before and match.start() - end == 1 and text[end] == " " and not match[1]:
                    pair = f"{before} {low}"
                    found[pair] += 1
                    self.shown.setdefault(pair, f"{self.shown[before]} {word}")
                before, end = low, match.end()
        if language == "zh":
            for run in _HAN.findall(text[:4000]):
                for part in _HAN_STOP.sub(" ", run).split():
                    if 2 <= len(part) <= 6:
                        found[part] += 1
                        self.shown.setdefault(part, part)
        common = _common() if self._common else {}
        for word, times in found.items():
            rare = min(_rare(one, common) for one in word.split(" ")) if self._common else 1.0
            rare = max(rare, NAME) if word in names else rare
            if not rare:
                continue
            self.weight[word] += weight * min(times, 3) * (1.6 if " " in word else 1.0) * rare  # type: ignore[assignment]
            self.turns[word] += 1
        if len(self.weight) > 2 * KEPT:
            kept = dict(self.weight.most_common(KEPT))
            self.weight = Counter(kept)
            self.turns = Counter({word: times for word, times in self.turns.items() if word in kept})
            self.shown = {word: shown for word, shown in self.shown.items() if word in kept}

    def best(self, most: int = 8) -> tuple[str, ...]:
        """Return the most telling ones, the best first; a word that a pair has told is not told again."""
        ranked = sorted(self.weight, key=lambda word: (-self.weight[word] * (1 + min(self.turns[word], 6)), word))
        out: list[str] = []
        for word in ranked:
            if len(out) == most or (out and self.weight[word] < 2):
                break
            if self.turns[word] < 2 and (" " in word or _HAN.fullmatch(word)):
                continue  # two words side by side once are no name
            if not any(word in other.split() or set(word.split()) & set(other.split()) for other in out):
                out.append(word)
        return tuple(self.shown[word] for word in out)
