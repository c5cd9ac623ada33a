"""Attach an anchor to code, and place it in another text. Pure: texts are passed in.

An anchor is `{path, lines: [first, last], blob, symbol?, context: {before, lines, after}}` or `{glob}`; lines are 1-based and
inclusive. It is placed by the first of these that works: the same blob; the anchored text's lines in the new text (see `linemap`);
when that text is not to be had, the remembered lines and those around them; the definition that they were in; else it is
adrift, and shown on the file instead of on a wrong line.
"""

import re
from binascii import b2a_base64, crc32
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from gitmem.codemap.linemap import LIKE, TELLING, LineMap, rising, says, squash, weight
from gitmem.errors import UserError

AROUND = 3  # lines of context kept on either side
FAR = 9  # lines beyond those, of which a code is kept
CODE = 4  # characters of a code
WIDTH = 200  # characters of a line that are kept
MOST = 20  # anchored lines that are kept
MOST_SPOTS = 200  # places of a repeated line that are looked at
ALIKE = 0.75  # share of the anchored lines that must be as they were, or the record is stale
RIVAL = 0.45  # likeness from which a line could have become another one
MAPS = 8  # pairs of texts whose lines are remembered as mapped

_WORDS = (
    r"export|pub(?:\([^)]*\))?|public|private|protected|static|async|default|abstract|final|override|virtual|inline|unsafe|const|declare"
)
_KINDS = r"def|class|module|function\*?|fn|func(?:\s*\([^)]*\))?|struct|enum|union|trait|impl|interface|type|const|let|var|mod|namespace|macro_rules!|\#define"


@dataclass(frozen=True, slots=True)
class Placement:
    """Where an anchor is in a text: lines from 1, inclusive, of a file.

    `state`: `same` (as it was, shifted at most), `moved` (elsewhere in the file, or in another one), `changed` (there, but edited),
    `approximate` (only the definition that it was in is there), `adrift` (not to be found: the file's first line), `file` (the
    anchor names no line), `glob`. `stale`: the code is not any more what the record spoke of.
    """

    path: str
    first: int
    last: int
    state: str
    confidence: float = 1.0
    symbol: str = ""
    stale: bool = False

    @property
    def found(self) -> bool:
        """Say whether the place is known: neither adrift nor only its definition."""
        return self.state not in {"adrift", "approximate"}


def attach(anchor: dict[str, Any], text: str, blob: str) -> dict[str, Any]:
    """Return the anchor with the file's blob, its lines, what stands around them and the definition that they are in.

    Raises UserError past the end of the file, and for a symbol that is not there or is there more than once.
    """
    out = {**anchor, "blob": blob}
    if "\0" in text[:8000]:
        return out
    lines = text.split("\n")
    path, wanted = str(anchor.get("path") or ""), str(anchor.get("symbol") or "")
    span = anchor.get("lines")
    if not span and not wanted:
        return out
    from gitmem.codemap import symbols

    known = symbols.symbols(text, path)
    if not span:
        first, last, name = _definition(lines, path, wanted, known)
        out["symbol"] = name
    else:
        first, last = span
        count = len(lines) - (1 if len(lines) > 1 and not lines[-1] else 0)
        if first > len(lines):
            raise UserError(f"{path} has {count} lines, not {first}.")
        last = min(last, len(lines))
        around = symbols.enclosing([one for one in known if one.first <= first and one.last >= min(last, count)], first)
        if around and not wanted:
            out["symbol"] = around.qualified
    out["lines"] = [first, last]
    out["context"] = {
        "before": [_short(x) for x in lines[max(0, first - 1 - AROUND) : first - 1]],
        "lines": [_short(x) for x in lines[first - 1 : last][:MOST]],
        "after": [_short(x) for x in lines[last : last + AROUND]],
    }
    far = lines[max(0, first - 1 - AROUND - FAR) : max(0, first - 1 - AROUND)], lines[last + AROUND : last + AROUND + FAR]
    if any(far):
        out["context"]["far"] = ["".join(_code(squash(x[:WIDTH])) for x in side) for side in far]
    like = _likes(out, lines, first, last)
    if any(like):
        out["context"]["like"] = like
    return out


