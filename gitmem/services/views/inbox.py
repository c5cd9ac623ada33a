"""The inbox: facts that nobody has confirmed, and what sessions say of facts."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gitmem.index import joined
from gitmem.index.joined import Indexes
from gitmem.records.kinds import FACTS, LIVE
from gitmem.records.record import Record
from gitmem.records.said import said_to_be
from gitmem.services.records.committers import TRUST_FIELDS, marked_title

Row = dict[str, Any]
FILTERS: Mapping[str, Any] = {
    "kinds": tuple(sorted(FACTS)),
    "statuses": LIVE,
    "resolved": False,
    "unconfirmed": True,
}


@dataclass(frozen=True, slots=True)
class OpenStatement:
    """A live fact of which sessions say that it is done, no longer true, or replaced.

    `statements` are the index's, oldest first; `successor` is the title of what takes its place.
    """

    id: str
    title: str
    statements: tuple[Mapping[str, str], ...]
    successor: str = ""

    @property
    def last(self) -> Mapping[str, str]:
        """What was said last, which is what is asked about."""
        return self.statements[-1]

    @property
    def reason(self) -> str:
        """Who said what last, in words."""
        return f"{said_to_be(self.last)} of {self.last['at'][:10]}"


def statements(indexes: Indexes) -> dict[str, list[dict[str, str]]]:
    """Return what sessions say of live facts, by their ids, as far as nobody answered."""
    return {id: said for _, index in indexes for id, said in index.statements().items()}


def open_statements(indexes: Indexes) -> dict[str, OpenStatement]:
    """Return the facts of which sessions say something that nobody answered, by id."""
    said = statements(indexes)
    if not said:
        return {}
    successors = {entries[-1]["successor"] for entries in said.values()} - {""}
    ids = (*said, *successors)
    rows = joined.rows(indexes, ids=ids, statuses=LIVE, fields=("id", *TRUST_FIELDS))
    titles = {row["id"]: marked_title(row) for row in rows}
    return {
        id: OpenStatement(id, titles[id], tuple(entries), titles.get(entries[-1]["successor"], ""))
        for id, entries in said.items()
        if id in titles
    }


def successors(asked: Mapping[str, OpenStatement]) -> set[str]:
    """Return the ids of the proposals that the statements are about."""
    return {entry.last["successor"] for entry in asked.values()} - {""}


def waiting(
    indexes: Indexes,
    fields: Sequence[str],
    asked: Collection[str] = (),
    limit: int = -1,
    own: Collection[str] = (),
) -> list[Row]:
    """Return the rows of facts that nobody has confirmed: those that matter most first.

    `asked` are left out: what sessions say of them is the question. `limit` -1 is all. With the
    addresses of a person, `own`, what other people and their agents wrote is left out.
    """
    left_out = tuple(asked)
    return joined.rows(
        indexes,
        **FILTERS,
        without=left_out,
        own=own,
        order="waiting",
        limit=limit,
        fields=fields,
    )


def waiting_count(indexes: Indexes, asked: Collection[str] = (), own: Collection[str] = ()) -> int:
    """Return how many rows `waiting` has without a limit."""
    return sum(index.number(**FILTERS, without=tuple(asked), own=own) for _, index in indexes)


def number_waiting(indexes: Indexes, own: Collection[str]) -> int:
    """Return how many facts and statements `git mem inbox` lists for a person."""
    asked = open_statements(indexes)
    return waiting_count(indexes, asked, own) + len(asked)


def waiting_text(number: int) -> str:
    """Return how many facts wait, and where, as a line."""
    many = "1 fact waits" if number == 1 else f"{number:,} facts wait"
    return f"{many} in the inbox: git mem inbox"


def waiting_fact(indexes: Indexes, id: str, fields: Sequence[str]) -> Row | None:
    """Return the row of one fact; None when it does not wait any more."""
    return next(iter(joined.rows(indexes, **FILTERS, ids=(id,), fields=fields)), None)


def replaced_facts(indexes: Indexes, proposal: Record) -> list[Row]:
    """Return the live facts that a proposal takes the place of if accepted."""
    ids = tuple(proposal.get("supersedes") or ())
    fields = ("id", *TRUST_FIELDS)
    return joined.rows(indexes, ids=ids, statuses=LIVE, fields=fields) if ids else []
