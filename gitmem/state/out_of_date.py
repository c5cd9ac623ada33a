"""Facts that the code of a work tree refutes, each as its file was then. Part of the hot path."""

from gitmem.base.sqlite import healing, transaction
from gitmem.state.database import State

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

VERIFY, NAMES = "verify", "names"  # what refutes a fact: its own check, or the names in its text


@healing
def replace(
    state: State,
    root: str,
    source: str,
    rows: "Sequence[tuple[str, str, str]]",
    ids: "Sequence[str] | None" = None,
) -> None:
    """Record what one source refutes in a work tree, of all facts, or of the facts `ids`.

    A row is (id, oid of the fact's file, reason).
    """
    with transaction(state.db):
        if ids is None:
            state.db.execute(
                "DELETE FROM out_of_date WHERE root = ? AND source = ?", (root, source)
            )
        else:
            state.db.executemany(
                "DELETE FROM out_of_date WHERE root = ? AND source = ? AND id = ?",
                [(root, source, id) for id in ids],
            )
        state.db.executemany(
            "INSERT OR REPLACE INTO out_of_date VALUES (?, ?, ?, ?, ?)",
            [(root, *row, source) for row in rows],
        )


@healing
def by_tree(state: State) -> "dict[str, dict[str, tuple[str, str]]]":
    """Return {work tree: {id: (oid, reason)}} of what is refuted in each, by any source."""
    out: dict[str, dict[str, tuple[str, str]]] = {}
    for root, id, oid, reason in state.db.execute("SELECT root, id, oid, reason FROM out_of_date"):
        out.setdefault(root, {})[id] = (oid, reason)
    return out


@healing
def reasons(state: State, root: str, source: str = "") -> "dict[str, tuple[str, str]]":
    """Return {id: (oid, reason)} of what is refuted in a work tree, by any source or one."""
    rows = state.db.execute(
        "SELECT id, oid, reason FROM out_of_date WHERE root = ? AND source LIKE ?",
        (root, source or "%"),
    )
    return {id: (oid, reason) for id, oid, reason in rows}
