"""What words do in a statement.

The words are in `words.json`, what each list is for in `words.schema.json`.
"""

import os
import re
from collections.abc import Iterable, Mapping
from functools import cached_property, lru_cache
from typing import Any

from gitmem.base.fast import Lazy, loads
from gitmem.text.paraphrase import have_same_stem

# how words end in Portuguese and Spanish that say the same of one and of several, him and her
VERBS = ("choose", "prefer", "call")  # after which a value comes
_GENDER = re.compile(r"(?:[ao]s?|ão|ões|ón|ones)$")


class LanguageWords:
    """The words of one language that tell how a statement is built."""

    def __init__(self, code: str, lists: Mapping[str, Any]) -> None:
        self.code = code
        self.articles = frozenset(lists["articles"])
        self.dropped = frozenset(lists["dropped"])
        self.optional = frozenset(lists["optional"])
        self.qualifiers = frozenset(lists["qualifiers"])
        self.be = frozenset(lists["be"])
        self.negations = frozenset(lists["not"])
        self.scope = frozenset(lists["scope"])
        self.where = frozenset(lists["where"])
        self.means = frozenset(lists["by"])
        self.purpose = frozenset(lists["purpose"])
        self.parts = frozenset(lists["of"])
        self.choose = frozenset(lists["choose"])
        self.verbs = {word: sort for sort in VERBS for word in lists[sort]}
        self.place = frozenset(lists["place"])
        self.open = frozenset(lists["open"])
        self.minimum = frozenset(lists["minimum"])
        self.counted = frozenset(lists["counted"])
        self.one = frozenset(lists["one"])
        self.every = frozenset(lists["every"])
        self.numbers: Mapping[str, int] = lists["numbers"]
        self._forms: Mapping[str, str] = lists["rewrites"]
        self._rewriting = _expression(rf"(?<![\w-])(?:{_any_of(self._forms)})(?![\w-])")
        # what comes before the thing that is not chosen: `instead of`
        names = "|".join(rf"(?<!\w){re.escape(name)}" for name in lists["instead"])
        self.instead = _expression(rf"(?:{names})\s++(?P<old>[^,.;:()]+)")
        moved, start, end = (_any_of(lists[key]) for key in ("moved", "from", "to"))
        self.moved = _expression(
            rf"\b(?:{moved})(?P<what>(?:\s++\S++){{0,4}}?)\s++(?:{start})\s++"
            rf"(?P<old>[^,;:()]{{2,40}}?)\s++(?:{end})\s++"
        )
        verbs, link = (_any_of(lists[key]) for key in ("replaced", "with"))
        self.replaced = _expression(
            rf"\b(?:{verbs})\s++(?P<old>[^,;:()]{{2,40}}?)\s++(?:{link})\s++"
        )
        # what comes after a denial and says what holds
        self.but = _expression(rf"(?<!\s),?\s++(?:{_any_of(lists['but'])})\s(?s:.*)")

    @cached_property
    def telling(self) -> frozenset[str]:
        """The words that tell this language from another."""
        words = self.articles | self.dropped | self.be | self.negations | self.scope
        return words | self.optional | self._forms.keys()

    def rewritten(self, text: str) -> str:
        """Return a text with one form for what has several, such as `at most` and `up to`."""
        return str(self._rewriting.sub(lambda match: self._forms[match[0].casefold()], text))


def _any_of(words: Iterable[str]) -> str:
    return "|".join(map(re.escape, sorted(words, key=len, reverse=True)))


def _expression(text: str) -> Lazy:
    return Lazy(f"(?i){text}")


with open(os.path.join(os.path.dirname(__file__), "words.json"), encoding="utf-8") as _file:
    _WORDS = loads(_file.read())
_LANGUAGES = [LanguageWords(*item) for item in _WORDS["languages"].items()]
_UNITS: Mapping[str, tuple[str, float]] = {
    name: (dimension, factor)
    for dimension, units in _WORDS["units"].items()
    for name, factor in units.items()
}
_GROUP = {name: number for number, names in enumerate(_WORDS["rivals"]) for name in names}


def language_of(words: Iterable[str]) -> LanguageWords:
    """Return the language that most words are of; English where that is in doubt."""
    counts = [0] * len(_LANGUAGES)
    for word in words:
        for number, language in enumerate(_LANGUAGES):
            counts[number] += word in language.telling
    return _LANGUAGES[counts.index(max(counts))]


def unit_of(word: str) -> tuple[str, float] | None:
    """Return what a unit measures, and how much of the smallest it is; None for another word."""
    return _UNITS.get(word.casefold())


def group_of(name: str) -> int | None:
    """Return the group of things of which one takes another's place, such as databases."""
    return _GROUP.get(name)


@lru_cache(maxsize=1 << 16)
def are_opposites(first: str, second: str) -> bool:
    """Return whether two words are antonyms."""
    return _is_pair(_ANTONYMS, first, second)


@lru_cache(maxsize=1 << 16)
def are_synonyms(first: str, second: str) -> bool:
    """Return whether two words are forms of one, or say the same."""
    return is_form(first, second) or _is_pair(_SYNONYMS, first, second)


def is_form(first: str, second: str) -> bool:
    """Return whether two words are forms of one."""
    if first == second:
        return True
    if first[:3] != second[:3]:  # nearly always
        return False
    if have_same_stem(first, second):
        return True
    stem = _GENDER.sub("", first)
    return len(stem) > 3 and stem == _GENDER.sub("", second)


def _by_beginning(pairs: Iterable[tuple[str, str]]) -> Mapping[str, list[tuple[str, str]]]:
    """Return pairs of words, in both orders, by the first three letters: forms share these."""
    out: dict[str, list[tuple[str, str]]] = {}
    for first, other in pairs:
        out.setdefault(first[:3], []).append((first, other))
        out.setdefault(other[:3], []).append((other, first))
    return out


_ANTONYMS, _SYNONYMS = (_by_beginning(_WORDS[name]) for name in ("antonyms", "same"))


def _is_pair(pairs: Mapping[str, list[tuple[str, str]]], first: str, second: str) -> bool:
    candidates = pairs.get(first[:3], ())
    return any(is_form(first, form) and is_form(second, other) for form, other in candidates)
