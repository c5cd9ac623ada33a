"""Whose records a question asks for, when it names somebody: "what did Ana decide about retries?".

Standard library only: the hot path imports this.
"""

from gitmem.text.tokenizer import tokens

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

NOBODY = frozenset({"", "global"})  # no author; the namespace of everybody


def rows_of_named(text: str, rows: "Iterable[tuple[int, str, str]]") -> "list[int]":
    """Return the numbers of the rows by the one author or agent that a text names.

    A row is (number, author, agent). None when the text names none of them, or several.
    """
    said = set(tokens(text))
    by: dict[str, list[int]] = {}
    for n, author, agent in rows:
        for name in {author, agent} - NOBODY:
            by.setdefault(name, []).append(n)
    named = [name for name in by if _is_named(name, said)]
    return by[named[0]] if len(named) == 1 else []


def _is_named(name: str, said: "Collection[str]") -> bool:
    """Return whether words name somebody: by the whole name, or by its first word."""
    words = tokens(name)
    return bool(words) and words[0] in said
