"""Cue phrases of a language, read from `data/<language>.toml` and compiled for RE2.

The syntax of a phrase is in `docs/extraction.md`. RE2 takes time linear in the text.
"""

import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from importlib import resources
from typing import Any, NamedTuple

LANGUAGES = ("en", "pt", "es", "zh")
LOOKED_AT = 2000  # characters of a text by which its language is known
QUOTED = '`"'  # tokens that stand for code and for what is quoted
REPEATED = 4  # words that a star in a phrase stands for
STAYS = 0.3  # of a word that speaks for the language of the turn before
MEMORY = 64 << 20  # bytes that RE2 may use for one expression
_HAN = "\u3400-\u9fff"
_TOKEN = re.compile(rf"[{_HAN}]|[^\W{_HAN}]+(?:['./@+#:-]+[^\W{_HAN}]+)*|[^\w\s]")
_PIECE = re.compile(r"\{\w+\}|~\w+|[()\[\]|*^>.]|[^\s{}()\[\]|*^>.]+")
_MARKS = {"ã": "pt", "õ": "pt", "ç": "pt", "ê": "pt", "ô": "pt", "ñ": "es", "¿": "es", "¡": "es"}
_MARKS |= {"vamos a ": "es", "voy a ": "es", " va a ": "es"}
# where a clause begins: `>` in a phrase
_CLAUSE = "(?:^|[,;:(—–，；：]| and| but| so| y| e| pero| mas) "
_WORD = re.compile(r"[^\W\d_]+")
_CODE = re.compile(r"`[^`\n]{1,300}`")
_QUOTED = re.compile(
    r"\"[^\"\n]{2,500}(?:\"|$)|“[^“”\n]{2,500}(?:”|$)|«[^«»\n]{2,500}(?:»|$)|「[^「」\n]{2,500}(?:」|$)"
    r"|(?<!\w)'[^'\n]{12,300}'(?!\w)"
)


@lru_cache(maxsize=1024)
def tokenized(text: str) -> str:
    """Return a text as phrases are looked for in it: lower case, a space around each token.

    Code is one token, and so is what stands in quotation marks.
    """
    text = _QUOTED.sub(' "" ', _CODE.sub(" `` ", text)).replace("’", "'").lower()
    return f" {' '.join(_TOKEN.findall(text))} "


class PhraseMatch(NamedTuple):
    """Where a phrase is in a tokenized text."""

    start: int
    end: int


class PhraseList:
    """Phrases that are looked for together."""

    def __init__(self, phrases: Sequence[str], parts: dict[str, str]) -> None:
        self._phrases, self._parts = phrases, parts

    @cached_property
    def _any(self) -> Any:
        return _compiled(self._phrases, self._parts)

    @cached_property
    def _closed(self) -> Any:
        """The phrases that end with a full stop: they need nothing after them."""
        return _compiled([phrase for phrase in self._phrases if phrase[-1] == "."], self._parts)

    @cached_property
    def _followed(self) -> Any:
        return _compiled([phrase for phrase in self._phrases if phrase[-1] != "."], self._parts)

    def find(self, said: str, stop: frozenset[str]) -> PhraseMatch | None:
        """Return the first phrase in a tokenized text that stands beside a word of content."""
        for phrases, is_followed in ((self._followed, True), (self._closed, False)):
            match = phrases.search(said) if phrases else None
            if match and count_content(said[match.end() :] if is_followed else said, stop):
                return PhraseMatch(*match.span())
        return None

    def search(self, said: str) -> PhraseMatch | None:
        """Return the first phrase in a tokenized text, whatever surrounds it."""
        match = self._any.search(said) if self._any else None
        return PhraseMatch(*match.span()) if match else None


def count_content(said: str, stop: frozenset[str]) -> int:
    """Return how many words of a tokenized text carry something."""
    return sum(
        token not in stop and (token[0].isalnum() or token in QUOTED) for token in said.split()
    )


