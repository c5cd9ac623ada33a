"""How near two changes of one file come to each other: by the definitions that both change, else by their lines. Pure."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from gitmem.codemap.linemap.equal_lines import EqualLines
from gitmem.codemap.symbols import definitions

NEAR = 1  # lines that may be between two changes which touch
Lines = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Shared:
    """A definition, or lines ('' for the name), that both sides changed; `one` and `two` are where it is on each, None where it is gone."""

    name: str
    one: Lines | None
    two: Lines | None


def symbols(base: str | None, one: str | None, two: str | None, path: str) -> list[Shared]:
    """Return the definitions that two texts made different from a third, and from each other. A definition's own lines count, not those of definitions inside it."""
    before, left, right = (_own(text, path) for text in (base, one, two))
    out = []
    for name in [*left, *(name for name in right if name not in left)]:
        old, a, b = before.get(name), left.get(name), right.get(name)
        if _said(a) != _said(b) and _said(old) != _said(a) and _said(old) != _said(b):
            out.append(Shared(name, a[1] if a else None, b[1] if b else None))
    gone = [name for name in before if name not in left and name not in right]
    return [one_ for one_ in out if one_.name not in gone]


def _said(found: tuple[str, Lines] | None) -> str | None:
    return found[0] if found else None


def _own(text: str | None, path: str) -> dict[str, tuple[str, Lines]]:
    """Return {qualified name: (its own lines, where it is)}; of definitions of one name the first."""
    if text is None:
        return {}
    known = definitions.symbols(text, path)
    lines = text.splitlines()
    out: dict[str, tuple[str, Lines]] = {}
    for one in known:
        if one.qualified in out:
            continue
        inner = {
            n
            for other in known
            if other is not one and one.first <= other.first and other.last <= one.last and other.qualified != one.qualified
            for n in range(other.first, other.last + 1)
        }
        own = [lines[n - 1].strip() for n in range(one.first, min(one.last, len(lines)) + 1) if n not in inner]
        out[one.qualified] = "\n".join(line for line in own if line), (one.first, one.last)
    return out


def lines(base: str | None, one: str | None, two: str | None) -> list[Shared]:
    """Return the lines of two texts that changed the same place of a third, or places that touch."""
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
    """Return (lines of the old text, lines of the new one) of what changed; an insertion is between two old lines."""
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
