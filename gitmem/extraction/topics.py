"""What a session is about: its most telling words and pairs of words.

They are counted as turns come, in bounded memory.
"""

import math
import re
from collections import Counter
from functools import lru_cache
from importlib import resources

from gitmem.extraction.language.cue_phrases import cues
from gitmem.extraction.language.words import acts

NAME = 0.3  # how much a name tells, however usual
HAN = (2, 3, 4)  # characters of what may be a word in Chinese
NEAR = 16  # characters before a word that tell whether a sentence begins with it
# letters of a common word of another language that tells nothing; a shorter one may mean something
# in this one
FOREIGN = 4
KEPT = 4000  # words and pairs that are counted at one time
# percent of all sessions from which on a word tells nothing, and of a word that is not among the
# common ones
USUAL, RARE = 4, 0.5
_WORD = re.compile(r"`([^`\n]{2,40})`|([^\W\d_][\w-]*(?:\.[a-z]\w*)?)")
# what introduces a line and is not what it is about, and a table's line, whose rows are turns of
# their own
_LABEL = re.compile(
    r"(?im)^[^\w\n]{0,4}(?:decisions?|to-?dos?|tasks?|preferences?|patterns?|errors?|root cause"
    r"|cause|fix(?:ed)?|reason|context|phase|notes?|blocked|known|status|pending|done|decisi[óo]n"
    r"|decisão|tareas?|tarefas?"
    r"|preferencias?|preferências?|patr[óo]n|padrão|erros?|causa|soluci[óo]n|solução|motivo"
    r"|contexto|fase|notas?|pendientes?|pendentes?|决定|待办|任务|偏好|模式|错误|原因|修复|背景|阶段)\s*[:：]"
    r"|^[ \t]*\|.*$"
)
_HAN = re.compile(r"[\u4e00-\u9fff]{2,}")
_GAP = re.compile(r"[\W_]*$")
_HAN_STOP = re.compile(
    "[的了是在把就都也要和与吧呢吗啊我你们他这那个会有不用为被到上下里中对从请先再现还让给没以可能需们做改看下好加很去说]"
)
_ARTICLE = {
    "en": re.compile(
        r" (?:an?|the|our|my|your|this|that|these|those|all|some|any|every|it|them)\b",
        re.IGNORECASE,
    ),
    "pt": re.compile(
        r" (?:um|uma|uns|umas|os|as|o|a|todos|todas|este|esta|esse|essa|isso|nosso|nossa)\b",
        re.IGNORECASE,
    ),
    "es": re.compile(
        r" (?:una?|unos|unas|los|las|el|la|todos|todas|este|esta|ese|esa|eso|nuestro|nuestra)\b",
        re.IGNORECASE,
    ),
}


def _inside(text: str, at: int) -> bool:
    """Whether a word stands inside a sentence, not at the beginning of one or of a line."""
    before = text[max(0, at - NEAR) : at].rpartition("\n")[2]
    mark = _GAP.search(before)
    return (
        mark is not None and mark.start() > 0 and not set(mark.group()) & set(".!?:;。！？：；¿¡…")
    )


def _is_verb(text: str, start: int, end: int, language: str) -> bool:
    """Whether the word there is a verb by its place: an article follows.

    In languages whose nouns have one before a name too, at a sentence's beginning alone.
    """
    article = _ARTICLE.get(language)
    if article is None or not article.match(text, end):
        return False
    return language == "en" or not text[:start].rstrip() or text[:start].rstrip()[-1] in ".!?:;,"


@lru_cache(maxsize=1)
def _shares() -> dict[str, dict[str, int]]:
    """Return by language the words that are common in sessions, whatever their topic.

    Each has the percentage of the sessions in that language that contain it.
    """
    text = (
        resources.files("gitmem.extraction")
        .joinpath("data", "common_words.txt")
        .read_text(encoding="utf-8")
    )
    found: dict[str, dict[str, int]] = {}
    for line in text.splitlines():
        name, share, *words = line.split(" ")
        found.setdefault(name, {}).update(dict.fromkeys(words, int(share)))
    return found