def _compiled(phrases: Sequence[str], parts: dict[str, str]) -> Any:
    if not phrases:
        return None
    import re2  # type: ignore[import-untyped]  # its wheel has no types

    options = re2.Options()
    options.max_mem = MEMORY
    return re2.compile("|".join(_expression(phrase, parts) for phrase in phrases), options)


def _expression(phrase: str, parts: dict[str, str]) -> str:
    begin = "^ " if phrase.startswith("^") else _CLAUSE if phrase[0] == ">" else " "
    return begin + _pieces(phrase.strip("^>. "), parts)


def _pieces(phrase: str, parts: dict[str, str]) -> str:
    out = []
    for piece in _PIECE.findall(phrase):
        if piece[0] == "{":
            out.append(f"(?:{_pieces(parts[piece[1:-1]], parts)})")
        elif piece[0] == "~":  # a word with this ending
            out.append(f"[^ ]{{2,}}{piece[1:]} ")
        elif piece in "([":
            out.append("(?:")
        elif piece in ")]|":
            out.append({")": ")", "]": ")?", "|": "|"}[piece])
        elif piece == "*":
            out.append(rf"(?:[^ ,;:.!?(，。；：][^ ]* ){{0,{REPEATED}}}?")
        else:
            out.extend(f"{re.escape(token)} " for token in tokenized(piece).split())
    return "".join(out)


@dataclass(frozen=True, slots=True)
class Language:
    """What the file of a language says."""

    name: str
    stop: frozenset[str]
    data: dict[str, Any]

    def phrases(self, section: str, *names: str) -> PhraseList:
        """Return the phrases of some lists of a section."""
        return _phrases(self.name, section, names)


def in_any_language(section: str, name: str, said: str) -> bool:
    """Return whether a phrase of a list is in a tokenized text, whatever its language."""
    return any(_phrases(language, section, (name,)).search(said) for language in LANGUAGES)


@cache
def _phrases(language: str, section: str, names: tuple[str, ...]) -> PhraseList:
    data = language_data(language).data
    lists = data.get(section, {})
    return PhraseList([phrase for name in names for phrase in lists.get(name, [])], data["parts"])


@cache
def language_data(name: str) -> Language:
    """Return a language by its name."""
    path = resources.files("gitmem.extraction").joinpath("data", f"{name}.toml")
    data = tomllib.loads(path.read_text(encoding="utf-8"))
    return Language(name, frozenset(data["stop"].split()), data)


@cache
def vocabulary(name: str) -> frozenset[str]:
    """Return the usual words of a language, and those of its phrases."""
    here = language_data(name)
    sections = [section for section in here.data.values() if isinstance(section, dict)]
    phrases = [
        phrase
        for section in sections
        for entry in section.values()
        for phrase in ([entry] if isinstance(entry, str) else entry)
    ]
    words = _WORD.findall(" ".join(phrases))
    return here.stop | frozenset(word for word in words if len(word) > 2)


@lru_cache(maxsize=4096)
def _speaks_for(word: str) -> tuple[str, ...]:
    return tuple(name for name in LANGUAGES if word in vocabulary(name))


def language_of(text: str, before: str = "en") -> str:
    """Return the language of a text; where its words do not tell, the one before."""
    text = _CODE.sub(" ", text[:LOOKED_AT])
    han = sum("\u3400" <= char <= "\u9fff" for char in text)
    if han * (12 if before == "zh" else 6) > len(text):
        return "zh"
    low = text.lower()
    counts = dict.fromkeys(LANGUAGES, 0.0)
    for word in _WORD.findall(low):
        names = _speaks_for(word)
        for name in names:
            counts[name] += len(names) ** -0.5
    for mark, name in _MARKS.items():
        counts[name] += 1.5 * (mark in low)
    counts[before] += STAYS
    best = max(LANGUAGES, key=lambda name: counts[name])
    return best if counts[best] > STAYS + 0.2 else before
