"""Where the code of gotchas is today that was in another file. Part of the hot path."""

from gitmem.base.sqlite import healing, transaction
from gitmem.state.database import State

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


@healing
def replace(
    state: State,
    root: str,
    code: str,
    staged: str,
    rows: "Sequence[tuple[str, str, int, int, str]]",
) -> None:
    """Record the places of a work tree's gotchas whose file no longer has the recorded name.

    A place is (path, id, first line, last line, path before). `code` and `staged` are the state of
    the code and of git's index that were searched.
    """
    with transaction(state.db):
        state.db.execute("DELETE FROM moved_code WHERE root = ?", (root,))
        state.db.executemany(
            "INSERT OR REPLACE INTO moved_code VALUES (?, ?, ?, ?, ?, ?)",
            [(root, *row) for row in rows],
        )
        state.db.execute(
            "INSERT OR REPLACE INTO moved_code_searches VALUES (?, ?, ?)", (root, code, staged)
        )


@healing
def searched(state: State, root: str) -> "tuple[str, str]":
    """Return the states of the code and of git's index that were searched last."""
    row = state.db.execute(
        "SELECT code, staged FROM moved_code_searches WHERE root = ?", (root,)
    ).fetchone()
    return (row[0], row[1]) if row else ("", "")


@healing
def places(state: State, root: str, path: str = "") -> "dict[str, tuple[str, int, int, str]]":
    """Return {id: (path, first, last, path before)} of moved gotchas, in one file or all."""
    sql = "SELECT id, path, first, last, was FROM moved_code WHERE root = ?" + (
        " AND path = ?" if path else ""
    )
    rows = state.db.execute(sql, (root, path) if path else (root,))
    return {id: (at, first, last, was) for id, at, first, last, was in rows}