def _rare(word: str, language: str) -> float:
    """Return how much a word tells, from its share of all sessions.

    It is the inverse document frequency: 1 for one in a hundred, 0 for what is usual.
    """
    known = _shares()
    share = (
        known.get(language, {}).get(word)
        or (known["en"].get(word) if language == "zh" else None)
        or RARE
    )
    return 0.0 if share >= USUAL else math.log(100 / share) / math.log(100)


@lru_cache(maxsize=1)
def _stops() -> frozenset[str]:
    """Return what tells nothing in any language: a message may have a word of another one."""
    return frozenset().union(*(cues(name).stop for name in ("en", "es", "pt")))


class Topics:
    """Counts words of what was said.

    Those of users weigh more, those that come in several turns, and those that few sessions have.
    """

    def __init__(self, *, common: bool = True) -> None:
        self._common = common
        self.weight: Counter[str] = Counter()
        self.turns: Counter[str] = Counter()
        self.times: Counter[str] = Counter()
        self.shown: dict[str, str] = {}

    def add(self, text: str, language: str, weight: float) -> None:  # noqa: C901
        """Count the words of one turn."""
        here = cues(language)
        text = _LABEL.sub("", text[:4000])
        found: Counter[str] = Counter()
        names: set[str] = set()
        shown: dict[str, str] = {}
        before = ""
        end = 0
        for match in _WORD.finditer(text):
            word = (match[1] or match[2]).strip()
            low = word.lower()
            if (
                not low
                or (len(low) < 3 and not match[1])
                or low in here.stop
                or low in here.words
                or (len(low) >= FOREIGN and low in _stops())
                or (language == "zh" and _HAN.search(low))
                or (
                    not match[1]
                    and (
                        acts(low, language) or _is_verb(text, match.start(), match.end(), language)
                    )
                )
            ):
                before = ""
                continue
            if low.isalpha() or match[1] or any(mark in low for mark in "-_."):
                found[low] += 1
                shown.setdefault(low, word)
                if not word.islower() and _inside(text, match.start()):
                    names.add(low)
                if before and match.start() - end == 1 and text[end] == " " and not match[1]:
                    pair = f"{before} {low}"
                    found[pair] += 1
                    shown.setdefault(pair, f"{shown[before]} {word}")
                before, end = low, match.end()
        if language == "zh":
            for run in _HAN.findall(text):
                for part in _HAN_STOP.sub(" ", run).split():
                    found.update(
                        part[n : n + size]
                        for size in HAN
                        if size <= len(part)
                        for n in range(len(part) - size + 1)
                    )
        for word, times in found.items():
            rare = min(_rare(one, language) for one in word.split(" ")) if self._common else 1.0
            rare = max(rare, NAME) if word in names else rare
            if not rare:
                continue
            self.shown.setdefault(word, shown.get(word, word))
            self.times[word] += times
            self.weight[word] += (
                weight
                * min(times, 3)
                * (1.6 if " " in word else len(word) - 1 if _HAN.fullmatch(word) else 1.0)
                * rare
            )  # type: ignore[assignment]
            self.turns[word] += 1
        if len(self.weight) > 2 * KEPT:
            kept = dict(self.weight.most_common(KEPT))
            self.weight = Counter(kept)
            self.turns = Counter(
                {word: times for word, times in self.turns.items() if word in kept}
            )
            self.times = Counter(
                {word: times for word, times in self.times.items() if word in kept}
            )
            self.shown = {word: shown for word, shown in self.shown.items() if word in kept}

    def best(self, most: int = 8) -> tuple[str, ...]:
        """Return the most telling ones, the best first.

        A word that a pair has told is not told again.
        """
        ranked = sorted(
            self.weight,
            key=lambda word: (-self.weight[word] * (1 + min(self.turns[word], 6)), word),
        )
        out: list[str] = []
        for word in ranked:
            if len(out) == most or (out and self.weight[word] < 2):
                break
            han = _HAN.fullmatch(word)
            if self.times[word] < 2 and (" " in word or han):
                continue  # two words side by side once are not name
            if han and any(set(word) & set(other) for other in out):
                continue  # a part of a word that is told, or of it and its neighbour
            if not any(
                word in other.split() or set(word.split()) & set(other.split()) for other in out
            ):
                out.append(word)
        return tuple(self.shown[word] for word in out)
