"""Keep the editor's diagnostics up to date.

This covers which documents are open, what is shown in each, and when to look again.

Lives on the server's loop. A document whose notes are at hand is answered at once and looked at
again afterwards; all other work runs on the threads of its repository, and what comes back for a
text that has changed meanwhile is dropped.
"""

import asyncio
import logging
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any, TypeVar
from urllib.parse import unquote

from lsprotocol import types as t

from gitmem_lsp.background import Background
from gitmem_lsp.client import Client
from gitmem_lsp.diagnostics.diagnostics import as_json
from gitmem_lsp.diagnostics.file_notes import NOTHING, FileNotes, NoteFinder
from gitmem_lsp.diagnostics.move_tracker import Tracking
from gitmem_lsp.diagnostics.open_documents import Opened
from gitmem_lsp.diagnostics.prefetch import prefetch
from gitmem_lsp.protocol.documents import LineDocument
from gitmem_lsp.protocol.line_shift import edits_of
from gitmem_lsp.settings import DEFAULTS, Options
from gitmem_lsp.workspace.repositories import DocumentPlace, Repositories, ServedRepository

log = logging.getLogger("gitmem_lsp")
T = TypeVar("T")
AFTERWARDS = 0.05  # seconds after an answer from the cache at which it is looked at again
ANEW = 8  # times that what shows a document anew may be begun again before a command is answered


