"""Hooks of an agent that keeps one process: a line for each payload, an answer for each line.

Each is answered by a process of its own, as any hook is, but one that finds Python and our modules
loaded. What goes wrong in it ends it alone. Part of the hot path.
"""

import _signal  # type: ignore[import-not-found] # `signal` itself builds enums
import os
import sys

from gitmem.base.processes import pass_over

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import NoReturn

IDLE = 600.0  # seconds without a payload after which the process ends
LOADED = ("answer", "tool_use", "edit_notes")  # modules of hooks that a tool call needs


def serve(agent: str, answer: "Callable[[bytes | None], NoReturn]", most: int) -> "NoReturn":
    """Have `answer` called in a process of its own for each line, until there are no more.

    It gets None for a line of more than `most` bytes. Where a module that is loaded has changed,
    as an upgrade and a checkout do, the process ends: whoever gets no answer asks a new one.
    """
    pass_over(os.getpid())
    __import__(f"gitmem.agents.{agent}")
    for module in LOADED:
        __import__(f"gitmem.hooks.{module}")
    files = _files()
    version = _version(files)
    nothing = os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)
    try:
        for line in _lines(most):
            if _version(files) != version:
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


def _lines(most: int) -> "Iterator[bytes | None]":
    """Give what is read, line by line; the last one may have no end.

    None for a line of more than `most` bytes, of which no more is held.
    """
    data = bytearray()
    is_cut = False
    while True:
        at = data.find(b"\n")
        if at >= 0:
            line = None if is_cut or at > most else bytes(data[:at])
            del data[: at + 1]
            is_cut = False
            yield line
            continue
        if len(data) > most:
            is_cut = True
            data.clear()
        _signal.setitimer(_signal.ITIMER_REAL, IDLE)  # the kernel ends a process that is idle
        part = os.read(0, 1 << 20)
        _signal.setitimer(_signal.ITIMER_REAL, 0)
        if not part:
            if data or is_cut:
                yield None if is_cut else bytes(data)
            return
        data += part


def _files() -> "list[str]":
    """Return the files of our modules that are loaded."""
    modules = [module for name, module in sys.modules.items() if name.startswith("gitmem")]
    return [file for module in modules if (file := getattr(module, "__file__", None))]


def _version(files: "list[str]") -> "list[tuple[int, int]]":
    """Return what changes with the files: others need not match what is loaded of these."""
    out = []
    for file in files:
        try:
            stat = os.stat(file)
        except OSError:
            out.append((0, 0))
        else:
            out.append((stat.st_ino, stat.st_mtime_ns))
    return out
