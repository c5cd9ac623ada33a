"""How many gotchas have lost their code, by work tree, as it was counted last."""

from gitmem.base.sqlite import healing, transaction
from gitmem.state.database import State


@healing
def keep(state: State, root: str, code: str, lost: int, checked: int) -> None:
    """Keep how many of the gotchas that were checked are lost, in a state of the code."""
    with transaction(state.db):
        state.db.execute(
            "INSERT OR REPLACE INTO lost_code VALUES (?, ?, ?, ?)", (root, code, lost, checked)
        )


@healing
def kept(state: State, root: str, code: str) -> "tuple[int, int] | None":
    """Return (lost, checked) of a state of the code; None where it was not counted."""
    row = state.db.execute(
        "SELECT lost, checked FROM lost_code WHERE root = ? AND code = ?", (root, code)
    ).fetchone()
    return (row[0], row[1]) if row else None
