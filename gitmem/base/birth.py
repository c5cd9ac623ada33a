"""When a file was made. Python tells it on some systems alone; on Linux the C library is asked."""

import os
import struct
import sys

_AT_FDCWD, _BTIME = -100, 0x800
# of `struct statx`: its size, where the mask is, where the time is
_SIZE, _MASK, _PLACE = 256, 0, 80


def born(path: str) -> float | None:
    """Return when a file was made (epoch seconds); None where the system does not tell it."""
    try:
        file_facts = os.stat(path)
    except OSError:
        return None
    birth_time = getattr(file_facts, "st_birthtime", None)
    if birth_time is not None:
        return float(birth_time)
    return _by_statx(path) if sys.platform == "linux" else None


def _by_statx(path: str) -> float | None:
    try:
        import ctypes

        buffer = ctypes.create_string_buffer(_SIZE)
        name = os.fsencode(path)
        if ctypes.CDLL(None).statx(_AT_FDCWD, ctypes.c_char_p(name), 0, _BTIME, buffer) != 0:
            return None
    except (ImportError, AttributeError, OSError):
        return None
    (mask,) = struct.unpack_from("=I", buffer.raw, _MASK)
    seconds, nanoseconds = struct.unpack_from("=qI", buffer.raw, _PLACE)
    return float(seconds) + nanoseconds / 1e9 if mask & _BTIME else None
