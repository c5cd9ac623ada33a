"""Where code is that is no longer in its file.

The module finds what a document's file was called, whose code has come to it, and where its own
code is.

The answers are those of `git mem gotcha for`, by the same functions. What came from another file is
put into the document's rows with an anchor at its place on the disk, so that from then on it is
followed in the buffer like any other. All but `Moves` is for the thread that asks git for renames.
"""

import os
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from gitmem.codemap.anchors.placement import Placement
from gitmem.codemap.anchors.tracker import Follower
from gitmem.git.object_codec import object_id
from gitmem.services.gotchas.placement import Placed, arrived, gone, names_of, settle
from gitmem_lsp.workspace.place_notes import ADRIFT, EditorNote
from gitmem_lsp.workspace.repository_view import Row, Rows

SECONDS = 3.0  # that looking around for one document may take
WORKTREES = 8  # whose history is kept


@dataclass(frozen=True, slots=True, eq=False)
class Moves:
    """What is known about the moves of one document.

    It has former names of its file, gotchas that came from other files, and {id: path:line} of code
    that left it.

    `key` names the state of the files that gotchas are about, `version` that of the stores.
    """

    names: tuple[str, ...] = ()
    came: tuple[Row, ...] = ()
    left: Mapping[str, str] = field(default_factory=dict)
    key: Hashable = None
    version: int = -1

    def paths(self, own: tuple[str, ...]) -> tuple[str, ...]:
        """Return the paths of a file with its former names."""
        return tuple(dict.fromkeys((*own, *self.names)))

    def over(self, rows: Rows) -> Rows:
        """Return the rows of a document with those that came."""
        here = {row["id"] for row in (*rows.open, *rows.past)}
        more = tuple(row for row in self.came if row["id"] not in here)
        return replace(rows, open=(*rows.open, *more)) if more else rows

    def marked(self, notes: Sequence[EditorNote]) -> tuple[EditorNote, ...]:
        """Return the notes; those whose code is in another file say so."""
        return tuple(
            replace(note, state="adrift", line=0, last=0, went=self.left[note.id])
            if note.state in ADRIFT and note.id in self.left
            else note
            for note in notes
        )

    def same(self, other: "Moves") -> bool:
        """Say whether another value says the same."""
        return (self.names, self.came, self.left) == (other.names, other.came, other.left)


NONE = Moves()


class Scout:
    """Looks around in one repository."""

    def __init__(self, make: Callable[[str | None], Follower]) -> None:
        self._make = make
        self._known: OrderedDict[str | None, _MovedTree] = OrderedDict()

    def _tree(self, worktree: str | None) -> "_MovedTree":
        if worktree not in self._known:
            self._known[worktree] = _MovedTree(self._make(worktree), worktree or "")
            if len(self._known) > WORKTREES:
                self._known.popitem(last=False)
        return self._known[worktree]

    def apart(
        self, worktree: str | None, bases: Mapping[str, set[str]], heads: int
    ) -> tuple[Hashable, frozenset[str]]:
        """Return the files that have changed since gotchas were recorded about them, and a key.

        The key is that of their state.
        """
        return self._tree(worktree).apart(bases, heads)

    def look(
        self,
        worktree: str | None,
        path: str,
        apart: frozenset[str],
        others: Sequence[Row],
        notes: Sequence[EditorNote],
    ) -> Moves:
        """Return what is known of a file.

        `others` are the gotchas of the files `apart`, `notes` those that the file shows.
        """
        follower = self._tree(worktree).follower
        end = time.monotonic() + SECONDS

        def go_on() -> bool:
            return time.monotonic() < end

        names = names_of(path, follower, apart, lambda: others, go_on)
        lost = [
            Placed(note.row, Placement(path, 1, 1, note.state))
            for note in notes
            if note.state in ADRIFT and not note.row.get("came")
        ]
        away = {
            str(gotcha.row["id"]): f"{gotcha.where.path}:{gotcha.where.first}"
            for gotcha in gone(lost, follower, go_on)
            if gotcha.where.path != path and gotcha.where.state == "moved"
        }
        data = follower.text(path)
        if data is None or b"\0" in data[:8000]:
            return Moves(names, (), away)
        text = data.decode("utf-8", "replace")
        shown = {note.id for note in notes if not note.row.get("came")}
        strange = [
            row
            for row in others
            if row["id"] not in shown
            and not any(a.get("path") in (path, *names) for a in row["anchors"])
        ]
        placed = arrived(strange, follower, path, text.split("\n"), 0, go_on, states=("moved",))
        return Moves(names, tuple(_brought(gotcha, path, text, data) for gotcha in placed), away)


class _MovedTree:
    """One work tree: what follows code in it, and which files were looked at in which state."""

    def __init__(self, follower: Follower, root: str) -> None:
        self.follower = follower
        self._root = root
        self._settled: dict[str, tuple[Hashable, bool]] = {}
        self._key: Hashable = None

    def apart(self, bases: Mapping[str, set[str]], heads: int) -> tuple[Hashable, frozenset[str]]:
        seen = {
            path: (_state(os.path.join(self._root, path)), frozenset(blobs))
            for path, blobs in bases.items()
        }
        todo = {
            path: bases[path]
            for path, state in seen.items()
            if self._settled.get(path, (None, False))[0] != state
        }
        end = time.monotonic() + SECONDS
        changed, left = settle(todo, self.follower, lambda: time.monotonic() < end)
        unsure = frozenset(left)
        self._settled = {
            path: (state, path not in changed and self._was(path, todo))
            for path, state in seen.items()
            if path not in unsure
        }
        apart = frozenset(path for path in bases if path in unsure or not self._settled[path][1])
        key = (
            heads,
            _state(os.path.join(self.follower.git.gitdir, "index")),
            frozenset((path, seen[path]) for path in apart),
        )
        if key != self._key:
            self._key = key
            self.follower.forget()  # what git said of these files may not hold any more
        return key, apart

    def _was(self, path: str, todo: Mapping[str, set[str]]) -> bool:
        return path in todo or self._settled[path][1]


def _brought(gotcha: Placed, path: str, text: str, data: bytes) -> Row:
    """Return a row whose anchor is where its code is now; `came` keeps what it was."""
    from gitmem.codemap.anchors.resolve import attach

    anchors = [dict(anchor) for anchor in gotcha.row["anchors"]]
    was = anchors[gotcha.number]
    kind = "sha256" if len(str(was.get("blob") or "")) == 64 else "sha1"
    here = {"path": path, "lines": [gotcha.where.first, gotcha.where.last]}
    anchors[gotcha.number] = attach(here, text, object_id("blob", data, kind))
    return {**gotcha.row, "anchors": anchors, "came": was}


def _state(path: str) -> Hashable:
    try:
        file_facts = os.lstat(path)
    except (OSError, ValueError):
        return None
    return file_facts.st_ino, file_facts.st_mtime_ns, file_facts.st_size
