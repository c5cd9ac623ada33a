"""Which epic a work tree is at, and who is at an epic. Part of the hot path."""

from gitmem.base.sqlite import healing, transaction
from gitmem.state.database import State

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

HOLDERS = 8  # of one epic that are remembered


class EpicHolder:
    """A session at an epic, or the process of somebody without one; `at` is in epoch seconds."""

    __slots__ = ("at", "process", "session")

    def __init__(self, session: str, process: str, at: float) -> None:
        self.session = session
        self.process = process
        self.at = at


@healing
def choose(state: State, root: str, epic: str) -> None:
    """Note the epic that a work tree is at."""
    state.db.execute("INSERT OR REPLACE INTO epic_choices VALUES (?, ?)", (root, epic))


@healing
def chosen(state: State, root: str) -> str:
    """Return the id of the epic that a work tree is at; '' when none was noted."""
    row = state.db.execute("SELECT epic FROM epic_choices WHERE root = ?", (root,)).fetchone()
    return row[0] if row else ""


@healing
def holders(state: State, epic: str) -> "tuple[str, list[EpicHolder]]":
    """Return the name of this clone, and who worked on an epic here, latest last."""
    rows = state.db.execute(
        "SELECT clone, session, process, at FROM epic_holders WHERE epic = ? ORDER BY n", (epic,)
    ).fetchall()
    clone = rows[-1][0] if rows else ""
    return clone, [EpicHolder(*row[1:]) for row in rows]


@healing
def hold(
    state: State,
    epic: str,
    clone: str,
    session: str,
    process: str,
    now: float,
    is_gone: "Callable[[str], bool | None]",
) -> None:
    """Note that a session, or a process without one, is at an epic.

    Those that are gone are forgotten.

    With neither, there is nobody to ask after: silence decides.
    """
    mine = session or process
    with transaction(state.db):
        _, others = holders(state, epic)
        kept = []
        for holder in others:
            is_same = (holder.session or holder.process) == mine
            if not is_same and not is_gone(holder.process):
                kept.append(holder)
        kept = [*kept[1 - HOLDERS :], EpicHolder(session, process, now)]
        state.db.execute("DELETE FROM epic_holders WHERE epic = ?", (epic,))
        state.db.executemany(
            "INSERT INTO epic_holders (epic, clone, session, process, at) VALUES (?, ?, ?, ?, ?)",
            [(epic, clone, holder.session, holder.process, holder.at) for holder in kept],
        )


@healing
def release(state: State, epic: str) -> None:
    """Note that nobody is at an epic any more."""
    state.db.execute("DELETE FROM epic_holders WHERE epic = ?", (epic,))


@healing
def first_seen(state: State, epic: str, at: float, now: float) -> float:
    """Return when a sign of life from the future was first seen here.

    It counts from then on, so it does not count for ever.
    """
    row = state.db.execute(
        "SELECT at, seen FROM epic_future_signs WHERE epic = ?", (epic,)
    ).fetchone()
    if row and row[0] == at and row[1] <= now:
        return float(row[1])
    state.db.execute("INSERT OR REPLACE INTO epic_future_signs VALUES (?, ?, ?)", (epic, at, now))
    return now
