"""Keep documents fresh.

One task for each repository waits for changes, and has the repository's documents looked at again.
"""

import asyncio
import logging
import time

from gitmem.errors import GitmemError
from gitmem_lsp.background import Background
from gitmem_lsp.client import Client
from gitmem_lsp.diagnostics.publisher import Publisher
from gitmem_lsp.workspace.repositories import ServedRepository
from gitmem_lsp.workspace.watcher import Watcher

log = logging.getLogger("gitmem_lsp")
# seconds of rest after a change before the gotchas of files that are not open are read again
AHEAD = 2.0
SETTLE = 0.3  # seconds before the watching library is loaded: the first diagnostics come first
POLL = 0.8  # seconds between two looks at what cannot be watched
SLOW = 30.0  # seconds between two looks at what is watched: a safety net
GATHER = 0.02  # seconds in which changes that come together are one


class Following:
    """The repositories of open documents, each followed once."""

    def __init__(self, client: Client, publisher: Publisher, background: Background) -> None:
        self._client = client
        self._background = background
        self._publisher = publisher
        self._followed: set[ServedRepository] = set()
        self.watcher = Watcher()

    def follow(self, repository: ServedRepository) -> None:
        """Begin to follow a repository, if that is not done yet."""
        if repository not in self._followed:
            self._followed.add(repository)
            self._background.start(self._follow(repository))

    def close(self) -> None:
        """End watching."""
        self.watcher.close()

    async def _follow(self, repository: ServedRepository) -> None:
        begun = time.monotonic()
        await asyncio.sleep(SETTLE)
        failed = 0  # looks, one after the other
        anyway = True  # for what came before there was a watch
        while True:
            failed = 0 if await self._look(repository, anyway or failed > 0) else failed + 1
            try:
                await asyncio.wait_for(repository.news.wait(), self._patience(repository, failed))
            except TimeoutError:
                if not failed and not self._publisher.is_prepared(repository):
                    self._publisher.prepare(repository)
            repository.news.clear()
            await asyncio.sleep(GATHER)
            anyway = repository.view.until is not None and repository.view.until <= time.time()
            if failed or time.monotonic() - begun > SLOW:
                begun = time.monotonic()
                self._publisher.retry()

    def _patience(self, repository: ServedRepository, failed: int) -> float:
        patience = SLOW if repository.watched else POLL
        if not self._publisher.is_prepared(repository):
            patience = AHEAD
        if failed:  # a store that is being built is there soon; one that is broken may stay so
            patience = min(SLOW, POLL * 2 ** min(failed - 1, 10))
        until = repository.view.until
        return patience if until is None else max(0.05, min(patience, until - time.time()))

    async def _watch(self, repository: ServedRepository) -> None:
        repository.watched = await self.watcher.watch(
            repository.location, repository.user, repository.news.set
        )

    async def _look(self, repository: ServedRepository, anyway: bool) -> bool:
        """Bring what is shown up to date; False when that has to be tried again."""
        view = repository.view
        heads, version = view.heads, view.version
        # folders may have come; what is written in them from now on is told, the rest is seen below
        await self._watch(repository)
        try:
            await repository.run(lambda: view.refresh(anyway=anyway))
        except GitmemError as error:
            self._background.warn(error)
            return False
        except Exception as error:  # noqa: BLE001 - a look that fails is followed by another
            log.info("the stores could not be looked at: %s", error)
            return False
        if heads != view.heads:
            self._publisher.moved(repository)
        for problem in view.problems:
            self._background.warn(problem)
        open_now = self._publisher.of(repository)
        # a document that was opened or saved a moment ago may have been first to read the news
        if version != view.version or any(
            state.place and state.file_notes.rows.version not in {-1, view.version}
            for state in open_now
        ):
            await self._publisher.reload(repository)
            self._client.tell_changed([state.uri for state in self._publisher.of(repository)])
        return not any(
            state.stale and (state.task is None or state.task.done())
            for state in self._publisher.of(repository)
        )
