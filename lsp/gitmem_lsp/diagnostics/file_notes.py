"""What is recorded about a text of a file: one way to find it, and one cache.

Diagnostics, hovers, lenses, actions and lists are all made of what is found here. It is true of one
state of the stores, of the moves that are known of the file, and of one text.
"""

from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field, replace

from gitmem_lsp.diagnostics.diagnostics import Mark, make_marks
from gitmem_lsp.protocol.line_shift import Edit, shift
from gitmem_lsp.settings import Options
from gitmem_lsp.workspace.code_moves import NONE, Moves
from gitmem_lsp.workspace.place_notes import (
    EditorNote,
    bounded,
    find_notes,
    notes_of_tree,
    trigger_notes,
)
from gitmem_lsp.workspace.repositories import DocumentPlace
from gitmem_lsp.workspace.repository_view import NO_ROWS, RepositoryView, Row, Rows

FILES = 5_000  # of which it is kept what was found
NEVER = "9999"  # a time after all others


@dataclass(slots=True, eq=False)
class FileNotes:
    """What is recorded about one text of a file, each thing at its place.

    `notes` are unresolved gotchas, and memories that the code refutes, at their anchors;
    `triggered` are gotchas on lines where a trigger fires; `searched` says whether these were
    looked for. `asides` have no diagnostic: resolved and snoozed gotchas, and memories. They are
    None until somebody asks, and hold `until` a time.
    """

    rows: Rows = NO_ROWS
    moves: Moves = NONE
    text: Hashable = None
    notes: tuple[EditorNote, ...] = ()
    triggered: tuple[EditorNote, ...] = ()
    asides: tuple[EditorNote, ...] | None = None
    until: str = NEVER
    searched: bool = True
    _marks: dict[Hashable, list[Mark]] = field(init=False, default_factory=dict)

    @property
    def shown(self) -> tuple[EditorNote, ...]:
        """The unresolved gotchas, wherever they come from."""
        return self.moves.marked(self.notes) + self.triggered

    @property
    def ids(self) -> set[str]:
        """The gotchas that the file has, shown or not."""
        rows = self.rows
        every = (*rows.open, *rows.triggered, *rows.past, *rows.snoozed)
        return {str(row["id"]) for row in every}

    def marks(
        self, place: DocumentPlace, lines: Sequence[str], encoding: str, options: Options
    ) -> list[Mark]:
        """Return the diagnostics of the text, which is given in its lines."""
        key = (encoding, options)
        made = self._marks.get(key)
        if made is None:
            notes = notes_of_tree(self.shown, place.repository.view.marks.of(place.worktree))
            total = len(self.rows.open) + len(notes) - len(self.notes)
            made = make_marks(notes, lines, encoding, total if self.notes else None, options)
            self._marks[key] = made
        return made

    def edited(self, edits: Sequence[Edit]) -> "FileNotes":
        """Return the notes where edits of the text have put them."""
        return replace(
            self,
            text=None,
            notes=_shifted(self.notes, edits),
            triggered=_shifted(self.triggered, edits),
            asides=None if self.asides is None else _shifted(self.asides, edits),
        )


def _shifted(notes: Sequence[EditorNote], edits: Sequence[Edit]) -> tuple[EditorNote, ...]:
    out = []
    for note in notes:
        line = note.line if note.whole_file else shift(note.line, edits)
        if line is not None:
            last = max(line, note.last + line - note.line)
            out.append(note if line == note.line else replace(note, line=line, last=last))
    return tuple(out)


