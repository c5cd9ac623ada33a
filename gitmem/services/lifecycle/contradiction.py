"""Whether two short texts contradict each other. Pure.

The words that both have say what they are about, and the rest has to be exactly one thing that
takes another's place: another number, another value where only one can be, an antonym, a denial.
What stands behind a preposition of scope (`for orders`, `in tests`) tells that the two are about
different things. Where that is in doubt, they do not contradict each other.
"""

import re
from collections.abc import Sequence
from itertools import product

from gitmem.services.lifecycle.difference import (
    Contradiction,
    Difference,
    contradiction,
    difference,
    is_any,
)
from gitmem.services.lifecycle.parsed_fact import (
    HEAD,
    NAME,
    NUMBER,
    SCOPE,
    ParsedFact,
    Part,
    Word,
    first_sentence,
    parse,
    plain_words,
)
from gitmem.services.lifecycle.value import other_value
from gitmem.services.lifecycle.word_lists import are_opposites, language_of
from gitmem.text.same_statement import same

MOST = 500  # characters of a text that are read
_DIGITS = re.compile(r"\d+(?:\.\d+)*")
_TURNED = frozenset({"over", "than", "before", "after", "antes", "depois", "después", "sobre"})
BEGINNING = 4  # letters that forms of a word share
_LONG = re.compile(rf"\w{{{BEGINNING},}}")
_HALF = 2  # of the words of a text, at least one in so many has to be in the other one


def compare(first: str, second: str) -> Contradiction | None:
    """Return what contradicts itself in two texts; None if nothing does, or that is in doubt."""
    first, second = (" ".join(text[:MOST].split()) for text in (first, second))
    if not _may_share_subject(first, second) or same(first, second):
        return None
    language = language_of([*plain_words(first), *plain_words(second)])
    a, b = parse(first, language), parse(second, language)
    replacement = _replacement(a, b) or _turned_around(_replacement(b, a))
    if replacement is not None:
        return replacement
    differs = difference(a, b)
    if not differs.shared:
        return None
    order = _order(a, b, differs)
    if order is not None:
        return order[0]
    polarity = _polarity(a, b, differs)
    if polarity is not None:
        return polarity[0]
    return _number(a, b, differs) or other_value(a, b, differs)


def _may_share_subject(first: str, second: str) -> bool:
    """Return whether half of the long words of one text begin as words of the other do.

    It is quick, and nearly all pairs of facts end here.
    """
    ours, theirs = (
        {word.casefold()[:BEGINNING] for word in _LONG.findall(first_sentence(text))}
        for text in (first, second)
    )
    return 2 * len(ours & theirs) >= min(len(ours), len(theirs))


def _turned_around(contradiction: Contradiction | None) -> Contradiction | None:
    return contradiction and contradiction._replace(
        first=contradiction.second, second=contradiction.first
    )


# -- what one of them says was replaced


def _replacement(a: ParsedFact, b: ParsedFact) -> Contradiction | None:
    """Return a contradiction if the first says that what the second says was replaced."""
    if a.denies or b.denies:
        return None
    texts = [word.text for word in a.words]
    for gone in a.gone:
        if _states(b, gone, texts) and not _is_refused(b, gone):
            return Contradiction("replacement", " ".join(texts), " ".join(gone))
    return None


def _states(statement: ParsedFact, gone: Sequence[str], texts: Sequence[str]) -> bool:
    """Return whether a text names all that is gone, and half of its other words are these."""
    named = [word for word in statement.words if is_any(word.text, gone)]
    if len({word.text for word in named}) < len(gone):
        return False
    rest = [word for word in statement.words if word not in named and not word.optional]
    matched = [word for word in rest if is_any(word.text, texts)]
    return bool(matched) and _HALF * len(matched) >= len(rest)


def _is_refused(statement: ParsedFact, gone: Sequence[str]) -> bool:
    """Return whether a text itself says that something was not chosen."""
    return any(set(gone) & set(refused) for refused in statement.gone)


# -- what is denied, and opposites


def _order(a: ParsedFact, b: ParsedFact, differs: Difference) -> tuple[Contradiction | None] | None:
    """Return what two orders of the same words say: `A over B`, `B over A`; None for no such."""
    if differs.first or differs.second:
        return None
    for part, other in product(_turning(a), _turning(b)):
        turned = not _is_any_word(_behind(a, part), _behind(b, other))
        opposite = are_opposites(part.preposition, other.preposition)
        if (turned != opposite) != (a.denies == b.denies):
            return (None,)
        what = "negation" if a.denies != b.denies else "antonym" if opposite else "value"
        return (contradiction(what, a.words, b.words),)
    return None


def _turning(statement: ParsedFact) -> list[Part]:
    """Return the parts whose preposition orders what stands before and behind it."""
    parts = [part for part in statement.parts if part.preposition in _TURNED]
    return [part for part in parts if _behind(statement, part)]


def _behind(statement: ParsedFact, part: Part) -> list[Word]:
    return [word for word in statement.words if statement.part_of(word) is part]


