"""A crash in one feature is logged and answered with nothing.

It never reaches the client as an error, and never ends the server.
"""

import asyncio
import inspect
import logging
from collections.abc import Callable
from functools import wraps
from typing import Any

from pygls.exceptions import JsonRpcException

from gitmem.errors import GitmemError

log = logging.getLogger("gitmem_lsp")
PATIENCE = 20.0  # seconds that an answer may take: an editor has moved on long before
_reported: set[tuple[str, str]] = set()


def guarded(handler: Callable[..., Any], empty: Any = None) -> Callable[..., Any]:
    """Return a handler that answers `empty` where the one given fails or takes too long.

    A cancelled request stays cancelled.
    """
    name = handler.__name__.removeprefix("on_")
    if inspect.iscoroutinefunction(handler):

        @wraps(handler)
        async def later(*args: Any) -> Any:
            try:
                return await asyncio.wait_for(handler(*args), PATIENCE)
            except JsonRpcException:
                raise
            except Exception as error:  # noqa: BLE001 - that is what it is for
                return _say(name, error, empty)

        return later

    @wraps(handler)
    def now(*args: Any) -> Any:
        try:
            return handler(*args)
        except JsonRpcException:
            raise
        except Exception as error:  # noqa: BLE001 - that is what it is for
            return _say(name, error, empty)

    return now


def _say(name: str, error: Exception, empty: Any) -> Any:
    key = (name, f"{type(error).__name__} {error}"[:200])
    if key not in _reported:
        if len(_reported) > 500:
            _reported.clear()
        _reported.add(key)
        if isinstance(error, GitmemError):
            log.warning("%s", f"{error} {error.hint}".strip())
        elif isinstance(error, TimeoutError):
            log.warning("%s took more than %.0f s and was given up.", name, PATIENCE)
        else:
            log.error("%s failed: %s: %s", name, type(error).__name__, error, exc_info=error)
    return empty
