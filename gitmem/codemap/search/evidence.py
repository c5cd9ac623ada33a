"""What speaks for a file beyond a word that it shares with a text.

A rank says which of some files is the likeliest, not that any of them is meant: a letter to a
landlord has a first file too. What says so: the text names the file, or a name of code that it
defines; the file, or the message of a small commit that changed it, has a good share of what the
text says. A word counts by how few files have it; one that no file has counts most, for it says
that the text is about something else.

Standard library only: the hot path imports this.
"""

import math

from gitmem.codemap.search.question import telling_words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from gitmem.codemap.search.index import SearchIndex
    from gitmem.codemap.search.locate import LocatedFile
    from gitmem.codemap.search.question import Question

ABSENT = 0.5  # files that a word counts for which no file has


class TextEvidence:
    """How much of a text some files have, and which of its words."""

    def __init__(
        self, index: "SearchIndex", question: "Question", files: "Sequence[LocatedFile]"
    ) -> None:
        self.code_names = question.code_names
        self._having: dict[str, set[str]] = {}
        self._worth: dict[str, float] = {}
        paths = [file.path for file in files]
        total = index.size()
        for word in question.words:
            count = index.number(word)
            self._worth[word] = math.log(1 + total / (count or ABSENT))
            self._having[word] = index.having(word, paths) if count else set()
        self._asked = sum(self._worth.values()) or 1.0

    def share(self, path: str) -> float:
        """Return the share of the text's words that a file has, from 0 to 1, each by its worth."""
        return self._share(self.words(path))

    def _share(self, words: "Iterable[str]") -> float:
        return sum(self._worth.get(word, 0.0) for word in words) / self._asked

    def words(self, path: str) -> "list[str]":
        """Return the words that a file has, those that tell most first."""
        words = [word for word, paths in self._having.items() if path in paths]
        return sorted(words, key=lambda word: (-self._worth[word], word))

    def reason(self, file: "LocatedFile", enough: float) -> "tuple[str, str] | None":
        """Return why a file is surely meant, else None.

        The reason is (`named`, `defines`, `words` or `commit`, what). `enough` is the share of the
        text's words that says it alone.
        """
        for how, what in file.reasons:
            if how == "named":
                return how, what
            if how == "defines" and not self.code_names.isdisjoint((what, *what.split("."))):
                return how, what
        if self.share(file.path) >= enough:
            return "words", ""
        for how, what in file.reasons:
            if how == "commit" and self._share(telling_words(what.partition(" ")[2])) >= enough:
                return how, what
        return None
