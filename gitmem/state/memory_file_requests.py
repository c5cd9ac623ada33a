"""Work trees whose memory files are to be read and written: asked for by hooks, taken by the drain.

Part of the hot path.
"""

from gitmem.state.database import State

_PREFIX = "native "


def ask(state: State, root: str, now: float) -> None:
    """Ask for the memory files of a work tree."""
    state.mark(_PREFIX + root, str(now))


def take(state: State) -> "list[str]":
    """Return the work trees that were asked for, each to one caller."""
    rows = state.db.execute(
        "SELECT key, value FROM marks WHERE key LIKE 'native %' ORDER BY key"
    ).fetchall()
    taken = []
    for key, value in rows:
        if (
            state.db.execute("DELETE FROM marks WHERE key = ? AND value = ?", (key, value)).rowcount
            == 1
        ):
            taken.append(key[len(_PREFIX) :])
    return taken
