"""One call of git where `subprocess` alone would cost more than all the rest: hooks.

Standard library's cheapest modules only.
"""

import os

from gitmem.base.git_guard import GUARDS, LIST, OFFLINE, Overrides, as_environment, without_programs

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping


def spawn(env: "Mapping[str, str]", gitdir: str, *args: str) -> "tuple[int, int]":
    """Start git with nothing to read.

    Return its process id and the pipe of what it prints, or (0, 0) when there is no git.

    It runs no program that the repository's own configuration names.
    """
    given = {**env, **OFFLINE}
    if args[:1] != ("config",):
        given.update(
            as_environment(
                Overrides(gitdir, lambda: read(env, gitdir, *LIST) or b"").pairs(), given
            )
        )
    return _start(given, "--git-dir", gitdir, *GUARDS, *without_programs(args))


def _start(env: "Mapping[str, str]", *args: str) -> "tuple[int, int]":
    out, into = os.pipe()
    try:
        null = [(os.POSIX_SPAWN_OPEN, fd, os.devnull, os.O_RDWR, 0) for fd in (0, 2)]
        child = os.posix_spawnp(
            "git", ["git", *args], env, file_actions=[*null, (os.POSIX_SPAWN_DUP2, into, 1)]
        )
    except OSError:
        os.close(out)
        return 0, 0
    finally:
        os.close(into)
    return child, out


def read(env: "Mapping[str, str]", gitdir: str, *args: str) -> bytes | None:
    """Return what git prints; None when it fails, or is not there."""
    return _output(*spawn(env, gitdir, *args))


def accepts(env: "Mapping[str, str]", folder: str) -> bool:
    """Say whether git itself would use the repository of a folder."""
    return (
        _output(*_start({**env, **OFFLINE}, *GUARDS, "-C", folder, "rev-parse", "--git-dir"))
        is not None
    )


def own_setting(env: "Mapping[str, str]", key: str) -> str:
    """Return a setting of the user's own configuration; empty when there is none.

    No repository's is read.
    """
    answer = _output(*_start(env, "--git-dir", os.devnull, "config", "--get", key))
    return (answer or b"").decode("utf-8", "replace").strip()


def _output(child: int, pipe: int) -> bytes | None:
    if not child:
        return None
    with os.fdopen(pipe, "rb") as file:
        data = file.read()
    return data if os.waitpid(child, 0)[1] == 0 else None
