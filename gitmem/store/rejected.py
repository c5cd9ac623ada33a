"""What people forgot or rejected, by the words that tombstones keep.

The one place where anything that comes in by itself is compared with them: what a session taught,
what an agent writes, a captured error, a statement of a file, a trailer of a commit.
"""

import json
from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import Any

from gitmem.git.objects import Objects
from gitmem.records.claims import claim_of, key_of
from gitmem.repo.refs import PRIVATE, SHARED
from gitmem.store.layout import FILE_LIMIT
from gitmem.text.equality import plain
from gitmem.text.normal_words import normal_words
from gitmem.text.paraphrase import Refused

PARAPHRASED = 5000  # the latest, of which other wordings are known too
PATTERNS = " | "  # between the patterns of a forgotten gotcha
CERTAIN = 4  # words of a claim that is known in any text
TELLING = 2  # words of a rejected claim that is looked for in the midst of a text, at least

Mark = dict[str, Any]


class Rejected:
    """The claims of tombstones, the latest first."""

    def __init__(self, marks: Iterable[Mark]) -> None:
        self._marks = sorted(marks, key=lambda mark: str(mark.get("at", "")), reverse=True)
        self._said: dict[str, Mark] = {}
        self._keys: dict[str, Mark] = {}
        self._patterns: dict[str, Mark] = {}
        for mark in self._marks:
            if said := claim_of(_text(mark, "said")):
                self._said.setdefault(said, mark)
                self._keys.setdefault(key_of(said), mark)
            for pattern in _text(mark, "pattern").split(PATTERNS):
                self._patterns.setdefault(normal_words(pattern), mark)
        self._patterns.pop("", None)

    def __bool__(self) -> bool:
        return bool(self._said or self._patterns)

    def find(self, words: str) -> Mark | None:
        """Return the tombstone of what a text says again, in the same or in other words."""
        text = claim_of(words)
        if not text or not self._said:
            return None
        if mark := self._keys.get(key_of(text)):
            return mark
        said = self._refused.find(text)
        return self._said[said] if said is not None else None

    def find_any(self, claims: Iterable[str]) -> Mark | None:
        """Return the tombstone of what one of some claims says again."""
        return next((mark for claim in claims if (mark := self.find(claim))), None)

    def has_error(self, title: str, pattern: str) -> bool:
        """Say whether an error was forgotten.

        It is known by its pattern; a fact that has none, by its words.
        """
        if normal_words(pattern) in self._patterns:
            return True
        mark = self._keys.get(key_of(title))
        return mark is not None and not _text(mark, "pattern")

    def is_quoted(self, text: str) -> bool:
        """Say whether a rejected claim stands in a text, word for word.

        A short one counts where it is most of the text.
        """
        here = _row(text)
        least = min(CERTAIN, (len(here.split()) + 1) // 2)
        return any(claim in here for claim in self._rows if len(claim.split()) >= least)

    def has_phrase(self, phrase: str) -> bool:
        """Say whether a phrase quotes a rejected claim, or is a part of one."""
        here = _row(phrase)
        is_part = len(here.split()) >= TELLING and any(here in claim for claim in self._rows)
        return is_part or self.find(phrase) is not None or self.is_quoted(phrase)

    @cached_property
    def _rows(self) -> list[str]:
        rows = map(_row, self._said)
        return [row for row in rows if len(row.split()) >= TELLING]

    @cached_property
    def _refused(self) -> Refused:
        return Refused(list(self._said)[:PARAPHRASED])


def _text(mark: Mark, key: str) -> str:
    value = mark.get(key)
    return value if isinstance(value, str) else ""


def _row(text: str) -> str:
    """Return the words of a text in a row, with a space at both ends."""
    return f" {plain(normal_words(text))} "


def rejected_in(objects: Objects, refs: Iterable[str] = (SHARED, PRIVATE)) -> Rejected:
    """Return what was rejected in the stores of a repository."""
    return Rejected(mark for ref in refs for mark in marks(objects, ref))


def marks(objects: Objects, ref: str) -> Iterator[Mark]:
    """Yield the tombstones of a store; damaged ones are doctor's to tell of."""
    tip = objects.tip(ref)
    root = objects.find(objects.commit(tip).tree, "tombstones") if tip else None
    if root is None or not root.is_tree:
        return
    shards = [entry.oid for entry in objects.tree(root.oid) if entry.is_tree]
    names = {
        entry.oid: entry.name
        for shard in shards
        for entry in objects.tree(shard)
        if not entry.is_tree
    }
    for oid, data in objects.read_many_small(names, FILE_LIMIT):
        try:
            mark = json.loads(data or b"")
        except (ValueError, RecursionError):
            continue
        if isinstance(mark, dict):
            yield {**mark, "id": names[oid]}
