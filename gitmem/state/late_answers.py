"""Answers that a hook could not give in time: the next event of the session gives them, once.

Part of the hot path.
"""

from gitmem.base.sqlite import healing, transaction
from gitmem.state.database import State

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

START = "start"  # what a session is told at its start: the index was behind
PROMPT = "prompt"  # what a prompt called for, whose text is kept: the index was behind
BEFORE = "before"  # what the session before did, whose id is kept: its record was still to come


@healing
def owe(state: State, context: str, kind: str, text: str = "") -> None:
    """Note an answer that a context is still to be given."""
    state.db.execute("INSERT OR REPLACE INTO late_answers VALUES (?, ?, ?)", (context, kind, text))


@healing
def is_owed(state: State, context: str) -> bool:
    """Say whether a context is still to be given an answer."""
    sql = "SELECT 1 FROM late_answers WHERE context = ? LIMIT 1"
    return state.db.execute(sql, (context,)).fetchone() is not None


@healing
def owed(state: State, context: str) -> "dict[str, str]":
    """Return {kind: text} of the answers that a context is still to be given."""
    return dict(
        state.db.execute("SELECT kind, text FROM late_answers WHERE context = ?", (context,))
    )


@healing
def take(state: State, context: str, kinds: "Sequence[str]") -> "list[str]":
    """Return those of the kinds that this process is to give now.

    Of hooks that run at once, one gets each.
    """
    taken = []
    with transaction(state.db):
        for kind in kinds:
            if state.db.execute(
                "DELETE FROM late_answers WHERE context = ? AND kind = ?", (context, kind)
            ).rowcount:
                taken.append(kind)
    return taken
