"""Read a file that the editor does not have open."""

import os
import stat


def read_regular(path: str, most: int) -> bytes:
    """Return the bytes of a file, as far as `most`; raises OSError for what is no regular file.

    A pipe or a device is not waited for.
    """
    handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    with open(handle, "rb") as file:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise OSError(f"{path} is no regular file")
        return file.read(most)
