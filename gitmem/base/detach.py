"""Work that nobody waits for: `git-mem` as a process of its own.

Standard library only; the hot path imports this.
"""

import os
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any


AWAITED = "GITMEM_AWAITED"  # set for a process that somebody waits for: it does not stand back


def detach(args: "Sequence[str]", env: "Mapping[str, str]", *, awaited: bool = False) -> int:
    """Start `git-mem` in a session of its own, with nothing of ours open.

    Return its process id, 0 when it cannot be started.

    Nobody has to wait for it; `awaited` says that somebody does, so that it has its full share of
    the processor. Raises OSError when the system has no room for a process.
    """
    if not sys.executable:
        return 0
    env = {key: value for key, value in env.items() if key != AWAITED}
    if awaited:
        env[AWAITED] = "1"
    null = [(os.POSIX_SPAWN_OPEN, fd, os.devnull, os.O_RDWR, 0) for fd in (0, 1, 2)]
    actions: list[tuple[Any, ...]] = [*null, *((os.POSIX_SPAWN_CLOSE, fd) for fd in _open_files())]
    # -P: a folder named gitmem where the agent happens to be must not be imported
    argv = [sys.executable, "-P", "-m", "gitmem", *args]
    try:
        return os.posix_spawn(sys.executable, argv, env, file_actions=actions, setsid=True)
    except NotImplementedError:  # an old C library
        return os.posix_spawn(sys.executable, argv, env, file_actions=actions, setpgroup=0)


def _open_files() -> "list[int]":
    """Return the open file descriptors above the standard ones.

    A descriptor that an agent left open must not stay open in a drain.
    """
    handles: list[int] = []
    try:
        names = os.listdir("/dev/fd")
    except OSError:
        return []
    for name in names:
        try:
            os.fstat(int(name))
            handles.append(int(name))
        except (OSError, ValueError):
            continue  # the one that the listing itself used
    return [fd for fd in handles if fd > 2]


def wait(pid: int, seconds: float) -> bool:
    """Wait for a process of ours, so long; say whether it has ended."""
    until = time.monotonic() + seconds
    while pid:
        try:
            if os.waitpid(pid, os.WNOHANG)[0]:
                return True
        except ChildProcessError:
            return True
        if time.monotonic() >= until:
            return False
        time.sleep(0.005)
    return False