def _is_any_word(words: Sequence[Word], others: Sequence[Word]) -> bool:
    texts = [word.text for word in others]
    return any(is_any(word.text, texts) for word in words)


def _polarity(
    a: ParsedFact, b: ParsedFact, differs: Difference
) -> tuple[Contradiction | None] | None:
    """Return what texts say that are the same but for denials and antonyms; None for others."""
    left, right = list(differs.first), list(differs.second)
    opposites = [(w, o) for w in left for o in right if are_opposites(w.text, o.text)]
    for word, other in opposites[:1]:
        left.remove(word)
        right.remove(other)
    denied = a.denies != b.denies
    turns = denied + len(opposites[:1]) + _opposite_parts(a, b)
    if turns == 0:
        return None
    if left or right or turns % 2 == 0:
        return (_general_denial(a, b, left, right) if turns == denied else None,)
    if opposites:
        return (contradiction("antonym", [opposites[0][0]], [opposites[0][1]]),)
    what = "negation" if denied else "antonym"
    return (contradiction("replacement" if a.replaces or b.replaces else what, a.words, b.words),)


def _opposite_parts(a: ParsedFact, b: ParsedFact) -> int:
    """Return how many prepositions of the first have their opposite in the second."""
    ours = {part.preposition for part in a.parts}
    theirs = {part.preposition for part in b.parts}
    return sum(
        are_opposites(our_part, other)
        for our_part in ours - theirs
        for other in theirs - ours
        if our_part
    )


def _general_denial(
    a: ParsedFact, b: ParsedFact, left: Sequence[Word], right: Sequence[Word]
) -> Contradiction | None:
    """Return a contradiction if one denies in general what the other says of something special."""
    extra, statement, general = (right, b, a) if not left else (left, a, b)
    if (left and right) or statement.denies or not general.denies:
        return None
    if any(statement.part_of(word).sort != HEAD for word in extra):
        return None  # it may be an exception
    return contradiction("negation", a.words, b.words, sure=False)


# -- numbers


def _number(a: ParsedFact, b: ParsedFact, differs: Difference) -> Contradiction | None:
    """Return a contradiction of texts that differ in one number alone."""
    if a.denies != b.denies or len(differs.first) != 1 or len(differs.second) != 1:
        return None
    first, other = differs.first[0], differs.second[0]
    if _are_versions(first, other) and a.words.index(first) and b.words.index(other):
        is_amount = _is_amount(a, first) and _is_amount(b, other) and not a.denies
        return contradiction("version", [first], [other]) if is_amount else None
    are_alike = first.sort == other.sort == NUMBER and first.unit == other.unit
    if not are_alike or a.denies or not (_is_amount(a, first) and _is_amount(b, other)):
        return None
    if differs.shared == 1 and _is_label(a, first) and _is_label(b, other):
        return None
    named = _is_version(a, first) or _is_version(b, other)
    return Contradiction("version" if named else "number", _shown(a, first), _shown(b, other))


def _are_versions(first: Word, other: Word) -> bool:
    """Return whether two names differ in their number alone: `ES2017`, `ES2022`."""
    stems = [_DIGITS.sub("#", word.text) for word in (first, other)]
    return first.sort == other.sort == NAME and stems[0] == stems[1] and stems[0][0].isalpha()


def _is_amount(statement: ParsedFact, number: Word) -> bool:
    """Return whether a number says how much, or which one it is; not where that holds.

    `HTTP 503` in `retry on HTTP 503` is a scope; so is the version that is supported among others.
    """
    if number.unit:
        return True
    place = statement.words.index(number) if number in statement.words else -1
    if number.counted and place < statement.pivot:
        return False  # `version 1 is deprecated`, `step 2 is done`
    if statement.is_open and not statement.has_minimum and _is_version(statement, number):
        return False
    part, parts = statement.part_of(number), statement.language.parts
    return (
        part.sort != SCOPE
        or part.preposition in parts
        or statement.is_placed(part)
        or _counts(statement, place)
    )


def _counts(statement: ParsedFact, place: int) -> bool:
    """Return whether a number counts the thing that is named after it."""
    following = statement.words[place + 1 : place + 2] if place >= 0 else []
    return bool(following) and following[0].part == statement.words[place].part


def _is_label(statement: ParsedFact, number: Word) -> bool:
    """Return whether a number may only tell one thing from its like: `epic 4`."""
    place = statement.words.index(number) if number in statement.words else -1
    return not (number.unit or statement.verb or _counts(statement, place))


def _is_version(statement: ParsedFact, number: Word) -> bool:
    """Return whether a number stands behind a name: `Python 3.12`."""
    if number not in statement.words:
        return False
    place = statement.words.index(number)
    before = statement.words[place - 1] if place else None
    if isinstance(number.value, str):
        return ":" not in number.value
    return before is not None and before.sort == NAME and before.part == number.part


def _shown(statement: ParsedFact, number: Word) -> str:
    """Return a number as it is shown, with the name before it."""
    if not _is_version(statement, number):
        return number.text
    return f"{statement.words[statement.words.index(number) - 1].text} {number.text}".strip()
