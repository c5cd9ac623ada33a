"""Which gotchas are about a file, and on which of its lines they are now."""

import time
from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter, itemgetter
from typing import Any

from gitmem.codemap.anchors.placement import Placement
from gitmem.codemap.anchors.spec import glob_match
from gitmem.codemap.anchors.tracker import Follower
from gitmem.codemap.symbols.triggers import TriggerText
from gitmem.git.object_codec import object_id
from gitmem.index.reader import Index, sort_rows
from gitmem.records.kinds import LIVE
from gitmem.services.gotchas.triggers import fired
from gitmem.services.records.committers import TRUST_FIELDS

Row = dict[str, Any]
STATES = ("same", "moved", "changed", "approximate", "file", "glob", "adrift")  # surest first
RANK = {"critical": 0, "warning": 1, "info": 2}
OPEN: dict[str, Any] = {"kinds": ("gotcha",), "statuses": LIVE, "resolved": False}
# what `git mem gotcha for` tells: rules and decisions are known of a file as much as its traps
OPEN_RECORDS: dict[str, Any] = OPEN | {"kinds": ("gotcha", "memory")}
# what is looked at of a gotcha whose code is looked at
SEEN = (*TRUST_FIELDS, "id", "severity", "last_seen", "anchors")
MOVED_ROWS = 500  # gotchas that are looked for in a file that they were not anchored in
MANY = 200  # files from which on git says which are as they were; fewer are read
BATCH = 50  # anchors that are placed at once: the old texts of so many are kept
# what an anchor is of which the code, or only the definition, went to another file
GONE = ("moved", "approximate")
SURE = 0.7  # below, changed code is looked for in other files too, as `Follower.now` does


@dataclass(frozen=True, slots=True)
class Placed:
    """A gotcha and where it is: lines from 1.

    `distance` counts the lines to the one that was asked for.

    `number` says which of its anchors came here from another file; -1 for none.
    """

    row: Row
    where: Placement
    distance: int = 0
    number: int = -1

    @property
    def reason(self) -> str:
        """Why it is shown, in a few words."""
        spot = f"{self.where.path}:{self.where.first}" + (
            f"-{self.where.last}" if self.where.last > self.where.first else ""
        )
        return {
            "same": f"anchored at {spot}",
            "moved": f"moved to {spot}",
            "changed": f"anchored at {spot}, whose code has changed since",
            "approximate": f"about {self.where.symbol or 'the definition'} at {spot}",
            "file": f"about {self.where.path}",
            "glob": f"about files like {self.where.path}",
            "adrift": f"its code in {self.where.path} is not found any more",
            "code": f"its trigger matches the code at {spot}",
        }.get(self.where.state, f"anchored at {spot}")


def place(
    rows: Iterable[Row],
    follower: Follower,
    path: str,
    lines: Sequence[str],
    line: int = 0,
    blob: str = "",
    names: Sequence[str] = (),
) -> list[Placed]:
    """Return the gotchas of a file at their best places.

    Those nearest to a line come first (0: no line), then the most severe.

    `rows` may hold gotchas of other files and of no file; `lines` is the file's text, `path` is
    relative to the work tree, `names` are those that the file has had.
    """
    rows, names = list(rows), (path, *names)
    anchors = [
        (n, anchor)
        for n, row in enumerate(rows)
        for anchor in row["anchors"]
        if about(anchor, names)
    ]
    spots_of: dict[int, list[Placement]] = {}
    for (n, _), spot in zip(
        anchors,
        follower.place_all([anchor for _, anchor in anchors], path, lines, blob),
        strict=True,
    ):
        spots_of.setdefault(n, []).append(spot)
    out = []
    text = TriggerText(path, lines)
    for n, row in enumerate(rows):
        spots = spots_of.get(n, [])
        if not row["anchors"]:
            spots = [Placement(path, at, at, "code") for at in fired(row, text, 1)]
        if spots:
            best = min(
                spots,
                key=lambda s: (
                    _away(s, line),
                    STATES.index(s.state) if s.state in STATES else 0,
                    s.first,
                ),
            )
            out.append(Placed(row, best, _away(best, line)))
    return sorted(
        out,
        key=lambda p: (
            p.distance,
            RANK.get(str(p.row["severity"]), 1),
            p.where.first,
            str(p.row["id"]),
        ),
    )


