"""Facts that two others supersede, neither of which gave way: a choice for a person."""

from typing import NamedTuple

from gitmem.base.sqlite import healing
from gitmem.index.reader import Index


class Fork(NamedTuple):
    """A fact, and the live ones that take its place, the oldest first."""

    id: str
    successors: tuple[str, ...]


_FORKS = (
    "SELECT e.dst, s.id FROM edges e JOIN records s ON s.n = e.n WHERE e.rel = 'supersedes' AND "
    "s.status IN ('active', 'pinned') AND s.unconfirmed = 0 AND e.dst IN (SELECT dst FROM edges "
    "WHERE rel = 'supersedes' GROUP BY dst HAVING count(*) > 1) ORDER BY e.dst, s.created, s.id"
)


@healing
def forks(index: Index) -> list[Fork]:
    """Return the forks of a store; proposals, which take no fact's place yet, make none."""
    successors: dict[str, dict[str, None]] = {}
    for id, successor in index.db.execute(_FORKS):
        successors.setdefault(id, {})[successor] = None
    return [Fork(id, tuple(some)) for id, some in successors.items() if len(some) > 1]
