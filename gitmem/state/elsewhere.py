"""What other branches and work trees change in the code, as it was last found.

Hooks tell an agent that is about to edit it. The hot path reads it.
"""

from gitmem.base.sqlite import healing, transaction
from gitmem.state.database import State

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

_RANK = "CASE level WHEN 'critical' THEN 0 WHEN 'high' THEN 1 WHEN 'medium' THEN 2 ELSE 3 END"


class Elsewhere:
    """A file that is changed somewhere else.

    `mine` is the side that it matters to, `what` is the definitions that both change, and `who`
    changes it there.
    """

    __slots__ = ("level", "mine", "other", "path", "what", "who")

    def __init__(self, mine: str, path: str, other: str, level: str, what: str, who: str) -> None:
        self.mine = mine
        self.path = path
        self.other = other
        self.level = level
        self.what = what
        self.who = who


def branch_key(name: str) -> str:
    """Return how a branch is called as a side; a work tree is called by its folder."""
    return f"branch {name}"


@healing
def replace(state: State, rows: "Sequence[Elsewhere]") -> None:
    """Set what was found."""
    with transaction(state.db):
        state.db.execute("DELETE FROM elsewhere")
        values = [(row.mine, row.path, row.other, row.level, row.what, row.who) for row in rows]
        state.db.executemany("INSERT OR REPLACE INTO elsewhere VALUES (?, ?, ?, ?, ?, ?)", values)


@healing
def of_paths(
    state: State, mine: "Sequence[str]", paths: "Sequence[str]", limit: int
) -> "list[Elsewhere]":
    """Return where files are changed elsewhere, the worst first."""
    marks = [",".join("?" * len(some)) for some in (mine, paths)]
    sql = (
        f"SELECT mine, path, other, level, what, who FROM elsewhere WHERE mine IN ({marks[0]}) AND "
        f"path IN ({marks[1]}) ORDER BY {_RANK}, path, other LIMIT ?"
    )
    return [Elsewhere(*row) for row in state.db.execute(sql, (*mine, *paths, limit))]


@healing
def worst(state: State, mine: "Sequence[str]", limit: int) -> "list[Elsewhere]":
    """Return the files with conflicts between two sides, the worst first.

    The two sides change a file so that a merge would conflict, or they change the same definition.
    """
    sql = (
        f"SELECT mine, path, other, level, what, who FROM elsewhere WHERE mine IN "
        f"({','.join('?' * len(mine))}) AND level IN ('critical', 'high') "
        f"ORDER BY {_RANK}, path, other LIMIT ?"
    )
    return [Elsewhere(*row) for row in state.db.execute(sql, (*mine, limit))]
