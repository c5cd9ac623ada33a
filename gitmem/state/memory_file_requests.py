"""Work trees whose memory files are to be read and written: asked for by hooks, taken by the drain.

Part of the hot path.
"""

from gitmem.base.sqlite import healing
from gitmem.state.database import State


@healing
def ask(state: State, root: str, now: float) -> None:
    """Ask for the memory files of a work tree."""
    state.db.execute("INSERT OR REPLACE INTO memory_file_requests VALUES (?, ?)", (root, now))


@healing
def take(state: State) -> "list[str]":
    """Return the work trees that were asked for, each to one caller."""
    rows = state.db.execute("SELECT root, at FROM memory_file_requests ORDER BY root").fetchall()
    taken = []
    for row in rows:
        deleted = state.db.execute(
            "DELETE FROM memory_file_requests WHERE root = ? AND at = ?", row
        )
        if deleted.rowcount:
            taken.append(row[0])
    return taken
