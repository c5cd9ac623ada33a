"""Rotation of long histories.

Rows are put aside in segments, compressed, and summarized (`services.session_log.condense`).

A hook that has the live file open goes on writing to it when it has been put aside. So a segment is
first only renamed; it is compressed, and its plain file removed, when nobody can have it open for
writing any more. Whoever is killed anywhere in between leaves files that are read right, and
finished later.
"""

import os
import stat
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

from gitmem.base.files import Lock, sync_dir, write_atomic
from gitmem.errors import Busy, GitmemError
from gitmem.repo.location import Home
from gitmem.services.session_log import reader
from gitmem.services.session_log.reader import (
    LIVE,
    PACKED,
    PART,
    SHORT,
    Segment,
    of_segment,
    segments,
    stem_of,
)
from gitmem.state import requests
from gitmem.state.database import State

LOCK = "histories.lock"
HISTORY_DAYS = 30
MOST = 9999  # segments of a session
# seconds after which a segment may be compressed: where the system tells of writers, and where it
# does not
QUICK, SLOW = 2.0, 60.0
WAIT = 5.0  # seconds that one who puts aside waits for another
ABANDONED = 3600.0  # seconds after which a file that was being written is taken for left behind

Thing = TypeVar("Thing")
# lines of a segment, number of its first line -> what it says in short
Shorten = Callable[[Iterator[bytes], int], dict[str, Any]]


def locked(home: Home, wait: float = WAIT) -> Lock:
    """Return the lock of whoever puts rows aside, or changes what was put aside."""
    return Lock(home.touch(LOCK), wait)


def put_aside(home: Home, stem: str, limit: int) -> Segment | None:
    """Put a live history aside when it has more bytes than `limit`.

    Return the segment, None when it stays. Raises OSError, Busy.
    """
    if not _mine(stem + LIVE) or os.lstat(stem + LIVE).st_size <= limit:
        return None
    with locked(home):
        segment = _reserved(stem)
        if segment is None:
            return None
        try:
            if os.lstat(stem + LIVE).st_size <= limit:  # another one did it while this one waited
                raise FileNotFoundError
            os.rename(stem + LIVE, segment.path(PART))
        except OSError as error:
            os.unlink(segment.path(PART))
            if isinstance(error, FileNotFoundError):
                return None
            raise
        os.close(
            os.open(
                stem + LIVE,
                os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW,
                0o600,
            )
        )
    return segment


def _reserved(stem: str) -> Segment | None:
    """Return the next segment, with an empty file in its place.

    On a disk without locks, two processes must not take the same segment.
    """
    number = max((segment.number for segment in segments(stem)), default=0) + 1
    for free in range(number, MOST + 1):
        segment = Segment(stem, free)
        try:
            os.close(
                os.open(
                    segment.path(PART),
                    os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW,
                    0o600,
                )
            )
        except FileExistsError:
            continue
        return segment
    return None


def waiting(folder: str) -> list[Segment]:
    """Return the segments of all sessions that wait to be compressed."""
    segments_waiting = []
    for name in sorted(_names(folder)):
        if name.endswith(PART) and stem_of(name):
            segments_waiting += segments(os.path.join(folder, stem_of(name)), [name])
    return segments_waiting


def compress(
    home: Home, segment: Segment, shorten: Shorten, *, settled: Callable[[str], bool] | None = None
) -> bool:
    """Compress a segment that nobody writes to any more; say whether that was done.

    Raises OSError, Busy.
    """
    part = segment.path(PART)
    if not _mine(part) or not (settled or is_settled)(part):
        return False
    with locked(home):
        try:
            about = os.lstat(part)
        except FileNotFoundError:  # another one did it
            return False
        first = 1 + sum(
            short_of(each).get("lines") or sum(1 for _ in of_segment(each))
            for each in segments(segment.stem)
            if each.number < segment.number
        )
        if about.st_size:
            short = shorten(of_segment(segment), first)
            _pack(segment, about)
            import json

            write_atomic(
                segment.path(SHORT),
                json.dumps(short, ensure_ascii=False).encode("utf-8", "replace"),
                durable=False,
            )
            os.utime(segment.path(SHORT), (about.st_mtime, about.st_mtime))
            if os.lstat(part).st_size != about.st_size:
                return False  # somebody wrote to it after all: once more, later
        os.unlink(part)
    return True


