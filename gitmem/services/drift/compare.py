"""How close two changes of one file come to each other.

The measure is the definitions that both change, else their lines. This module is pure.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from gitmem.codemap.linemap.equal_lines import EqualLines
from gitmem.codemap.symbols import definitions
from gitmem.codemap.symbols.comments import without_comments

NEAR = 1  # lines that may be between two changes which touch
Lines = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Shared:
    """A definition, or lines ('' for the name), that both sides changed.

    `left` and `right` are where it is on each, None where it is gone.
    """

    name: str
    left: Lines | None
    right: Lines | None


@dataclass(frozen=True, slots=True)
class OwnCode:
    """A definition's own lines of code, without comments and white space, and where it is.

    `is_whole` says that a change anywhere in it concerns all of it: that of a function.
    """

    code: tuple[str, ...]
    place: Lines
    is_whole: bool


Own = dict[str, OwnCode]  # by qualified name


def symbols(before: Own, left: Own, right: Own) -> list[Shared]:
    """Return the definitions that two texts made different from a third, and from each other.

    A definition's own lines count, not those of definitions inside it. Comments and white space
    do not count. Of a class, or of a variable, both have to change the same place.
    """
    out = []
    for name in [*left, *(name for name in right if name not in left)]:
        old, a, b = before.get(name), left.get(name), right.get(name)
        if _code(a) == _code(b) or _code(old) in {_code(a), _code(b)}:
            continue
        if a is None or b is None or old is None or a.is_whole or _meet(old, a, b):
            out.append(Shared(name, a.place if a else None, b.place if b else None))
    return out


def _code(given: OwnCode | None) -> tuple[str, ...] | None:
    return given.code if given else None


def _meet(old: OwnCode, first: OwnCode, two: OwnCode) -> bool:
    """Say whether two changes of a definition's lines touch each other."""
    return _touching(_hunks(old.code, first.code), _hunks(old.code, two.code)) != []


def own(text: str | None, path: str) -> Own:
    """Return the definitions of a text with their own lines.

    Of definitions of one name the first.
    """
    if text is None:
        return {}
    symbols = definitions.symbols(text, path)
    rows = without_comments(text, path)
    # line -> the innermost definition around it: outer ones come first
    holder: list[int] = [-1] * (len(rows) + 2)
    for number, symbol in enumerate(symbols):
        holder[symbol.first : min(symbol.last, len(rows)) + 1] = [number] * (
            min(symbol.last, len(rows)) + 1 - symbol.first
        )
    said: list[list[str]] = [[] for _ in symbols]
    for line, number in enumerate(holder[1 : len(rows) + 1], 1):
        if number >= 0 and (words := "".join(rows[line - 1].split())):
            said[number].append(words)
    out: Own = {}
    for number, symbol in enumerate(symbols):
        is_whole = symbol.kind in {"function", "method"}
        place = (symbol.first, symbol.last)
        out.setdefault(symbol.qualified, OwnCode(tuple(said[number]), place, is_whole))
    return out


def lines(base: str | None, ours: str | None, theirs: str | None) -> list[Shared]:
    """Return the lines of two texts that changed the same or adjacent places of a third text."""
    if ours is None or theirs is None:
        return [Shared("", None, None)]
    old = (base or "").splitlines()
    left, right = _hunks(old, ours.splitlines()), _hunks(old, theirs.splitlines())
    return [Shared("", a, b) for a, b in _touching(left, right)]


def _touching(
    left: Sequence[tuple[Lines, Lines]], right: Sequence[tuple[Lines, Lines]]
) -> list[tuple[Lines, Lines]]:
    """Return where changes are on both sides, of those that are beside each other."""
    out = []
    for place, a in left:
        for other, b in right:
            if place[0] <= other[1] + NEAR and other[0] <= place[1] + NEAR:
                out.append((a, b))
    return out


def _hunks(old: Sequence[str], new: Sequence[str]) -> list[tuple[Lines, Lines]]:
    """Return (lines of the old text, lines of the new one) of what changed.

    An insertion is between two old lines.
    """
    pairing = EqualLines(old, new)
    out: list[tuple[Lines, Lines]] = []
    at = to = 0
    for number, where in [*enumerate(pairing.to), (len(old), len(new))]:
        if where < to and number < len(old):
            continue  # gone, or moved
        if where > to or number > at:
            out.append(((at + 1, max(at + 1, number)), (to + 1, max(to + 1, where))))
        at, to = number + 1, where + 1
    return out


def joined(some: Iterable[Shared]) -> str:
    """Return the names of what both changed, as people read them."""
    return ", ".join(dict.fromkeys(definition.name for definition in some if definition.name))
