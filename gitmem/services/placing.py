"""Which gotchas are about a file, and on which of its lines they are now."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from gitmem.codemap import triggers
from gitmem.codemap.anchoring import Placement
from gitmem.codemap.follow import Follower
from gitmem.codemap.spec import glob_match
from gitmem.errors import UserError

Row = dict[str, Any]
STATES = ("same", "moved", "changed", "approximate", "file", "glob", "adrift")  # surest first
RANK = {"critical": 0, "warning": 1, "info": 2}


@dataclass(frozen=True, slots=True)
class Placed:
    """A gotcha and where it is: lines from 1; `distance` counts the lines to the one that was asked for."""

    row: Row
    where: Placement
    distance: int = 0

    @property
    def reason(self) -> str:
        """Why it is shown, in a few words."""
        spot = f"{self.where.path}:{self.where.first}" + (f"-{self.where.last}" if self.where.last > self.where.first else "")
        return {
            "same": f"anchored at {spot}", "moved": f"moved to {spot}", "changed": f"anchored at {spot}, whose code has changed since",
            "approximate": f"about {self.where.symbol or 'the definition'} at {spot}", "file": f"about {self.where.path}",
            "glob": f"about files like {self.where.path}", "adrift": f"its code in {self.where.path} is not found any more", "code": f"the code at {spot} is what it warns of",
        }.get(self.where.state, f"anchored at {spot}")  # fmt: skip


def place(
    rows: Iterable[Row], follower: Follower, path: str, lines: Sequence[str], line: int = 0, blob: str = "", names: Sequence[str] = ()
) -> list[Placed]:
    """Return the gotchas of a file at their best places, nearest to a line first (0: no line), then the most severe.

    `rows` may hold gotchas of other files and of no file; `lines` is the file's text, `path` is relative to the work tree, `names` are
    those that the file has had.
    """
    rows, names = list(rows), (path, *names)
    known = [(n, anchor) for n, row in enumerate(rows) for anchor in row["anchors"] if about(anchor, names)]
    spots_of: dict[int, list[Placement]] = {}
    for (n, _), spot in zip(known, follower.place_all([anchor for _, anchor in known], path, lines, blob), strict=True):
        spots_of.setdefault(n, []).append(spot)
    out = []
    for n, row in enumerate(rows):
        spots = spots_of.get(n, [])
        if not row["anchors"]:
            spots = triggered(row, path, lines)
        if spots:
            best = min(spots, key=lambda s: (_away(s, line), STATES.index(s.state) if s.state in STATES else 0, s.first))
            out.append(Placed(row, best, _away(best, line)))
    return sorted(out, key=lambda p: (p.distance, RANK.get(str(p.row["severity"]), 1), p.where.first, str(p.row["id"])))


def gone(found: Sequence[Placed], follower: Follower, go_on: Callable[[], bool]) -> list[Placed]:
    """Return placed gotchas with those that are adrift in their file at the file that their code went to, where it is found."""
    out = []
    for one in found:
        where = one.where
        if where.state in {"adrift", "approximate"} and go_on():
            spots = [follower.now(anchor) for anchor in one.row["anchors"] if isinstance(anchor.get("path"), str)]
            elsewhere = [spot for spot in spots if spot.state == "moved" and spot.path != where.path]
            where = elsewhere[0] if elsewhere else where
        out.append(Placed(one.row, where, one.distance))
    return out


def arrived(rows: Iterable[Row], follower: Follower, path: str, line: int, go_on: Callable[[], bool]) -> list[Placed]:
    """Return the gotchas of other files whose code is in this one now."""
    out: list[Placed] = []
    for row in rows:
        for anchor in row["anchors"]:
            if not isinstance(anchor.get("path"), str) or anchor["path"] == path or not anchor.get("lines"):
                continue
            if not go_on():
                return out
            found = follower.now(anchor)
            if found.path == path and found.state == "moved":
                out.append(Placed(row, found, _away(found, line)))
                break
    return out


def drift(rows: Iterable[Row], follower: Follower, go_on: Callable[[], bool] = lambda: True) -> Iterator[tuple[Row, Row, Placement]]:
    """Yield (record, anchor, where it is) of places in the code that are not as they were; ends when `go_on` says no."""
    for row in rows:
        for anchor in row["anchors"]:
            if "glob" in anchor or not isinstance(anchor.get("path"), str):
                continue
            if not go_on():
                return
            found = follower.now(anchor)
            if found.stale or found.state in {"changed", "approximate", "adrift", "moved"}:
                yield row, anchor, found


def about(anchor: Row, names: Sequence[str]) -> bool:
    """Say whether an anchor is in a file that has, or had, these names."""
    if isinstance(anchor.get("path"), str):
        return anchor["path"] in names
    glob = anchor.get("glob")
    return isinstance(glob, str) and any(glob_match(glob, name) for name in names[:1])


def triggered(row: Row, path: str, lines: Sequence[str]) -> list[Placement]:
    """Return where a text is what a gotcha without a place warns of: by its expression or its tree-sitter query."""
    given = row["triggers"]
    found: list[int] = []
    try:
        if isinstance(given.get("code"), str) and _language_fits(given, path):
            found += triggers.code_hits(given["code"], lines, path)
        if isinstance(given.get("query"), str) and isinstance(given.get("language"), str) and _language_fits(given, path):
            found += triggers.query_hits(given["query"], given["language"], "\n".join(line.rstrip("\r\n") for line in lines))
    except UserError:  # written by somebody whose version knew more, or by hand
        return []
    return [Placement(path, at, at, "code") for at in found[:1]]


def _language_fits(given: Row, path: str) -> bool:
    from gitmem.codemap.symbols import language_named, language_of

    wanted = given.get("language")
    return not isinstance(wanted, str) or (language_named(wanted) or "?") == language_of(path)


def _away(where: Placement, line: int) -> int:
    """Return the lines between a placement and a line; what is about the whole file is further than any."""
    if not line:
        return 0
    if where.state in {"file", "glob", "adrift"}:
        return 1 << 20
    return max(where.first - line, line - where.last, 0)