class Publisher:
    """The open documents and their diagnostics."""

    def __init__(self, client: Client, repositories: Repositories, background: Background) -> None:
        self._client = client
        self._background = background
        self._repositories = repositories
        self._pool = ThreadPoolExecutor(max_workers=2, thread_name_prefix="gitmem-locate")
        self._documents: dict[str, Opened] = {}
        self.notes = NoteFinder()
        self._preparing: dict[ServedRepository, tuple[int, asyncio.Task[None]]] = {}
        self.tracking = Tracking(self, self.notes, background)
        self.on_repository: Callable[[ServedRepository], None] = lambda _: None

    # -- what is shown

    def get(self, uri: str) -> Opened | None:
        """Return an open document's state, its marks where the last edit has put them."""
        state = self._documents.get(unquote(uri))
        if state is not None and state.shifted:
            document = self._client.workspace_lines.opened(state.uri)
            self._draw(state, document)
        return state

    def all(self) -> list[Opened]:
        """Return all open documents."""
        return list(self._documents.values())

    def of(self, repository: ServedRepository) -> list[Opened]:
        """Return the open documents of a repository."""
        return [s for s in self._documents.values() if s.place and s.place.repository is repository]

    def options(self, place: DocumentPlace | None) -> Options:
        """Return the settings for documents of a repository."""
        return self._client.settings_over(place.repository.view.options if place else DEFAULTS)

    def _draw(self, state: Opened, document: LineDocument | None) -> None:
        """Make a document's marks of what was found for it."""
        state.marks, state.shifted = [], False
        if document is not None and state.place is not None and state.notes:
            options = self.options(state.place)
            state.marks = state.file_notes.marks(
                state.place, document.lines, document.encoding, options
            )

    # -- events

    def open(self, uri: str) -> None:
        """Show a document's gotchas: at once where they are at hand."""
        document = self._client.workspace_lines.opened(uri)
        if document is None:
            return
        state = self._documents.setdefault(unquote(uri), Opened(uri))
        place = self._repositories.guess(document.path)
        notes = self.notes.at_hand(place, document.source) if place else None
        if notes is not None:
            state.place, state.file_notes = place, notes
            self._show(state, document)
        self.touch(uri, AFTERWARDS if notes else 0.0, moved=True)

    def edited(self, uri: str, changes: Sequence[Any], delay: float) -> None:
        """Move the marks along with edits, and place the gotchas anew when the typing pauses."""
        state = self._documents.get(unquote(uri))
        edits = edits_of(changes)
        document = self._client.workspace_lines.opened(uri)
        if edits is None and len(changes) == 1 and document and document.replacement:
            edits = [document.replacement]  # as from a client that sends whole texts
        if state is not None and edits:
            state.file_notes, state.shifted = state.file_notes.edited(edits), True
        self.touch(uri, delay, read=False)

    def touch(
        self, uri: str, delay: float = 0.0, *, read: bool = True, moved: bool = False
    ) -> None:
        """Look at a document again after a delay; a later call takes the place of one that waits.

        `read` asks the stores too.
        """
        if self._client.workspace_lines.opened(uri) is None:
            return
        state = self._documents.setdefault(unquote(uri), Opened(uri))
        state.stale = state.stale or read
        state.moved = state.moved or moved
        if state.task is not None:
            state.task.cancel()
        state.task = self._background.start(self._update(state, delay))

    def forget(self, uri: str) -> None:
        """Stop showing anything in a document that was closed."""
        state = self._documents.pop(unquote(uri), None)
        if state is None:
            return
        for task in (state.task, state.back):
            if task is not None:
                task.cancel()
        if state.shown is not None:
            self._send(state, None, [])

    async def reload(self, repository: ServedRepository) -> None:
        """Read the stores for all documents of a repository and wait until that is shown."""
        states = self.of(repository)
        for state in states:
            self.touch(state.uri)
        for _ in range(ANEW):  # what watches the stores may take the place of what is waited for
            looking = [s.task for s in states if s.task is not None and not s.task.done()]
            if not looking:
                break
            await asyncio.gather(*looking, return_exceptions=True)

    def moved(self, repository: ServedRepository) -> None:
        """Look for the files' earlier names again, as after a checkout."""
        for state in self.of(repository):
            self.touch(state.uri, moved=True)

    def refresh(self) -> None:
        """Show everything anew, as after a change of settings."""
        for state in list(self._documents.values()):
            self.touch(state.uri, read=False)
        for repository in self._repositories.all():
            self.prepare(repository)

    def prepare(self, repository: ServedRepository) -> None:
        """Make the diagnostics of files that nobody has opened yet.

        Begins anew where that is under way.
        """
        homes = self._repositories.homes.values()
        place = next((p for p in homes if p.repository is repository and p.worktree), None)
        if place is not None:
            if repository in self._preparing:
                self._preparing[repository][1].cancel()
            encoding = self._client.workspace_lines.encoding
            work = prefetch(self.notes, place, encoding, self.options(place))
            version = repository.view.version
            self._preparing[repository] = version, self._background.start(work)

    def is_prepared(self, repository: ServedRepository) -> bool:
        """Return whether `prepare` was called for the present state of the stores."""
        return repository.view.version == self._preparing.get(repository, (-1,))[0]

    def retry(self) -> None:
        """Look again at what could not be read."""
        for state in list(self._documents.values()):
            if state.stale and (state.task is None or state.task.done()):
                self.touch(state.uri)

    def close(self) -> None:
        """End all work; what is running in a thread is not waited for."""
        self._background.close()
        self._pool.shutdown(wait=False, cancel_futures=True)

    # -- work

    async def disk(self, work: Callable[..., T], *args: Any) -> T:
        """Run a function that reads the disk and belongs to no repository yet."""
        return await asyncio.get_running_loop().run_in_executor(self._pool, work, *args)

    async def locate(self, path: str) -> DocumentPlace | None:
        """Return a file's place, looked for on the disk."""
        location = await self.disk(self._repositories.locate, path) if "\0" not in path else None
        if location is None:
            self._repositories.forget(path)
            return None
        place = self._repositories.place(location, path)
        self.on_repository(place.repository)
        return place

    async def _update(self, state: Opened, delay: float) -> None:
        if delay:
            await asyncio.sleep(delay)
        document = self._client.workspace_lines.opened(state.uri)
        if document is None:
            return
        if state.moved:
            state.place = await self.locate(document.path)
        place = state.place
        if place is None:
            state.file_notes, state.marks, state.stale, state.moved = NOTHING, [], False, False
            if state.shown is not None:
                self._send(state, document.version, [])
            return
        if state.stale:
            await place.repository.run(place.repository.view.refresh)
        await self._look(state, place, document)
        if state.moved or state.tracked != place.repository.view.version:
            self.tracking.begin(state)
        state.stale = state.moved = False

    async def _look(self, state: Opened, place: DocumentPlace, document: LineDocument) -> None:
        version = document.version

        def show(notes: FileNotes) -> None:
            if self._current(state, document, version):
                state.file_notes = notes
                self._show(state, document)

        def show_first(notes: FileNotes) -> None:
            # until they are looked for, those of before stay where the edits have put them
            show(replace(notes, triggered=state.file_notes.triggered))

        show(await self.notes.find(place, document.snapshot(), show_first))

    async def with_asides(self, state: Opened, document: LineDocument) -> FileNotes:
        """Return what is known of an open document, with what has no diagnostic."""
        assert state.place is not None
        version, lines, asked = document.version, document.snapshot(), state.file_notes
        with_asides = await self.notes.with_asides(state.place, asked, lines)
        if state.file_notes is asked and self._current(state, document, version):
            state.file_notes = replace(
                state.file_notes, asides=with_asides.asides, until=with_asides.until
            )
        return with_asides

    def _current(self, state: Opened, document: LineDocument, version: int | None) -> bool:
        return (
            self._client.workspace_lines.opened(state.uri) is document
            and document.version == version
        )

    def _show(self, state: Opened, document: LineDocument) -> None:
        before = [(mark.line, mark.diagnostic.message) for mark in state.marks]
        self._draw(state, document)
        self._send(state, document.version, [mark.diagnostic for mark in state.marks])
        if before != [(mark.line, mark.diagnostic.message) for mark in state.marks]:
            self._client.redraw()

    def _send(self, state: Opened, version: int | None, diagnostics: list[t.Diagnostic]) -> None:
        shown = (version, [as_json(diagnostic) for diagnostic in diagnostics])
        if state.shown != shown:
            state.shown = shown
            self._tell(state.uri, *shown)

    def send(self, uri: str, version: int | None, diagnostics: Sequence[t.Diagnostic]) -> None:
        """Publish a document's diagnostics."""
        self._tell(uri, version, [as_json(diagnostic) for diagnostic in diagnostics])

    def _tell(self, uri: str, version: int | None, diagnostics: list[dict[str, Any]]) -> None:
        params: dict[str, Any] = {"uri": uri, "diagnostics": diagnostics}
        if version is not None:
            params["version"] = version
        self._client.notify("textDocument/publishDiagnostics", params)