def place(anchor: dict[str, Any], lines: Sequence[str], blob: str = "", old: Sequence[str] | None = None) -> Placement:
    """Return where an anchor is in a text of today; never raises, whatever the anchor holds.

    `blob` is that text's, where it is known; `old` are the lines of the anchored blob. Calls for the same two texts share what
    they find, so placing a thousand anchors costs little more than placing one.
    """
    path, name = str(anchor.get("path") or ""), str(anchor.get("symbol") or "")
    if isinstance(anchor.get("glob"), str):
        return Placement(anchor["glob"], 1, 1, "glob")
    span = _span(anchor)
    if span is None:
        if name:
            found = _in_definition(path, lines, name)
            if found:
                return Placement(path, *found, "same", 0.9, name)
            return Placement(path, 1, 1, "adrift", 0.0, name, stale=True)
        return Placement(path, 1, 1, "file")
    first, last = span
    end = max(1, len(lines))
    if blob and blob == anchor.get("blob"):
        return Placement(path, min(first, end), min(last, end), "same", 1.0, name)
    if old is not None and _belongs(anchor, old, first):
        known = _mapped(old, lines)
        made = through(known, first - 1, min(last, len(old)) - 1)
        if made is not None and made.state in {"moved", "changed"} and name and _rival_at_home(known, made, path, name, first - 1):
            made = None
    else:
        made = _by_context(anchor, lines, first, last)
    if made is not None:
        return replace(made, path=path, symbol=name, last=max(made.first, min(made.last, end)))
    if name:
        found = _in_definition(path, lines, name)
        if found:
            return Placement(path, *found, "approximate", 0.5, name, stale=True)
    return Placement(path, 1, 1, "adrift", 0.0, name, stale=True)


def context_of(anchor: dict[str, Any]) -> tuple[list[str], list[str], list[str]]:
    """Return the remembered lines, those before and those after; an anchor may come from anybody, in any shape."""
    value = anchor.get("context")
    rows = [value.get(key) if isinstance(value, dict) else None for key in ("lines", "before", "after")]
    lines, before, after = ([_short(str(x)) for x in row[:100]] if isinstance(row, list) else [] for row in rows)
    return lines, before[-AROUND:], after[:AROUND]


def _span(anchor: dict[str, Any]) -> tuple[int, int] | None:
    span = anchor.get("lines")
    if not isinstance(span, list) or len(span) != 2 or not all(type(n) is int for n in span) or not 1 <= span[0] <= span[1]:
        return None
    return span[0], span[1]


def _short(line: str) -> str:
    return line.rstrip("\r\n ")[:WIDTH]


def _belongs(anchor: dict[str, Any], old: Sequence[str], first: int) -> bool:
    """Say whether an old text is the one that was anchored: most remembered lines are where they were (a secret in one was masked)."""
    if first > len(old):
        return False
    wanted, before, after = context_of(anchor)
    at = first - 1 - len(before)
    rows = [*before, *wanted, *after] if (anchor["lines"][1] - first + 1) == len(wanted) else [*before, *wanted]
    told = [(at + n, squash(line)) for n, line in enumerate(rows) if line.strip()]
    same = sum(1 for n, key in told if 0 <= n < len(old) and squash(old[n][:WIDTH]) == key)
    return 2 * same > len(told) or not told


# -- by the old text

_maps: list[tuple[list[str], list[str], LineMap]] = []  # replaced, never changed: threads share it


def _mapped(old: Sequence[str], new: Sequence[str]) -> LineMap:
    """Return the map between two texts, the last few from memory; compared by content, so a changed list is seen."""
    global _maps
    have_old, have_new = (x if isinstance(x, list) else list(x) for x in (old, new))
    known = _maps
    for one, two, made in known:
        if len(one) == len(have_old) and len(two) == len(have_new) and two == have_new and one == have_old:
            return made
    one, two = list(have_old), list(have_new)
    made = LineMap(one, two)
    _maps = [(one, two, made), *known[: MAPS - 1]]
    return made


def through(lines: LineMap, first: int, last: int) -> Placement | None:
    """Return the place of old lines by the map of their text."""
    if first == last:
        to, sure = lines.find(first)
        if to < 0:
            return None
        state = "changed" if sure < 1.0 else "same" if lines.ordered(first) else "moved"
        return Placement(
            "",
            to + 1,
            to + 1,
            state,
            min(sure, 0.9) if state == "moved" else sure,
            stale=state == "changed" and not _alike(lines, first, to),
        )
    return _block(lines, first, last)


