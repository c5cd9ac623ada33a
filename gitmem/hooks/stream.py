"""Hooks of an agent that keeps one process: a line for each payload, an answer for each line.

Each is answered by a process of its own, as any hook is, but one that finds Python and our modules
loaded. What goes wrong in it ends it alone. Part of the hot path.
"""

import _signal  # type: ignore[import-not-found] # `signal` itself builds enums
import os

import gitmem
from gitmem.base.processes import pass_over

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import NoReturn

IDLE = 600.0  # seconds without a payload after which the process ends
LOADED = ("answer", "tool_use", "edit_notes")  # modules of hooks that a tool call needs


def serve(agent: str, answer: "Callable[[bytes], NoReturn]", most: int) -> "NoReturn":
    """Have `answer` called in a process of its own for each line, until there are no more.

    A line of more than `most` bytes ends the process, and so does an upgrade of git-mem: whoever
    gets no answer asks a new one.
    """
    pass_over(os.getpid())
    __import__(f"gitmem.agents.{agent}")
    for module in LOADED:
        __import__(f"gitmem.hooks.{module}")
    version = _version()
    nothing = os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)
    try:
        for line in _lines(most):
            if _version() != version:
                break
            pid = os.fork()
            if not pid:
                os.dup2(nothing, 0)  # what it starts must not read the payloads that follow
                answer(line)
            os.waitpid(pid, 0)
            os.write(1, b"\n")
    except OSError:
        pass  # nobody listens any more, or there is no room for a process
    os._exit(0)


def _lines(most: int) -> "Iterator[bytes]":
    """Give what is read, line by line; the last one may have no end."""
    data = bytearray()
    while len(data) <= most:
        at = data.find(b"\n")
        if at >= 0:
            line = bytes(data[:at])
            del data[: at + 1]
            yield line
            continue
        _signal.setitimer(_signal.ITIMER_REAL, IDLE)  # the kernel ends a process that is idle
        part = os.read(0, 1 << 20)
        _signal.setitimer(_signal.ITIMER_REAL, 0)
        if not part:
            if data:
                yield bytes(data)
            return
        data += part


def _version() -> "tuple[int, int]":
    """Return what changes when another version of the program is installed."""
    try:
        found = os.stat(str(gitmem.__file__))
    except OSError:
        return 0, 0
    return found.st_ino, found.st_mtime_ns
