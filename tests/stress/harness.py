"""Kill processes at random moments, as a power cut or an impatient agent does."""

import contextlib
import os
import random
import signal
import subprocess
import time
from pathlib import Path

from tests.stress.conftest import findings, mem

# on the other side of a real connection; they see a hang-up, not a kill
SERVER = ("receive-pack", "upload-pack")


def _stat(pid: int | str) -> list[str]:
    """Return what follows the name in a process's stat file: state, parent; nothing if there is no such process."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return []


def _server(pid: int | str) -> bool:
    try:
        command = Path(f"/proc/{pid}/cmdline").read_bytes().decode(errors="replace")
    except OSError:
        return False
    return any(word in command for word in SERVER)


def _children(pid: int) -> set[int]:
    """Return the children of a process, without a look at all the others: a git command may last two milliseconds."""
    found: set[int] = set()
    with contextlib.suppress(OSError):
        for thread in os.listdir(f"/proc/{pid}/task"):
            found.update(map(int, Path(f"/proc/{pid}/task/{thread}/children").read_text().split()))
    return found


def _at_work(commands: set[int]) -> dict[int, int]:
    """Return the processes that are one of these commands, or were started by one, with the command; not those that stand for a server.

    A git command is the leader of a session, which is that of all it starts, whoever their parent is by now.
    """
    found = {}
    for name in os.listdir("/proc") if commands else ():
        # nobody may be there to reap an orphan
        if not name.isdigit() or not (stat := _stat(name)) or stat[0] == "Z":
            continue
        for one in (int(name), int(stat[3])):
            if one in commands and not _server(name):
                found[int(name)] = one
                break
    return found


def kill(pid: int, everything: bool) -> set[int]:
    """Kill a process as `kill -9` does; with `everything`, also the git commands that it started. Return those."""
    _signal(pid, signal.SIGSTOP)
    commands = _children(pid)
    for victim in (*(commands if everything else ()), pid):
        _signal(victim, signal.SIGKILL)
    while everything and (victims := _at_work(commands)):
        for victim in victims:
            _signal(victim, signal.SIGKILL)
    while os.path.exists(f"/proc/{pid}"):
        time.sleep(0.001)
    return commands


def _signal(pid: int, number: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, number)


def locks(path: Path) -> list[Path]:
    """Return the locks that dead git processes left on our refs."""
    return sorted((path / ".git" / "refs" / "gitmem").rglob("*.lock"))


def age(paths: list[Path]) -> None:
    """Let an hour pass for some files; a command that still runs may remove its own."""
    for path in paths:
        with contextlib.suppress(FileNotFoundError):
            os.utime(path, (time.time() - 3600,) * 2)


def heal(path: Path) -> int:
    """Let an hour pass for the locks of the dead, then follow `git mem doctor`; return how many there were."""
    left = locks(path)
    age(left)
    assert any("lock of a process that died" in f["message"] for f in findings(path))
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
        # a number is given again
        self._orphans.intersection_update(_at_work(self._orphans).values())
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
        while left := _at_work(self._orphans):
            assert time.monotonic() < end, f"git commands that do not end: {sorted(left)}"
            time.sleep(0.005)
        self._orphans.clear()

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
        return (
            [line for line in self._told.read_text().split("\n")[:-1] if line != "ready"]
            if self._told.exists()
            else []
        )
