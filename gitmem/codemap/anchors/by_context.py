"""Where an anchor's code is, by the lines and the surrounding lines that the anchor remembers."""

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from gitmem.codemap.anchors.block_map import ALIKE, through
from gitmem.codemap.anchors.by_definition import in_definition
from gitmem.codemap.anchors.context import AROUND, likeness_at_home, wide_context
from gitmem.codemap.anchors.placement import Placement
from gitmem.codemap.linemap.indexed_text import Text
from gitmem.codemap.linemap.kept_lines import KeptLines
from gitmem.codemap.linemap.line_map import LineMap
from gitmem.codemap.linemap.normal_forms import PLAIN, TELLING, says, squash, weight
from gitmem.codemap.linemap.similar_lines import LIKE

if TYPE_CHECKING:
    from gitmem.codemap.symbols.definitions import Symbol

MOST_SPOTS = 200  # places of a repeated line that are looked at when it is anchored
GAP = 400  # lines between two surrounding ones that are compared
NOWHERE = None, False, False
TRIVIAL = 3  # letters and digits that a line of the surroundings has, or it tells nothing


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


def _first_place(
    text: Text,
    spots: Sequence[int],
    sums: Mapping[int, float],
    before: Sequence[str],
    keys: Sequence[str],
    after: Sequence[str],
) -> int:
    """Return the first spot beside which all is as it was, else the first with the greatest sum.

    Of a line and its copies, the first is the line.
    """
    beside = before[-AROUND:], keys, after[:AROUND]
    same = [spot for spot in spots if _is_beside(text, spot, *beside)]
    if same:
        return min(same)
    top = max(sums.values())
    return min(spot for spot, score in sums.items() if score == top)


def _is_beside(
    text: Text, spot: int, before: Sequence[str], keys: Sequence[str], after: Sequence[str]
) -> bool:
    """Return whether some lines stand at a spot, with the same lines above and below."""
    wanted = [*before, *keys, *after]
    low = spot - len(before)
    return low >= 0 and text.plain.keys[low : low + len(wanted)] == wanted


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
    supports = _supports(text, spots, keys, *sides)
    scores = {spot: _sum(support) for spot, support in supports.items()}
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
        ends = {n for n, one in wanted if one == key}
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
    scores = _supports(text, spots, keys, before, after)
    if not scores:
        return NOWHERE
    named = bool(anchor.get("symbol"))
    home = _in_symbol(anchor, text, spots, len(keys)) if named else []
    best = _best_spot(text, scores, home, before, keys, after)
    likes = likeness_at_home(anchor)
    like = likes[0 if home else 1]
    if like > 0 and best.score < like + 0.5:
        return NOWHERE  # another place of the old file was as much like it
    if best.told < best.most - 1 and _gaps(text, best.line, keys, before, after) > likes[3]:
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


class _Spot(NamedTuple):
    """The place of a repeated line with most of the old surroundings."""

    line: int
    told: float  # how many lines with words are around it, at most `most`
    score: float  # ... with other lines
    most: int
    is_alone: bool  # the only place, of lines that say enough

    @property
    def is_sure(self) -> bool:
        return self.told >= self.most > 0

    def fits(self) -> bool:
        """Return whether enough of the surroundings is there."""
        return self.is_alone or self.told >= max(1.0, 0.5 * self.most)

    def fits_at_home(self) -> bool:
        """Return whether it fits in the anchor's definition, where a neighbour is enough."""
        return self.is_alone or self.most == 0 or self.told >= 1.0 or self.score >= 0.5

    def fits_elsewhere(self, *, is_gone: bool) -> bool:
        """Return whether it is like nothing else, out of its definition, which may be gone."""
        if self.is_alone and (is_gone or self.told >= min(2.0, self.most)):
            return True
        return is_gone and self.told >= max(2.0, 0.67 * self.most)


def _best_spot(
    text: Text,
    scores: Mapping[int, tuple[float, int]],
    home: Sequence[int],
    before: Sequence[str],
    keys: Sequence[str],
    after: Sequence[str],
) -> _Spot:
    sums = {spot: _sum(scores[spot]) for spot in home or scores}
    line = _first_place(text, home, sums, before, keys, after)
    most = sum(1 for x in (*before, *after) if weight(x) >= TRIVIAL)
    most += min(6, sum(map(bool, keys)) - 1)
    is_alone = len(scores) == 1 and sum(map(weight, keys)) >= TELLING
    return _Spot(line, scores[line][0], sums[line], most, is_alone)


def _sum(support: tuple[float, int]) -> float:
    told, blank = support
    return told + 0.25 * blank


def _supports(
    text: Text,
    spots: Sequence[int],
    keys: Sequence[str],
    before: Sequence[str],
    after: Sequence[str],
) -> dict[int, tuple[float, int]]:
    """Return how much of the old surroundings is around each spot, on the same side.

    The two values count lines with words, and other lines.

    A line right there counts one, a line near by less.
    """
    told, blank, same = dict.fromkeys(spots, 0.0), Counter[int](), Counter[int]()
    _add_side(text, told, blank, before[::-1], -1, -1)
    _add_side(text, told, blank, after, 1, len(keys))
    for n, key in enumerate(keys[1:], 1):
        if key:
            same.update({at - n for at in text.plain.spots(key)} & told.keys())
    return {spot: (much + min(same[spot], 6), blank[spot]) for spot, much in told.items()}


def _add_side(
    text: Text,
    told: dict[int, float],
    blank: Counter[int],
    near: Sequence[str],
    step: int,
    start: int,
) -> None:
    """Add to the spots what of the lines on one side, the nearest first, is on that side of them.

    The nearest line is `start` lines from a spot, each further one a `step`.
    """
    spots = list(told)
    width = 2 * max(AROUND, len(near))
    around: dict[str, Collection[int]] = {}
    for n, key in enumerate(near):
        if not key:
            continue
        there = {at - start - step * n for at in text.plain.spots(key)} & told.keys()
        if not says(key, TRIVIAL):
            blank.update(there)
            continue
        if key not in around:
            around[key] = _close(spots, text.plain.spots(key), step, start, width)
        for spot in around[key]:
            told[spot] += 1.0 if spot in there else 0.6


def _close(
    spots: Sequence[int], lines: Sequence[int], step: int, start: int, width: int
) -> Collection[int]:
    """Return the spots that have one of these lines among the `width` ones on a side.

    Both are in order.
    """
    if len(lines) * width <= len(spots):
        return {at - start - step * n for at in lines for n in range(width)}.intersection(spots)
    out = []
    for spot in spots:
        low = spot + start if step > 0 else spot + start - width + 1
        at = bisect_left(lines, low)
        if at < len(lines) and lines[at] < low + width:
            out.append(spot)
    return out


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
    known = LineMap(old, text.short, whole=False, known=text)
    made = through(known, len(before), len(before) + len(wanted) - 1)
    around = [
        n
        for n in (*range(len(before)), *range(len(before) + len(wanted), len(old)))
        if known.to[n] >= 0 and weight(old[n]) >= TRIVIAL
    ]
    if made is None or (not around and any(weight(x) >= TRIVIAL for x in (*before, *after))):
        return None
    if (
        not any(
            abs(known.to[n] + 1 - made.first) <= size + 3 * max(AROUND, len(before), len(after))
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
