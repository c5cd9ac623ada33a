"""The state of a document that is open in the editor."""

import asyncio
from dataclasses import dataclass, field
from typing import Any, Protocol

from gitmem_lsp.diagnostics.diagnostics import Mark
from gitmem_lsp.diagnostics.file_notes import NOTHING, FileNotes
from gitmem_lsp.workspace.place_notes import EditorNote
from gitmem_lsp.workspace.repositories import DocumentPlace, ServedRepository


@dataclass(slots=True, eq=False)
class Opened:
    """A document that the editor has open, and what it shows."""

    uri: str
    place: DocumentPlace | None = None
    file_notes: FileNotes = NOTHING  # where the last edit has put it
    marks: list[Mark] = field(default_factory=list)
    shifted: bool = False  # the marks are to be made anew from the notes
    shown: tuple[int | None, list[dict[str, Any]]] | None = None  # as the protocol writes them
    stale: bool = True  # the stores are to be looked at again
    moved: bool = True  # the file's place is to be looked for again
    task: "asyncio.Task[None] | None" = None
    tracked: int = -1  # the state of the stores for which moved code was looked for
    back: "asyncio.Task[None] | None" = None  # looks for it

    @property
    def notes(self) -> tuple[EditorNote, ...]:
        """The unresolved gotchas, wherever they come from."""
        return self.file_notes.shown


class Documents(Protocol):
    """The open documents."""

    def of(self, repository: ServedRepository) -> list[Opened]:
        """Return the open documents of a repository."""

    def touch(
        self, uri: str, delay: float = 0.0, *, read: bool = True, moved: bool = False
    ) -> None:
        """Look at a document again after a delay."""
