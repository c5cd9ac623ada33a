"""Listeners to what this process does to the stores."""

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gitmem.store.store import Notice


class Notices:
    """Who wants to know. A listener that fails is passed over: it must not cost a write."""

    def __init__(self) -> None:
        self._listeners: list[Callable[[Notice], None]] = []

    def subscribe(self, listener: "Callable[[Notice], None]") -> Callable[[], None]:
        """Have a function called for each notice; return what ends that."""
        self._listeners.append(listener)
        mine = [listener]

        def stop() -> None:
            while mine:  # a second call must not end somebody else's
                self._listeners.remove(mine.pop())

        return stop

    def notify(self, notice: "Notice") -> None:
        """Tell those who subscribed."""
        for listener in list(self._listeners):
            try:
                listener(notice)
            except Exception:  # noqa: BLE001 - somebody else's code, after the write
                continue