def _rival_at_home(lines: LineMap, made: Placement, path: str, name: str, line: int) -> bool:
    """Say whether a line went out of its definition, in which another one is now that it could have become."""
    home = _in_definition(path, lines.new, name)
    if home is None or home[0] <= made.first <= home[1]:
        return False
    return any(lines.back[j] < 0 and lines.likeness(line, j) >= RIVAL for j in range(home[0] - 1, min(home[1], len(lines.new))))


def _alike(lines: LineMap, i: int, j: int) -> bool:
    """Say whether a line says what it said, but for its format."""
    return "".join(c for c in lines.one[i] if c.isalnum()) == "".join(c for c in lines.two[j] if c.isalnum())


def _block(lines: LineMap, first: int, last: int) -> Placement | None:
    size = last - first + 1
    full = [i for i in range(first, last + 1) if lines.one[i]]
    if not full:
        return None
    ends = {*full[:3], *full[-3:]}
    found = {i: (lines.find(i)[0] if i in ends or size <= 200 else lines.to[i]) for i in full}
    found = _together({i: j for i, j in found.items() if j >= 0}, size)
    if 2 * len(found) < len(full):
        return None
    low, high = min(found), max(found)
    start, stop = found[low], found[high]
    start = _tied_end(lines, full[0], low, start, -1)
    stop = _tied_end(lines, full[-1], high, stop, 1)
    start, stop = min(start, stop), max(start, stop)
    if full[0] != first and low == full[0] and start - (low - first) >= 0 and not any(lines.two[start - (low - first) : start]):
        start -= low - first
    if (
        full[-1] != last
        and high == full[-1]
        and stop + last - high < len(lines.new)
        and not any(lines.two[stop + 1 : stop + 1 + last - high])
    ):
        stop += last - high
    same = sum(1 for i, j in found.items() if lines.one[i] == lines.two[j])
    share = same / len(full)
    state = "changed" if same < len(full) or stop - start + 1 > size else "same" if lines.ordered(low) else "moved"
    return Placement(
        "",
        start + 1,
        stop + 1,
        state,
        round(0.6 + 0.4 * share, 2) if state == "changed" else 1.0 if state == "same" else 0.9,
        stale=share < ALIKE,
    )


def _tied_end(lines: LineMap, end: int, known: int, at: int, step: int) -> int:
    """Return the end of a block whose last lines could be at two places: here they are where the block goes on."""
    while known != end:
        known += step
        if not 0 <= at + step < len(lines.new) or lines.one[known] != lines.two[at + step]:
            return at
        at += step
    return at


def _together(found: dict[int, int], size: int) -> dict[int, int]:
    """Return the most found lines of a block that are still in order and near each other."""
    order = rising(sorted(found.items()))
    best: list[tuple[int, int]] = []
    low = 0
    for high in range(len(order)):
        while order[high][1] - order[low][1] > 2 * size + 5:
            low += 1
        if high - low + 1 > len(best):
            best = order[low : high + 1]
    return dict(best)


# -- by the remembered lines

_texts: list[tuple[list[str], list[str], dict[str, str]]] = []  # replaced, never changed: threads share it


def _code(key: str) -> str:
    """Return the few characters that a line is known again by."""
    return b2a_base64(crc32(key.encode("utf-8", "replace")).to_bytes(4, "big")[1:], newline=False).decode() if key else "." * CODE


def _read(lines: Sequence[str]) -> tuple[list[str], dict[str, str]]:
    """Return (the lines squashed, {code: line}) of a text, of the last few from memory."""
    global _texts
    mine = lines if isinstance(lines, list) else list(lines)
    known = _texts
    for text, have, codes in known:
        if len(text) == len(mine) and text == mine:
            return have, codes
    have = [squash(x[:WIDTH]) for x in mine]
    codes = {_code(key): key for key in set(have)}
    _texts = [(list(mine), have, codes), *known[: MAPS - 1]]
    return have, codes


