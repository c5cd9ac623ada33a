"""Kill processes at random moments, as a power cut or an impatient agent does."""

import os
import random
import signal
import subprocess
import time
from pathlib import Path

from tests.stress.conftest import findings, mem

SERVER = ("receive-pack", "upload-pack")  # on the other side of a real connection; they see a hang-up, not a kill


def _stat(pid: int | str) -> list[str]:
    """Return what follows the name in a process's stat file: state, parent; nothing if there is no such process."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return []


def _children() -> dict[int, list[int]]:
    out: dict[int, list[int]] = {}
    for name in os.listdir("/proc"):
        if name.isdigit() and (stat := _stat(name)):
            out.setdefault(int(stat[1]), []).append(int(name))
    return out


def _below(pid: int) -> list[int]:
    """Return the processes below one, but for what stands for a server."""
    tree, out, todo = _children(), [], [pid]
    while todo:
        for child in tree.get(todo.pop(), ()):
            try:
                command = Path(f"/proc/{child}/cmdline").read_bytes().decode(errors="replace")
            except OSError:
                continue
            if not any(word in command for word in SERVER):
                out.append(child)
                todo.append(child)
    return out


def kill(pid: int, everything: bool) -> list[int]:
    """Kill a process as `kill -9` does; with `everything`, also the git commands that it started. Return those that go on."""
    try:
        os.kill(pid, signal.SIGSTOP)
    except ProcessLookupError:
        return []
    below = _below(pid)
    for victim in (*(below if everything else ()), pid):
        try:
            os.kill(victim, signal.SIGKILL)
        except ProcessLookupError:
            continue
    while os.path.exists(f"/proc/{pid}"):
        time.sleep(0.001)
    return [] if everything else below


def _at_work(pid: int) -> bool:
    return _stat(pid)[:1] not in ([], ["Z"])  # nobody may be there to reap an orphan


def locks(path: Path) -> list[Path]:
    """Return the locks that dead git processes left on our refs."""
    return sorted((path / ".git" / "refs" / "gitmem").rglob("*.lock"))


def age(paths: list[Path]) -> None:
    """Let an hour pass for some files."""
    for path in paths:
        os.utime(path, (time.time() - 3600,) * 2)


def heal(path: Path) -> int:
    """Let an hour pass for the locks of the dead, then follow `git mem doctor`; return how many there were."""
    left = locks(path)
    age(left)
    assert any("lock of a process that died" in f["what"] for f in findings(path))
    mem(path, "doctor", "--fix")
    assert [] == locks(path)
    return len(left)


class Nest:
    """Starts children from one warm process, and kills them at random moments."""

    def __init__(self, process: "subprocess.Popen[str]", told: Path, rng: random.Random) -> None:
        self._process = process
        self._told = told
        self._rng = rng
        self.strikes = 0  # kills that met a process at work
        self._orphans: set[int] = set()  # git commands whose parents were killed

    def start(self, *args: object) -> int:
        """Start a child; return its pid."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write("\t".join([str(self._told), *map(str, args)]) + "\n")
        self._process.stdin.flush()
        return int(self._process.stdout.readline())

    def strike(self, longest: float, *args: object) -> bool:
        """Start a child and kill it at a random moment; say whether it was still at work then."""
        pid = self.start(*args)
        moment = time.monotonic() + self._rng.random() * longest
        while time.monotonic() < moment and os.path.exists(f"/proc/{pid}"):
            time.sleep(0.001)
        at_work = os.path.exists(f"/proc/{pid}")
        self._orphans.update(kill(pid, self._rng.random() < 0.5))
        self.strikes += at_work
        return at_work

    def settle(self, longest: float = 60) -> None:
        """Wait for the git commands that outlived the ones who started them: `git fsck` sees half of what they write."""
        end = time.monotonic() + longest
        while self._orphans:
            assert time.monotonic() < end, f"git commands that do not end: {sorted(self._orphans)}"
            self._orphans = {pid for one in self._orphans if _at_work(one) for pid in (one, *_below(one))}
            time.sleep(0.005)

    def orphaned(self, path: Path) -> list[Path]:
        """Return the locks that stay: a git command that outlived the one who started it removes its own."""
        if locks(path):
            self.settle()
        return locks(path)

    def heal(self, path: Path) -> int:
        """Remove locks of the dead as a user does who waits, then follows `git mem doctor`; return how many there were."""
        return heal(path) if self.orphaned(path) else 0

    def told(self) -> list[str]:
        """Return the whole lines that all children printed so far."""
        return [line for line in self._told.read_text().split("\n")[:-1] if line != "ready"] if self._told.exists() else []