def _pack(segment: Segment, about: os.stat_result) -> None:
    import gzip

    path = segment.path(PACKED)
    temp = f"{path}.{os.getpid()}.tmp"
    try:
        handle = os.open(
            temp, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600
        )
        with os.fdopen(handle, "wb") as out, open(segment.path(PART), "rb") as source:
            with gzip.GzipFile("", "wb", 6, out, mtime=0) as packed:
                while data := source.read(1 << 20):
                    packed.write(data)
            out.flush()
            os.fsync(out.fileno())
        os.utime(temp, (about.st_mtime, about.st_mtime))  # of the last event in it
        os.replace(temp, path)
        sync_dir(os.path.dirname(path))
    except BaseException:
        if os.path.lexists(temp):
            os.unlink(temp)
        raise


def short_of(segment: Segment) -> dict[str, Any]:
    """Return what a segment says in short, empty when that is not known."""
    import json

    try:
        with open(segment.path(SHORT), encoding="utf-8", errors="replace") as file:
            short = json.load(file)
    except (OSError, ValueError, RecursionError):
        return {}
    return short if isinstance(short, dict) else {}


def is_settled(path: str) -> bool:
    """Return whether nobody has a renamed file open for writing.

    A hook ends after seconds, and the system may be asked.
    """
    import fcntl
    import signal

    handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
    try:
        age = time.time() - os.fstat(handle).st_ctime
        if 0 <= age < QUICK:
            return False
        try:
            fcntl.fcntl(handle, fcntl.F_SETSIG, signal.SIGURG)  # type: ignore[attr-defined,unused-ignore] # one that nobody dies of
            fcntl.fcntl(handle, fcntl.F_SETLEASE, fcntl.F_RDLCK)  # type: ignore[attr-defined,unused-ignore] # refused while there is a writer
        except BlockingIOError:
            return False
        except (OSError, AttributeError):  # a network disk, another system
            return abs(age) >= SLOW
        fcntl.fcntl(handle, fcntl.F_SETLEASE, fcntl.F_UNLCK)  # type: ignore[attr-defined,unused-ignore]
        return True
    finally:
        os.close(handle)


def expire_sessions(home: Home, state: State, now: float) -> None:
    """Remove histories and data of sessions after 30 days without a sign of life."""
    before = now - HISTORY_DAYS * 86400
    state.expire(before)
    if not requests.waiting(state):  # what is still to be recorded may be as old
        expire(home.join("sessions"), before, now)


def remove_history(home: Home, session: str) -> int:
    """Remove all files of a session's history, half-written ones too; return their number."""
    removed = 0
    with locked(home):
        names = reader.names(home)
        bases = {os.path.basename(stem) for stem in reader.stems(home, session, names)}
        begin = tuple(f"{base}." for base in bases)
        for name in names:
            if reader.stem_of(name) in bases or (begin and name.startswith(begin)):
                os.unlink(home.join(reader.FOLDER, name))
                removed += 1
    return removed


def expire(folder: str, before: float, now: float) -> None:
    """Remove the histories without a sign of life since a time.

    All that was put aside of them is removed too, as well as what was left half-written.
    """
    last: dict[str, float] = {}
    files: dict[str, list[str]] = {}
    for name in _names(folder):
        path = os.path.join(folder, name)
        stem = stem_of(name) or (name if name.endswith(LIVE) else "")
        try:
            at = os.path.getmtime(path)
        except OSError:
            continue
        if stem:
            last[stem] = max(at, last.get(stem, at))
            files.setdefault(stem, []).append(path)
        elif name.endswith(".tmp") and at < now - ABANDONED:
            _unlink(path)
    for stem, at in last.items():
        for path in files[stem] if at < before else ():
            _unlink(path)


def each(work: Callable[[Thing], bool], things: Iterable[Thing]) -> int:
    """Do some work on things of which one must not cost another; return on how many it was done.

    Raises the first failure at the end.
    """
    done, failure = 0, None
    for thing in things:
        try:
            done += work(thing)
        except Busy:
            continue  # another process is at it
        except (OSError, GitmemError) as error:
            failure = failure or error
    if failure:
        raise failure
    return done


def _mine(path: str) -> bool:
    """Return whether a path is an existing regular file that belongs to this user.

    In a repository of a group, other users have files of their own.
    """
    try:
        about = os.lstat(path)
    except OSError:
        return False
    return stat.S_ISREG(about.st_mode) and about.st_uid == os.geteuid()


def _names(folder: str) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError:
        return []


def _unlink(path: str) -> None:
    try:
        os.unlink(path)
    except OSError:
        pass  # the next time
