"""Tasks that may be done, as sessions said: kept until somebody answers. Part of the hot path."""

from gitmem.base.fast import dumps, loads
from gitmem.base.sqlite import healing
from gitmem.state.database import State

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

_KEY = "perhaps done "
KEPT = 200  # tasks, the latest


@healing
def known(state: State) -> "dict[str, dict[str, str]]":
    """Return {id: {text, why, session}} of the tasks that may be done.

    The id is that of a record or of an entry.
    """
    rows = state.db.execute(
        "SELECT key, value FROM marks WHERE key >= ? AND key < ?", (_KEY, _KEY[:-1] + "!")
    ).fetchall()
    found = {key[len(_KEY) :]: loads(value) for key, value in rows}
    return {
        id: facts for id, facts in found.items() if isinstance(facts, dict) and facts.get("text")
    }


def keep(state: State, found: "Mapping[str, Mapping[str, str]]") -> None:
    """Keep tasks that may be done; one that somebody said is open stays open for the same words."""
    old = known(state)
    for id, facts in found.items():
        answered = state.marked(f"still open {id}")
        if answered != facts["why"] and (id in old or len(old) < KEPT):
            state.mark(_KEY + id, dumps(dict(facts)))


def drop(state: State, id: str, *, still_open: str = "") -> None:
    """Forget that a task may be done; `still_open` are the words that do not mean it."""
    state.unmark(_KEY + id)
    if still_open:
        state.mark(f"still open {id}", still_open)
