"""Facts that say the same, and which of them stays.

Two facts are duplicates if the stems of their telling words are equal and in the same order, so
being a duplicate is an equivalence: groups do not depend on the order of the facts. Word order,
numbers, names, prepositions and denials count. A typing error makes another word: `insert` and
`invert` differ by a letter too.
"""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import lru_cache
from hashlib import sha256
from itertools import compress
from operator import not_
from typing import Any

from snowballstemmer import stemmer  # type: ignore[import-untyped]

from gitmem.records.kinds import FACTS
from gitmem.records.record import Record
from gitmem.records.texts import is_cut
from gitmem.services.lifecycle.contradiction import compare
from gitmem.services.lifecycle.fact_check import is_settled
from gitmem.services.lifecycle.parsed_fact import plain_words
from gitmem.services.lifecycle.word_lists import LanguageWords, language_of
from gitmem.text.equality import plain
from gitmem.text.paraphrase import claim
from gitmem.text.same_statement import bare, same

PERMANENT = frozenset({"decision", "rule", "pattern", "preference"})  # age takes none of them away
Row = Mapping[str, Any]
_SENTENCE = "`'\"“”‘’«»()[],.;:!?¿¡…"  # signs around a word that say nothing of it
# signs that say something: any but those, and hyphens and apostrophes within a word
_EXACT = re.compile(r"[^\w\s'’.,:;!?-]|_|(?<!\w)-|-(?!\w)|\w[.:]\w")
_STEMMERS = {"en": "english", "pt": "portuguese", "es": "spanish"}  # names of Snowball's algorithms
# of the forms of a noun and of a verb in the present and the past, in these languages
_ENDINGS = frozenset(
    (
        " s es ies y d ed ied e ing"
        " a o as os am em an en m mos amos emos imos ar er ir r ado ada ido ida ou ó"
    ).split(" ")
)


@lru_cache(maxsize=1 << 16)
def _stem(code: str, word: str) -> str:
    return str(_stemmer(code).stemWord(word)) if word.isalpha() else word


@lru_cache
def _stemmer(code: str) -> Any:
    return stemmer(_STEMMERS[code])


def statement_words(text: str) -> tuple[str, ...]:
    """Return the stems of what a text says, in their order; numbers as digits.

    `A uses B` is `use B for A`.
    """
    return (*(stem for stem, _ in _stems(text)), *_exact_words(text))


def _stems(text: str) -> list[tuple[str, str]]:
    """Return (stem, word) of what a text says."""
    language = language_of(plain_words(text))
    words = [
        _plain_number(word, language)
        for word in claim(bare(text)).telling
        if word not in language.optional or word in language.qualifiers
    ]
    return _use_first([(_stem(language.code, word), word) for word in words])


def _says_the_same(text: str, other: str) -> bool:
    """Return whether two texts with equal stems differ in the endings of inflection alone.

    A stem is common to words that say different things too: author and authorization.
    """
    words = [[word for _, word in _stems(each)] for each in (text, other)]
    return len(words[0]) == len(words[1]) and all(map(_is_inflected, *words))


def _is_inflected(word: str, other: str) -> bool:
    pairs = enumerate(zip(word, other, strict=False))
    start = next((at for at, (a, b) in pairs if a != b), min(len(word), len(other)))
    return {word[start:], other[start:]} <= _ENDINGS


def _exact_words(text: str) -> list[str]:
    """Return the words whose every sign counts, as they are written: code, signs, capitals.

    A capital alone names something, but at the beginning, where it may be an article.
    """
    words = [word.strip(_SENTENCE) for word in text.split()]
    return [
        word
        for number, word in enumerate(words)
        if _EXACT.search(word) or (word.isupper() and (number or len(word) > 1))
    ] + ["?"] * text.rstrip("`'\"”» ").endswith("?")


def _use_first(words: list[tuple[str, str]]) -> list[tuple[str, str]]:
    stems = [stem for stem, _ in words]
    at = stems.index("use") if "use" in stems else 0
    return words if not at or "for" in stems else [*words[at + 1 :], ("for", "for"), *words[:at]]


def _plain_number(word: str, language: LanguageWords) -> str:
    return word if word in language.one else str(language.numbers.get(word, word))


