"""Calls of hooks: an agent whose settings name us twice calls both for one event.

Each command that calls us is called for each event once. So the second call of a command is for the
second event, and a call is a repetition if another command's call for the same event is kept, or is
being kept by a process that runs. Two calls at once by one command are for one event, but for uses
of tools that have no id: an agent may do the same twice at once.

Part of the hot path.
"""

from gitmem.base.sqlite import healing, transaction
from gitmem.state.database import State

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

KEPT = 60.0  # seconds since the last call for an event for which calls are counted
FORGOTTEN = 3600.0  # seconds after which calls are removed
DONE = ""  # in the place of the process that keeps an event


@healing
def claim(
    state: State,
    session: str,
    event: str,
    now: float,
    command: str,
    process: str,
    is_gone: "Callable[[str], bool | None]",
    *,
    may_be_parallel: bool,
) -> int:
    """Return the number of this call among those of its command, or 0 for a repetition.

    `process` is the one that is to keep the event, and `is_gone` tells whether such a process has
    ended. `may_be_parallel`: the command may be called for two equal events at once.
    """
    with transaction(state.db):
        rows = state.db.execute(
            "SELECT command, number, process, at FROM hook_calls WHERE session = ? AND event = ?",
            (session, event),
        ).fetchall()
        if rows and not now - KEPT <= max(at for *_, at in rows) <= now + KEPT:
            state.db.execute(
                "DELETE FROM hook_calls WHERE session = ? AND event = ?", (session, event)
            )
            rows = []
        number = 1 + max((row[1] for row in rows if row[0] == command), default=0)
        for other, its_number, holder, _ in rows:
            if holder != DONE and is_gone(holder) is not False:
                continue  # it ended before the event was kept
            is_other = bool(command) and other != command and its_number >= number
            is_same = other == command and holder != DONE and not may_be_parallel
            if is_other or is_same:
                _insert(state, session, event, command, number, DONE, now)
                return 0
        state.db.execute("DELETE FROM hook_calls WHERE at < ?", (now - FORGOTTEN,))
        _insert(state, session, event, command, number, process, now)
    return number


def _insert(
    state: State, session: str, event: str, command: str, number: int, process: str, now: float
) -> None:
    state.db.execute(
        "INSERT OR REPLACE INTO hook_calls VALUES (?, ?, ?, ?, ?, ?)",
        (session, event, command, number, process, now),
    )


@healing
def confirm(state: State, session: str, event: str, command: str, number: int) -> None:
    """Note that the event of a call is kept."""
    state.db.execute(
        "UPDATE hook_calls SET process = ? WHERE session = ? AND event = ? AND command = ?"
        " AND number = ?",
        (DONE, session, event, command, number),
    )


@healing
def withdraw(state: State, session: str, event: str, command: str, number: int) -> None:
    """Note that the event of a call could not be kept: another call may keep it."""
    state.db.execute(
        "DELETE FROM hook_calls WHERE session = ? AND event = ? AND command = ? AND number = ?",
        (session, event, command, number),
    )
