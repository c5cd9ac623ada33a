"""Where an anchor's code is, by the lines and the surrounding lines that the anchor remembers."""

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from gitmem.codemap.anchors.block_map import ALIKE, through
from gitmem.codemap.anchors.by_definition import in_definition
from gitmem.codemap.anchors.context import AROUND, likeness_at_home, wide_context
from gitmem.codemap.anchors.placement import Placement
from gitmem.codemap.anchors.spots import TRIVIAL, best_spot, supports, total
from gitmem.codemap.linemap.indexed_text import Text
from gitmem.codemap.linemap.kept_lines import KeptLines
from gitmem.codemap.linemap.line_map import LineMap
from gitmem.codemap.linemap.normal_forms import PLAIN, says, squash, weight
from gitmem.codemap.linemap.similar_lines import LIKE

if TYPE_CHECKING:
    from gitmem.codemap.symbols.definitions import Symbol

MOST_SPOTS = 200  # places of a repeated line that are looked at when it is anchored
GAP = 400  # lines between two surrounding ones that are compared
NOWHERE = None, False, False


def by_context(anchor: dict[str, Any], text: Text, first: int, last: int) -> Placement | None:
    """Return the place of the remembered lines: by themselves and what stands around them."""
    have = text.plain.keys
    wanted, before, after = wide_context(anchor, text.codes)
    keys = [squash(x) for x in wanted]
    if not any(keys):
        return None
    if _is_all(anchor, have, first):
        return Placement("", first, last, "same", 0.9)
    size = last - first + 1
    if kept := _between_lone_lines(text, before, keys, after, size):
        return kept
    spot, sure, own = _spot(
        anchor, text, keys, [squash(x) for x in before], [squash(x) for x in after]
    )
    near = None if sure else _within(anchor, text, _by_mini(wanted, before, after, text, size))
    if spot is None:
        return near if near and _is_enough(anchor, text, keys, near, size) else None
    if not own or _is_changed_elsewhere(near, spot):
        return None  # the line as it was is elsewhere, and one that is like it is where it was
    same = sum(key == have[spot + n] for n, key in enumerate(keys[: len(have) - spot]))
    lines = Placement("", spot + 1, min(spot + size, len(have)), "same", 0.9)
    if same == len(keys):
        return lines
    if sure:
        near = _within(anchor, text, _by_mini(wanted, before, after, text, size))
    if near is not None or 2 * same < len(keys):
        return near
    return replace(lines, state="changed", confidence=LIKE, stale=same < ALIKE * len(keys))


def _is_enough(
    anchor: dict[str, Any], text: Text, keys: Sequence[str], near: Placement, size: int
) -> bool:
    """Return whether a place by likeness may be taken where no line stands out."""
    if near.state != "changed" and any(likeness_at_home(anchor)[:2]):
        return False
    if size == 1 or not anchor.get("symbol") or _stays(anchor, text) is not None:
        return True
    # half of a method's lines are in many another class
    telling = [key for key in keys if says(key, TRIVIAL)]
    there = set(text.plain.keys[near.first - 1 : near.last])
    return 2 * sum(1 for key in telling if key in there) > len(telling)


def _is_changed_elsewhere(near: Placement | None, spot: int) -> bool:
    return near is not None and near.first != spot + 1 and near.state == "changed"


def _between_lone_lines(
    text: Text, before: Sequence[str], keys: Sequence[str], after: Sequence[str], size: int
) -> Placement | None:
    """Return the place of unchanged lines between surrounding ones that the text has once.

    Nothing where not all of the `size` lines are remembered.
    """
    if size != len(keys):
        return None
    above, below = [squash(x) for x in before], [squash(x) for x in after]
    top = next((n for n in range(len(above) - 1, -1, -1) if _lone(text, above[n]) >= 0), -1)
    end = next((n for n in range(len(below)) if _lone(text, below[n]) >= 0), -1)
    if top < 0 or end < 0:
        return None
    low, high = _lone(text, above[top]), _lone(text, below[end])
    if not size < high - low <= GAP:
        return None
    old = [*above[top:], *keys, *below[: end + 1]]
    kept = KeptLines(old, text.plain.keys[low : high + 1], text.short[low : high + 1])
    at = len(above) - top
    first, last = kept.place(at), kept.place(at + size - 1)
    if first < 0 or last - first != size - 1:
        return None
    return Placement("", low + first + 1, low + last + 1, "same", 0.9)


