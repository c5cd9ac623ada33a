"""Facts that an agent was told and then used: it edited a file that they are about."""

from gitmem.base.sqlite import healing, transaction
from gitmem.state.database import State


@healing
def new_edits(state: State) -> "tuple[int, list[tuple[str, str, float]]]":
    """Return the number of the newest edit, and the edits that were not looked at yet.

    Each is (session, path from the root of the work tree, when its last edit was).
    """
    row = state.db.execute("SELECT n FROM counted_edits").fetchone()
    newest = state.db.execute("SELECT MAX(n) FROM edits").fetchone()[0] or 0
    sql = (
        "SELECT session, path, MAX(at) FROM edits WHERE n > ? AND n <= ? GROUP BY session, path "
        "ORDER BY 3"
    )
    return newest, state.db.execute(sql, (row[0] if row else 0, newest)).fetchall()


@healing
def note(state: State, newest: int, used: "list[tuple[str, str]]") -> "list[tuple[str, str]]":
    """Note that sessions used facts, each (session, id), in the edits up to a number.

    Return those that were not known: a session uses a fact once.
    """
    sql = "INSERT OR IGNORE INTO facts_used VALUES (?, ?)"
    with transaction(state.db):
        fresh = [one for one in used if state.db.execute(sql, one).rowcount]
        state.db.execute("INSERT OR REPLACE INTO counted_edits VALUES (1, ?)", (newest,))
    return fresh