def gone(placed: Sequence[Placed], follower: Follower, go_on: Callable[[], bool]) -> list[Placed]:
    """Return placed gotchas, those that are adrift at the file that their code moved to.

    If only the definition of the code moved, this is the file that it moved to.
    """
    out = []
    for gotcha in placed:
        where = gotcha.where
        if _may_be_gone(where) and go_on():
            where = _moved_to(gotcha.row, follower, where.path) or where
        out.append(Placed(gotcha.row, where, gotcha.distance))
    return out


def _may_be_gone(where: Placement) -> bool:
    """Say whether code that was placed in its file may be in another one by now."""
    return where.state in {"adrift", "approximate"} or _is_doubtful(where)


def _is_doubtful(where: Placement) -> bool:
    return where.state == "changed" and where.confidence < SURE


def _moved_to(row: Row, follower: Follower, path: str) -> Placement | None:
    """Return where the code of a gotcha is now, if that is in a file other than this one."""
    spots = [
        follower.now(anchor) for anchor in row["anchors"] if isinstance(anchor.get("path"), str)
    ]
    for state in GONE:
        for spot in spots:
            if spot.state == state and spot.path != path:
                return spot
    return None


def arrived(
    rows: Iterable[Row],
    follower: Follower,
    path: str,
    lines: Sequence[str],
    line: int,
    go_on: Callable[[], bool],
    states: Container[str] = GONE,
) -> list[Placed]:
    """Return the gotchas of other files whose code or definition is now in this file.

    If only the definition is in this file, the state is `approximate`. `lines` is the text of this
    file.
    """
    text = "\n".join(code.rstrip("\r\n") for code in lines)
    out: dict[str, Placed] = {}
    for row, number, anchor in _candidates(rows, follower, path, text, go_on):
        if row["id"] in out:
            continue
        if not go_on():
            break
        spot = follower.now(anchor)
        if spot.path == path and spot.state in states:
            out[row["id"]] = Placed(row, spot, _away(spot, line), number)
    return list(out.values())


def _candidates(
    rows: Iterable[Row], follower: Follower, path: str, text: str, go_on: Callable[[], bool]
) -> Iterator[tuple[Row, int, Row]]:
    """Yield (gotcha, number of the anchor, anchor) of other files whose code may be in this text.

    Ends when `go_on` says no. To search all files is dear; most code has no line in this one.
    """
    anchors = [
        (row, number, anchor)
        for row in rows
        for number, anchor in enumerate(row["anchors"])
        if isinstance(anchor.get("path"), str) and anchor["path"] != path and anchor.get("lines")
    ]
    for start in range(0, len(anchors), BATCH):
        if not go_on():
            return
        part = anchors[start : start + BATCH]
        possible = follower.could_hold(text, [anchor for *_, anchor in part], path)
        for candidate, is_possible in zip(part, possible, strict=True):
            if is_possible:
                yield candidate


def names_of(
    path: str,
    follower: Follower,
    apart: Collection[str],
    elsewhere: Callable[[], Iterable[Row]],
    go_on: Callable[[], bool],
) -> tuple[str, ...]:
    """Return the names that a file had when gotchas were recorded about it.

    The names are among the files `apart`, whose gotchas `elsewhere` returns. A name may have come
    back since, as that of another file: then git says that this file had it.
    """
    others = {name for name in apart if name != path}
    if not others or not go_on():
        return ()
    files = follower.files(others)
    names = [name for name in follower.earlier(path) if name in files] if files else []
    if files == others:
        return tuple(names)
    return (*names, *former(elsewhere(), follower, path, go_on))


def former(
    rows: Iterable[Row], follower: Follower, path: str, go_on: Callable[[], bool]
) -> tuple[str, ...]:
    """Return the former names of a file.

    They are among the files that gotchas are about and that no longer exist. Git need not know
    about the rename.
    """
    out: dict[str, None] = {}
    asked: set[tuple[str, str, str]] = set()
    rows = list(rows)
    follower.expect(_paths(rows))
    for anchor in (anchor for row in rows for anchor in row["anchors"]):
        was = anchor.get("path")
        key = (str(was), str(anchor.get("commit") or ""), str(anchor.get("blob") or ""))
        if not isinstance(was, str) or was == path or was in out or key in asked:
            continue
        if not go_on():
            break
        asked.add(key)
        if follower.text(was) is None and follower.called(anchor) == path:
            out[was] = None
    return tuple(out)


def _paths(rows: Iterable[Row]) -> Iterator[str]:
    """Yield the paths that records have places in."""
    for row in rows:
        yield from (anchor["path"] for anchor in row["anchors"] if _is_place(anchor))


@dataclass(frozen=True, slots=True)
class Drifted:
    """A place in the code that is not as it was."""

    row: Row
    anchor: Row
    where: Placement