def group_key_of(record: Record) -> str:
    """Return what a record has in common with its duplicates, as `group_key`."""
    names = ("type", "agent", "triggers")
    return group_key(
        {
            **{name: record.get(name) for name in names},
            **{name: record.fields.get(name) for name in ("project", "expires")},
            "kind": record.kind,
            "title": record.title,
        }
    )


def group_key(row: Row) -> str:
    """Return what duplicates have in common: 16 hex characters; empty for what has no duplicate.

    They say the same, of one project, to the same agents, until the same day. What a gotcha knows
    an error by tells it from others. What the rest of a title said that was cut is not known, so it
    has no duplicate. `row` has `kind`, `type`, `title`, `agent`, `project`, `expires` and
    `triggers`.
    """
    title = str(row["title"])
    is_whole = row["kind"] in FACTS and not is_cut(title)
    words = statement_words(title) if is_whole else ()
    if not words:
        return ""
    sort = "task" if row["type"] == "task" else row["kind"]
    triggers = sorted(map(str, dict(row["triggers"] or {}).items()))
    parts = (sort, row["agent"], row["project"] or "", row["expires"] or "", triggers, words)
    return sha256(repr(parts).encode("utf-8", "replace")).hexdigest()[:16]


def reason_key(record: Record) -> str:
    """Return what facts have in common whose bodies say the same; empty for an empty one."""
    texts = (*_reasons(record), str(record.get("verify") or ""))
    return sha256(repr(texts).encode("utf-8", "replace")).hexdigest()[:16] if any(texts) else ""


def _reasons(record: Record) -> tuple[str, str]:
    """Return the body and the workaround of a fact, without what is case or punctuation."""
    return plain(record.body), plain(_workaround(record))


def same_statements(rows: Iterable[Row], keys: Mapping[str, str]) -> list[list[str]]:
    """Return the ids of facts that say the same in their titles, in groups of two and more.

    `keys` are group keys by the oid of a fact's file, as far as they are known.
    """
    groups: dict[str, list[str]] = {}
    for row in rows:
        key = keys.get(row["oid"])
        if key is None:
            key = group_key(row)
        if key:
            groups.setdefault(key, []).append(str(row["id"]))
    return [ids for ids in groups.values() if len(ids) > 1]


def duplicates(records: Sequence[Record], unconfirmed: Collection[str] = ()) -> list[list[Record]]:
    """Return which facts of a group say the same: lists of two and more, what stays comes first.

    What is vouched for, pinned and permanent stays, else the oldest. Facts whose bodies say
    different things are no duplicates, nor are those of which a person said that both hold.
    `unconfirmed` are ids of facts that nobody vouches for, whatever they say themselves.
    """
    left = sorted(records, key=lambda record: _precedence(record, unconfirmed))
    out = []
    while len(left) > 1:
        first, *others = left
        joins = [_is_contained(other, first) for other in others]
        if any(joins):
            out.append([first, *compress(others, joins)])
        left = list(compress(others, map(not_, joins)))
    return out


def _is_contained(other: Record, first: Record) -> bool:
    """Return whether one fact says nothing that another does not say, and does not replace it."""
    if is_cut(first.title) or is_cut(other.title):
        return False
    if first.id in (other.get("supersedes") or ()) or other.id in (first.get("supersedes") or ()):
        return False
    if other.get("verify") and other.get("verify") != first.get("verify"):
        return False
    pairs = zip(_reasons(other), _reasons(first), strict=True)
    if not all(text in {"", kept} for text, kept in pairs):
        return False
    # what a person vouches for is put aside only for the same words, in forms of them
    is_same = _says_the_same if other.unconfirmed else same
    if not is_same(first.title, other.title) or is_settled(first, other):
        return False
    return compare(first.title, other.title) is None


def _workaround(record: Record) -> str:
    return str(record.fields.get("workaround") or "")


def _precedence(record: Record, unconfirmed: Collection[str]) -> tuple[Any, ...]:
    """Return a key that sorts the fact which stays first."""
    is_permanent = record.kind == "gotcha" or record.get("type") in PERMANENT
    has_body = bool(record.body.strip() or _workaround(record))
    return (
        record.unconfirmed or record.id in unconfirmed,
        record.status != "pinned",
        not is_permanent,
        not has_body,
        record.created,
        record.id,
    )
