"""Which words two statements share, which the other one lacks, and what comes of it. Pure."""

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import NamedTuple

from gitmem.services.lifecycle.parsed_fact import NUMBER, ParsedFact, Word
from gitmem.services.lifecycle.word_lists import are_synonyms


class Contradiction(NamedTuple):
    """What of two texts contradicts each other.

    `what` is `value`, `number`, `version`, `name`, `negation`, `antonym` or `replacement`; `first`
    and `second` are the words that do. `sure` is False where somebody should look twice.
    """

    what: str
    first: str
    second: str
    sure: bool = True


class Difference(NamedTuple):
    """The words of two statements that the other one lacks, and how many they share."""

    first: list[Word]
    second: list[Word]
    shared: int


def difference(a: ParsedFact, b: ParsedFact) -> Difference:
    """Return the words of each that the other one lacks."""
    left, right = list(a.words), list(b.words)
    shared = _match(left, right, _is_equal) + _match(left, right, _is_form)
    shared += _match_joined(left, right) + _match_joined(right, left)
    _add_single(left, a, right, b)
    _add_single(right, b, left, a)
    strict = a.denies != b.denies
    ours, theirs = _needed(left, right, strict=strict), _needed(right, left, strict=strict)
    return Difference(ours, theirs, shared)


def _match(left: list[Word], right: list[Word], test: Callable[[Word, Word], bool]) -> int:
    """Remove the words that match from both lists; return how many of them tell something."""
    count = 0
    for word in list(left):
        for other in right:
            if test(word, other):
                left.remove(word)
                right.remove(other)
                count += not (word.optional or word.sort == NUMBER)
                break
    return count


def _is_equal(word: Word, other: Word) -> bool:
    if NUMBER in {word.sort, other.sort}:
        return (word.sort, word.value, word.unit) == (other.sort, other.value, other.unit)
    return word.text == other.text


def _is_form(word: Word, other: Word) -> bool:
    return NUMBER not in {word.sort, other.sort} and are_synonyms(word.text, other.text)


def _match_joined(left: list[Word], right: list[Word]) -> int:
    """Remove two words of the left that are one on the right: `time out` and `timeout`."""
    for first, second in pairwise(left):
        for other in right:
            if other.sort != NUMBER and are_synonyms(first.text + second.text, other.text):
                left.remove(first)
                left.remove(second)
                right.remove(other)
                return 1
    return 0


def _add_single(left: list[Word], a: ParsedFact, right: list[Word], b: ParsedFact) -> None:
    """Add to the right the 1 that an article stands for, if the left has another number there."""
    numbers = [word for word in left if word.sort == NUMBER]
    if len(numbers) != 1 or any(word.sort == NUMBER for word in right):
        return
    place = a.words.index(numbers[0]) + 1
    if place >= len(a.words):
        return
    for word in b.words:
        if word.single and are_synonyms(word.text, a.words[place].text):
            if numbers[0].value == 1:
                left.remove(numbers[0])
            else:
                right.append(Word("1", NUMBER, word.part, value=1.0))
            return


def _needed(words: Sequence[Word], others: Sequence[Word], *, strict: bool) -> list[Word]:
    """Return the words that cannot be left out.

    `the max pool size` is `the pool size`, and not `the min pool size`. With `strict`, what sort of
    thing is meant always counts, as where one text denies something.
    """
    return [
        word
        for word in words
        if not word.optional or (word.qualifies and (strict or any(o.qualifies for o in others)))
    ]


def is_any(word: str, others: Sequence[str]) -> bool:
    """Return whether a word says what one of others says."""
    return any(are_synonyms(word, other) for other in others)


def contradiction(
    what: str, first: Sequence[Word], second: Sequence[Word], *, sure: bool = True
) -> Contradiction:
    """Return a contradiction of these words of two statements."""
    texts = [" ".join(word.text for word in words) for words in (first, second)]
    return Contradiction(what, texts[0], texts[1], sure)