def _lone(text: Text, key: str) -> int:
    """Return where a line is that the text has once and that says something; -1 for any other."""
    is_lone = says(key, PLAIN) and text.plain.count(key) == 1
    return text.plain.spots(key)[0] if is_lone else -1


def _is_all(anchor: dict[str, Any], have: Sequence[str], first: int) -> bool:
    """Return whether a text is what the anchor remembers and nothing else.

    Such a file is too short to tell anything by its lines.
    """
    context = anchor.get("context")
    if not isinstance(context, dict) or "far" in context:
        return False
    parts = [context.get(key) or [] for key in ("before", "lines", "after")]
    if not all(isinstance(part, list) for part in parts) or len(parts[0]) != first - 1:
        return False
    whole = [squash(x) for part in parts for x in part if isinstance(x, str)]
    return "\n".join(whole).rstrip("\n") == "\n".join(have).rstrip("\n")


def likes(anchor: dict[str, Any], text: Text, first: int, last: int) -> list[float]:
    """Return how well the remembered lines fit another place of their own file.

    In their definition, anywhere, by likeness, and how many places have the same surroundings. Who
    has nothing but what an anchor remembers knows by this what the anchored place must show more
    than.
    """
    wanted, before, after = wide_context(anchor, text.codes)
    keys = [squash(x) for x in wanted]
    if not any(keys):
        return []
    at = next(n for n, key in enumerate(keys) if key)
    spots = [n - at for n in text.plain.spots(keys[at]) if n >= at and n - at != first - 1][
        :MOST_SPOTS
    ]
    sides = [squash(x) for x in before], [squash(x) for x in after]
    around = supports(text, spots, keys, *sides)
    scores = {spot: total(support) for spot, support in around.items()}
    home = _in_symbol(anchor, text, spots, len(keys)) if spots and anchor.get("symbol") else spots
    near = _by_mini(wanted, before, after, text.without(first - 1, last), last - first + 1)
    return [
        max((scores[spot] for spot in home), default=0.0),
        max(scores.values(), default=0.0),
        near.confidence if near else 0.0,
        _gaps(text, first - 1, keys, *sides),
    ]


def _gaps(
    text: Text, spot: int, keys: Sequence[str], before: Sequence[str], after: Sequence[str]
) -> int:
    """Return how many other places have most of a spot's surrounding lines around them.

    The lines at these places may be any lines.
    """
    size = len(keys)
    before, after = before[-AROUND:], after[:AROUND]  # a copy may be short
    wanted = [(n - len(before), key) for n, key in enumerate(before)] + [
        (size + n, key) for n, key in enumerate(after)
    ]
    wanted = [(n, key) for n, key in wanted if weight(key) >= TRIVIAL]
    if len(wanted) < 2:
        return 0
    said = {key for _, key in wanted}
    met: Counter[int] = Counter()
    for key in said:
        ends = {n for n, wanted_key in wanted if wanted_key == key}
        met.update(at - n for at in text.plain.spots(key) for n in ends)
    enough = max(2, 0.6 * len(wanted))
    return sum(1 for at, count in met.items() if count >= enough and abs(at - spot) > 1)


