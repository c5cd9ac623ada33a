"""Search for moved code of documents once the editor is idle.

This finds former names of their files, and code that came and went. It runs on the loop.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import replace

from gitmem_lsp.background import Background
from gitmem_lsp.diagnostics.file_notes import NoteFinder
from gitmem_lsp.diagnostics.open_documents import Documents, Opened
from gitmem_lsp.workspace.code_moves import NONE, Moves
from gitmem_lsp.workspace.place_notes import EditorNote
from gitmem_lsp.workspace.repositories import DocumentPlace

BACK = 0.15  # seconds after the first diagnostics: git may take a while


class Tracking:
    """The tasks that look for moved code."""

    def __init__(self, documents: Documents, notes: NoteFinder, background: Background) -> None:
        self._documents = documents
        self._notes = notes
        self._background = background

    def begin(self, state: Opened) -> None:
        """Look around for a document, soon."""
        if state.back is not None:
            state.back.cancel()
        if state.place is not None:
            state.back = self._background.start(self._look(state, state.place))

    async def _look(self, state: Opened, place: DocumentPlace) -> None:
        await asyncio.sleep(BACK)
        moves = await self.find(place, state.file_notes.notes)
        state.tracked = moves.version
        if state.place is not place:
            return
        before = self._notes.of_file(place).moves
        self._notes.set_moves(place, moves)
        if not moves.same(before):
            self._documents.touch(state.uri, moved=moves.names != before.names)
        for other in self._documents.of(place.repository):  # what one has lost another may have got
            if other is not state and other.place and other.place.worktree == place.worktree:
                idle = other.back is None or other.back.done()
                if idle and self._notes.of_file(other.place).moves.key != moves.key:
                    self.begin(other)

    async def find(self, place: DocumentPlace, notes: Sequence[EditorNote]) -> Moves:
        """Return what is known of a file that shows some notes."""
        repository, scout, moves = place.repository, place.repository.scout, NONE
        version, bases = await repository.run(repository.view.bases)
        key, apart = await repository.read_history(
            scout.apart, place.worktree, bases, repository.view.heads
        )
        if apart:
            others = await repository.run(repository.view.about, apart)
            moves = await repository.read_history(
                scout.look, place.worktree, place.paths[0], apart, others, notes
            )
        return replace(moves, key=key, version=version)
