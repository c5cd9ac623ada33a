"""Calls of hooks: an agent whose settings name us twice calls both for one event.

Part of the hot path.
"""

from gitmem.base.sqlite import healing, transaction
from gitmem.state.database import State

PATIENCE = 4.0  # seconds that a call may be at work
GAP = 2.0  # seconds between the end of a call and another command's call for the same event
KEPT = 60.0  # seconds for which a call is remembered


@healing
def claim(state: State, session: str, event: str, now: float, command: str) -> bool:
    """Say whether this process is the first that is called for an event; `now` is when it began.

    Hooks of one event run at once, or one after the other: then their commands differ. An event
    that comes again later, as one that is played back does, is another one.
    """
    with transaction(state.db):
        row = state.db.execute(
            "SELECT until, command FROM hook_calls WHERE session = ? AND event = ?",
            (session, event),
        ).fetchone()
        if row and _repeats(now, command, *row):
            return False
        state.db.execute("DELETE FROM hook_calls WHERE until < ?", (now - KEPT,))
        state.db.execute(
            "INSERT OR REPLACE INTO hook_calls VALUES (?, ?, ?, ?)",
            (session, event, now + PATIENCE, command),
        )
    return True


def _repeats(now: float, command: str, until: float, before: str) -> bool:
    if until > now + 2 * PATIENCE:  # a clock that was set back
        return False
    differs = bool(command) and command != before
    return now < until or (differs and now < until + GAP)


@healing
def release(state: State, session: str, event: str, now: float) -> None:
    """Note that the work of a call is done."""
    state.db.execute(
        "UPDATE hook_calls SET until = ? WHERE session = ? AND event = ?", (now, session, event)
    )
