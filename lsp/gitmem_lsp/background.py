"""Work in the background of the server's loop: what goes wrong is logged, each message once."""

import asyncio
import logging
from collections.abc import Coroutine
from typing import Any

from gitmem.errors import GitmemError

log = logging.getLogger("gitmem_lsp")
WARNED = 500  # messages that are not logged twice


class Background:
    """The tasks that run; all end with the server."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[None]] = set()
        self._warned: set[str] = set()
        self.closed = False

    def start(self, work: Coroutine[Any, Any, None]) -> "asyncio.Task[None]":
        """Run work in the background; what goes wrong is logged, and it ends with the server."""
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
            if not self.closed:
                log.exception("a document could not be looked at")

    def warn(self, error: GitmemError | str) -> None:
        """Log an error that has a sentence for people, once."""
        text = error if isinstance(error, str) else f"{error} {error.hint}".strip()
        if text not in self._warned:
            if len(self._warned) > WARNED:
                self._warned.clear()
            self._warned.add(text)
            log.warning("%s", text)

    def close(self) -> None:
        """End all tasks."""
        self.closed = True
        for task in list(self._tasks):
            task.cancel()
