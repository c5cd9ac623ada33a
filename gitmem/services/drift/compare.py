"""How close two changes of one file come to each other.

The measure is the definitions that both change, else their lines. This module is pure.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from gitmem.codemap.linemap.equal_lines import EqualLines
from gitmem.codemap.symbols import definitions

NEAR = 1  # lines that may be between two changes which touch
Lines = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Shared:
    """A definition, or lines ('' for the name), that both sides changed.

    `one` and `two` are where it is on each, None where it is gone.
    """

    name: str
    one: Lines | None
    two: Lines | None


Own = dict[str, tuple[str, Lines]]  # {qualified name: (its own lines, where it is)}


def symbols(before: Own, left: Own, right: Own) -> list[Shared]:
    """Return the definitions that two texts made different from a third, and from each other.

    A definition's own lines count, not those of definitions inside it.
    """
    out = []
    for name in [*left, *(name for name in right if name not in left)]:
        old, a, b = before.get(name), left.get(name), right.get(name)
        if _said(a) != _said(b) and _said(old) != _said(a) and _said(old) != _said(b):
            out.append(Shared(name, a[1] if a else None, b[1] if b else None))
    return out


def _said(found: tuple[str, Lines] | None) -> str | None:
    return found[0] if found else None


def own(text: str | None, path: str) -> Own:
    """Return the definitions of a text with their own lines.

    Of definitions of one name the first.
    """
    if text is None:
        return {}
    known = definitions.symbols(text, path)
    rows = text.splitlines()
    # line -> the innermost definition around it: outer ones come first
    holder: list[int] = [-1] * (len(rows) + 2)
    for number, one in enumerate(known):
        holder[one.first : min(one.last, len(rows)) + 1] = [number] * (
            min(one.last, len(rows)) + 1 - one.first
        )
    said: list[list[str]] = [[] for _ in known]
    for line, number in enumerate(holder[1 : len(rows) + 1], 1):
        if number >= 0 and (words := rows[line - 1].strip()):
            said[number].append(words)
    out: Own = {}
    for number, one in enumerate(known):
        out.setdefault(one.qualified, ("\n".join(said[number]), (one.first, one.last)))
    return out


def lines(base: str | None, one: str | None, two: str | None) -> list[Shared]:
    """Return the lines of two texts that changed the same or adjacent places of a third text."""
    if one is None or two is None:
        return [Shared("", None, None)]
    old = (base or "").splitlines()
    left, right = _hunks(old, one.splitlines()), _hunks(old, two.splitlines())
    out = []
    for place, a in left:
        for other, b in right:
            if place[0] <= other[1] + NEAR and other[0] <= place[1] + NEAR:
                out.append(Shared("", a, b))
    return out


def _hunks(old: Sequence[str], new: Sequence[str]) -> list[tuple[Lines, Lines]]:
    """Return (lines of the old text, lines of the new one) of what changed.

    An insertion is between two old lines.
    """
    found = EqualLines(old, new)
    out: list[tuple[Lines, Lines]] = []
    at = to = 0
    for number, where in [*enumerate(found.to), (len(old), len(new))]:
        if where < to and number < len(old):
            continue  # gone, or moved
        if where > to or number > at:
            out.append(((at + 1, max(at + 1, number)), (to + 1, max(to + 1, where))))
        at, to = number + 1, where + 1
    return out


def joined(some: Iterable[Shared]) -> str:
    """Return the names of what both changed, as people read them."""
    return ", ".join(dict.fromkeys(one.name for one in some if one.name))
