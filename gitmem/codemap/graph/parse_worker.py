"""Reads blobs in separate processes, one per core.

A parser that hangs or crashes there is ended, and costs one file.

The child (`python -P -m gitmem.codemap.graph.parse_worker GITDIR`) reads lines `OID LANGUAGE`, and
answers each with a length and the packed result.
"""

import gc
import os
import select
import struct
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Generator, Mapping, Sequence

from gitmem.codemap.graph.cache import pack
from gitmem.codemap.graph.sources import why_not_text
from gitmem.codemap.tags import tags

BATCH = 24
SLOW = 15.0  # seconds that one file may take
START = 15.0


def read_blob(data: bytes | None, language: str) -> bytes:
    """Return the packed result of one text."""
    if data is None:
        return pack("missing")
    return pack(why_not_text(data) or tags.read(data, language) or "unparsed")


def read_all(
    gitdir: str,
    env: Mapping[str, str],
    wanted: Sequence[tuple[str, str]],
    workers: int,
    step: Callable[[int], None] = lambda _: None,
) -> Generator[list[tuple[str, str, bytes]], None, None]:
    """Yield (oid, language, packed result) of blobs, in parts as they come.

    `step` is told how many are done.
    """
    todo = deque(wanted[n : n + BATCH] for n in range(0, len(wanted), BATCH))
    done: deque[list[tuple[str, str, bytes]]] = deque()
    ready = threading.Condition()
    failures: list[BaseException] = []

    def work() -> None:
        child = _Child(gitdir, env)
        try:
            while not failures:
                try:
                    batch = todo.popleft()
                except IndexError:
                    return
                rows = child.read(batch)
                with ready:
                    done.append(rows)
                    ready.notify()
        except BaseException as error:  # noqa: BLE001 - raised in the thread that waits
            with ready:
                failures.append(error)
                ready.notify()
        finally:
            child.end()

    threads = [
        threading.Thread(target=work, daemon=True) for _ in range(max(1, min(workers, len(todo))))
    ]
    for thread in threads:
        thread.start()
    left, count = -(-len(wanted) // BATCH), 0
    try:
        while left:
            with ready:
                while not done and not failures:
                    ready.wait()
            if failures:
                raise failures[0]
            rows = done.popleft()
            left -= 1
            count += len(rows)
            yield rows
            step(count)
    finally:
        todo.clear()
        for thread in threads:
            thread.join()


class _Child:
    """One process that reads blobs, started again when it ends too early."""

    def __init__(self, gitdir: str, env: Mapping[str, str]) -> None:
        self._args = [sys.executable, "-P", "-m", "gitmem.codemap.graph.parse_worker", gitdir]
        self._env = dict(env)
        self._process: subprocess.Popen[bytes] | None = None

    def read(self, batch: Sequence[tuple[str, str]]) -> list[tuple[str, str, bytes]]:
        """Return what is read of some blobs.

        What ends the process, or takes too long, is told in a word.
        """
        rows: list[tuple[str, str, bytes]] = []
        while len(rows) < len(batch):
            rest = batch[len(rows) :]
            before = len(rows)
            process = self._started()
            assert process.stdin is not None
            try:
                process.stdin.write(
                    "".join(f"{oid} {language}\n" for oid, language in rest).encode()
                )
                process.stdin.flush()
                for oid, language in rest:
                    data = self._answer(process, SLOW + (START if len(rows) == before else 0.0))
                    if data is None:
                        break
                    rows.append((oid, language, data))
            except OSError:
                pass
            if len(rows) < len(batch):
                self.end()
                oid, language = batch[len(rows)]
                rows.append((oid, language, pack("unparsed")))
        return rows

    def _started(self) -> "subprocess.Popen[bytes]":
        if self._process is None:
            self._process = subprocess.Popen(
                self._args,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=self._env,
                bufsize=0,
                start_new_session=True,
            )
        return self._process

    @staticmethod
    def _answer(process: "subprocess.Popen[bytes]", seconds: float) -> bytes | None:
        pipe = process.stdout
        assert pipe is not None
        until = time.monotonic() + seconds

        def take(size: int) -> bytes:
            out = b""
            while len(out) < size:
                ready, _, _ = select.select([pipe], [], [], max(0.0, until - time.monotonic()))
                part = os.read(pipe.fileno(), size - len(out)) if ready else b""
                if not part:
                    return b""
                out += part
            return out

        head = take(4)
        return take(struct.unpack(">I", head)[0]) or None if head else None

    def end(self) -> None:
        """End the process and wait for it."""
        if self._process is not None:
            self._process.kill()
            for pipe in (self._process.stdin, self._process.stdout):
                try:
                    if pipe is not None:
                        pipe.close()
                except OSError:
                    pass
            self._process.wait()
            self._process = None


def main() -> None:
    """Answer until the input ends."""
    from gitmem.git.process import Git

    gc.disable()  # nothing that is made here has cycles
    child = Git(sys.argv[1], os.environ).open("cat-file", "--batch")
    assert child.stdin is not None
    assert child.stdout is not None
    out = sys.stdout.buffer
    for line in sys.stdin.buffer:
        oid, _, language = line.decode().strip().partition(" ")
        child.stdin.write(f"{oid}\n".encode())
        child.stdin.flush()
        words = child.stdout.readline().split()
        data = None
        if len(words) == 3:
            data = child.stdout.read(int(words[2]))
            child.stdout.read(1)
        said = read_blob(data, language)
        out.write(struct.pack(">I", len(said)) + said)
        out.flush()
    child.stdin.close()
    child.wait()


if __name__ == "__main__":
    main()
