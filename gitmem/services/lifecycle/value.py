"""Whether two statements name two things where only one can be. Pure."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from gitmem.services.lifecycle.difference import Contradiction, Difference, contradiction
from gitmem.services.lifecycle.parsed_fact import (
    BE,
    CALL,
    CHOOSE,
    HEAD,
    MEANS,
    NAME,
    NUMBER,
    PLAIN,
    PREFER,
    ParsedFact,
    Word,
)
from gitmem.services.lifecycle.word_lists import group_of

# how words end that say how a thing is, not which one it is
_DESCRIBES = re.compile(
    r"(?:ed|ing|able|ible|ful|less|ous|ive|al|ant|ent|ic|ic[oa]s?|[aií]d[oa]s?|[ao]s[oa]s?|iv[oa]s?"
    r"|[aeí]vel)$"
)

_ROLES = frozenset({"from", "as", "como"})  # prepositions of means that name no tool


def other_value(a: ParsedFact, b: ParsedFact, difference: Difference) -> Contradiction | None:
    """Return a contradiction of texts that name another thing where only one can be."""
    if a.denies or b.denies or not difference.first or not difference.second:
        return None
    left, right = difference.first, difference.second
    are_rivals = _are_rivals(left, right)
    if are_rivals:
        left, right = _without_verbs(a, left), _without_verbs(b, right)
    if not (_is_run(a, left) and _is_run(b, right)):
        return None
    ours, other = _Slot.of(a, left), _Slot.of(b, right)
    if ours is None or other is None or are_rivals is False:
        return None
    if are_rivals is None and not _excludes(ours, other, left, right):
        return None
    named = left[-1].sort == right[-1].sort == NAME
    what = "name" if CALL in {a.verb, b.verb} or (named and _are_paths(left, right)) else "value"
    sure = bool(are_rivals) or (named and CHOOSE not in {ours.kind, other.kind})
    return contradiction(what, left, right, sure=sure)


def _excludes(first: "_Slot", other: "_Slot", left: Sequence[Word], right: Sequence[Word]) -> bool:
    """Return whether the places of two things that we do not know can hold only one of them."""
    return not (_is_quality(left, right) or _is_quality(right, left)) and first.excludes(other)


def _is_quality(words: Sequence[Word], others: Sequence[Word]) -> bool:
    """Return whether a word says how the thing is that the others name: `Redis`, `small`."""
    has_group = any(group_of(word.text) is not None for word in others)
    return has_group and len(words) == 1 and words[0].sort == PLAIN and not words[0].article


def _are_paths(left: Sequence[Word], right: Sequence[Word]) -> bool:
    return all(set("/.") & set(words[-1].text) for words in (left, right))


def _are_rivals(left: Sequence[Word], right: Sequence[Word]) -> bool | None:
    """Return whether one thing takes the other's place as we know; None if we do not know them."""
    ours, theirs = _groups(left), _groups(right)
    return bool(ours & theirs) if ours and theirs else None


def _groups(words: Sequence[Word]) -> set[int]:
    """Return the groups of things that words name, each alone or together: `github actions`."""
    texts = [word.text for word in words]
    groups = map(group_of, [*texts, " ".join(texts)])
    return {group for group in groups if group is not None}


def _without_verbs(statement: ParsedFact, words: Sequence[Word]) -> list[Word]:
    """Return words without a verb before the part that names a thing: `built with Vite`."""
    kept = [word for word in words if group_of(word.text) is not None]
    first = statement.part_of(kept[0]) if kept else None
    if first is None or first.sort != MEANS or len(words) != len(kept) + 1:
        return list(words)
    return kept if words[0].text == first.after else list(words)


def _is_run(statement: ParsedFact, words: Sequence[Word]) -> bool:
    """Return whether words stand together: one part, or parts of one name (`state of the art`)."""
    places = [statement.words.index(word) for word in words if word in statement.words]
    if len(places) != len(words) or places != list(range(places[0], places[0] + len(places))):
        return False
    joins = statement.language.parts | statement.language.means
    parts = {statement.part_of(word) for word in words[1:]} - {statement.part_of(words[0])}
    return all(part.preposition in joins for part in parts)


class _Slot(NamedTuple):
    """Where a value stands.

    `kind` says which: behind a verb (`be`, `choose`, `prefer`, `call`), as the subject of `is the`
    (`role`), as a means (`with X`), or as a place (`stored in X`).
    """

    kind: str
    statement: ParsedFact
    words: Sequence[Word]

    @classmethod
    def of(cls, statement: ParsedFact, words: Sequence[Word]) -> "_Slot | None":
        """Return where words stand; None if more than one thing can be there."""
        part = statement.part_of(words[0])
        place = statement.words.index(words[0])
        if part.sort == HEAD:
            if place == statement.pivot and statement.verb:
                return cls(statement.verb, statement, words)
            if place == 0 and statement.is_passive:
                return cls(CHOOSE, statement, words)
            is_role = place == 0 and statement.verb == BE and statement.definite
            return cls("role", statement, words) if is_role else None
        if part.sort == MEANS and not statement.is_open:
            return cls(MEANS, statement, words)
        is_place = statement.is_placed(part) and not statement.is_open
        return cls("place", statement, words) if is_place else None

    def excludes(self, other: "_Slot") -> bool:
        """Return whether only one of two things can stand here."""
        kinds = {self.kind, other.kind}
        if self._has_number() != other._has_number():
            return False
        if "place" in kinds or MEANS in kinds:
            return len(kinds) == 1 and self._leads_as(other)
        if self._is_modifier() or other._is_modifier():
            return self._is_shaped() and other._is_shaped()
        if {PREFER, CALL, "role"} & kinds:
            return True
        if CHOOSE in kinds:
            return self._is_chosen() and other._is_chosen()
        return not (self._describes() or other._describes())

    def _is_modifier(self) -> bool:
        """Return whether a word of the same part follows: `small` in `small functions`."""
        end = self.statement.words.index(self.words[-1]) + 1
        rest = self.statement.words[end : end + 1]
        return bool(rest) and rest[0].part == self.words[-1].part

    def _is_shaped(self) -> bool:
        return all(word.sort == NAME for word in self.words)

    def _leads_as(self, other: "_Slot") -> bool:
        """Return whether prepositions say the same of what they lead to: `with X` and `by X`."""
        ours, theirs = (slot.statement.part_of(slot.words[0]) for slot in (self, other))
        is_same = ours.preposition == theirs.preposition
        return is_same or (
            self.kind == MEANS and not _ROLES & {ours.preposition, theirs.preposition}
        )

    def _has_number(self) -> bool:
        return any(word.sort == NUMBER for word in self.words)

    def _is_chosen(self) -> bool:
        """Return whether the text names a thing and what it is chosen for, or it is the thing."""
        if self.kind == BE:
            return self._is_shaped() or self.words[0].article
        if len(self.words) > 1 and not self._is_shaped():
            return False  # a practice: others can be good for that too
        purpose = self.statement.language.purpose | self.statement.language.means
        own = {word.part for word in self.words}
        return any(
            part.preposition in purpose and number not in own
            for number, part in enumerate(self.statement.parts)
        )

    def _describes(self) -> bool:
        """Return whether the words say how the thing is; many such things can be true at once."""
        first = self.words[0]
        last = [word for word in self.words if word.part == first.part][-1]
        if first.article or last.sort == NAME:
            return False
        return last.sort == PLAIN and bool(_DESCRIBES.search(last.text))
