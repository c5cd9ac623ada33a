"""Files that others may have put there are read only where they are files. Part of the hot path."""

import os
import stat

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import BinaryIO


def open_regular(path: str, flags: int = 0) -> "BinaryIO":
    """Open a regular file to read its bytes; `flags` are more of those of `os.open`.

    Raises OSError for anything else, and ValueError for a path that cannot be one. A pipe or a
    terminal must not block.
    """
    handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC | flags)
    if not stat.S_ISREG(os.fstat(handle).st_mode):  # `fdopen` would leave a folder open
        os.close(handle)
        raise OSError(f"{path} is no regular file")
    return os.fdopen(handle, "rb")


def read_regular(path: str, most: int, *, own: bool = False) -> bytes:
    """Return the beginning of a regular file.

    Nothing of anything else. With `own`, nothing of a file that belongs to another user.
    """
    try:
        with open_regular(path) as file:
            if own and os.fstat(file.fileno()).st_uid != os.geteuid():
                return b""
            return file.read(most)
    except (OSError, ValueError):
        return b""
