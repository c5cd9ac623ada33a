"""Whose records a question asks for, when it names somebody: "what did Ana decide about retries?".

Standard library only: the hot path imports this.
"""

from gitmem.base.fast import Lazy
from gitmem.text.tokenizer import tokens

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

NOBODY = frozenset({"", "global"})  # no author; the namespace of everybody


_WORD = Lazy(r"[^\W_]+")
_SAYS = frozenset(
    "says said say decided decides decide wrote writes write chose chooses choose wants wanted"
    " added thinks thought".split()
)


def rows_of_named(text: str, rows: "Iterable[tuple[int, str, str]]") -> "list[int]":
    """Return the numbers of the rows by the one author or agent that a text names.

    A row is (number, author, agent). None when the text names none of them, or several.
    """
    by: dict[str, list[int]] = {}
    for n, author, agent in rows:
        for name in {author, agent} - NOBODY:
            by.setdefault(name, []).append(n)
    if not by:
        return []
    if text.isascii() and not any(_may_be_named(name, text.lower()) for name in by):
        return []
    said = tokens(text)
    whole, first = f" {' '.join(said)} ", _first_names(text)
    named = [name for name in by if _is_named(name, whole, first)]
    return by[named[0]] if len(named) == 1 else []


def _may_be_named(name: str, text: str) -> bool:
    words = tokens(name)
    return bool(words) and words[0] in text


def _is_named(name: str, whole: str, first: "Collection[str]") -> bool:
    """Return whether a text names somebody: by the whole name, or by its first word."""
    words = tokens(name)
    return bool(words) and (words[0] in first or f" {' '.join(words)} " in whole)


def _first_names(text: str) -> "set[str]":
    """Return the words of a text that may be first names, as `mark` in "mark it paid" is none.

    They have a capital that is not the first of a sentence, or stand as who said something.
    """
    names: set[str] = set()
    before, end = "", 0
    for match in _WORD.finditer(text):
        word = match[0]
        begins = not before or any(sign in text[end : match.start()] for sign in ".?!")
        if before.lower() == "by" or (word[0].isupper() and not begins):
            names.update(tokens(word)[:1])
        if word.lower() in _SAYS and not begins:
            names.update(tokens(before)[:1])
        before, end = word, match.end()
    return names