@dataclass(frozen=True, slots=True)
class PlacementSurvey:
    """The result of a search for the code of gotchas.

    `total` is the number of gotchas, `checked` is how many of them could be checked. `was_late`
    says that git had too little time for some of them, so that they may be elsewhere.
    """

    drifted: list[Drifted]
    total: int
    checked: int
    was_late: bool

    @property
    def complete(self) -> bool:
        """Say whether all were looked at."""
        return self.checked == self.total


def unsettled(
    index: Index, follower: Follower, go_on: Callable[[], bool] = lambda: True
) -> tuple[list[str], list[str]]:
    """Return the paths of gotchas whose file has changed since they were anchored.

    Files are compared byte for byte, many of them by what git knows of them. The paths that could
    not be checked in time are returned too.
    """
    return settle(index.bases(), follower, go_on)


def settle(
    bases: Mapping[str, Iterable[str]], follower: Follower, go_on: Callable[[], bool] = lambda: True
) -> tuple[list[str], list[str]]:
    """Return of {path: blobs}, as `Index.bases` has them, what `unsettled` returns."""
    changed, left = [], []
    same = follower.unchanged() if len(bases) > MANY else {}
    for path, blobs in bases.items():
        if path in same and {same[path], ""}.issuperset(blobs):
            continue
        if not go_on():
            left.append(path)
        elif not _is_settled(follower.text(path), blobs):
            changed.append(path)
    return changed, left


def _is_settled(data: bytes | None, blobs: Iterable[str]) -> bool:
    return data is not None and all(
        not blob or (blob != "?" and blob == _blob(data, blob)) for blob in blobs
    )


def _blob(data: bytes, like: str) -> str:
    return object_id("blob", data, "sha256" if len(like) == 64 else "sha1")


def survey(
    indexes: Sequence[Index],
    follower: Follower,
    go_on: Callable[[], bool] = lambda: True,
    step: Callable[[int, int], None] | None = None,
) -> PlacementSurvey:
    """Return the live gotchas whose code is not as it was, worst first.

    It looks file by file until `go_on` says no.

    A file that is the blob that a gotcha was anchored at needs no further look: thousands of
    gotchas in unchanged files cost as much as reading these files. `step` is told how many gotchas
    are done, and how many there are to look at.
    """
    total = sum(index.number(**OPEN) for index in indexes)
    rows, unseen = _rows_to_place(indexes, follower, go_on)
    drifted: list[tuple[int, Drifted]] = []
    todo = [sum(map(_is_place, row["anchors"])) for row in rows]
    done = 0
    for at, anchor, where in _placements(rows, follower, go_on):
        if where.stale or where.state in {"changed", "approximate", "adrift", "moved"}:
            drifted.append((at, Drifted(rows[at], anchor, where)))
        todo[at] -= 1
        done += not todo[at]
        if step and (done % 100 == 0 or done == len(rows)):
            step(done, len(rows))
    drifted.sort(key=itemgetter(0))
    checked = total - unseen - len(rows) + done
    return PlacementSurvey([place for _, place in drifted], total, checked, follower.was_late)


def _rows_to_place(
    indexes: Sequence[Index], follower: Follower, go_on: Callable[[], bool]
) -> tuple[list[Row], int]:
    """Return the gotchas in changed files, worst first, and how many there was no time for."""
    rows: list[Row] = []
    unseen: set[tuple[int, int]] = set()
    for number, index in enumerate(indexes):
        changed, left = unsettled(index, follower, go_on)
        unseen.update((number, row["n"]) for row in _anchored(index, left, ("id",)))
        rows += [row | {"index": number} for row in _anchored(index, changed, SEEN)]
    rows = [row for row in rows if (row["index"], row["n"]) not in unseen]
    sort_rows(rows, "severity")
    return rows, len(unseen)


def _placements(
    rows: Sequence[Row], follower: Follower, go_on: Callable[[], bool]
) -> Iterator[tuple[int, Row, Placement]]:
    """Yield (number of the gotcha, anchor, where it is now), file by file.

    Ends when `go_on` says no.
    """
    files: dict[str, list[tuple[int, Row]]] = {}
    for at, row in enumerate(rows):
        for anchor in row["anchors"]:
            if _is_place(anchor):
                files.setdefault(anchor["path"], []).append((at, anchor))
    follower.expect(files)
    for path, anchors in files.items():
        for (at, anchor), where in _now(follower, path, anchors, go_on):
            yield at, anchor, where


