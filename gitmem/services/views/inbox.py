"""The inbox: facts that nobody has confirmed, and open tasks that sessions say are done."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gitmem.index import joined
from gitmem.index.joined import Indexes
from gitmem.records.items import TASK
from gitmem.records.kinds import FACTS, LIVE
from gitmem.records.record import Record

Row = dict[str, Any]
FILTERS: Mapping[str, Any] = {
    "kinds": tuple(sorted(FACTS)),
    "statuses": LIVE,
    "resolved": False,
    "unconfirmed": True,
}


@dataclass(frozen=True, slots=True)
class FinishedTask:
    """An open task that sessions say is done.

    `statements` are the index's, oldest first, each with `what`, `session`, `record` and `at`.
    """

    id: str
    title: str
    statements: tuple[Mapping[str, str], ...]

    @property
    def session(self) -> str:
        """The session that said so last."""
        return self.statements[-1]["session"]

    @property
    def reason(self) -> str:
        """Who said so last, in words."""
        return f"said to be done in session {self.session[:8]} of {self.statements[-1]['at'][:10]}"


def statements(indexes: Indexes) -> dict[str, list[dict[str, str]]]:
    """Return what sessions say of open tasks, by the tasks' ids, as far as nobody answered."""
    return {id: said for _, index in indexes for id, said in index.statements().items()}


def finished_tasks(indexes: Indexes) -> dict[str, FinishedTask]:
    """Return the open tasks that sessions say are done, by id."""
    said = statements(indexes)
    if not said:
        return {}
    rows = joined.rows(indexes, what=TASK, statuses=LIVE, ids=tuple(said), fields=("id", "title"))
    return {
        row["id"]: FinishedTask(row["id"], str(row["title"]), tuple(said[row["id"]]))
        for row in rows
    }


def waiting(
    indexes: Indexes, fields: Sequence[str], tasks: Collection[str] = (), limit: int = -1
) -> list[Row]:
    """Return the rows of facts that nobody has confirmed: those that matter most first.

    `tasks` are left out: whether they are done is the question about them. `limit` -1 is all.
    """
    return joined.rows(
        indexes, **FILTERS, without=tuple(tasks), order="waiting", limit=limit, fields=fields
    )


def waiting_count(indexes: Indexes, tasks: Collection[str] = ()) -> int:
    """Return how many rows `waiting` has without a limit."""
    return sum(index.number(**FILTERS, without=tuple(tasks)) for _, index in indexes)


def waiting_fact(indexes: Indexes, id: str, fields: Sequence[str]) -> Row | None:
    """Return the row of one fact; None when it does not wait any more."""
    return next(iter(joined.rows(indexes, **FILTERS, ids=(id,), fields=fields)), None)


def replaced_facts(indexes: Indexes, proposal: Record) -> list[Row]:
    """Return `id` and `title` of the live facts that a proposal takes the place of if accepted."""
    ids = tuple(proposal.get("supersedes") or ())
    return joined.rows(indexes, ids=ids, statuses=LIVE, fields=("id", "title")) if ids else []
