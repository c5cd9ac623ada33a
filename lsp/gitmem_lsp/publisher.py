"""Keep the editor's diagnostics true: which documents are open, what is shown in each, and when to look again.

Lives on the server's loop. Looking for repositories and placing gotchas runs in a small pool, git and SQLite on the repository's
own thread; what comes back for a text that has changed meanwhile is dropped.
"""

import asyncio
import logging
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import unquote

from lsprotocol import types as t

from gitmem.errors import GitmemError
from gitmem_lsp.diagnostics import Mark, Row, bounded, find_notes, make_marks
from gitmem_lsp.repositories import Place, Repositories, Repository

if TYPE_CHECKING:
    from gitmem_lsp.server import Server

log = logging.getLogger("gitmem_lsp")
T = TypeVar("T")
POLL = 1.0  # seconds between two looks at the refs
RETRY = 30  # polls after which what could not be read is read again


@dataclass(slots=True)
class Opened:
    """A document that the editor has open, and what it shows."""

    uri: str
    place: Place | None = None
    rows: list[Row] = field(default_factory=list)
    marks: list[Mark] = field(default_factory=list)
    shown: tuple[int | None, list[t.Diagnostic]] | None = None
    stale: bool = True  # the rows are to be read again
    task: "asyncio.Task[None] | None" = None


def look(rows: list[Row], paths: tuple[str, ...], lines: tuple[str, ...], encoding: str) -> list[Mark]:
    """Return the marks of a text."""
    if not rows or not bounded(lines):
        return []
    return make_marks(find_notes(rows, paths, lines), lines, encoding, len(rows))


class Publisher:
    """The open documents and their diagnostics."""

    def __init__(self, server: "Server", repositories: Repositories) -> None:
        self._server = server
        self._repositories = repositories
        self._pool = ThreadPoolExecutor(max_workers=2, thread_name_prefix="gitmem-place")
        self._documents: dict[str, Opened] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._watched: set[Repository] = set()
        self._warned: set[str] = set()

    # -- what is shown

    def get(self, uri: str) -> Opened | None:
        """Return an open document's state."""
        return self._documents.get(unquote(uri))

    def holder(self, id: str, uri: str = "") -> Place | None:
        """Return where a gotcha is shown: in the document given, else in any."""
        given = self.get(uri)
        if given and given.place:
            return given.place
        return next((d.place for d in self._documents.values() if d.place and any(row["id"] == id for row in d.rows)), None)

    # -- events

    def touch(self, uri: str, delay: float = 0.0, *, read: bool = True) -> None:
        """Look at a document again after a delay; a later call takes the place of one that waits. `read` asks the stores too."""
        if self._server.workspace_lines.opened(uri) is None:
            return
        state = self._documents.setdefault(unquote(uri), Opened(uri))
        state.stale = state.stale or read
        if state.task is not None:
            state.task.cancel()
        state.task = self._start(self._update(state, delay))

    def forget(self, uri: str) -> None:
        """Stop showing anything in a document that was closed."""
        state = self._documents.pop(unquote(uri), None)
        if state is None:
            return
        if state.task is not None:
            state.task.cancel()
        if state.shown is not None:
            self._send(state, None, [])

    async def reload(self, repository: Repository) -> None:
        """Read the stores for all documents of a repository and wait until that is shown."""
        states = [s for s in self._documents.values() if s.place and s.place.repository is repository]
        for state in states:
            self.touch(state.uri)
        await asyncio.gather(*(s.task for s in states if s.task), return_exceptions=True)

    def warm(self, folder: str) -> None:
        """Open the repository of a folder and its index before a document asks."""
        self._start(self._warm(folder))

    def close(self) -> None:
        """End all work; what is running in a thread is not waited for."""
        for task in list(self._tasks):
            task.cancel()
        self._pool.shutdown(wait=False, cancel_futures=True)

    # -- work

    def _start(self, work: Coroutine[Any, Any, None]) -> "asyncio.Task[None]":
        task = asyncio.get_running_loop().create_task(self._guard(work))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def _guard(self, work: Coroutine[Any, Any, None]) -> None:
        try:
            await work
        except GitmemError as error:
            self.warn(error)
        except Exception:
            if not self._server.leaving:
                log.exception("a document could not be looked at")

    def warn(self, error: GitmemError) -> None:
        """Log an error that has a sentence for people, once."""
        text = f"{error} {error.hint}".strip()
        if text not in self._warned:
            self._warned.add(text)
            log.warning("%s", text)

    async def _run(self, work: Callable[..., T], *args: Any) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._pool, work, *args)

    async def _update(self, state: Opened, delay: float) -> None:
        if delay:
            await asyncio.sleep(delay)
        document = self._server.workspace_lines.opened(state.uri)
        if document is None:
            return
        if state.stale:
            found = await self._run(self._repositories.locate, document.path)
            state.place = self._repositories.place(found) if found else None
            if state.place is not None:
                self._watch(state.place.repository)
                state.rows = await state.place.repository.run(state.place.repository.gotchas, state.place.paths)
            state.stale = False
        if state.place is None:
            if state.shown is not None:
                state.rows, state.marks = [], []
                self._send(state, document.version, [])
            return
        version = document.version
        marks = await self._run(look, state.rows, state.place.paths, document.snapshot(), document.encoding) if state.rows else []
        if self._server.workspace_lines.opened(state.uri) is document and document.version == version:
            state.marks = marks
            self._send(state, version, [mark.diagnostic for mark in marks])

    def _send(self, state: Opened, version: int | None, diagnostics: list[t.Diagnostic]) -> None:
        if state.shown == (version, diagnostics):
            return
        state.shown = (version, diagnostics)
        self._server.text_document_publish_diagnostics(t.PublishDiagnosticsParams(state.uri, diagnostics, version))

    async def _warm(self, folder: str) -> None:
        found = await self._run(self._repositories.locate, folder.rstrip("/") + "/.")
        if found:
            repository = self._repositories.place(found).repository
            await repository.run(repository.warm)

    def _watch(self, repository: Repository) -> None:
        if repository not in self._watched:
            self._watched.add(repository)
            self._start(self._poll(repository))

    async def _poll(self, repository: Repository) -> None:
        """Look for writes by others: most editors on Linux offer no watching of files under `.git`."""
        count = 0
        while True:
            await asyncio.sleep(POLL)
            count += 1
            try:
                moved = await repository.run(repository.moved)
            except Exception as error:  # noqa: BLE001 - a look that fails is followed by another
                log.info("the refs could not be looked at: %s", error)
                continue
            for state in list(self._documents.values()):
                mine = state.place is not None and state.place.repository is repository
                if mine and (moved or (state.stale and count % RETRY == 0)):
                    self.touch(state.uri)
