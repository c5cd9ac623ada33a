"""Where the triggers of gotchas hit in a file, for one state of it. Part of the hot path."""

from gitmem.base.fast import dumps, loads
from gitmem.base.sqlite import healing
from gitmem.state.database import State

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping


@healing
def hits(state: State, root: str, path: str, version: str) -> "dict[str, int] | None":
    """Return {id: line} of the hits in a file, None if they are not of this version."""
    row = state.db.execute(
        "SELECT hits FROM trigger_hits WHERE root = ? AND path = ? AND version = ?",
        (root, path, version),
    ).fetchone()
    return loads(row[0]) if row else None


@healing
def keep(state: State, root: str, path: str, version: str, hits: "Mapping[str, int]") -> None:
    """Keep the hits in a file."""
    state.db.execute(
        "INSERT OR REPLACE INTO trigger_hits VALUES (?, ?, ?, ?)",
        (root, path, version, dumps(dict(hits))),
    )
