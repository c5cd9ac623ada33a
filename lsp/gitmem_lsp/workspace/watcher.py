"""Hear that a repository's refs, HEAD or snoozes have changed, from the operating system.

Nothing is read here, and nobody polls.

One observer for the whole server, loaded in a thread of its own once the first documents are shown.
A repository that cannot be watched (a network disk, a limit of the system) is for its owner to look
at from time to time: `watch` says so.
"""

import asyncio
import logging
import os
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from gitmem.repo.location import Location

if TYPE_CHECKING:
    from watchdog.observers.api import BaseObserver, ObservedWatch

log = logging.getLogger("gitmem_lsp")
# what others write there is not told to this machine's kernel
REMOTE = (
    "nfs",
    "cifs",
    "smb",
    "9p",
    "afs",
    "ncpfs",
    "fuse",
    "virtiofs",
    "vboxsf",
    "prl_fs",
    "drvfs",
    "ceph",
    "gluster",
    "lustre",
    "coda",
)
TELLING = frozenset({"packed-refs", "HEAD", "tables.list", "config", "config.worktree"})


def folders(location: Location, user: str = "") -> dict[str, bool]:
    """Return the folders of a repository that report changes.

    The value says whether what is below a folder counts. Only folders that exist are returned.

    `user` is the user's own repository, whether it exists or not.
    """
    wanted = {
        location.commondir: False,
        location.gitdir: False,
        os.path.join(location.gitdir, "logs"): False,
    }
    for base in (location.commondir, *([user] if user else [])):
        wanted |= {
            base: False,
            os.path.join(base, "refs"): False,
            os.path.join(base, "refs", "gitmem"): True,
        }
        wanted |= {os.path.join(base, "reftable"): False, os.path.join(base, "gitmem"): False}
    if user and not os.path.isdir(user):
        above = os.path.dirname(user)
        while not os.path.isdir(above) and os.path.dirname(above) != above:
            above = os.path.dirname(above)
        wanted[above] = False
    return {path: deep for path, deep in wanted.items() if os.path.isdir(path)}


def is_remote(path: str, mounts: str = "/proc/self/mounts") -> bool:
    """Say whether a folder is on a disk whose changes by others this machine is not told of."""
    best, kind = "", ""
    try:
        with open(mounts, encoding="utf-8", errors="surrogateescape") as file:
            for row in file:
                _, point, name, *_ = row.split(" ")
                point = (
                    point.encode("utf-8", "surrogateescape").decode("unicode_escape")
                    if "\\" in point
                    else point
                )
                if (path == point or path.startswith(point.rstrip("/") + "/")) and len(
                    point
                ) >= len(best):
                    best, kind = point, name
    except (OSError, ValueError):
        return False
    return kind.startswith(REMOTE) and not kind.startswith("fuseblk")


class Watcher:
    """Tells of changes on the loop.

    All methods are for the loop; files are looked at in a thread.
    """

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._observer: BaseObserver | None = None
        self._failed = False
        self._lock = threading.Lock()
        self._watches: dict[str, tuple[bool, ObservedWatch]] = {}
        self._known: dict[str, os.stat_result] = {}
        self._listeners: dict[str, dict[Callable[[], None], None]] = {}

    async def watch(self, location: Location, user: str, notify: Callable[[], None]) -> bool:
        """Have `notify` called on the loop after changes.

        False when a part of the repository cannot be watched. Call it again when folders came.
        """
        self._loop = asyncio.get_running_loop()
        return await asyncio.to_thread(self._arm_all, location, user, notify)

    def _arm_all(self, location: Location, user: str, notify: Callable[[], None]) -> bool:
        armed: dict[str, bool] = {}
        # a folder may come before the watch of the one above it
        while (wanted := folders(location, user)) != armed:
            if not self._arm(wanted, notify):
                return False
            armed = wanted
        return True

    def _arm(self, wanted: dict[str, bool], notify: Callable[[], None]) -> bool:
        with self._lock:
            if self._failed:
                return False
            try:
                new = [
                    path
                    for path in wanted
                    if path not in self._watches
                    or not os.path.samestat(os.stat(path), self._known[path])
                ]
                if any(is_remote(path) for path in new):
                    return False
                observer = self._observer = self._observer or self._start()
                for path in new:
                    self._forget(path)
                    self._known[path] = os.stat(path)
                    self._watches[path] = wanted[path], self._schedule(observer, path, wanted[path])
                for path in wanted:
                    self._listeners.setdefault(path, {})[notify] = None
            except Exception as error:  # noqa: BLE001 - whatever the system says: it is polled then
                log.info("the system does not report changes: %s", error)
                return False
            return True

    def _start(self) -> "BaseObserver":
        from watchdog.observers import Observer

        observer = Observer()
        observer.daemon = True
        observer.start()
        return observer

    def _forget(self, path: str) -> None:
        watch = self._watches.pop(path, None)
        if watch and self._observer is not None:
            try:
                self._observer.unschedule(watch[1])
            except (KeyError, OSError):
                pass  # the folder went, and its watch with it

    def _schedule(self, observer: "BaseObserver", path: str, deep: bool) -> "ObservedWatch":
        from watchdog import events as e

        class RefHandler(e.FileSystemEventHandler):
            def on_any_event(_, event: Any) -> None:  # noqa: N805 - `self` is the watcher
                if self._tells(path, deep, event):
                    self._tell(path)

        kinds = [
            e.FileCreatedEvent,
            e.FileModifiedEvent,
            e.FileMovedEvent,
            e.FileDeletedEvent,
            e.DirCreatedEvent,
            e.DirMovedEvent,
            e.DirDeletedEvent,
        ]
        return observer.schedule(RefHandler(), path, recursive=deep, event_filter=kinds)

    def _tells(self, folder: str, deep: bool, event: Any) -> bool:
        path = os.fsdecode(event.dest_path or event.src_path)
        name = os.path.basename(path)
        if deep:
            return not name.endswith(".lock")
        if event.is_directory:
            return event.event_type in {"created", "moved", "deleted"} and path != folder
        return name in TELLING or name.startswith("state.db")

    def _tell(self, path: str) -> None:
        loop = self._loop
        if loop is None or loop.is_closed():
            return
        for notify in list(self._listeners.get(path, ())):
            try:
                loop.call_soon_threadsafe(notify)
            except RuntimeError:
                return  # the loop has ended

    def forget(self, notify: Callable[[], None]) -> None:
        """Call a listener no more."""
        for listeners in self._listeners.values():
            listeners.pop(notify, None)

    def close(self) -> None:
        """End the observer's threads without waiting for them."""
        self._failed = True
        if self._observer is not None:
            threading.Thread(target=self._observer.stop, daemon=True).start()