def _spot(
    anchor: dict[str, Any],
    text: Text,
    keys: Sequence[str],
    before: Sequence[str],
    after: Sequence[str],
) -> tuple[int | None, bool, bool]:
    """Return where the remembered lines begin, with two answers about the spot.

    The place is None when no spot stands out.

    Whether all around it is as it was; whether it is more than what was like it in the old file, in
    other definitions.
    """
    at = next(n for n, key in enumerate(keys) if key)
    spots = [n - at for n in text.plain.spots(keys[at]) if n >= at]
    scores = supports(text, spots, keys, before, after)
    if not scores:
        return NOWHERE
    named = bool(anchor.get("symbol"))
    home = _in_symbol(anchor, text, spots, len(keys)) if named else []
    best = best_spot(text, scores, home, before, keys, after)
    likes = likeness_at_home(anchor)
    like = likes[0 if home else 1]
    if like > 0 and best.score < like + 0.5:
        return NOWHERE  # another place of the old file was as much like it
    if best.support < best.most - 1 and _gaps(text, best.line, keys, before, after) > likes[3]:
        return NOWHERE  # copied, and it is not known which is the copy
    if home:
        return (best.line, best.is_sure, True) if best.fits_at_home() else NOWHERE
    if not named:
        return (best.line, best.is_sure, True) if best.fits() else NOWHERE
    if not best.fits_elsewhere(is_gone=_stays(anchor, text) is None):
        return NOWHERE
    # as its like in another class is
    is_alike = like > 0 and best.score < like + 0.25 * best.most
    return best.line, best.is_sure, not is_alike


def _in_symbol(anchor: dict[str, Any], text: Text, spots: Sequence[int], size: int) -> list[int]:
    """Return the spots that are in the anchor's definition."""
    name = str(anchor.get("symbol") or "")
    if not name:
        return []
    symbols = text.symbols(str(anchor.get("path") or ""))
    homes = {(symbol.first, symbol.last) for symbol in symbols if symbol.qualified == name}
    out = []
    for first, last in homes:
        inside = [symbol for symbol in symbols if symbol.first <= last and symbol.last >= first]
        for spot in spots[bisect_left(spots, first - 1) : bisect_right(spots, last - size)]:
            if _innermost(inside, spot, size) == (name, first, last):
                out.append(spot)
    return sorted(out)


def _innermost(symbols: Sequence["Symbol"], spot: int, size: int) -> tuple[str, int, int] | None:
    """Return (name, first, last) of the innermost definition with all lines of a spot."""
    from gitmem.codemap.symbols import definitions

    whole = [symbol for symbol in symbols if symbol.last >= spot + size]
    around = definitions.enclosing(whole, spot + 1)
    return (around.qualified, around.first, around.last) if around else None


def _within(anchor: dict[str, Any], text: Text, made: Placement | None) -> Placement | None:
    """Return a place by likeness when it is in the anchor's definition, or is all but sure."""
    like = likeness_at_home(anchor)[2]
    if made is None or (like > 0 and made.confidence < like + 0.1):
        return None
    if not anchor.get("symbol"):
        return made
    home = _stays(anchor, text)
    if home is None:
        return made if made.confidence >= 0.75 else None
    return made if home[0] <= made.first <= home[1] else None


def _stays(anchor: dict[str, Any], text: Text) -> tuple[int, int] | None:
    """Return where the definition that an anchor was in is, when it is there."""
    name = str(anchor.get("symbol") or "")
    return in_definition(str(anchor.get("path") or ""), text, name) if name else None


def _by_mini(
    wanted: Sequence[str], before: Sequence[str], after: Sequence[str], text: Text, size: int
) -> Placement | None:
    """Return the place between the remembered surroundings.

    The surroundings must be found, and what is between them must be alike.
    """
    old = [*before, *wanted, *(after if size <= len(wanted) else ())]
    line_map = LineMap(old, text.short, whole=False, text=text)
    made = through(line_map, len(before), len(before) + len(wanted) - 1)
    around = [
        n
        for n in (*range(len(before)), *range(len(before) + len(wanted), len(old)))
        if line_map.to[n] >= 0 and weight(old[n]) >= TRIVIAL
    ]
    if made is None or (not around and any(weight(x) >= TRIVIAL for x in (*before, *after))):
        return None
    if (
        not any(
            abs(line_map.to[n] + 1 - made.first) <= size + 3 * max(AROUND, len(before), len(after))
            for n in around
        )
        or made.confidence < LIKE
    ):
        return None
    if made.state == "changed" and 4 * len(around) < sum(
        1 for x in (*before, *after) if weight(x) >= TRIVIAL
    ):
        return None
    if size > len(wanted) and made.last - made.first + 1 == len(wanted):
        return replace(made, last=made.first + size - 1)
    return made