def _wide(anchor: dict[str, Any], codes: dict[str, str]) -> tuple[list[str], list[str], list[str]]:
    """Return what `context_of` does, and of the lines beyond those the ones that a text has too."""
    wanted, before, after = context_of(anchor)
    value = anchor.get("context")
    far = value.get("far") if isinstance(value, dict) else None
    if not isinstance(far, list) or len(far) != 2 or not all(isinstance(x, str) for x in far):
        return wanted, before, after
    above, below = ([side[n : n + CODE] for n in range(0, min(len(side), FAR * CODE), CODE)] for side in far)
    return wanted, [codes.get(x, "\x02" + x) for x in above] + before, after + [codes.get(x, "\x02" + x) for x in below]


_TRIVIAL = 3  # letters and digits that a line of the surroundings has, or it tells nothing


def _by_context(anchor: dict[str, Any], lines: Sequence[str], first: int, last: int) -> Placement | None:
    """Return the place of the remembered lines: by themselves and what stands around them."""
    have, codes = _read(lines)
    wanted, before, after = _wide(anchor, codes)
    keys = [squash(x) for x in wanted]
    if not any(keys):
        return None
    size = last - first + 1
    spot, sure = _spot(anchor, lines, have, keys, [squash(x) for x in before], [squash(x) for x in after])
    near = None if sure else _within(anchor, lines, _by_mini(wanted, before, after, lines, size))
    if spot is None:
        return None if near is not None and near.state != "changed" and any(_like(anchor)[:2]) else near
    if near is not None and near.first != spot + 1:
        return None  # the line as it was is elsewhere, and one that is like it is where it was
    same = sum(1 for n, key in enumerate(keys) if spot + n < len(have) and have[spot + n] == key)
    if same == len(keys):
        return Placement("", spot + 1, min(spot + size, len(have)), "same", 0.9)
    near = near or _within(anchor, lines, _by_mini(wanted, before, after, lines, size))
    if near is not None or 2 * same < len(keys):
        return near
    return Placement("", spot + 1, min(spot + size, len(have)), "changed", LIKE, stale=same < ALIKE * len(keys))


def _likes(anchor: dict[str, Any], lines: Sequence[str], first: int, last: int) -> list[float]:
    """Return how well the remembered lines fit another place of their own file.

    In their definition, anywhere, by likeness, and how many places have the same surroundings.
    Who has nothing but what an anchor remembers knows by this what the anchored place must show more than.
    """
    have, codes = _read(lines)
    wanted, before, after = _wide(anchor, codes)
    keys = [squash(x) for x in wanted]
    if not any(keys):
        return []
    at = next(n for n, key in enumerate(keys) if key)
    spots = [n - at for n, key in enumerate(have) if key == keys[at] and n >= at and n - at != first - 1][:MOST_SPOTS]
    sides = [squash(x) for x in before], [squash(x) for x in after]
    scores = {}
    for spot in spots:
        told, blank = _support(have, spot, keys, *sides)
        scores[spot] = told + 0.25 * blank
    home = _in_symbol(anchor, lines, spots, keys) if spots and anchor.get("symbol") else spots
    rest = [*lines[: first - 1], *lines[last:]]
    near = _by_mini(wanted, before, after, rest, last - first + 1)
    return [
        max((scores[spot] for spot in home), default=0.0),
        max(scores.values(), default=0.0),
        near.confidence if near else 0.0,
        _gaps(have, first - 1, keys, *sides),
    ]


def _gaps(have: Sequence[str], spot: int, keys: Sequence[str], before: Sequence[str], after: Sequence[str]) -> int:
    """Return how many other places have most of what stands around a spot around them, whatever stands there."""
    size = len(keys)
    before, after = before[-AROUND:], after[:AROUND]  # a copy may be short
    wanted = [(n - len(before), key) for n, key in enumerate(before)] + [(size + n, key) for n, key in enumerate(after)]
    wanted = [(n, key) for n, key in wanted if weight(key) >= _TRIVIAL]
    if len(wanted) < 2:
        return 0
    said = {key for _, key in wanted}
    met: Counter[int] = Counter()
    for at, key in enumerate(have):
        if key in said:
            for n in {n for n, one in wanted if one == key}:
                met[at - n] += 1
    enough = max(2, 0.6 * len(wanted))
    return sum(1 for at, count in met.items() if count >= enough and abs(at - spot) > 1)


