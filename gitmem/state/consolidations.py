"""When this clone consolidated its memory last, by itself. Part of the hot path."""

from gitmem.base.sqlite import healing, transaction
from gitmem.state.database import State

EVERY = 86400.0  # seconds


@healing
def claim(state: State, now: float) -> bool:
    """Return whether a consolidation is due at a time in epoch seconds, and note that it is done.

    The first is due a day after this was first asked.
    """
    row = state.db.execute("SELECT at FROM consolidation").fetchone()
    if row is not None and abs(now - row[0]) < EVERY:
        return False
    with transaction(state.db):
        state.db.execute("INSERT OR REPLACE INTO consolidation VALUES (1, ?)", (now,))
    return row is not None
