"""What is found in a text, with a cache.

The same text with the same gotchas is not searched twice.
"""

from collections import OrderedDict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

from gitmem_lsp.diagnostics.diagnostics import Mark
from gitmem_lsp.workspace.place_notes import EditorNote, bounded, find_notes, trigger_notes
from gitmem_lsp.workspace.repository_view import RepositoryView, Rows

KEPT = 100  # texts whose notes are remembered


@dataclass(frozen=True, slots=True)
class Looked:
    """The notes of a text: at anchors, by triggers, and resolved ones.

    `whole` says that nothing is left to look for.
    """

    notes: tuple[EditorNote, ...] = ()
    triggered: tuple[EditorNote, ...] = ()
    past: tuple[EditorNote, ...] = ()
    whole: bool = True


def look(
    view: RepositoryView,
    worktree: str | None,
    rows: Rows,
    paths: tuple[str, ...],
    lines: Sequence[str],
) -> Looked:
    """Return the notes at anchors. On the thread that reads code."""
    rest = bool(rows.triggered or rows.past)
    if not bounded("".join(lines), lines):
        return Looked()
    if not rows.open:
        return Looked(whole=not rest)
    return Looked(
        tuple(find_notes(rows.open, paths, lines, view.follower(worktree))), whole=not rest
    )


def look_further(
    view: RepositoryView,
    worktree: str | None,
    rows: Rows,
    paths: tuple[str, ...],
    lines: Sequence[str],
    so_far: Looked,
) -> Looked:
    """Return the notes with those by triggers and the resolved ones.

    On the thread that reads code.
    """
    past = find_notes(rows.past, paths, lines, view.follower(worktree)) if rows.past else ()
    return Looked(so_far.notes, tuple(trigger_notes(rows.triggered, paths[0], lines)), tuple(past))


class Memory:
    """What was found in the last texts."""

    def __init__(self) -> None:
        self._known: OrderedDict[Hashable, Looked] = OrderedDict()
        self._marks: OrderedDict[Hashable, list[Mark]] = OrderedDict()
        self._rows: OrderedDict[Hashable, Rows] = OrderedDict()

    def key(
        self,
        view: RepositoryView,
        worktree: str | None,
        paths: tuple[str, ...],
        version: int,
        text: str,
    ) -> Hashable:
        """Return what names a text and the gotchas looked for in it."""
        return id(view), worktree, paths, version, len(text), hash(text)

    def get(self, key: Hashable) -> Looked | None:
        """Return what was found."""
        found = self._known.get(key)
        if found is not None:
            self._known.move_to_end(key)
        return found

    def marks(self, key: Hashable, look: Hashable) -> list[Mark] | None:
        """Return the marks that were made of what was found.

        `look` names the settings and the encoding that they were made for.
        """
        return self._marks.get((key, look))

    def rows(self, view: RepositoryView, paths: tuple[str, ...]) -> Rows | None:
        """Return the rows of a file that was opened before, when they still hold."""
        found = self._rows.get((id(view), paths))
        return found if found is not None and found.version == view.version else None

    def put_rows(self, view: RepositoryView, paths: tuple[str, ...], rows: Rows) -> None:
        """Remember rows."""
        self._rows[id(view), paths] = rows
        if len(self._rows) > KEPT:
            self._rows.popitem(last=False)

    def put_marks(self, key: Hashable, look: Hashable, marks: list[Mark]) -> None:
        """Remember marks."""
        self._marks[key, look] = marks
        if len(self._marks) > KEPT:
            self._marks.popitem(last=False)

    def put(self, key: Hashable, found: Looked) -> None:
        """Remember what was found."""
        self._known[key] = found
        if len(self._known) > KEPT:
            self._known.popitem(last=False)
