"""Which records a context was given, and in which form. Part of the hot path."""

from gitmem.base.sqlite import healing, transaction
from gitmem.state.database import State

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


@healing
def claim(
    state: State,
    context: str,
    rows: "Sequence[tuple[str, str]]",
    at: float,
    *,
    is_kept: bool = True,
) -> "list[str]":
    """Note that a context is given these (id, form) at a time in epoch seconds.

    `is_kept` says whether its agent keeps the text for a session that is gone on with later.
    Return the ids that it did not have in this form. Of hooks that run at once, one gets each.
    """
    if not _fresh(state, context, rows):
        return []  # without a lock, which may be another's
    with transaction(state.db):
        fresh = _fresh(state, context, rows)
        state.db.executemany(
            "INSERT OR REPLACE INTO injections VALUES (?, ?, ?, ?, ?)",
            [(context, id, form, at, is_kept) for id, form in fresh],
        )
    return [id for id, _ in fresh]


def _fresh(
    state: State, context: str, rows: "Sequence[tuple[str, str]]"
) -> "list[tuple[str, str]]":
    given = injected(state, context)
    return [(id, form) for id, form in rows if given.get(id) != form]


@healing
def injected(state: State, context: str) -> "dict[str, str]":
    """Return {id: form} of what a context was given."""
    return dict(state.db.execute("SELECT id, form FROM injections WHERE context = ?", (context,)))


@healing
def of_session(state: State, session: str) -> "dict[str, float]":
    """Return {id: when last} of what a session was given, its subagents included."""
    sql = (
        "SELECT id, MAX(at) FROM injections WHERE context = ?1 "
        "OR substr(context, 1, length(?1) + 1) = ?1 || '/' GROUP BY id"
    )
    return dict(state.db.execute(sql, (session,)))


@healing
def forget(state: State, context: str) -> None:
    """Let a context be given everything again (it was compacted)."""
    state.db.execute("DELETE FROM injections WHERE context = ?", (context,))


@healing
def forget_lost(state: State, context: str) -> None:
    """Let a context be given again what its agent does not keep: its session goes on later."""
    state.db.execute("DELETE FROM injections WHERE context = ? AND NOT kept", (context,))


@healing
def every(state: State) -> "set[str]":
    """Return the ids of all records that some context was given."""
    return {id for (id,) in state.db.execute("SELECT DISTINCT id FROM injections")}