class NoteFinder:
    """Finds notes, and keeps those of the last text of each file. For the loop."""

    def __init__(self) -> None:
        self._files: OrderedDict[Hashable, FileNotes] = OrderedDict()

    def of_file(self, place: DocumentPlace) -> FileNotes:
        """Return what was found last for a file, whatever its text was."""
        return self._files.get((place.gitdir, place.paths), NOTHING)

    def paths(self, place: DocumentPlace) -> tuple[str, ...]:
        """Return the paths of a file with its former names, as far as they are known."""
        return self.of_file(place).moves.paths(place.paths)

    def at_hand(self, place: DocumentPlace, text: str) -> FileNotes | None:
        """Return what was found for a text if the stores are as they were."""
        notes = self.of_file(place)
        holds = notes.rows.version == place.repository.view.version and notes.text == text_key(text)
        return notes if holds else None

    def keep(self, place: DocumentPlace, notes: FileNotes) -> None:
        """Keep what was found for a file."""
        key = (place.gitdir, place.paths)
        self._files[key] = notes
        self._files.move_to_end(key)
        if len(self._files) > FILES:
            self._files.popitem(last=False)

    def set_moves(self, place: DocumentPlace, moves: Moves) -> None:
        """Note what is known about the moves of a file; what is found from now on has it."""
        notes = self.of_file(place)
        if notes is NOTHING or not notes.moves.same(moves):
            self.keep(place, FileNotes(moves=moves))
        else:
            notes.moves = moves

    async def find(
        self,
        place: DocumentPlace,
        lines: Sequence[str],
        on_anchors: Callable[[FileNotes], None] | None = None,
    ) -> FileNotes:
        """Return what is recorded about a text of a file. Raises GitmemError.

        `on_anchors` is called with what is found first when the search of triggers is to follow.
        """
        repository, text = place.repository, "".join(lines)
        notes = self.at_hand(place, text)
        if notes is None:
            rows, moves = await self._rows(place)
            notes = FileNotes(rows, moves, text_key(text))
            if bounded(text, lines):
                notes.searched = not rows.triggered
                if rows.open:
                    paths = moves.paths(place.paths)
                    notes.notes = await repository.read_code(
                        _place_rows, rows.open, repository.view, place.worktree, paths, lines
                    )
        if not notes.searched:
            if on_anchors is not None:
                on_anchors(notes)
            triggered = await repository.read_code(
                trigger_notes, notes.rows.triggered, place.paths[0], lines
            )
            notes = replace(notes, triggered=tuple(triggered), searched=True)
        self.keep(place, notes)
        return notes

    async def _rows(self, place: DocumentPlace) -> tuple[Rows, Moves]:
        """Return the gotchas of a file in the present state of the stores, and its moves."""
        view, notes = place.repository.view, self.of_file(place)
        if notes.rows.version == view.version:
            return notes.rows, notes.moves
        moves = notes.moves
        rows = await place.repository.run(view.gotchas, moves.paths(place.paths))
        if moves.came and moves.version != rows.version:
            # what came from other files may have been resolved since, or be gone
            came = await place.repository.run(view.again, moves.came)
            moves = replace(moves, came=came, version=rows.version)
        return moves.over(rows), moves

    async def with_asides(
        self, place: DocumentPlace, notes: FileNotes, lines: Sequence[str]
    ) -> FileNotes:
        """Return notes with those that have no diagnostic. Raises GitmemError."""
        repository = place.repository
        view = repository.view
        if notes.asides is not None and view.app.clock.stamp() < notes.until:
            return notes
        paths = notes.moves.paths(place.paths)
        memories = await repository.run(view.memories, paths)
        rows = (*notes.rows.past, *notes.rows.snoozed, *memories)
        asides: Sequence[EditorNote] = ()
        if rows and bounded("".join(lines), lines):
            asides = await repository.read_code(
                _place_rows, rows, view, place.worktree, paths, lines
            )
        ends = (str(row["expires"]) for row in memories if row["expires"])
        out = replace(notes, asides=tuple(asides), until=min(ends, default=NEVER))
        if self.of_file(place).rows is notes.rows and notes.text is not None:
            self.keep(place, out)
        return out


def _place_rows(
    rows: Sequence[Row],
    view: RepositoryView,
    worktree: str | None,
    paths: tuple[str, ...],
    lines: Sequence[str],
) -> tuple[EditorNote, ...]:
    """Return rows at their places. On the thread that reads code."""
    return tuple(find_notes(rows, paths, lines, view.follower(worktree)))


def text_key(text: str) -> Hashable:
    """Return what tells a text from others."""
    return len(text), hash(text)


NOTHING = FileNotes()
