"""Where the code of anchors was looked for, by work tree, and what came of it."""

from gitmem.base.sqlite import healing, transaction
from gitmem.state.database import State

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping


@healing
def keep(state: State, root: str, code: str, outcomes: "Mapping[str, str]") -> None:
    """Add what came of searches in a state of the code of a work tree; forget other states of it.

    Outcomes are by the anchor's key; '' is an anchor that there was no time to look for.
    """
    with transaction(state.db):
        state.db.execute("DELETE FROM anchor_searches WHERE root = ? AND code != ?", (root, code))
        state.db.executemany(
            "INSERT OR REPLACE INTO anchor_searches VALUES (?, ?, ?, ?)",
            [(root, code, anchor, outcome) for anchor, outcome in outcomes.items()],
        )


@healing
def outcomes(state: State, root: str, code: str) -> "dict[str, str]":
    """Return what came of the searches in a state of the code, by the anchor's key."""
    rows = state.db.execute(
        "SELECT anchor, outcome FROM anchor_searches WHERE root = ? AND code = ?", (root, code)
    )
    return dict(rows.fetchall())
