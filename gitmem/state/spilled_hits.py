"""Hits of errors that found `state.db` busy: lines of a file, counted by whoever comes next.

Part of the hot path.
"""

import os
import time

from gitmem.base.fast import dumps, loads
from gitmem.base.processes import runs
from gitmem.base.sqlite import is_locked
from gitmem.base.tolerated import BUSY, MALFORMED
from gitmem.repo.location import Home
from gitmem.state.database import State

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

NAME = "errors.jsonl"


def has_waiting(home: Home) -> bool:
    """Return whether there are hits that wait."""
    return any(name.startswith(NAME) for name in os.listdir(home.path))


def count(home: Home, state: State, window: float) -> int:
    """Count the hits that wait, and return how many.

    Those that find the database busy again go on waiting. Raises sqlite.Error.
    """
    done = 0
    for path in _taken(home):
        rows = _rows(path)
        for row in list(rows):
            try:
                state.add_error(row["pattern"], row["at"], row["session"], window, again=True)
            except BUSY as error:
                if not is_locked(error):
                    raise
                break
            rows.remove(row)
            done += 1
        _leave(path, rows)
    return done


def _leave(path: str, rows: "list[dict[str, Any]]") -> None:
    """Keep the rows that are not counted; a process of another container may have taken them."""
    try:
        if not rows:
            os.unlink(path)
            return
        with open(path, "r+", encoding="utf-8") as file:
            file.truncate(0)
            file.write("".join(f"{dumps(row)}\n" for row in rows))
    except FileNotFoundError:
        return


def _taken(home: Home) -> "Iterator[str]":
    """Yield the files of hits, each taken by this process alone.

    Those of processes that were killed over them too.
    """
    pid = str(os.getpid())
    left = [name for name in os.listdir(home.path) if name.startswith(f"{NAME}.")]
    for name in (
        NAME,
        *(spilled for spilled in left if (of := spilled.split(".")[2]) == pid or not runs(of)),
    ):
        mine = home.join(f"{NAME}.{pid}.{time.monotonic_ns()}")
        try:
            os.rename(home.join(name), mine)
        except FileNotFoundError:
            continue
        yield mine


def _rows(path: str) -> "list[dict[str, Any]]":
    """Return the hits of a file, without what a full disk has cut off."""
    rows = []
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            lines = file.readlines()
    except FileNotFoundError:
        return []  # a process of another container has taken it
    for line in lines:
        try:
            row = loads(line)
            rows.append(
                {
                    "pattern": str(row["pattern"]),
                    "at": float(row["at"]),
                    "session": str(row["session"]),
                }
            )
        except MALFORMED:
            continue
    return rows
