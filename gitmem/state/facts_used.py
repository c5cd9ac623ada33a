"""Facts that an agent was told and then used: it edited a file that they are about."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from gitmem.base.sqlite import healing, transaction
from gitmem.clock import stamp
from gitmem.state.database import COUNT_READ, State


class UsedFact(NamedTuple):
    """A fact that a session used: its store, its id, and when, in epoch seconds."""

    session: str
    store: str
    id: str
    at: float


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
def count(
    state: State, newest: int, used: Sequence[UsedFact], count_user: Callable[[UsedFact], None]
) -> int:
    """Count a read of each fact that sessions used in the edits up to a number; return how many.

    A session uses a fact once. Either all of it is noted or nothing. `count_user` counts a read in
    the user's own store, which has a file of its own.
    """
    sql = "INSERT OR IGNORE INTO facts_used VALUES (?, ?)"
    with transaction(state.db):
        fresh = [fact for fact in used if state.db.execute(sql, (fact.session, fact.id)).rowcount]
        for fact in fresh:
            if fact.store == "user":
                count_user(fact)
            else:
                state.db.execute(COUNT_READ, (fact.store, fact.id, stamp(fact.at)))
        state.db.execute("INSERT OR REPLACE INTO counted_edits VALUES (1, ?)", (newest,))
    return len(fresh)
