"""Loose objects written as git writes them, but flushed to the disk side by side.

A commit of one record is five objects, and each takes two flushes: its file, then its folder. One after the other, as
libgit2 does it, ten waits for the disk are nine tenths of a write; side by side the disk joins most of them.
Format: https://git-scm.com/book/en/v2/Git-Internals-Git-Objects (zlib stream of "<kind> <size>\\0<data>").
"""

import os
import zlib
from _thread import LockType, allocate_lock, start_new_thread
from collections.abc import Callable, Sequence
from typing import TypeVar

from gitmem.git.object_codec import Raw

T = TypeVar("T")
TRIES = 10
LEVEL = 1  # git's own default for loose objects (core.looseCompression)


def write_loose(folder: str, raws: Sequence[Raw]) -> None:
    """Write objects (oid, kind, data) below an objects folder; all are on the disk when this returns.

    One that is there as a loose file already is left as it is. Raises OSError; nothing but whole objects stays behind.
    """
    todo = [(os.path.join(folder, oid[:2]), oid[2:], kind, data) for oid, kind, data in raws]
    opened: list[tuple[int, str, str]] = []
    try:
        for place, name, kind, data in todo:
            path = os.path.join(place, name)
            if os.path.exists(path):
                continue
            handle, temp = _create(place)
            opened.append((handle, temp, path))
            view = memoryview(zlib.compress(b"%s %d\0" % (kind.encode(), len(data)) + data, LEVEL))
            while view:
                view = view[os.write(handle, view) :]
        _together(lambda row: os.fsync(row[0]), opened)
        for _, temp, path in opened:
            os.rename(temp, path)
    except BaseException:
        for _, temp, _ in opened:
            try:
                os.unlink(temp)
            except OSError:
                pass  # renamed already
        raise
    finally:
        for handle, _, _ in opened:
            os.close(handle)
    # an object that was there may have been written a moment ago, by somebody who has not flushed its folder yet
    _together(_flush, sorted({place for place, *_ in todo}))


def _create(place: str) -> tuple[int, str]:
    """Open a new temporary file beside where the object goes, under a name that git's prune knows."""
    for attempt in range(TRIES):
        temp = os.path.join(place, f"tmp_obj_{os.urandom(6).hex()}")
        try:
            return os.open(temp, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o444), temp
        except FileNotFoundError:
            # the folder is not there yet, or the user's gc has just removed it because it was empty
            if attempt == TRIES - 1 or not os.path.isdir(os.path.dirname(place)):
                raise
            try:
                os.mkdir(place)
            except FileExistsError:
                continue
    raise FileNotFoundError(place)


def _flush(place: str) -> None:
    handle = os.open(place, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _together(work: Callable[[T], None], rows: Sequence[T]) -> None:
    """Do the same with all rows at once; raises what one that failed raised."""
    errors: list[BaseException] = []

    def one(row: T, done: LockType) -> None:
        try:
            work(row)
        except BaseException as error:  # noqa: BLE001 - carried to the caller's thread
            errors.append(error)
        finally:
            done.release()

    # bare threads, made anew each time: a pool would be dead in a process that forked, threading's own take longer to make
    waits = []
    for row in rows[1:]:
        done = allocate_lock()
        done.acquire()
        start_new_thread(one, (row, done))
        waits.append(done)
    try:
        if rows:
            work(rows[0])
    finally:
        for done in waits:
            done.acquire()
    if errors:
        raise errors[0]
