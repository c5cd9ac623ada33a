"""Files on disk: atomic writes, locks, bounded reads.

Standard library only; the hot path imports this module.
"""

import errno
import os
import time

from gitmem.base.sharing import create
from gitmem.errors import Busy, External

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


def disk_error(error: OSError, path: str) -> External:
    """Turn an operating system's refusal into an error that says what to do."""
    name = errno.errorcode.get(error.errno or 0, "")
    what = os.strerror(error.errno) if error.errno else str(error)
    there = "Something else has that name: move it away, then run the command again."
    hints = {
        "EEXIST": there,
        "ENOTDIR": there,
        "EISDIR": there,
        "ENOSPC": "Free some disk space and run the command again; nothing was half-written.",
        "EDQUOT": "Your disk quota is used up; free some space and run the command again.",
        "EROFS": "The repository is on a read-only disk; reading works, writing needs a writable "
        "copy.",
        "EACCES": "You may not write there; check the folder's owner and mode.",
        "EPERM": "You may not write there; check the folder's owner and mode.",
    }
    return External(
        f"cannot write '{path}': {what}.",
        hints.get(name, "Check the disk, then run the command again."),
    )


def write_atomic(
    path: str,
    data: bytes,
    *,
    shared: int = 0,
    durable: bool = True,
    keep: bool = False,
    mode: int = 0,
) -> None:
    """Write a file so that a reader sees the old or the new bytes, never a part; raises External.

    It is for its owner alone, or `shared` as a repository is (`base.sharing`), or has a `mode` less
    the umask. `keep`: a file that is there keeps its mode and its owner.
    """
    folder, name = os.path.split(path)
    temp = os.path.join(folder, f".{name[:200]}.{os.getpid()}.{time.monotonic_ns()}.tmp")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
    try:
        old = os.stat(path) if keep and os.path.exists(path) else None
        handle = os.open(temp, flags | os.O_CLOEXEC, mode) if mode else create(temp, flags, shared)
        try:
            view = memoryview(data)
            while view:
                view = view[os.write(handle, view) :]
            if old is not None:
                take_over(handle, old)
            if durable:
                os.fsync(handle)
        finally:
            os.close(handle)
        os.replace(temp, path)
        if durable:
            sync_dir(folder or ".")
    except OSError as error:
        try:
            os.unlink(temp)
        except OSError:
            pass
        raise disk_error(error, path) from error


def take_over(handle: int, old: os.stat_result) -> None:
    """Give a file the owner and the mode of the one that it replaces."""
    if (old.st_uid, old.st_gid) != (os.geteuid(), os.getegid()):
        try:
            os.fchown(handle, old.st_uid, old.st_gid)
        except PermissionError:
            pass  # it becomes ours, as an editor would do it
    os.fchmod(handle, old.st_mode & 0o7777)


def sync_dir(path: str) -> None:
    """Make a folder's entries durable."""
    handle = os.open(path, os.O_RDONLY)
    try:
        sync_handle(handle)
    finally:
        os.close(handle)


def sync_handle(handle: int) -> None:
    """Make the entries of an open folder durable."""
    try:
        os.fsync(handle)
    # some network disks refuse to sync a folder; the data itself is synced
    except OSError as error:
        if error.errno not in {errno.EINVAL, errno.ENOTSUP}:
            raise


class Lock:
    """An advisory lock on a file: freed by the kernel when the holder dies, whatever happens.

    Use as a context manager; waits up to `timeout` seconds, then raises Busy.
    """

    def __init__(
        self, path: str, timeout: float, sleep: "Callable[[float], None]" = time.sleep
    ) -> None:
        self.path = path
        self.timeout = timeout
        self._sleep = sleep
        self._handle = -1

    def __enter__(self) -> "Lock":
        import fcntl  # absent on Windows, where only reading works today

        try:
            self._handle = create(self.path, os.O_RDWR | os.O_CREAT, 0)
        except OSError as error:
            raise disk_error(error, self.path) from error
        deadline = time.monotonic() + self.timeout
        pause = 0.0005
        while True:
            try:
                fcntl.flock(self._handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return self
            except OSError as error:
                if error.errno not in {errno.EAGAIN, errno.EACCES}:
                    return self  # a disk without flock: compare-and-swap alone keeps writes correct
                if time.monotonic() >= deadline:
                    os.close(self._handle)
                    self._handle = -1
                    raise Busy(
                        "another git mem process is writing to this repository.",
                        "Try again in a moment; 'git mem doctor' shows who holds the lock.",
                    ) from error
            self._sleep(pause)
            pause = min(pause * 1.5, 0.02)

    def __exit__(self, *_: object) -> None:
        if self._handle >= 0:
            os.close(self._handle)
            self._handle = -1


def is_locked(path: str) -> bool:
    """Say whether another process holds the lock on a file."""
    import fcntl

    try:
        handle = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return True
    else:
        return False
    finally:
        os.close(handle)


def listing(path: str, suffix: str) -> "Iterator[str]":
    """Yield the paths of a folder's files that end so, sorted by name.

    Nothing if it is not there.
    """
    try:
        names = sorted(os.listdir(path))
    except OSError:
        return
    for name in names:
        if name.endswith(suffix):
            yield os.path.join(path, name)
