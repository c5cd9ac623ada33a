"""Words of a text: which language it is in, its content words as stems, how much two texts share.

Pure.
"""

import re
import tomllib
from collections.abc import Mapping
from functools import cache, lru_cache
from importlib import resources
from typing import Any

from gitmem.extraction.language.cue_phrases import LANGUAGES, cues

LOOKED_AT = 2000  # characters of a text that tell its language
CODE = 16_000  # of them before code is taken out
# one Chinese character among so many is enough, after other languages and after Chinese
HAN, HAN_AFTER_HAN = 6, 12
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
    """Return the words that tell of a language.

    The stop words of others have English ones among them.
    """
    here = cues(language)
    return here.words | (here.stop if language == "en" else here.stop - cues("en").words)


@lru_cache(maxsize=8)
def _stop(language: str) -> frozenset[str]:
    return frozenset(cues(language).stop)


def language(text: str, before: str = "en") -> str:
    """Return the language of a text, of which code is not a part.

    Where its words do not tell, the one before.
    """
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
    """Return the content words of a text as stems, and the pairs of its Chinese characters.

    Usual words are left out.
    """
    low = text.lower()
    stop = _stop(language)
    found = {
        stem(word, language)
        for word in _SPLIT.findall(_HAN.sub(" ", low))
        if word not in stop and (len(word) > 1 or word.isdigit())
    }
    for run in _HAN.findall(low):
        for part in "".join(" " if char in _HAN_STOP else char for char in run).split():
            found.update(
                [part] if len(part) == 1 else (part[n : n + 2] for n in range(len(part) - 1))
            )
    return frozenset(found)


def shared(one: frozenset[str], other: frozenset[str]) -> float:
    """Return how much of the smaller of two sets of words is in the other, from 0 to 1."""
    smaller = min(len(one), len(other))
    return len(one & other) / smaller if smaller else 0.0


def covered(wanted: frozenset[str], by: frozenset[str]) -> float:
    """Return how much of one set of words another has, from 0 to 1."""
    return len(wanted & by) / len(wanted) if wanted else 0.0


_LONGEST = 5  # words of a phrase
_STEM = 3  # letters that the shortest beginning has
_ENDS = {
    "en": ((4, "ed", "-ed"), (5, "ing", "-ing"), (5, "ly", "-ly")),
    "pt": (
        (4, "ei", "-1"),
        (5, "amos", "-we"),
        (5, "emos", "-we"),
        (5, "imos", "-we"),
        (5, "ado", "-ed"),
        (5, "ada", "-ed"),
        (5, "ados", "-ed"),
        (5, "adas", "-ed"),
        (5, "ido", "-ed"),
        (5, "ida", "-ed"),
        (5, "ando", "-ing"),
        (5, "endo", "-ing"),
        (5, "ava", "-was"),
        (5, "avam", "-was"),
        (4, "ia", "-was"),
        (4, "iam", "-was"),
        (5, "ou", "-3"),
    ),
    "es": (
        (4, "é", "-1"),
        (4, "í", "-1"),
        (5, "amos", "-we"),
        (5, "emos", "-we"),
        (5, "imos", "-we"),
        (5, "ado", "-ed"),
        (5, "ada", "-ed"),
        (5, "ados", "-ed"),
        (5, "adas", "-ed"),
        (5, "ido", "-ed"),
        (5, "ida", "-ed"),
        (5, "ando", "-ing"),
        (5, "iendo", "-ing"),
        (5, "aba", "-was"),
        (5, "aban", "-was"),
        (4, "ía", "-was"),
        (4, "ían", "-was"),
        (4, "ó", "-3"),
    ),
}


@cache
def _table(language: str) -> tuple[Mapping[str, str], Mapping[str, str]]:
    """Return what whole words and phrases mean, and what beginnings of words do."""
    data = tomllib.loads(
        resources.files("gitmem.extraction")
        .joinpath("data", "word_classes.toml")
        .read_text(encoding="utf-8")
    )
    whole: dict[str, str] = {}
    begins: dict[str, str] = {}
    for name, by in data.items():
        for word in by.get(language, "").split():
            if word.endswith("*"):
                begins.setdefault(word[:-1], name)
            else:
                whole.setdefault(word.replace("_", " "), name)
    return whole, begins


def senses(words: list[str], language: str) -> list[str]:
    """Return what words mean, in their order.

    A word that says nothing of its own is an empty string.
    """
    whole = _table(language)[0]
    out: list[str] = []
    n = 0
    size = len(words)
    han = language == "zh"
    gap = "" if han else " "
    while n < size:
        word = words[n]
        found = ""
        step = 1
        if word[:1].isalpha() or word in "?？¿":
            for many in range(min(_LONGEST, size - n), 0, -1):
                known = whole.get(gap.join(words[n : n + many]) if many > 1 else word)
                if known:
                    found, step = known, many
                    break
            if not found and not (han and _HAN.match(word)):
                found = _bent(word, language)
        elif word in ("CODE", "0", "v"):
            found = word
        out.append(found)
        n += step
    return out


@lru_cache(maxsize=16384)
def _bent(word: str, language: str) -> str:
    """Return what the beginning of a word means, else its end."""
    begins = _table(language)[1]
    for length in range(len(word), _STEM - 1, -1):
        if word[:length] in begins:
            return begins[word[:length]]
    return next(
        (
            sense
            for least, end, sense in _ENDS.get(language, ())
            if len(word) >= least and word.endswith(end)
        ),
        "",
    )


@lru_cache(maxsize=16384)
def acts(word: str, language: str) -> bool:
    """Return whether a word says what somebody does, wants or thinks.

    Such a word names nothing; mostly it is a verb.
    """
    found = senses([word], language)[0]
    return bool(found) and found not in _NAMES


_NAMES = {"facts", "style", "fault", "CODE", "0", "v", "-ing", "later", "pass"}
