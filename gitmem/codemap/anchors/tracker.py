"""Finds anchors again in one repository.

It uses the text they were made on, renamed files, and code that moved to another file.

Everything is best effort under a deadline: what git cannot say in time, or at all (a shallow clone,
another clone, a commit that was rebased away), is taken as not known, and the anchor is placed by
what it remembers itself.
"""

import os
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from gitmem.codemap.anchors.block_map import through
from gitmem.codemap.anchors.context import context_of
from gitmem.codemap.anchors.git_texts import HERE, TextSources, safe, split
from gitmem.codemap.anchors.placement import Placement
from gitmem.codemap.anchors.renames import FileNames
from gitmem.codemap.anchors.resolve import place
from gitmem.codemap.linemap.line_map import LineMap
from gitmem.codemap.linemap.normal_forms import TELLING, squash, weight
from gitmem.git.object_codec import object_id
from gitmem.git.process import Git

if TYPE_CHECKING:
    from gitmem.codemap.symbols.definitions import Symbol

SECONDS = 2.0  # that finding one anchor may take
CANDIDATES = 8  # files that are searched for code that left its own


class Follower:
    """Places anchors in one repository.

    Keeps what git said until `forget`, so an instance is for one thread.
    """

    def __init__(self, git: Git, worktree: str | None, seconds: float = SECONDS) -> None:
        self.git = git
        self._sources = TextSources(git, worktree, seconds)
        self._names = FileNames(self._sources)

    @property
    def worktree(self) -> str | None:
        """The folder of the work tree, its links resolved; None where there is none."""
        return self._sources.worktree

    @property
    def was_late(self) -> bool:
        """Say whether some answer since `forget` may be another one with more time."""
        return self._sources.was_late

    def forget(self) -> None:
        """Forget what git said of HEAD and of the work tree.

        This is for when something was committed, checked out or renamed.
        """
        self._sources.forget()
        self._names.forget()

    # -- in a text

    def place(
        self, anchor: dict[str, Any], path: str, lines: Sequence[str], blob: str = ""
    ) -> Placement:
        """Return where an anchor is in a text of a file that is called `path` today."""
        return self.place_all([anchor], path, lines, blob)[0]

    def place_all(
        self, anchors: Sequence[dict[str, Any]], path: str, lines: Sequence[str], blob: str = ""
    ) -> list[Placement]:
        """Return where anchors are in one text; the old texts are read from git in one call."""
        self._sources.begin()
        self._sources.read(
            [str(a.get("blob") or "") for a in anchors if not blob or a.get("blob") != blob]
        )
        out = []
        for anchor in anchors:
            base, old = (
                (anchor, None) if blob and anchor.get("blob") == blob else self._base(anchor)
            )
            made = place(base, lines, blob, old)
            out.append(replace(made, path=path) if made.state != "glob" else made)
        return out

    # -- in the repository

    def text(self, path: str) -> bytes | None:
        """Return a file's content as `now` sees it; None when it is not a file, or too large."""
        self._sources.begin()
        return self._sources.content(path, HERE if self.worktree else "HEAD")

    def files(self, paths: Iterable[str]) -> set[str]:
        """Return which paths are files, as `now` sees it."""
        if self.worktree:
            root = self.worktree
            return {p for p in paths if safe(p) and os.path.isfile(os.path.join(root, p))}
        self._sources.begin()
        return set(self._sources.names("HEAD")).intersection(paths)

    def unchanged(self) -> dict[str, str]:
        """Return {path: blob} of the files that the work tree has as git's index has them.

        Git tells by their times and sizes. What it cannot tell is left out.
        """
        self._sources.begin()
        return self._sources.unchanged()

    def now(self, anchor: dict[str, Any]) -> Placement:
        """Return where an anchor is in the work tree; in HEAD where there is none."""
        return self._find(anchor, HERE) if self.worktree else self.at(anchor, "HEAD")

    def called(self, anchor: dict[str, Any]) -> str:
        """Return what an anchor's file is called in the work tree.

        Empty when it is there under no name.
        """
        self._sources.begin()
        path = str(anchor.get("path") or "")
        where, data = (
            self._names.file(anchor, path, HERE) if path and self.worktree else (path, None)
        )
        return where if data is not None else ""

    def expect(self, paths: Iterable[str]) -> None:
        """Prepare to find anchors of several files: what git is asked for is asked for once."""
        paths = list(paths)
        files = self.files(paths)
        self._sources.begin()
        self._names.expect([path for path in paths if path not in files])

    def could_hold(self, text: str, anchors: Sequence[dict[str, Any]], path: str) -> list[bool]:
        """Return for each anchor whether its code may have moved to a file.

        This is the case when the file has its definition, or a line that is searched for.
        """
        from gitmem.codemap.symbols import definitions

        defined = {
            tuple(definitions.parts(symbol.qualified)) for symbol in definitions.symbols(text, path)
        }
        self._sources.begin()
        self._sources.read([str(a.get("blob") or "") for a in anchors])
        out = []
        for anchor in anchors:
            base, old = self._base(anchor)
            lines, first, last = _source(base, old) if base.get("lines") else (None, 0, 0)
            held = lines is not None and any(probe in text for probe in _probes(lines, first, last))
            out.append(held or tuple(definitions.parts(str(anchor.get("symbol") or ""))) in defined)
        return out

    def at(self, anchor: dict[str, Any], revision: str) -> Placement:
        """Return where an anchor is in a revision; adrift when there is no such revision."""
        self._sources.begin()
        target = self._sources.commit(revision)
        if not target:
            return Placement(
                str(anchor.get("path") or anchor.get("glob") or ""),
                1,
                1,
                "adrift",
                0.0,
                str(anchor.get("symbol") or ""),
                stale=True,
            )
        return self._find(anchor, target)

    def earlier(self, path: str, commits: Iterable[str] = ()) -> tuple[str, ...]:
        """Return the other names of a file, newest first.

        They are its names at the given commits, or in HEAD's last commits when none is given.
        """
        self._sources.begin()
        return self._names.earlier(path, commits)

    # -- steps

    def _find(self, anchor: dict[str, Any], target: str) -> Placement:
        self._sources.begin()
        path, name = str(anchor.get("path") or ""), str(anchor.get("symbol") or "")
        if isinstance(anchor.get("glob"), str) or not path:
            return place(anchor, ())
        where, data = self._names.file(anchor, path, target)
        best = Placement(path, 1, 1, "adrift", 0.0, name, stale=True)
        if data is not None:
            path = where
            best = self._in_file(anchor, where, data)
            if best.is_certain and not (best.state == "changed" and best.confidence < 0.7):
                return best
        elif target == HERE and not anchor.get("lines") and self._is_folder(path):
            return Placement(path, 1, 1, "file")
        away = None
        if anchor.get("lines"):
            away = self._elsewhere(*self._base(anchor), path, target)
        if away is None and best.state == "adrift" and name:
            away = self._defined(anchor, path, target)
        return away or best

    def _is_folder(self, path: str) -> bool:
        root = self.worktree
        return bool(root) and os.path.isdir(os.path.join(root or "", path)) and safe(path)

    def _in_file(self, anchor: dict[str, Any], path: str, data: bytes) -> Placement:
        """Return where an anchor is in its file, which may have another name now."""
        wanted = str(anchor.get("blob") or "")
        algorithm = "sha256" if len(wanted) == 64 else "sha1"
        blob = object_id("blob", data, algorithm) if wanted else ""
        is_same = bool(blob) and blob == wanted
        base, old = (anchor, None) if is_same else self._base(anchor)
        spot = replace(place(base, split(data.decode("utf-8", "replace")), blob, old), path=path)
        if spot.state == "same" and path != str(anchor["path"]) and anchor.get("lines"):
            return replace(spot, state="moved")
        return spot

    def _elsewhere(
        self, anchor: dict[str, Any], old: list[str] | None, path: str, target: str
    ) -> Placement | None:
        """Return the place of code that is in exactly one other file, and was not in it before."""
        text, first, last = _source(anchor, old)
        if text is None:
            return None
        commit = str(anchor.get("commit") or "")
        made: list[tuple[float, Placement]] = []
        for name in self._holding(_probes(text, first, last), path, target):
            data = self._sources.content(name, target)
            if data is None or self._sources.is_over():
                continue
            spot, support = _in_text(text, first, last, split(data.decode("utf-8", "replace")))
            if spot is None:
                continue
            before = self._sources.committed(commit, name)
            if before is None or not self._was_there(text, first, last, before):
                made.append((support, replace(spot, path=name)))
        made.sort(key=lambda row: -row[0])
        if not made or (len(made) > 1 and made[0][0] < 1.5 * made[1][0]):
            return None
        spot = made[0][1]
        symbol, sure = str(anchor.get("symbol") or ""), min(0.75, spot.confidence)
        return replace(spot, symbol=symbol, state="moved", confidence=sure)

    def _was_there(self, text: Sequence[str], first: int, last: int, before: Sequence[str]) -> bool:
        had = {squash(x) for x in before}
        telling = [squash(x) for x in text[first : last + 1] if weight(x) >= TELLING // 2]
        return bool(telling) and all(line in had for line in telling)

    def _holding(self, probes: Sequence[str], path: str, target: str) -> list[str]:
        """Return other files that hold one of these lines, in the probes' order."""
        out: list[str] = []
        for files in self._sources.holding(probes, target):
            names = [name for name in files if name != path]
            if len(names) <= 3 * CANDIDATES:  # a line that is everywhere tells nothing
                out += [name for name in names if name not in out]
            if len(out) >= CANDIDATES:
                break
        return out[:CANDIDATES]

    def _symbols(self, path: str, target: str) -> "Sequence[Symbol]":
        """Return the definitions of a file; none where there is no time for it."""
        from gitmem.codemap.symbols import definitions

        data = self._sources.content(path, target)
        if data is None or self._sources.is_over():
            return ()
        return definitions.symbols(data.decode("utf-8", "replace"), path)

    def _defined(self, anchor: dict[str, Any], path: str, target: str) -> Placement | None:
        """Return the definition of an anchor's symbol if exactly one other file has one now.

        That file must not have had one before.
        """
        from gitmem.codemap import grammars
        from gitmem.codemap.symbols import definitions

        name = str(anchor["symbol"])
        last = (definitions.parts(name) or [""])[-1]
        language = grammars.language_of(path)
        if not last or not language:
            return None
        others = [
            other
            for other in self._sources.grep(("-w", "-F", "-e", last), target)[:40]
            if other != path and grammars.language_of(other) == language
        ]
        made = [
            (other, symbol)
            for other in others
            for symbol in self._symbols(other, target)
            if _is_definition(symbol, name)
        ]
        if len(made) != 1:
            return None
        other, symbol = made[0]
        before = self._sources.committed(str(anchor.get("commit") or ""), other)
        if before is not None and definitions.find(
            definitions.symbols("\n".join(before), other), name
        ):
            return None
        return Placement(other, symbol.at, symbol.last, "approximate", 0.4, name, stale=True)

    def _base(self, anchor: dict[str, Any]) -> tuple[dict[str, Any], list[str] | None]:
        """Return an anchor and the lines of the text that it refers to.

        The text is that of its blob, else that of the commit with the anchor found in it.
        """
        if not isinstance(anchor.get("lines"), list):
            return anchor, None
        old = self._sources.text(str(anchor.get("blob") or ""))
        if old is not None:
            return anchor, old
        old = self._sources.committed(
            str(anchor.get("commit") or ""), str(anchor.get("path") or "")
        )
        if old is None:
            return anchor, None
        spot = place(anchor, old)
        if spot.state not in {"same", "moved"}:
            return anchor, None
        return {**anchor, "lines": [spot.first, spot.last]}, old


def _is_definition(symbol: "Symbol", name: str) -> bool:
    from gitmem.codemap.symbols import definitions

    is_named = definitions.parts(symbol.qualified) == definitions.parts(name)
    return is_named and symbol.kind != "impl"


def _in_text(
    text: Sequence[str], first: int, last: int, new: Sequence[str]
) -> tuple[Placement | None, float]:
    """Return where lines of a text are in another file's text, and how much speaks for it.

    The place is None where too little does.
    """
    lines = LineMap(text, new, whole=False)
    spot = through(lines, first, last)
    if spot is None or spot.confidence < 0.7:
        return None, 0.0
    shift = spot.first - 1 - first
    around = [
        n
        for n in range(max(0, first - 6), min(len(text), last + 7))
        if lines.to[n] >= 0 and abs(lines.to[n] - n - shift) <= 6
    ]
    support = sum(min(weight(text[n]), 30) for n in around)
    own = sum(weight(text[n]) for n in range(first, last + 1) if lines.to[n] >= 0)
    return (spot, support) if support >= 2 * TELLING or own >= TELLING else (None, 0.0)


def _source(anchor: dict[str, Any], old: list[str] | None) -> tuple[list[str] | None, int, int]:
    """Return (text, first, last) by which an anchor's code can be recognised.

    The text is the anchor's old file, or the lines that it remembers. Lines count from 0.
    """
    first, last = (
        anchor["lines"]
        if isinstance(anchor["lines"], list) and len(anchor["lines"]) == 2
        else (0, 0)
    )
    if type(first) is not int or type(last) is not int or not 1 <= first <= last:
        return None, 0, 0
    if old is not None and first <= len(old):
        return old, first - 1, min(last, len(old)) - 1
    wanted, before, after = context_of(anchor)
    if not wanted:
        return None, 0, 0
    return [*before, *wanted, *after], len(before), len(before) + len(wanted) - 1


def _probes(text: Sequence[str], first: int, last: int) -> list[str]:
    """Return the lines to search other files for.

    These are the most telling of the anchored lines, then nearby lines.
    """
    own = sorted(range(first, min(last, first + 60) + 1), key=lambda n: -weight(text[n]))[:2]
    near = sorted(
        (n for n in range(max(0, first - 4), min(len(text), last + 5)) if not first <= n <= last),
        key=lambda n: -weight(text[n]),
    )[:2]
    lines = [text[n].strip()[:300] for n in (*own, *near) if weight(text[n]) >= 8]
    return list(dict.fromkeys(lines))
