"""Pairs of facts that contradict each other, as the background found them.

Part of the hot path. A pair counts only while its facts are as they were: see
`gitmem.services.lifecycle.pairs`.
"""

from gitmem.base.sqlite import healing, transaction
from gitmem.state.database import State

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_COLUMNS = "newer, older, choice, sure, newer_text, older_text, newer_pair, older_pair"


class ContradictingPair:
    """Two facts that contradict each other, and what is proposed: `newer` or `older` holds.

    `texts` are marks of their words as the index has them, `digests` those of both words with
    either of them first; a person who says that both hold gives one of these.
    """

    __slots__ = ("choice", "digests", "newer", "older", "sure", "texts")

    def __init__(
        self,
        newer: str,
        older: str,
        choice: str,
        sure: bool,
        newer_text: int,
        older_text: int,
        newer_pair: str,
        older_pair: str,
    ) -> None:
        self.newer = newer
        self.older = older
        self.choice = choice
        self.sure = bool(sure)
        self.texts = newer_text, older_text
        self.digests = newer_pair, older_pair

    @property
    def ids(self) -> "tuple[str, str]":
        """The ids of both, the newer first."""
        return self.newer, self.older

    @property
    def winner(self) -> str:
        """The id of the fact whose words are proposed to hold."""
        return self.older if self.choice == "older" else self.newer

    @property
    def loser(self) -> str:
        """The id of the other one."""
        return self.newer if self.choice == "older" else self.older


@healing
def has_any(state: State) -> bool:
    """Say whether any pair is noted."""
    return state.db.execute("SELECT 1 FROM contradictions LIMIT 1").fetchone() is not None


@healing
def pairs(state: State) -> "list[ContradictingPair]":
    """Return all pairs."""
    rows = state.db.execute(f"SELECT {_COLUMNS} FROM contradictions ORDER BY newer DESC, older")
    return [ContradictingPair(*row) for row in rows]


@healing
def compared_tips(state: State) -> "dict[str, str]":
    """Return the commit of each store up to which changed facts were noted."""
    return dict(state.db.execute("SELECT store, tip FROM compared_tips"))


@healing
def note_changed(state: State, ids: "Iterable[str]", tips: "dict[str, str]") -> None:
    """Have facts compared, those that changed until some commits."""
    with transaction(state.db):
        # a fact that waits already gets a new number: who compares it now may have its old words
        state.db.executemany(
            "INSERT OR REPLACE INTO uncompared (id) VALUES (?)", [(id,) for id in ids]
        )
        state.db.executemany("INSERT OR REPLACE INTO compared_tips VALUES (?, ?)", tips.items())


@healing
def last_change(state: State) -> int:
    """Return the number of the last change that was noted; 0 if none was.

    Ask before the facts are read: a comparison covers the changes up to this number.
    """
    row = state.db.execute("SELECT seq FROM sqlite_sequence WHERE name = 'uncompared'").fetchone()
    return row[0] if row else 0


@healing
def uncompared(state: State, limit: int = -1) -> "list[str]":
    """Return facts that are still to be compared, the newest first; `limit` -1 is all."""
    sql = "SELECT id FROM uncompared ORDER BY substr(id, 5) DESC LIMIT ?"
    return [id for (id,) in state.db.execute(sql, (limit,))]


@healing
def number_uncompared(state: State) -> int:
    """Return how many facts are still to be compared."""
    return int(state.db.execute("SELECT COUNT(*) FROM uncompared").fetchone()[0])


@healing
def replace(
    state: State, ids: "Sequence[str]", pairs: "Sequence[ContradictingPair]", change: int
) -> None:
    """Note the pairs of the facts that were compared, instead of those noted before.

    The comparison covers the changes up to number `change` (`last_change`). Facts that changed
    since go on waiting, and pairs that a later comparison noted stay.
    """
    rows = [
        (*pair.ids, pair.choice, pair.sure, *pair.texts, *pair.digests, change) for pair in pairs
    ]
    with transaction(state.db):
        for id in ids:
            state.db.execute(
                "DELETE FROM contradictions WHERE (newer = ? OR older = ?) AND compared <= ?",
                (id, id, change),
            )
            state.db.execute("DELETE FROM uncompared WHERE id = ? AND n <= ?", (id, change))
        state.db.executemany(
            f"INSERT OR IGNORE INTO contradictions VALUES ({', '.join('?' * 9)})", rows
        )
