"""Tasks that may be done, as sessions said: kept until somebody answers. Part of the hot path."""

from gitmem.base.sqlite import healing, transaction
from gitmem.repo.location import storable
from gitmem.state.database import State

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

KEPT = 200  # tasks, the latest


@healing
def known(state: State) -> "dict[str, dict[str, str]]":
    """Return {id: {text, why, session}} of the tasks that may be done.

    The id is that of a record or of an entry.
    """
    rows = state.db.execute("SELECT id, text, said, session FROM perhaps_done ORDER BY id")
    return {
        id: {"text": text, "why": said, "session": session}
        for id, text, said, session in rows.fetchall()
    }


@healing
def keep(state: State, found: "Mapping[str, Mapping[str, str]]") -> None:
    """Keep tasks that may be done; one that somebody said is open stays open for the same words."""
    db = state.db
    with transaction(db):
        old = known(state)
        answers = dict(db.execute("SELECT id, said FROM still_open"))
        for id, facts in found.items():
            text, said = storable(facts.get("text", "")), storable(facts["why"])
            if text and answers.get(id) != said and (id in old or len(old) < KEPT):
                db.execute(
                    "INSERT OR REPLACE INTO perhaps_done VALUES (?, ?, ?, ?)",
                    (id, text, said, facts.get("session", "")),
                )


@healing
def drop(state: State, id: str, *, still_open: str = "") -> None:
    """Forget that a task may be done; `still_open` are the words that do not mean it."""
    with transaction(state.db):
        state.db.execute("DELETE FROM perhaps_done WHERE id = ?", (id,))
        if still_open:
            state.db.execute(
                "INSERT OR REPLACE INTO still_open VALUES (?, ?)", (id, storable(still_open))
            )
