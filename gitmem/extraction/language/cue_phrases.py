"""Cue phrases by language: what shows that a sentence decides, prefers, asks, supposes.

They are data, in `extraction/data`, read when a language is met.
"""

import itertools
import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib import resources
from typing import Any

_BEGINS = (r"\b", "^")
_PARTS = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*+(?:\]|\Z)|[()|]", re.DOTALL)


def alternatives(expression: str) -> list[str]:
    """Return what stands between the bars of an expression that are in none of its groups.

    Raises nothing, whatever the text.
    """
    out, begin, depth = [], 0, 0
    for part in _PARTS.finditer(expression):
        mark = part.group()
        depth += (mark == "(") - (mark == ")")
        if mark == "|" and not depth:
            out.append(expression[begin : part.start()])
            begin = part.end()
    return [*out, expression[begin:]]


def joined(expressions: Sequence[str]) -> str:
    """Return one expression for all of some expressions.

    Alternatives in a row with the same beginning share that beginning, so that `re` tests it once
    and not for each.
    """
    flat = [one for expression in expressions for one in alternatives(expression)]
    out = []
    for begins, some in itertools.groupby(flat, _beginning):
        every = "|".join(f"(?:{one[len(begins) :]})" for one in some)
        out.append(f"{begins}(?:{every})" if begins else every)
    return "|".join(out)


def _beginning(expression: str) -> str:
    return next((one for one in _BEGINS if expression.startswith(one)), "")


# characters of a text that cues are looked for in: a rule may take the square of it
LOOKED_AT = 800
REMEMBERED = 4000  # texts of which is known what cues are in them
LANGUAGES = ("en", "pt", "es", "zh")
_OTHERS = re.compile("用(户|例|途|法|于)")  # words with a letter that alone means `use`
_ESCAPE, _CAPITAL = re.compile(r"\\."), re.compile(r"[^\W\d_a-zß-öø-ÿ\u3400-\u9fff]")


class _Looked:
    """What was found in one text."""

    __slots__ = ("found", "low", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        low = text.lower()
        self.low = (
            low
            if len(low) == len(text)
            else "".join(one if len(one.lower()) > 1 else one.lower() for one in text)
        )
        self.found: dict[tuple[str, str], re.Match[str] | None] = {}


@lru_cache(maxsize=REMEMBERED)  # sentences come again and again
def _looked(text: str, language: str) -> _Looked:
    return _Looked(_OTHERS.sub(r"＿\1", text) if language == "zh" else text)


@dataclass(frozen=True, slots=True)
class Cues:
    """The cues of a language.

    The rules of `of[kind][list]` are expressions, which are compiled as one when they are looked
    for.
    """

    language: str
    stop: frozenset[str]
    words: frozenset[str]
    of: Mapping[str, Mapping[str, tuple[str, ...]]]

    def find(self, kind: str, name: str, text: str) -> re.Match[str] | None:
        """Return where a cue of a list is in a text; its groups may be in lower case."""
        looked = _looked(text[:LOOKED_AT], self.language)
        key = kind, name
        try:
            return looked.found[key]
        except KeyError:
            found = looked.found[key] = self._search(key, looked)
            return found

    def shown(self, lists: Iterable[tuple[str, str]], text: str) -> list[tuple[str, str]]:
        """Return those of some lists, each as (kind, list), that have a cue in a text."""
        looked = _looked(text[:LOOKED_AT], self.language)
        found = looked.found
        return [
            key
            for key in lists
            if (found[key] if key in found else found.setdefault(key, self._search(key, looked)))
        ]

    def _search(self, key: tuple[str, str], looked: _Looked) -> re.Match[str] | None:
        kind, name = key
        rules = self.of.get(kind, {}).get(name, ())
        low, written = _compiled(rules)
        found = low.search(looked.low) if low else None
        other = written.search(looked.text) if written else None
        if found and other and found.start() == other.start():
            return _written(rules).search(looked.text)  # the one that stands first in the list
        return other if other and (not found or other.start() < found.start()) else found


@cache
def _compiled(rules: tuple[str, ...]) -> tuple[re.Pattern[str] | None, re.Pattern[str] | None]:
    """Return one expression for lower-case rules, and one for rules with capitals.

    Rules with capitals are looked for in the text as it is written.

    The flag that ignores case makes a search three times slower: it is for the latter alone.
    """
    capital = [bool(_CAPITAL.search(_ESCAPE.sub("", rule))) for rule in rules]
    low = joined([rule for rule, has in zip(rules, capital, strict=True) if not has])
    written = tuple(rule for rule, has in zip(rules, capital, strict=True) if has)
    return (re.compile(low) if low else None, _written(written) if written else None)


@cache
def _written(rules: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile(joined(rules), re.IGNORECASE)


@cache
def _read(language: str) -> dict[str, dict[str, Any]]:
    """Return a language's file."""
    return tomllib.loads(
        resources.files("gitmem.extraction")
        .joinpath("data", f"{language}.toml")
        .read_text(encoding="utf-8")
    )


@cache
def cues(language: str) -> Cues:
    """Return the cues of a language."""
    data = _read(language)
    general = data["general"]
    of = {
        kind: {
            name: tuple(rules)
            for name, rules in lists.items()
            if rules and isinstance(rules, list) and name not in ("marker", "heading")
        }
        for kind, lists in data.items()
    }
    return Cues(
        language, frozenset(general["stop"].split()), frozenset(general["words"].split()), of
    )


@cache
def markers() -> tuple[tuple[str, re.Pattern[str], re.Pattern[str]], ...]:
    """Return (kind, marker, heading) of all languages together.

    The marker is what stands before a colon; the heading is what headings are made of.
    """
    marker: dict[str, list[str]] = {}
    heading: dict[str, list[str]] = {}
    for language in LANGUAGES:
        for kind, lists in _read(language).items():
            marker.setdefault(kind, []).extend(lists.get("marker", ()))
            heading.setdefault(kind, []).extend(lists.get("heading", ()))
    out = []
    for kind, names in marker.items():
        if names:
            joined = "|".join(sorted(set(names), key=len, reverse=True))
            out.append(
                (
                    kind,
                    re.compile(
                        rf"^(?:\[(?:{joined})\]\s*[:：—–-]?\s*"
                        rf"|(?:{joined})\s*(?:\([^()]{{1,40}}\)\s*)?[:：]\s*"
                        rf"|(?:{joined})\s+[—–]\s+)",
                        re.IGNORECASE,
                    ),
                    re.compile(
                        "|".join(heading[kind]) if heading[kind] else r"(?!)", re.IGNORECASE
                    ),
                )
            )
    return tuple(out)
