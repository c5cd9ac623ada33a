"""Work-done progress while a repository's memories are indexed for the first time.

A cold store of a hundred thousand memories takes a while.
"""

import asyncio
import os
import uuid

from lsprotocol import types as t

from gitmem.repo.location import Location
from gitmem_lsp.background import Background
from gitmem_lsp.client import Client


class Progress:
    """One bar a repository that is being indexed.

    `report` may be called from any thread; the rest is for the loop.
    """

    def __init__(self, client: Client, background: Background) -> None:
        self._client = client
        self._background = background
        self._loop: asyncio.AbstractEventLoop | None = None
        self._tokens: dict[str, str] = {}
        self._begun: set[str] = set()

    def start(self) -> None:
        """Begin to show progress, if the client does."""
        window = self._client.client_capabilities.window
        if window and window.work_done_progress:
            self._loop = asyncio.get_running_loop()

    def report(self, location: Location, done: int, total: int) -> None:
        """Say how far the index of a repository is."""
        loop = self._loop
        if loop is not None and not loop.is_closed():
            try:
                loop.call_soon_threadsafe(
                    lambda: self._background.start(self._show(location.commondir, done, total))
                )
            except RuntimeError:
                return  # the loop has ended

    async def _show(self, key: str, done: int, total: int) -> None:
        progress = self._client.work_done_progress
        if done >= total:
            token = self._tokens.pop(key, None)
            if token is not None and token in self._begun:
                self._begun.discard(token)
                progress.end(token, t.WorkDoneProgressEnd(message="indexed"))
                progress.tokens.pop(token, None)  # pygls keeps them for good
            return
        share = 100 * done // max(1, total)
        token = self._tokens.get(key)
        if token is None:
            token = self._tokens[key] = str(uuid.uuid4())
            await progress.create_async(token)
            if self._tokens.get(key) != token:
                return  # it has ended meanwhile
            self._begun.add(token)
            name = os.path.basename(os.path.dirname(key)) or key
            began = t.WorkDoneProgressBegin(
                title="git mem",
                message=f"indexing the memories of {name}",
                percentage=share,
                cancellable=False,
            )
            progress.begin(token, began)
        elif token in self._begun:
            progress.report(
                token, t.WorkDoneProgressReport(message=f"{done:,} of {total:,}", percentage=share)
            )
