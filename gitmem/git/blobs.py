"""Contents of a few blobs, by one process of git that ends with the call."""

import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING

from gitmem.git.objects_cli import is_partial
from gitmem.git.process import Git

if TYPE_CHECKING:
    import subprocess

IN_FLIGHT = 4_096  # bytes of names that are written before their answers are read; fits any pipe


def read_blobs(
    git: Git, names: Sequence[str], most: int, until: float, config: Sequence[str] = ()
) -> Iterator[bytes | None]:
    """Yield the contents of objects by name, in order: an id, or `COMMIT:PATH`.

    None for what is missing, no blob, or larger than `most` bytes. Ends early where git fails, and
    at the time `until` of the monotonic clock.
    """
    at = 0
    while at < len(names) and time.monotonic() < until:
        try:
            with _child(git, config, until) as child:
                for data in _answers(child, names[at:], most):
                    at += 1
                    yield data
        except (EOFError, BrokenPipeError):
            if time.monotonic() >= until or not is_partial(git.gitdir):
                return
            at += 1
            yield None  # git before 2.45 ends where it may not fetch what is missing


@contextmanager
def _child(git: Git, config: Sequence[str], until: float) -> Iterator["subprocess.Popen[bytes]"]:
    """Run a `cat-file` that is killed at a time, whatever it or its reader waits for."""
    child = git.open("cat-file", "--batch", config=config)
    timer = threading.Timer(max(0.0, until - time.monotonic()), child.kill)
    timer.daemon = True
    timer.start()
    try:
        with child:
            yield child
    finally:
        timer.cancel()


def _answers(
    child: "subprocess.Popen[bytes]", names: Sequence[str], most: int
) -> Iterator[bytes | None]:
    """Yield what the child answers to names; kills the child at an object that is too large.

    Raises EOFError or BrokenPipeError where the child ended.
    """
    assert child.stdin is not None
    assert child.stdout is not None
    for part in _parts(names):
        child.stdin.write(b"".join(part))
        child.stdin.flush()
        for _ in part:
            kind, size = _head(child.stdout)
            if size > most:
                child.kill()
                yield None
                return
            data = child.stdout.read(size + 1)
            if len(data) <= size:
                raise EOFError
            yield data[:-1] if kind == b"blob" else None


def _head(answers: IO[bytes]) -> tuple[bytes, int]:
    """Return the kind and the size of the object that follows; -1 where there is none."""
    words = answers.readline().split()
    if not words:
        raise EOFError
    if len(words) != 3 or not words[2].isdigit():
        return b"", -1
    return words[1], int(words[2])


def _parts(names: Sequence[str]) -> Iterator[list[bytes]]:
    """Yield the names as lines, in parts that are written without waiting for the child."""
    part: list[bytes] = []
    size = 0
    for name in names:
        line = f"{name}\n".encode("utf-8", "surrogateescape")
        if part and size + len(line) > IN_FLIGHT:
            yield part
            part, size = [], 0
        part.append(line)
        size += len(line)
    if part:
        yield part
