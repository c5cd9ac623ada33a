"""Attach an anchor to code, and place it in another text. Pure: texts are passed in.

An anchor is `{path, lines: [first, last], blob, symbol?, context: {before, lines, after}}` or
`{glob}`; lines are 1-based and inclusive. It is placed by the first of these that works: the same
blob; the anchored text's lines in the new text (see `linemap`); when that text is not to be had,
the remembered lines and those around them; the definition that they were in; else it is adrift, and
shown on the file instead of on a wrong line.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from gitmem.codemap.anchors.block_map import mapped, through
from gitmem.codemap.anchors.by_context import by_context, likes
from gitmem.codemap.anchors.by_definition import definition, in_definition
from gitmem.codemap.anchors.context import AROUND, FAR, context_of, short
from gitmem.codemap.anchors.placement import Placement
from gitmem.codemap.linemap.indexed_text import WIDTH, code, read
from gitmem.codemap.linemap.line_map import LineMap
from gitmem.codemap.linemap.normal_forms import squash
from gitmem.errors import UserError
from gitmem.text.plural import counted

if TYPE_CHECKING:
    from gitmem.codemap.symbols.definitions import Symbol

MOST = 20  # anchored lines that are kept
RIVAL = 0.45  # likeness from which a line could have become another one


def attach(anchor: dict[str, Any], text: str, blob: str) -> dict[str, Any]:
    """Return the anchor with the file's blob, its lines, their surroundings and definition.

    Raises UserError past the end of the file, and for a symbol that is not there or is there more
    than once.
    """
    out = {**anchor, "blob": blob}
    if "\0" in text[:8000]:
        return out
    lines = text.split("\n")
    path, wanted = str(anchor.get("path") or ""), str(anchor.get("symbol") or "")
    span = anchor.get("lines")
    if not span and not wanted:
        return out
    from gitmem.codemap.symbols import definitions

    symbols = definitions.symbols(text, path)
    if span:
        first, last = span
        if first > len(lines):
            count = len(lines) - (1 if len(lines) > 1 and not lines[-1] else 0)
            raise UserError(f"{path} has {counted(count, 'line')}, not {first}.")
        last = min(last, len(lines))
        around = _around(symbols, lines, first, last)
        if around and not wanted:
            out["symbol"] = around.qualified
    else:
        first, last, out["symbol"] = definition(lines, path, wanted, symbols)
    out["lines"] = [first, last]
    out["context"] = _surroundings(lines, first, last)
    like = likes(out, read(lines), first, last)
    if any(like):
        out["context"]["like"] = like
    return out


def _around(
    symbols: Sequence["Symbol"], lines: Sequence[str], first: int, last: int
) -> "Symbol | None":
    """Return the innermost definition that some lines are in, but for an empty last one."""
    from gitmem.codemap.symbols import definitions

    end = min(last, len(lines) - (1 if len(lines) > 1 and not lines[-1] else 0))
    whole = [symbol for symbol in symbols if symbol.first <= first and symbol.last >= end]
    return definitions.enclosing(whole, first)


def _surroundings(lines: Sequence[str], first: int, last: int) -> dict[str, Any]:
    """Return what is remembered of some lines, from 1, and of those around them."""
    above, below = max(0, first - 1 - AROUND), last + AROUND
    context: dict[str, Any] = {
        "before": [short(x) for x in lines[above : first - 1]],
        "lines": [short(x) for x in lines[first - 1 : last][:MOST]],
        "after": [short(x) for x in lines[last:below]],
    }
    far = lines[max(0, above - FAR) : above], lines[below : below + FAR]
    if any(far):
        context["far"] = ["".join(code(squash(x[:WIDTH])) for x in side) for side in far]
    return context


def place(
    anchor: dict[str, Any], lines: Sequence[str], blob: str = "", old: Sequence[str] | None = None
) -> Placement:
    """Return where an anchor is in a text of today; never raises, whatever the anchor holds.

    `blob` is that text's, where it is known; `old` are the lines of the anchored blob. Calls for
    the same two texts share what they find, so placing a thousand anchors costs little more than
    placing one. Where git marked a conflict, our side counts, then the other one.
    """
    for side in read(lines).sides:
        made = _place(anchor, side, blob, old)
        if made.state not in {"approximate", "adrift"}:
            return made
    return _place(anchor, lines, blob, old)


def _whole(path: str, name: str, lines: Sequence[str]) -> Placement | None:
    """Return the place of an anchor without lines: a definition, or a file."""
    if not name:
        return Placement(path, 1, 1, "file")
    home = in_definition(path, read(lines), name, whole=False)
    return Placement(path, *home, "same", 0.9, name) if home else None


def _place(
    anchor: dict[str, Any], lines: Sequence[str], blob: str = "", old: Sequence[str] | None = None
) -> Placement:
    """Return where an anchor is in a text of today without a conflict."""
    path, name = str(anchor.get("path") or ""), str(anchor.get("symbol") or "")
    if isinstance(anchor.get("glob"), str):
        return Placement(anchor["glob"], 1, 1, "glob")
    span = _span(anchor)
    adrift = Placement(path, 1, 1, "adrift", 0.0, name, stale=True)
    if span is None:
        return _whole(path, name, lines) or adrift
    first, last = span
    end = max(1, len(lines))
    if blob and blob == anchor.get("blob"):
        return Placement(path, min(first, end), min(last, end), "same", 1.0, name)
    if old is not None and _belongs(anchor, old, first):
        made = _by_old_text(old, lines, path, name, range(first - 1, min(last, len(old))))
    else:
        made = by_context(anchor, read(lines), first, last)
    if made is not None:
        return replace(made, path=path, symbol=name, last=max(made.first, min(made.last, end)))
    home = in_definition(path, read(lines), name) if name else None
    if home is None or (old is not None and _overloaded(path, old, name)):
        return adrift
    return Placement(path, *home, "approximate", 0.5, name, stale=True)


def _by_old_text(
    old: Sequence[str], lines: Sequence[str], path: str, name: str, span: range
) -> Placement | None:
    """Return the place of lines of the anchored text, from 0, in the text of today."""
    line_map = mapped(old, lines)
    made = through(line_map, span[0], span[-1])
    is_same = made is not None and made.state == "same"
    if name and (not is_same or line_map.is_doubtful(span[0])):
        return _at_home(line_map, made, path, name, span)
    return made


def _span(anchor: dict[str, Any]) -> tuple[int, int] | None:
    span = anchor.get("lines")
    if (
        not isinstance(span, list)
        or len(span) != 2
        or not all(type(n) is int for n in span)
        or not 1 <= span[0] <= span[1]
    ):
        return None
    return span[0], span[1]


def _belongs(anchor: dict[str, Any], old: Sequence[str], first: int) -> bool:
    """Return whether an old text is the one that was anchored.

    Most remembered lines must be where they were; a secret in one of them was masked.
    """
    if first > len(old):
        return False
    wanted, before, after = context_of(anchor)
    at = first - 1 - len(before)
    rows = (
        [*before, *wanted, *after]
        if (anchor["lines"][1] - first + 1) == len(wanted)
        else [*before, *wanted]
    )
    keyed = [(at + n, squash(line)) for n, line in enumerate(rows) if line.strip()]
    same = sum(1 for n, key in keyed if 0 <= n < len(old) and squash(old[n][:WIDTH]) == key)
    return 2 * same > len(keyed) or not keyed


def _overloaded(path: str, old: Sequence[str], name: str) -> bool:
    """Return whether a text had several definitions of a name.

    If so, the one that is left may be another one.
    """
    from gitmem.codemap.symbols import definitions

    wanted = definitions.parts(name)
    same = [
        symbol
        for symbol in definitions.find(read(old).symbols(path), name)
        if symbol.kind != "impl" and definitions.parts(symbol.qualified) == wanted
    ]
    return len(same) > 1


def _at_home(
    lines: LineMap, made: Placement | None, path: str, name: str, span: range
) -> Placement | None:
    """Return the place of lines in their own definition, where the first of them is once.

    A copy of the definition is as like the old text as the definition is that was edited since.
    Nothing where the line left it and could have become another one there.
    """
    home = in_definition(path, read(lines.new), name)
    if home is None or (made is not None and home[0] <= made.first <= home[1]):
        return made
    inside = range(home[0] - 1, min(home[1], len(lines.new)))
    line = span[0]
    equal = [j for j in inside if lines.two[j] == lines.one[line]]
    if len(equal) == 1 and lines.one[line]:
        return Placement("", equal[0] + 1, equal[0] + len(span), "same", 0.9)
    if made is None or made.state == "same":
        return made
    is_rival = any(lines.back[j] < 0 and lines.likeness(line, j) >= RIVAL for j in inside)
    return None if is_rival else made