def _like(anchor: dict[str, Any]) -> list[float]:
    context = anchor.get("context")
    value = context.get("like") if isinstance(context, dict) else None
    if not isinstance(value, list) or len(value) != 4 or not all(type(x) in {int, float} for x in value):
        return [0.0, 0.0, 0.0, 0]
    return value


def _spot(
    anchor: dict[str, Any], lines: Sequence[str], have: Sequence[str], keys: Sequence[str], before: Sequence[str], after: Sequence[str]
) -> tuple[int | None, bool]:
    """Return (where the remembered lines begin, whether all around them is as it was); None when no spot stands out."""
    at = next(n for n, key in enumerate(keys) if key)
    spots = [n - at for n, key in enumerate(have) if key == keys[at] and n >= at]
    scores = {spot: _support(have, spot, keys, before, after) for spot in spots}
    if not scores:
        return None, False
    most = sum(1 for x in (*before, *after) if weight(x) >= _TRIVIAL) + min(6, sum(1 for key in keys if key) - 1)
    alone = len(scores) == 1 and sum(map(weight, keys)) >= TELLING
    named = bool(anchor.get("symbol"))
    home = _in_symbol(anchor, lines, spots, keys) if named else []
    if home:
        scores = {spot: scores[spot] for spot in home}
    top = max(told + 0.25 * blank for told, blank in scores.values())
    rivals = [spot for spot, (told, blank) in scores.items() if told + 0.25 * blank > top - 0.5]
    if len(rivals) != 1:
        return None, False
    (spot,) = rivals
    told, blank = scores[spot]
    like = _like(anchor)[0 if home else 1]
    if like > 0 and told + 0.25 * blank < like + 0.5:
        return None, False  # another place of the old file was as much like it
    if _gaps(have, spot, keys, before, after) > _like(anchor)[3]:
        return None, False  # copied, and it is not known which is the copy
    if home:  # in its definition, a neighbour is enough
        fits = told >= 1.0 or told + 0.25 * blank >= 0.5 or most == 0 or alone
    elif named:  # out of it, only what is like nothing else
        gone = _stays(anchor, lines) is None
        fits = (alone and (gone or told >= min(2.0, most))) or (gone and told >= max(2.0, 0.67 * most))
    else:
        fits = alone or told >= max(1.0, 0.5 * most)
    return (spot, told >= most > 0) if fits else (None, False)


def _support(have: Sequence[str], spot: int, keys: Sequence[str], before: Sequence[str], after: Sequence[str]) -> tuple[float, int]:
    """Return how much of what stood around the lines is around a spot, on the same side: lines with words, and others.

    A line right there counts one, a line near by less.
    """
    told, blank = 0.0, 0
    for near, step, start in ((before[::-1], -1, spot - 1), (after, 1, spot + len(keys))):
        window = [have[start + step * n] for n in range(2 * max(AROUND, len(near))) if 0 <= start + step * n < len(have)]
        for n, key in enumerate(near):
            there = n < len(window) and window[n] == key
            if not key:
                continue
            if not says(key, _TRIVIAL):
                blank += there
            elif there:
                told += 1.0
            elif key in window:
                told += 0.6
    same = sum(1 for n, key in enumerate(keys[1:], 1) if key and spot + n < len(have) and have[spot + n] == key)
    return told + min(same, 6), blank


def _in_symbol(anchor: dict[str, Any], lines: Sequence[str], spots: Sequence[int], keys: Sequence[str]) -> list[int]:
    """Return the spots that are in the anchor's definition."""
    name = str(anchor.get("symbol") or "")
    if not name:
        return []
    from gitmem.codemap import symbols

    known = symbols.symbols("\n".join(lines), str(anchor.get("path") or ""))
    out = []
    for spot in spots:
        around = symbols.enclosing([s for s in known if s.last >= spot + len(keys)], spot + 1)
        if around and around.qualified == name:
            out.append(spot)
    return out


def _within(anchor: dict[str, Any], lines: Sequence[str], made: Placement | None) -> Placement | None:
    """Return a place by likeness when it is in the anchor's definition, or is all but sure."""
    like = _like(anchor)[2]
    if made is None or (like > 0 and made.confidence < like + 0.1):
        return None
    if not anchor.get("symbol"):
        return made
    home = _stays(anchor, lines)
    if home is None:
        return made if made.confidence >= 0.75 else None
    return made if home[0] <= made.first <= home[1] else None