def _anchored(index: Index, paths: Sequence[str], fields: Sequence[str]) -> list[Row]:
    """Return the live gotchas that have a place in one of these files, once each."""
    out: dict[int, Row] = {}
    for start in range(0, len(paths), 500):
        out |= {
            row["n"]: row
            for row in index.rows(paths=paths[start : start + 500], fields=fields, **OPEN)
        }
    return list(out.values())


def _is_place(anchor: Row) -> bool:
    return "glob" not in anchor and isinstance(anchor.get("path"), str)


def _now(
    follower: Follower, path: str, anchors: Sequence[tuple[int, Row]], go_on: Callable[[], bool]
) -> Iterator[tuple[tuple[int, Row], Placement]]:
    """Yield anchors of one file with where they are now, as `Follower.now` says.

    Ends when `go_on` says no.

    The file is read once, and what was anchored at the same old text is placed together; only code
    that is not in it is searched for.
    """
    if not go_on():
        return
    data = follower.text(path)
    lines = None if data is None else data.decode("utf-8", "replace").split("\n")
    anchors = sorted(anchors, key=lambda numbered: str(numbered[1].get("blob") or ""))
    for start in range(0, len(anchors), BATCH):
        part = anchors[start : start + BATCH]
        if not go_on():
            return
        spots: Sequence[Placement | None] = [None] * len(part)
        if data is not None and lines is not None:
            blob = _blob(data, str(part[-1][1].get("blob") or ""))
            spots = follower.place_all([anchor for _, anchor in part], path, lines, blob)
        for numbered, spot in zip(part, spots, strict=True):
            if spot is None or not spot.is_certain or _is_doubtful(spot):
                if not go_on():
                    return
                spot = follower.now(numbered[1])
            yield numbered, spot


class Guide:
    """A finder of the gotchas about several files, one file after the other.

    `seconds` are for all files together. What is the same for all files is read once.
    """

    def __init__(
        self,
        indexes: Sequence[tuple[str, Index]],
        follower: Follower,
        rows: Callable[..., list[Row]],
        hidden: Container[str],
        seconds: float,
    ) -> None:
        self._follower = follower
        self._rows = rows
        self._hidden = hidden
        self._end = time.monotonic() + seconds
        self._loose = [*rows(globs=True), *rows(triggered=True)]
        apart = [
            path
            for prefix, index in indexes
            if prefix != "user"
            for some in unsettled(index, follower, self._go_on)
            for path in some
        ]
        self._apart = frozenset(apart)
        self._others: list[Row] | None = None

    def _go_on(self) -> bool:
        return time.monotonic() < self._end

    def about(self, path: str, line: int, lines: Sequence[str], blob: str) -> list[Placed]:
        """Return the gotchas of a file, those nearest to a line first.

        They are anchored in the file or in one of its former names, or their code has moved to it.
        """
        names = names_of(path, self._follower, self._apart, self._elsewhere, self._go_on)
        rows = [*self._rows(paths=(path, *names)), *self._loose]
        unique = {row["id"]: row for row in rows if row["id"] not in self._hidden}
        placed = place(unique.values(), self._follower, path, lines, line, blob, names)
        if self._apart:
            placed = gone(placed, self._follower, self._go_on)
            others = [
                row
                for row in self._elsewhere()
                if row["id"] not in unique and row["id"] not in self._hidden
            ]
            placed += arrived(others, self._follower, path, lines, line, self._go_on)
        return sorted(placed, key=attrgetter("distance"))

    def _elsewhere(self) -> list[Row]:
        """Return the worst of the gotchas whose own file has changed.

        Their code may have moved to another file.
        """
        if self._others is None:
            paths = sorted(self._apart)
            rows = {
                row["id"]: row
                for start in range(0, len(paths), 500)
                for row in self._rows(
                    paths=paths[start : start + 500], order="severity", limit=MOVED_ROWS
                )
            }
            self._others = list(rows.values())
            sort_rows(self._others, "severity")
        return self._others[:MOVED_ROWS]


def about(anchor: Row, names: Sequence[str]) -> bool:
    """Say whether an anchor is in a file that has, or had, these names."""
    if isinstance(anchor.get("path"), str):
        return anchor["path"] in names
    glob = anchor.get("glob")
    return isinstance(glob, str) and any(glob_match(glob, name) for name in names[:1])


def _away(where: Placement, line: int) -> int:
    """Return the lines between a placement and a line.

    What is about the whole file is further than any.
    """
    if not line:
        return 0
    if where.state in {"file", "glob", "adrift"}:
        return 1 << 20
    return max(where.first - line, line - where.last, 0)
