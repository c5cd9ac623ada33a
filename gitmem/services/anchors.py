"""Where in the code a record applies: read what the user typed, remember the code, find it again.

An anchor is `{path, lines: [first, last], blob, symbol?, context: {before, lines, after}}` or `{glob}`.
Lines are 1-based and inclusive. Pure: the text of the file is passed in.
"""

import re
from collections.abc import Sequence
from typing import Any

from gitmem.errors import UserError

AROUND = 3  # lines of context kept on either side
TELLING = 20  # characters of a line that is known again without its neighbours
CLOSE = 0.6  # similarity above which a changed line still counts as the anchored one

_SPEC = re.compile(r"(?P<path>[^:#]+?)(?::(?P<from>\d{1,9})(?:-(?P<to>\d{1,9}))?)?(?:#(?P<symbol>[\w.$:<>~-]+))?")


def parse(spec: str) -> dict[str, Any]:
    """Return the anchor of `path`, `path:12`, `path:12-20`, `path#Symbol` or a glob; raises UserError."""
    text = spec.strip().replace("\\", "/").removeprefix("./")
    match = _SPEC.fullmatch(text)
    if not text or match is None or text.startswith("/") or ".." in (match["path"] or "").split("/"):
        raise UserError(
            f"'{spec}' is no place in this repository.", "Write path, path:12, path:12-20, path#Symbol or a glob such as 'migrations/**'."
        )
    if any(c in text for c in "*?["):
        return {"glob": text}
    out: dict[str, Any] = {"path": match["path"].rstrip("/")}
    if match["from"]:
        first, last = int(match["from"]), int(match["to"] or match["from"])
        if first < 1 or last < first:
            raise UserError(f"'{spec}' names no lines.", "Lines count from 1, the first before the last.")
        out["lines"] = [first, last]
    if match["symbol"]:
        out["symbol"] = match["symbol"]
    return out


def attach(anchor: dict[str, Any], text: str, blob: str) -> dict[str, Any]:
    """Return the anchor with the file's blob and the anchored lines; raises UserError past the end of the file."""
    lines = text.split("\n")
    span = anchor.get("lines")
    out = {**anchor, "blob": blob}
    if not span and anchor.get("symbol"):
        found = _definition(lines, str(anchor["symbol"]))
        span = [found, found] if found else None
        if span:
            out["lines"] = span
    if not span:
        return out
    first, last = span
    if first > len(lines):
        raise UserError(f"{anchor['path']} has {len(lines)} lines, not {first}.")
    last = min(last, len(lines))
    out["lines"] = [first, last]
    out["context"] = {
        "before": [_short(x) for x in lines[max(0, first - 1 - AROUND) : first - 1]],
        "lines": [_short(x) for x in lines[first - 1 : last][:20]],
        "after": [_short(x) for x in lines[last : last + AROUND]],
    }
    return out


def place(anchor: dict[str, Any], lines: Sequence[str], blob: str = "") -> tuple[int, int, str]:
    """Return (first, last, state) of an anchor in a text of today; `state` says how sure that is.

    `same`: the code is where it was or moved as it is; `changed`: the most similar line near by; `adrift`:
    not to be found, the place is the file's first line; `file`: the anchor names no line.
    """
    span = anchor.get("lines")
    if not isinstance(span, list) or len(span) != 2 or not all(type(n) is int for n in span) or not 1 <= span[0] <= span[1]:
        return 1, 1, "file"
    first, last = span
    if blob and blob == anchor.get("blob"):
        return min(first, max(1, len(lines))), min(last, max(1, len(lines))), "same"
    wanted, before, after = _context(anchor.get("context"))
    size = last - first
    if not any(w.strip() for w in wanted):
        return (first, last, "changed") if last <= len(lines) else (1, 1, "adrift")
    have = [_short(x) for x in lines]
    key = next(i for i, w in enumerate(wanted) if w.strip())
    spots = [i - key for i, line in enumerate(have) if line.strip() == wanted[key].strip() and i >= key]
    if len(spots) != 1 or len(wanted[key].strip()) < TELLING:  # `return None` elsewhere is not the one that was meant
        spots = [at for at in spots if _at_home(have, at, len(wanted), before, after)]
    if spots:
        best = max(spots, key=lambda at: (_agree(have, at, wanted, before, after), -abs(at + 1 - first)))
        return best + 1, min(best + 1 + size, len(lines)), "same"
    import difflib  # for a line that is there no more: rare, and 3 ms

    near = range(max(0, first - 1 - 40), min(len(have), first - 1 + 40))
    scored = [
        (difflib.SequenceMatcher(None, have[i].strip(), wanted[key].strip(), autojunk=False).ratio(), -abs(i + 1 - first), i)
        for i in near
        if have[i].strip() and _at_home(have, i - key, len(wanted), before, after)
    ]
    if scored:
        ratio, _, at = max(scored)
        if ratio >= CLOSE:
            return at + 1, min(at + 1 + size, len(lines)), "changed"
    return 1, 1, "adrift"


def _context(value: Any) -> tuple[list[str], list[str], list[str]]:
    """Return the remembered lines, those before and those after; an anchor may come from anybody, in any shape."""
    rows = [value.get(key) if isinstance(value, dict) else None for key in ("lines", "before", "after")]
    lines, before, after = ([_short(str(x)) for x in row[:100]] if isinstance(row, list) else [] for row in rows)
    return lines, before, after


def _agree(have: Sequence[str], at: int, wanted: Sequence[str], before: Sequence[str], after: Sequence[str]) -> int:
    """Return how many anchored and surrounding lines agree with a text at a spot."""
    score = sum(3 for i, w in enumerate(wanted) if 0 <= at + i < len(have) and have[at + i].strip() == str(w).strip())
    score += sum(1 for i, w in enumerate(reversed(before)) if at - 1 - i >= 0 and have[at - 1 - i].strip() == str(w).strip())
    end = at + len(wanted)
    return score + sum(1 for i, w in enumerate(after) if end + i < len(have) and have[end + i].strip() == str(w).strip())


def _at_home(have: Sequence[str], at: int, size: int, before: Sequence[str], after: Sequence[str]) -> bool:
    """Say whether a line that was near the anchored ones, and has words, is still near a spot, on the same side."""
    above = {line.strip() for line in have[max(0, at - 2 * AROUND) : max(0, at)]}
    below = {line.strip() for line in have[max(0, at + size) : max(0, at + size + 2 * AROUND)]}
    sides = [(str(x).strip(), side) for near, side in ((before, above), (after, below)) for x in near]
    told = [line in side for line, side in sides if any(c.isalnum() for c in line)]
    return any(told) or not told


def _definition(lines: Sequence[str], symbol: str) -> int | None:
    name = re.escape(re.split(r"[.:#]+", symbol)[-1])
    test = re.compile(
        rf"^\s*(?:export\s+|pub(?:\([^)]*\))?\s+|public\s+|private\s+|static\s+|async\s+|default\s+)*(?:def|class|function|fn|func|struct|enum|trait|interface|type|const|let|var)\b[^=\n]*\b{name}\b"
    )
    return next((i + 1 for i, line in enumerate(lines) if test.match(line[:500])), None)


def _short(line: str) -> str:
    return line.rstrip("\r\n ")[:200]