def _stays(anchor: dict[str, Any], lines: Sequence[str]) -> tuple[int, int] | None:
    """Return where the definition that an anchor was in is, when it is there."""
    name = str(anchor.get("symbol") or "")
    return _in_definition(str(anchor.get("path") or ""), lines, name) if name else None


def _by_mini(wanted: Sequence[str], before: Sequence[str], after: Sequence[str], lines: Sequence[str], size: int) -> Placement | None:
    """Return the place between the surroundings, where these are found and what is between them is alike."""
    text = [*before, *wanted, *(after if size <= len(wanted) else ())]
    known = LineMap(text, [x[:WIDTH] for x in lines], whole=False)
    made = through(known, len(before), len(before) + len(wanted) - 1)
    around = [
        n for n in (*range(len(before)), *range(len(before) + len(wanted), len(text))) if known.to[n] >= 0 and weight(text[n]) >= _TRIVIAL
    ]
    if made is None or (not around and any(weight(x) >= _TRIVIAL for x in (*before, *after))):
        return None
    if (
        not any(abs(known.to[n] + 1 - made.first) <= size + 3 * max(AROUND, len(before), len(after)) for n in around)
        or made.confidence < LIKE
    ):
        return None
    if made.state == "changed" and 4 * len(around) < sum(1 for x in (*before, *after) if weight(x) >= _TRIVIAL):
        return None
    if size > len(wanted) and made.last - made.first + 1 == len(wanted):
        return replace(made, last=made.first + size - 1)
    return made


# -- by the definition


def _in_definition(path: str, lines: Sequence[str], name: str) -> tuple[int, int] | None:
    """Return the lines of a definition that is there once."""
    from gitmem.codemap import symbols

    found = [one for one in symbols.find(symbols.symbols("\n".join(lines), path), name) if one.kind != "impl"]
    if len(found) == 1:
        return found[0].at, found[0].last
    if found or symbols.symbols("\n".join(lines), path):
        return None
    spots = _by_words(lines, name)
    return (spots[0], spots[0]) if len(spots) == 1 else None


def _definition(lines: Sequence[str], path: str, name: str, known: Sequence[Any]) -> tuple[int, int, str]:
    from gitmem.codemap import symbols

    found = symbols.find(known, name)
    if len(found) > 1:
        found = [one for one in found if one.kind != "impl"] or found[:1]
    if len(found) == 1:
        return found[0].at, found[0].last, found[0].qualified
    if found:
        names = sorted({one.qualified for one in found})
        if len(names) > 1:
            raise UserError(f"{path} has more than one '{name}'.", f"Say which: {', '.join(names[:8])}")
        spots = ", ".join(str(one.at) for one in found[:8])
        raise UserError(f"{path} defines '{name}' more than once, in lines {spots}.", f"Name the line instead: {path}:{found[0].at}")
    places = _by_words(lines, name)
    if places:
        return places[0], places[0], name
    raise UserError(f"{path} has no '{name}'.", _near(name, [one.qualified for one in known]))


def _near(name: str, known: Sequence[str]) -> str:
    if not known:
        return "Name a line instead: path:12"
    from difflib import get_close_matches

    last = {one.rsplit(".", 1)[-1]: one for one in reversed(known)}
    near = [*get_close_matches(name, known, 5, 0.6), *(last[n] for n in get_close_matches(name.rsplit(".", 1)[-1], list(last), 5, 0.6))]
    near = list(dict.fromkeys(near))[:5]
    return (
        f"Did you mean {', '.join(near)}?" if near else f"It has {', '.join(dict.fromkeys(known[:8]))}{', ...' if len(known) > 8 else '.'}"
    )


def _by_words(lines: Sequence[str], name: str) -> list[int]:
    """Return the lines that look like a definition of a name: for languages without a grammar."""
    last = re.escape(re.split(r"[.:#]+", name)[-1])
    test = re.compile(rf"^\s*(?:(?:{_WORDS})\s+)*(?:{_KINDS})[\s(]\s*(?:self\.)?[\w.:<>*&]*?\b{last}(?!\w)")
    return [n for n, line in enumerate(lines, 1) if last in line and test.match(line[:500])]
