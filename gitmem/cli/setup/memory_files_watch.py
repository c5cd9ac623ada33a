"""Waits for a change of agents' memory files.

A notification from the system wakes it; a look at the files decides.
"""

import os
import threading
import time
from typing import Any

from gitmem.services.memory_files.discover import Finder

LOOK = 2.0  # seconds between two looks where the system cannot tell
STEP = 0.1  # seconds between two looks, however much happens
CALM = 0.3  # seconds without a change: an editor writes in steps
MOST = 200  # folders that are watched


def _state(finder: Finder) -> tuple[dict[str, tuple[int, int, int]], tuple[str, ...]]:
    """Return the state of each file, and the folders where files may appear.

    The state distinguishes the present file from the file at another time.
    """
    files = Finder(finder.where, finder.env, finder.hides, lambda text: text).find()
    out: dict[str, tuple[int, int, int]] = {}
    for memo in files.memos:
        try:
            status = os.stat(memo.path)
        except OSError:
            continue
        out[memo.name] = status.st_mtime_ns, status.st_size, status.st_ino
    return out, files.folders


def changed(finder: Finder, timeout: float) -> list[str]:
    """Return the files that changed, came or went, as soon as they are calm again.

    None when nothing happened in time.
    """
    until = time.monotonic() + timeout
    before, folders = _state(finder)
    changed_event = threading.Event()
    observer = _observe(folders, finder.root, changed_event)
    try:
        while (left := until - time.monotonic()) > 0:
            changed_event.wait(min(left, LOOK))
            time.sleep(min(STEP, max(0.0, until - time.monotonic())))
            changed_event.clear()
            now, _ = _state(finder)
            if now == before:
                continue
            while True:
                time.sleep(CALM)
                later, _ = _state(finder)
                if later == now:
                    break
                now = later
            names = sorted(name for name in {*before, *now} if before.get(name) != now.get(name))
            if names:  # else it is as it was, by now
                return names
        return []
    finally:
        if observer is not None:
            observer.stop()
            observer.join(2)


def _observe(folders: tuple[str, ...], root: str, changed_event: threading.Event) -> Any:
    """Return what watches folders; None where the system cannot."""
    try:
        from watchdog import events
        from watchdog.observers import Observer

        class MemoryFileHandler(events.FileSystemEventHandler):
            def on_any_event(self, event: events.FileSystemEvent) -> None:
                name = os.fsdecode(event.dest_path or event.src_path)
                # much else happens above a work tree
                if name.endswith(".md") or (event.is_directory and name.startswith(root + os.sep)):
                    changed_event.set()

        kinds: list[type[events.FileSystemEvent]] = [
            events.FileCreatedEvent,
            events.FileModifiedEvent,
            events.FileMovedEvent,
            events.FileDeletedEvent,
            events.DirCreatedEvent,
        ]
        observer = Observer()
        observer.daemon = True
        handler = MemoryFileHandler()
        for folder in [folder for folder in folders if os.path.isdir(folder)][:MOST]:
            observer.schedule(handler, folder, recursive=False, event_filter=kinds)
        observer.start()
    except Exception:  # noqa: BLE001 - whatever the system says: it is looked at every second then
        return None
    return observer
