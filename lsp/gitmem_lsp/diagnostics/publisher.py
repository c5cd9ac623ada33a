"""Keep the editor's diagnostics up to date.

This covers which documents are open, what is shown in each, and when to look again.

Lives on the server's loop. A document whose gotchas are at hand is answered at once and looked at
again afterwards; all other work runs on the threads of its repository, and what comes back for a
text that has changed meanwhile is dropped.
"""

import asyncio
import logging
import os
from collections.abc import Callable, Hashable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any, TypeVar
from urllib.parse import unquote

from lsprotocol import types as t

from gitmem_lsp.background import Background
from gitmem_lsp.client import Client
from gitmem_lsp.diagnostics.diagnostics import Mark, as_json, make_marks
from gitmem_lsp.diagnostics.move_tracker import Tracking
from gitmem_lsp.diagnostics.note_cache import Looked, Memory, look, look_further
from gitmem_lsp.diagnostics.open_documents import Opened
from gitmem_lsp.diagnostics.prefetch import Ahead
from gitmem_lsp.protocol.documents import LineDocument
from gitmem_lsp.protocol.line_shift import Edit, edits_of, shift
from gitmem_lsp.settings import DEFAULTS, Options
from gitmem_lsp.workspace.place_notes import EditorNote, bounded, notes_of_tree, quick_notes
from gitmem_lsp.workspace.repositories import DocumentPlace, Repositories, ServedRepository, inside
from gitmem_lsp.workspace.repository_view import Rows

log = logging.getLogger("gitmem_lsp")
T = TypeVar("T")
AFTERWARDS = 0.05  # seconds after an answer from memory at which it is looked at again
ANEW = 8  # times that what shows a document anew may be begun again before a command is answered


