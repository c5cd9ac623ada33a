"""The state of a document that is open in the editor.

The module also says what a further search for it needs from the rest of the server.
"""

import asyncio
from dataclasses import dataclass, field
from typing import Any, Protocol

from gitmem_lsp.diagnostics.diagnostics import Mark
from gitmem_lsp.diagnostics.note_cache import Looked
from gitmem_lsp.workspace.code_moves import NONE, Moves
from gitmem_lsp.workspace.place_notes import EditorNote
from gitmem_lsp.workspace.repositories import DocumentPlace, ServedRepository
from gitmem_lsp.workspace.repository_view import Rows


@dataclass(slots=True, eq=False)
class Opened:
    """A document that the editor has open, and what it shows."""

    uri: str
    place: DocumentPlace | None = None
    paths: tuple[str, ...] = ()  # with the names that the file had before
    rows: Rows | None = None
    looked: Looked = field(default_factory=Looked)
    marks: list[Mark] = field(default_factory=list)
    shifted: bool = False  # the marks are to be made anew from the notes
    shown: tuple[int | None, list[dict[str, Any]]] | None = None  # as the protocol writes them
    stale: bool = True  # the rows are to be read again
    moved: bool = True  # the file's place is to be looked for again
    task: "asyncio.Task[None] | None" = None
    moves: Moves = NONE  # former names, and code that went from file to file
    tracked: int = -1  # the state of the stores for which that was looked for
    back: "asyncio.Task[None] | None" = None  # looks for it

    @property
    def notes(self) -> tuple[EditorNote, ...]:
        """The unresolved gotchas, wherever they come from."""
        return self.moves.told(self.looked.notes) + self.looked.triggered


class Documents(Protocol):
    """The open documents."""

    def of(self, repository: ServedRepository) -> list[Opened]:
        """Return the open documents of a repository."""

    def touch(
        self, uri: str, delay: float = 0.0, *, read: bool = True, moved: bool = False
    ) -> None:
        """Look at a document again after a delay."""
