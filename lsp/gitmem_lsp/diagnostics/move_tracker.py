"""Search for moved code of documents once the editor is idle.

This finds former names of their files, and code that came and went. It runs on the loop.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import replace

from gitmem_lsp.background import Background
from gitmem_lsp.diagnostics.open_documents import Documents, Opened
from gitmem_lsp.workspace.code_moves import NONE, Moves, numbered
from gitmem_lsp.workspace.place_notes import EditorNote
from gitmem_lsp.workspace.repositories import DocumentPlace

BACK = 0.15  # seconds after the first diagnostics: git may take a while
FILES = 500  # of which it is kept what was found


class Tracking:
    """What was found for the documents, and the tasks that look."""

    def __init__(self, documents: Documents, background: Background) -> None:
        self._documents = documents
        self._background = background
        self._known: OrderedDict[tuple[str, tuple[str, ...]], Moves] = OrderedDict()

    def known(self, place: DocumentPlace, version: int) -> Moves:
        """Return what was found for a file.

        Of what came to it, only what is sure to be so in a state of the stores.
        """
        found = self._known.get((place.gitdir, place.paths), NONE)
        return (
            found
            if found.version == version or not found.came
            else numbered(replace(found, came=()))
        )

    def recall(self, state: Opened) -> None:
        """Put what was found for a document's file into its state."""
        if state.place is None:
            state.paths, state.moves = (), NONE
            return
        found = self._known.get((state.place.gitdir, state.place.paths), NONE)
        paths = tuple(dict.fromkeys((*state.place.paths, *found.names)))
        if state.paths != paths or state.moves is not found:
            state.paths, state.moves, state.stale = paths, found, True

    async def renew(self, state: Opened) -> None:
        """Leave out what came to a document and has been resolved since, or is gone."""
        if (
            state.place is not None
            and state.rows is not None
            and state.moves.came
            and state.moves.version != state.rows.version
        ):
            view = state.place.repository.view
            came = await state.place.repository.run(view.again, state.moves.came)
            self._keep(
                state,
                state.place,
                numbered(replace(state.moves, came=came, version=state.rows.version)),
            )

    def _keep(self, state: Opened, place: DocumentPlace, moves: Moves) -> None:
        state.moves, state.paths = moves, tuple(dict.fromkeys((*place.paths, *moves.names)))
        self._known[place.gitdir, place.paths] = moves
        self._known.move_to_end((place.gitdir, place.paths))
        if len(self._known) > FILES:
            self._known.popitem(last=False)

    def begin(self, state: Opened) -> None:
        """Look around for a document, soon."""
        if state.back is not None:
            state.back.cancel()
        if state.place is not None:
            state.back = self._background.start(self._look(state, state.place))

    async def _look(self, state: Opened, place: DocumentPlace) -> None:
        await asyncio.sleep(BACK)
        found = await self.find(place, state.looked.notes)
        state.tracked = found.version
        if state.place is not place:
            return
        before = state.moves
        if found.same(before):
            self._keep(state, place, replace(before, key=found.key, version=found.version))
        else:
            self._keep(state, place, numbered(found))
            self._documents.touch(state.uri, moved=found.names != before.names)
        for other in self._documents.of(place.repository):  # what one has lost another may have got
            idle = other.back is None or other.back.done()
            if (
                other is not state
                and idle
                and other.place
                and other.place.worktree == place.worktree
                and other.moves.key != found.key
            ):
                self.begin(other)

    async def find(self, place: DocumentPlace, notes: Sequence[EditorNote]) -> Moves:
        """Return what is known of a file that shows some notes."""
        repository, scout, found = place.repository, place.repository.scout, NONE
        version, bases = await repository.run(repository.view.bases)
        key, apart = await repository.read_history(
            scout.apart, place.worktree, bases, repository.view.heads
        )
        if apart:
            others = await repository.run(repository.view.about, apart)
            found = await repository.read_history(
                scout.look, place.worktree, place.paths[0], apart, others, notes
            )
        return replace(found, key=key, version=version)
