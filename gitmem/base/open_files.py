"""Which processes have files open, by what the kernel tells below /proc.

Nothing where there is no /proc.
"""

import os
from collections.abc import Iterator


def can_tell() -> bool:
    """Say whether the kernel tells which files processes have open."""
    return os.path.isdir("/proc/self/fd")


def processes_with(*beginnings: str) -> Iterator[tuple[int, list[str], list[str]]]:
    """Yield (pid, command line, paths) of other processes that have files open or mapped.

    Those are told whose path begins so. A file that was removed meanwhile has " (deleted)" at the
    end of its path. Processes of other users are seen only where the kernel lets this one look.
    """
    for pid in _others():
        paths = list(_open_paths(pid, beginnings))
        if paths:
            yield pid, _command_line(pid), paths


def is_running(pid: int) -> bool:
    """Say whether a process is there and has not ended."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            state = file.read(4096).rpartition(b")")[2].split()
    except OSError:
        return False
    return bool(state) and state[0] not in {b"Z", b"X"}


def _others() -> list[int]:
    try:
        names = os.listdir("/proc")
    except OSError:
        return []
    return [int(name) for name in names if name.isdigit() and int(name) != os.getpid()]


def _open_paths(pid: int, beginnings: tuple[str, ...]) -> Iterator[str]:
    try:
        for number in os.listdir(f"/proc/{pid}/fd"):
            try:
                path = os.readlink(f"/proc/{pid}/fd/{number}")
            except OSError:
                continue
            if path.startswith(beginnings):
                yield path
        with open(f"/proc/{pid}/maps", "rb") as file:
            maps = file.read()
    except OSError:
        return
    for beginning in beginnings:
        yield from _mapped(maps, os.fsencode(beginning))


def _mapped(maps: bytes, beginning: bytes) -> Iterator[str]:
    """Yield the paths in a `maps` file that begin so; most files name none, and cost one search."""
    at = maps.find(beginning)
    while at >= 0:
        end = maps.find(b"\n", at)
        if maps[at - 1 : at] == b" ":
            yield os.fsdecode(maps[at:end])
        at = maps.find(beginning, end)


def _command_line(pid: int) -> list[str]:
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            data = file.read(65536)
    except OSError:
        return []
    return data.decode("utf-8", "replace").rstrip("\0").split("\0") if data else []
