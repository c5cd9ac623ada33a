"""What the words of a sentence mean, roughly, whatever their language: a few dozen classes of words, for the learned scores. Pure; the words are data."""

import re
import tomllib
from collections.abc import Mapping
from functools import cache, lru_cache
from importlib import resources

_LONGEST = 5  # words of a phrase
_STEM = 3  # letters that the shortest beginning has
_ENDS = {
    "en": ((4, "ed", "-ed"), (5, "ing", "-ing"), (5, "ly", "-ly")),
    "pt": (
        (4, "ei", "-1"), (5, "amos", "-we"), (5, "emos", "-we"), (5, "imos", "-we"), (5, "ado", "-ed"), (5, "ada", "-ed"), (5, "ados", "-ed"), (5, "adas", "-ed"),
        (5, "ido", "-ed"), (5, "ida", "-ed"), (5, "ando", "-ing"), (5, "endo", "-ing"), (5, "ava", "-was"), (5, "avam", "-was"), (4, "ia", "-was"), (4, "iam", "-was"), (5, "ou", "-3"),
    ),
    "es": (
        (4, "é", "-1"), (4, "í", "-1"), (5, "amos", "-we"), (5, "emos", "-we"), (5, "imos", "-we"), (5, "ado", "-ed"), (5, "ada", "-ed"), (5, "ados", "-ed"), (5, "adas", "-ed"),
        (5, "ido", "-ed"), (5, "ida", "-ed"), (5, "ando", "-ing"), (5, "iendo", "-ing"), (5, "aba", "-was"), (5, "aban", "-was"), (4, "ía", "-was"), (4, "ían", "-was"), (4, "ó", "-3"),
    ),
}  # fmt: skip
_HAN = re.compile(r"[\u3400-\u9fff]")


@cache
def _table(language: str) -> tuple[Mapping[str, str], Mapping[str, str]]:
    """Return what whole words and phrases mean, and what beginnings of words do."""
    data = tomllib.loads(resources.files("gitmem.extraction").joinpath("data", "senses.toml").read_text(encoding="utf-8"))
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
    """Return what words mean, in their order; a word that says nothing of its own is an empty string."""
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
    return next((sense for least, end, sense in _ENDS.get(language, ()) if len(word) >= least and word.endswith(end)), "")


@lru_cache(maxsize=16384)
def acts(word: str, language: str) -> bool:
    """Whether a word says what somebody does, wants or thinks, and names nothing: a verb, mostly."""
    found = senses([word], language)[0]
    return bool(found) and found not in _NAMES


_NAMES = {"facts", "style", "fault", "CODE", "0", "v", "-ing", "later", "pass"}
