"""One call of git where `subprocess` alone would cost more than all the rest: hooks. Standard library's cheapest modules only."""

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping


def spawn(env: "Mapping[str, str]", *args: str) -> "tuple[int, int]":
    """Start git with nothing to read; return its process id and the pipe of what it prints, or (0, 0) when there is no git."""
    out, into = os.pipe()
    try:
        null = [(os.POSIX_SPAWN_OPEN, fd, os.devnull, os.O_RDWR, 0) for fd in (0, 2)]
        child = os.posix_spawnp("git", ["git", *args], env, file_actions=[*null, (os.POSIX_SPAWN_DUP2, into, 1)])
    except OSError:
        os.close(out)
        return 0, 0
    finally:
        os.close(into)
    return child, out


def read(env: "Mapping[str, str]", *args: str) -> bytes | None:
    """Return what git prints; None when it fails, or is not there."""
    child, pipe = spawn(env, *args)
    if not child:
        return None
    with os.fdopen(pipe, "rb") as file:
        data = file.read()
    return data if os.waitpid(child, 0)[1] == 0 else None
