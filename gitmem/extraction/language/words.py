"""Words of a text: which language it is in, its content words as stems, how much two texts share. Pure."""

import re
from functools import lru_cache
from typing import Any

from gitmem.extraction.language.cue_phrases import LANGUAGES, cues

LOOKED_AT = 2000  # characters of a text that tell its language
CODE = 16_000  # of them before code is taken out
HAN, HAN_AFTER_HAN = 6, 12  # one Chinese character among so many is enough, after other languages and after Chinese
STAYS = 0.5  # words that speak for the language before: people seldom change it
_HAN = re.compile(r"[\u3400-\u9fff]+")
_CODE = re.compile(r"```.*?(?:```|\Z)|`[^`\n]*`", re.DOTALL)
_SPLIT = re.compile(r"[^\W_]+")
_HAN_STOP = set("的了是在把就都也要和与吧呢吗啊我你们他这那个会有不用为被到上下里中对从")
_MARKS = {"ã": "pt", "õ": "pt", "ç": "pt", "ê": "pt", "ô": "pt", "ñ": "es", "¿": "es", "¡": "es"}
_STEMMERS = {"en": "english", "pt": "portuguese", "es": "spanish"}


@lru_cache(maxsize=4096)
def _votes(word: str) -> tuple[str, ...]:
    return tuple(one for one in LANGUAGES if word in _common(one))


@lru_cache(maxsize=8)
def _common(language: str) -> frozenset[str]:
    """Return the words that tell of a language; the stop words of others have English ones among them."""
    here = cues(language)
    return here.words | (here.stop if language == "en" else here.stop - cues("en").words)


@lru_cache(maxsize=8)
def _stop(language: str) -> frozenset[str]:
    return frozenset(cues(language).stop)


def language(text: str, before: str = "en") -> str:
    """Return the language of a text, of which code is no part; where its words do not tell, the one before."""
    text = _CODE.sub(" ", text[:CODE])[:LOOKED_AT]
    han = sum(len(run) for run in _HAN.findall(text))
    if han * (HAN_AFTER_HAN if before == "zh" else HAN) > len(text):
        return "zh"
    counts = dict.fromkeys(LANGUAGES, 0.0)
    low = text.lower()
    for word in _SPLIT.findall(low):
        found = _votes(word)
        for one in found:
            counts[one] += 1.0 / len(found)
    for mark, one in _MARKS.items():
        if mark in low:
            counts[one] += 1.5
    counts["zh"] += han / 2
    counts[before] += STAYS
    best = max(LANGUAGES, key=lambda one: counts[one])
    return best if counts[best] > STAYS + 0.2 else before


@lru_cache(maxsize=4)
def _stemmer(name: str) -> Any:
    import Stemmer

    return Stemmer.Stemmer(name, 0)


@lru_cache(maxsize=8192)
def stem(word: str, language: str) -> str:
    """Return the stem of a lower-case word."""
    if language not in _STEMMERS or not word.isalpha():
        return word
    return str(_stemmer(_STEMMERS[language]).stemWord(word))[:12]


@lru_cache(maxsize=4096)
def content(text: str, language: str) -> frozenset[str]:
    """Return what a text speaks of: its words as stems without the usual ones, and the pairs of its Chinese characters."""
    low = text.lower()
    stop = _stop(language)
    found = {stem(word, language) for word in _SPLIT.findall(_HAN.sub(" ", low)) if word not in stop and (len(word) > 1 or word.isdigit())}
    for run in _HAN.findall(low):
        for part in "".join(" " if char in _HAN_STOP else char for char in run).split():
            found.update([part] if len(part) == 1 else (part[n : n + 2] for n in range(len(part) - 1)))
    return frozenset(found)


def shared(one: frozenset[str], other: frozenset[str]) -> float:
    """Return how much of the smaller of two sets of words is in the other, from 0 to 1."""
    smaller = min(len(one), len(other))
    return len(one & other) / smaller if smaller else 0.0


def covered(wanted: frozenset[str], by: frozenset[str]) -> float:
    """Return how much of one set of words another has, from 0 to 1."""
    return len(wanted & by) / len(wanted) if wanted else 0.0
