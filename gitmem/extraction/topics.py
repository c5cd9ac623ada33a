"""What a session is about: its most telling words and pairs of words.

They are counted as turns come, in bounded memory.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from gitmem.extraction.phrases import LANGUAGES, vocabulary

MOST = 5
KEPT = 4000  # words and pairs that are counted at one time
LOOKED_AT = 4000  # characters of a turn
TELLS_MORE = 1.6  # what a name or a pair counts, beside a word
_TOKEN = re.compile(r"`([^`\n]{2,40})`|([A-Za-zÀ-ɏ][\w-]{2,}(?:\.[a-z]\w*)?)|[^ ]")
# what introduces a line and is not what it is about, and a table's line
_LABEL = re.compile(r"(?m)^[^\w\n]{0,4}[^\W\d_][\w -]{2,20}[:：](?=\s)|^[ \t]*\|.*$|(?s:```.*?```)")
_BEGINNING = re.compile(r"(?m)(?:^|[.!?]\s)[^\w\n`]{0,9}[^\W\d_]+")


@cache
def _usual() -> frozenset[str]:
    """Return what tells nothing in any language: a message may have a word of another one."""
    return frozenset().union(*(vocabulary(name) for name in LANGUAGES))


@dataclass(slots=True)
class _Counted:
    """A word: how it was written, its weight, and how many turns have it."""

    shown: str
    weight: float = 0.0
    turns: int = 0


class Topics:
    """Counts words of what was said: names weigh more, and words of several turns."""

    def __init__(self) -> None:
        self._terms: dict[str, _Counted] = {}

    def add(self, text: str, weight: float) -> None:
        """Count the words of one turn."""
        for name, shown in {word.lower(): word for word in _terms(text[:LOOKED_AT])}.items():
            term = self._terms.setdefault(name, _Counted(shown))
            term.turns += 1
            term.weight += weight * (TELLS_MORE if " " in shown or not shown.islower() else 1.0)
        if len(self._terms) > 2 * KEPT:
            self._terms = dict(self._ranked()[:KEPT])

    def _ranked(self) -> list[tuple[str, _Counted]]:
        return sorted(self._terms.items(), key=lambda pair: -pair[1].weight)

    def best(self) -> tuple[str, ...]:
        """Return the most telling ones, the best first; no word that a pair has already."""
        out: list[str] = []
        words: set[str] = set()
        for name, term in self._ranked():
            if len(out) == MOST or (out and term.weight < 2):
                break
            is_chance = " " in name and term.turns < 2  # once side by side is no name
            if not is_chance and words.isdisjoint(name.split()):
                out.append(term.shown)
                words.update(name.split())
        return tuple(out)


def _terms(text: str) -> Iterator[str]:
    """Yield the telling words of a text, and pairs of them that stand side by side."""
    text = _BEGINNING.sub(_in_lower_case, _LABEL.sub("", text))
    before = ""
    for token in _TOKEN.finditer(text):
        word = (token[1] or token[2] or "").strip()
        if not word or word.lower() in _usual():
            before = ""
            continue
        yield word
        if before:
            yield f"{before} {word}"
        before = word


def _in_lower_case(beginning: re.Match[str]) -> str:
    """Return the beginning of a sentence so that its first word does not look like a name."""
    return beginning[0].lower() if beginning[0].istitle() else beginning[0]