class Publisher:
    """The open documents and their diagnostics."""

    def __init__(self, client: Client, repositories: Repositories, background: Background) -> None:
        self._client = client
        self._background = background
        self._repositories = repositories
        self._pool = ThreadPoolExecutor(max_workers=2, thread_name_prefix="gitmem-locate")
        self._documents: dict[str, Opened] = {}
        self._memory = Memory()
        self._ahead = Ahead()
        self._preparing: dict[ServedRepository, asyncio.Task[None]] = {}
        self.tracking = Tracking(self, background)
        self.on_repository: Callable[[ServedRepository], None] = lambda _: None

    # -- what is shown

    def get(self, uri: str) -> Opened | None:
        """Return an open document's state, its marks where the last edit has put them."""
        state = self._documents.get(unquote(uri))
        if state is not None and state.shifted:
            document = self._client.workspace_lines.opened(state.uri)
            state.marks = self._marks(state, document) if document else []
            state.shifted = False
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

    def _marks(self, state: Opened, document: LineDocument) -> list[Mark]:
        if not state.notes or state.place is None:
            return []
        place = state.place
        notes = notes_of_tree(state.notes, place.repository.view.marks.of(place.worktree))
        total = (
            len(state.moves.over(state.rows).open)
            + len(state.looked.triggered)
            + len(notes)
            - len(state.notes)
            if state.rows and state.looked.notes
            else None
        )
        return make_marks(
            notes, document.lines, document.encoding, total, self.options(state.place)
        )

    # -- events

    def open(self, uri: str) -> None:
        """Show a document's gotchas: at once where they are known."""
        document = self._client.workspace_lines.opened(uri)
        if document is None:
            return
        state = self._documents.setdefault(unquote(uri), Opened(uri))
        known = self._at_hand(state, document)
        if known is not None:
            self._show(state, document, self._marks_at_hand(state, document, known))
        self.touch(uri, AFTERWARDS if known is not None else 0.0, moved=True)

    def _marks_at_hand(self, state: Opened, document: LineDocument, key: Hashable) -> list[Mark]:
        look = document.encoding, self.options(state.place)
        marks = self._memory.marks(key, look)
        if marks is None:
            marks = self._marks(state, document)
            self._memory.put_marks(key, look, marks)
        return marks

    def _at_hand(self, state: Opened, document: LineDocument) -> Hashable | None:
        """Put what is known of a text into a document's state.

        Return its key, None when it has to be looked at first.
        """
        place = self._repositories.recall(document.path) or self._guess(document.path)
        if place is None:
            return None
        view = place.repository.view
        moves = self.tracking.known(place, view.version)
        paths = tuple(dict.fromkeys((*place.paths, *moves.names))) if moves.names else place.paths
        rows = self._memory.rows(view, paths)
        if rows is None:
            if not moves.names and not moves.came:
                self._show_ready(state, place, document)
            rows = view.recall(paths)
            if rows is None:
                return None
            self._memory.put_rows(view, paths, rows)
        state.place, state.paths, state.rows, state.moves = place, paths, rows, moves
        text = document.source
        key = self._key(state, rows, text)
        found = self._memory.get(key)
        if found is None:
            quick = (
                None
                if moves.came
                else self._quick(rows, paths, text, document.lines)
                if rows.open
                else []
            )
            # the rest is looked for afterwards
            if quick is not None and (rows.triggered or rows.past):
                state.looked = Looked(tuple(quick), whole=False)
                return (key, "quick")
            if quick is not None:
                found = Looked(tuple(quick))
                self._memory.put(key, found)
        if found is None:
            return None
        state.looked = found
        return key

    def _show_ready(self, state: Opened, place: DocumentPlace, document: LineDocument) -> None:
        """Show what was made ahead, if anything.

        What it is made of follows, and puts it right if need be.
        """
        ready = self._ahead.find(place, document.encoding, self.options(place), document.source)
        if ready is not None:
            self._publish(state, document.version, ready)

    def _quick(
        self, rows: Rows, paths: tuple[str, ...], text: str, lines: Sequence[str]
    ) -> list[EditorNote] | None:
        return quick_notes(rows.open, paths, text, len(lines)) if bounded(text, lines) else None

    def _guess(self, path: str) -> DocumentPlace | None:
        """Return where a file of the workspace most likely is, without reading the disk.

        The disk is read afterwards: the file may be a link, or in a repository within.
        """
        for home in self._repositories.homes.values():
            rest = inside(path, home.worktree) if home.worktree else None
            if rest and ".git" not in rest.split("/"):
                return DocumentPlace(home.repository, home.gitdir, home.worktree, (rest,))
        return None

    def _key(self, state: Opened, rows: Rows, text: str) -> Hashable:
        assert state.place is not None
        view = state.place.repository.view
        return self._memory.key(
            view, state.place.worktree, state.paths, rows.version, text
        ), state.moves.number

    def edited(self, uri: str, changes: Sequence[Any], delay: float) -> None:
        """Move the marks along with edits, and place the gotchas anew when the typing pauses."""
        state = self._documents.get(unquote(uri))
        edits = edits_of(changes)
        document = self._client.workspace_lines.opened(uri)
        if edits is None and len(changes) == 1 and document and document.replacement:
            edits = [document.replacement]  # as from a client that sends whole texts
        if state is not None and edits:
            old = state.looked
            state.looked = Looked(
                self._moved(old.notes, edits),
                self._moved(old.triggered, edits),
                self._moved(old.past, edits),
                old.whole,
            )
            state.shifted = True
        self.touch(uri, delay, read=False)

    def _moved(self, notes: Sequence[EditorNote], edits: Sequence[Edit]) -> tuple[EditorNote, ...]:
        out = []
        for note in notes:
            line = note.line if note.whole_file else shift(note.line, edits)
            if line is not None:
                out.append(
                    note
                    if line == note.line
                    else replace(note, line=line, last=max(line, note.last + line - note.line))
                )
        return tuple(out)

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
        place = next(
            (
                home
                for home in self._repositories.homes.values()
                if home.repository is repository and home.worktree
            ),
            None,
        )
        if place is not None:
            if repository in self._preparing:
                self._preparing[repository].cancel()
            encoding = self._client.workspace_lines.encoding
            self._preparing[repository] = self._background.start(
                self._ahead.prepare(place, encoding, self.options(place))
            )

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
        found = await self.disk(self._repositories.locate, path) if "\0" not in path else None
        if found is None:
            self._repositories.forget(path)
            return None
        place = self._repositories.place(found, path)
        self.on_repository(place.repository)
        return place

    async def _first(self, state: Opened, document: LineDocument) -> bool:
        """Find and read a new document's gotchas in one job, if it is in the workspace.

        Each further job costs as much as the work.
        """
        home = next(
            (
                p
                for p in self._repositories.homes.values()
                if p.worktree and inside(document.path, p.worktree)
            ),
            None,
        )
        if home is None or not home.repository.view.is_open:
            return False
        view, version, text, lines = (
            home.repository.view,
            document.version,
            document.source,
            document.snapshot(),
        )

        def job() -> tuple[DocumentPlace, Rows, list[EditorNote] | None] | None:
            found = self._repositories.locate(document.path)
            if found is None or found.key != os.path.realpath(home.repository.location.commondir):
                return None
            place = DocumentPlace(
                home.repository, found.location.gitdir, found.location.worktree, found.paths
            )
            rows = view.gotchas(found.paths)
            plain = not rows.triggered and not rows.past
            return place, rows, self._quick(rows, found.paths, text, lines) if plain else None

        done = await home.repository.run(job)
        if done is None:
            return False
        state.place, state.rows, notes = done
        state.paths, state.stale = state.place.paths, False
        self._repositories.remember(document.path, state.place)
        if notes is not None and self._current(state, document, version):
            state.looked = Looked(tuple(notes))
            key = self._key(state, state.rows, text)
            self._memory.put(key, state.looked)
            self._show(state, document, self._marks_at_hand(state, document, key))
        return True

    async def _update(self, state: Opened, delay: float) -> None:
        if delay:
            await asyncio.sleep(delay)
        document = self._client.workspace_lines.opened(state.uri)
        if document is None:
            return
        if state.place is None and state.moved and await self._first(state, document):
            assert state.place is not None
            self.tracking.recall(state)
            self.on_repository(state.place.repository)
        elif state.moved:
            state.place = await self.locate(document.path)
            self.tracking.recall(state)
        place = state.place
        if place is None:
            state.rows, state.looked, state.marks = None, Looked(), []
            state.stale = state.moved = False
            if state.shown is not None:
                self._send(state, document.version, [])
            return
        if state.stale or state.rows is None:
            state.rows = await place.repository.run(place.repository.view.gotchas, state.paths)
            await self.tracking.renew(state)
        await self._look(state, document)
        if state.moved or state.tracked != state.rows.version:
            self.tracking.begin(state)
        state.stale = state.moved = False

    async def _look(self, state: Opened, document: LineDocument) -> None:
        place, version = state.place, document.version
        assert place is not None and state.rows is not None
        rows = state.moves.over(state.rows)
        lines = document.snapshot()
        view, worktree, paths = place.repository.view, place.worktree, state.paths
        key = self._key(state, rows, "".join(lines))
        found = self._memory.get(key)
        if found is None:
            if rows.open or rows.triggered or rows.past:
                found = await place.repository.read_code(look, view, worktree, rows, paths, lines)
                if not found.whole:
                    # until they are looked for, those of before stay where the edits have put them
                    first = replace(found, triggered=state.looked.triggered, past=state.looked.past)
                    if self._current(state, document, version):
                        state.looked = first
                        self._show(state, document)
                    found = await place.repository.read_code(
                        look_further, view, worktree, rows, paths, lines, found
                    )
            else:
                found = Looked()
            self._memory.put(key, found)
        if self._current(state, document, version):
            state.looked = found
            self._show(state, document)

    def _current(self, state: Opened, document: LineDocument, version: int | None) -> bool:
        return (
            self._client.workspace_lines.opened(state.uri) is document
            and document.version == version
        )

    def _show(self, state: Opened, document: LineDocument, marks: list[Mark] | None = None) -> None:
        before = [(mark.line, mark.diagnostic.message) for mark in state.marks]
        state.marks, state.shifted = self._marks(state, document) if marks is None else marks, False
        self._send(state, document.version, [mark.diagnostic for mark in state.marks])
        if before != [(mark.line, mark.diagnostic.message) for mark in state.marks]:
            self._client.redraw()

    def _send(self, state: Opened, version: int | None, diagnostics: list[t.Diagnostic]) -> None:
        self._publish(state, version, [as_json(diagnostic) for diagnostic in diagnostics])

    def _publish(
        self, state: Opened, version: int | None, diagnostics: list[dict[str, Any]]
    ) -> None:
        if state.shown != (version, diagnostics):
            state.shown = (version, diagnostics)
            self._tell(state.uri, version, diagnostics)

    def send(self, uri: str, version: int | None, diagnostics: Sequence[t.Diagnostic]) -> None:
        """Publish a document's diagnostics."""
        self._tell(uri, version, [as_json(diagnostic) for diagnostic in diagnostics])

    def _tell(self, uri: str, version: int | None, diagnostics: list[dict[str, Any]]) -> None:
        params: dict[str, Any] = {"uri": uri, "diagnostics": diagnostics}
        if version is not None:
            params["version"] = version
        self._client.notify("textDocument/publishDiagnostics", params)
