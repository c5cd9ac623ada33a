"""Lines that the hooks of git append to a file in our folder for the drain to read."""

import contextlib
import itertools
import os

from gitmem.base.processes import runs
from gitmem.repo.location import Home

NOBODY = "0"  # in the place of a process


class HookNotes:
    """The lines of one such file, taken out of the way of the hooks.

    A process renames the file to `NAME.PID.NUMBER`, which no other process touches while it runs.
    The file stays until its work is done. If the process is killed, the next one takes the file.
    What a process gives back is `NAME.0.PID.NUMBER`: no process has it.
    """

    def __init__(self, home: Home, name: str) -> None:
        self._home, self._name = home, name
        self._sizes: dict[str, int] = {}  # of each file, by its path
        data = b"".join(self._take(path) for path in [*self._left_over(), home.join(name)])
        lines = data.decode("utf-8", "replace").split("\n")
        self.rows = dict(line.partition(" ")[::2] for line in lines if line)

    def drop(self) -> None:
        """Remove the files, but not one to which a hook that had opened it has added a line.

        The next drain reads such a file.
        """
        for path, size in self._sizes.items():
            with contextlib.suppress(FileNotFoundError):
                if os.path.getsize(path) == size:
                    os.unlink(path)

    def give_back(self) -> None:
        """Leave the files to the next drain, which may look before this process has ended."""
        for path in self._sizes:
            folder, name = os.path.split(path)
            own = name.removeprefix(f"{self._name}.")
            with contextlib.suppress(FileNotFoundError):
                os.rename(path, os.path.join(folder, f"{self._name}.{NOBODY}.{own}"))

    def _take(self, path: str) -> bytes:
        """Make a file ours and return what it holds: nothing if another process was faster."""
        own = self._free_name()
        try:
            os.rename(path, own)
            with open(own, "rb") as file:
                data = file.read()
        except FileNotFoundError:
            return b""
        self._sizes[own] = len(data)
        return data

    def _free_name(self) -> str:
        names = (f"{self._name}.{os.getpid()}.{number}" for number in itertools.count())
        return next(path for path in map(self._home.join, names) if not os.path.lexists(path))

    def _left_over(self) -> list[str]:
        """Return the files that processes which have ended had taken and did not finish."""
        start, own = f"{self._name}.", str(os.getpid())
        try:
            entries = os.listdir(self._home.path)
        except FileNotFoundError:
            return []
        taken = {
            entry: entry.removeprefix(start).partition(".")[0]
            for entry in entries
            if entry.startswith(start)
        }
        return [
            self._home.join(entry)
            for entry, pid in sorted(taken.items())
            if pid.isdecimal() and (pid in {own, NOBODY} or not runs(pid))
        ]
