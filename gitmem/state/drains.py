"""Which detached `git mem drain` was started last, and what the last one did.

Part of the hot path.
"""

from gitmem.base.fast import dumps, loads
from gitmem.base.processes import runs
from gitmem.base.sqlite import healing, transaction
from gitmem.repo.location import storable
from gitmem.state.database import State

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

# seconds that a hook has to start the drain that it claimed, and a drain to begin
STARTING, COMING = 0.3, 15.0


@healing
def claim(
    state: State, reason: str, at: float, gap: float, again: float, *, sure: bool = False
) -> bool:
    """Return whether a drain should start now.

    It should if none was started for `gap` seconds, nor for the same reason for `again` seconds,
    or if it is `sure`.

    None is while one that was started has yet to begin: it will see what this one is for. So there
    is hardly ever more than one at work and one to come. Who is told True says with `note_started`
    which process it is: a claim whose owner was killed holds nobody up for long.
    """
    with transaction(state.db):
        last = state.db.execute("SELECT claimed, reason, pid, begun FROM drain").fetchone()
        due = last is None or _is_due(last, reason, at, gap, again, sure)
        if due:
            state.db.execute("INSERT OR REPLACE INTO drain VALUES (1, ?, ?, NULL, 0)", (at, reason))
    return due


def _is_due(
    last: "tuple[float, str, int | None, int]",
    reason: str,
    at: float,
    gap: float,
    again: float,
    sure: bool,
) -> bool:
    claimed, former_reason, pid, begun = last
    age = at - claimed
    if not begun:
        is_coming = 0 <= age < STARTING if pid is None else 0 <= age < COMING and runs(str(pid))
        if is_coming:
            return False
    return sure or abs(age) > (again if former_reason == reason else gap)


@healing
def note_started(state: State, reason: str, at: float, pid: int) -> None:
    """Note which process a claimed drain is."""
    state.db.execute("UPDATE drain SET pid = ? WHERE claimed = ? AND reason = ?", (pid, at, reason))


@healing
def begin(state: State) -> None:
    """Record that the drain that was started last begins.

    What is left from now on is for another drain.
    """
    state.db.execute("UPDATE drain SET begun = 1")


@healing
def report(state: State, at: float, seconds: float, done: "Sequence[str]", failed: str) -> None:
    """Keep what a drain did."""
    state.db.execute(
        "INSERT OR REPLACE INTO drain_report VALUES (1, ?, ?, ?, ?)",
        (at, seconds, dumps(list(done)), storable(failed)),
    )


@healing
def last_report(state: State) -> "dict[str, Any]":
    """Return what a drain did last: `at`, `seconds`, `did`, `failed`; empty if there was none."""
    row = state.db.execute("SELECT at, seconds, done, failed FROM drain_report").fetchone()
    if row is None:
        return {}
    at, seconds, done, failed = row
    return {"at": at, "seconds": seconds, "did": loads(done), "failed": failed}
