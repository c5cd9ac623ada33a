"""Which facts that a reader sees contradict each other, and in which order they are told.

The background has compared them (`gitmem.state.contradictions`). What a person decided since, or
changed, counts at once. Part of the hot path.
"""

from functools import cached_property

from gitmem.index.filters import FIELDS
from gitmem.records.kinds import LIVE
from gitmem.state import contradictions

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence
    from typing import Any

    from gitmem.index.reader import Index
    from gitmem.state.contradictions import ContradictingPair
    from gitmem.state.database import State

    Row = dict[str, Any]


def text_mark(index: "Index", row: "Row") -> int:
    """Return what tells the words of a fact from others, as far as an index has them."""
    from binascii import crc32

    text = f"{row['title']}\n{row['workaround'] or ''}\n{index.body(row['n'])}"
    return crc32(text.encode("utf-8", "replace"))


class ContradictingFacts:
    """The pairs that count for one reader: both facts are live and seen, and nobody decided."""

    def __init__(
        self,
        indexes: "Sequence[Index]",
        state: "State",
        agents: "Sequence[str]",
        at: str,
        *,
        unconfirmed: bool = True,
    ) -> None:
        self._places: dict[str, tuple[Index, Row]] = {}
        self.pairs: list[ContradictingPair] = []
        noted = contradictions.pairs(state)
        if not noted:
            return
        ids = tuple({id for pair in noted for id in pair.ids})
        for index in indexes:
            for row in index.rows(
                ids=ids,
                statuses=LIVE,
                resolved=False,
                agents=agents,
                valid_at=at,
                fields=FIELDS,
                unconfirmed=None if unconfirmed else False,
            ):
                self._places.setdefault(row["id"], (index, row))
        self.pairs = [pair for pair in noted if self._counts(pair)]

    def _counts(self, pair: "ContradictingPair") -> bool:
        places = [self._places.get(id) for id in pair.ids]
        if any(
            place is None or text_mark(*place) != mark
            for place, mark in zip(places, pair.texts, strict=True)
        ):
            return False
        indexes = {place[0] for place in places if place}
        return not any(set(pair.digests) & set(index.settled(*pair.ids)) for index in indexes)

    @property
    def refuted(self) -> "frozenset[str]":
        """The ids of the facts that are surely wrong, unless a person says otherwise."""
        return frozenset(pair.loser for pair in self.pairs if pair.sure)

    def arranged(self, rows: "Iterable[Row]", elsewhere: "Collection[str]" = ()) -> "list[Row]":
        """Return rows with marks: `contradicts`, the ids of facts that say otherwise.

        What holds comes right before what it contradicts, also where it was not among the rows,
        unless it is `elsewhere`; `behind` has the ids of what has to be told before a row.
        """
        some = list(rows)
        if not self.pairs:
            return some
        by_id = {row["id"]: row for row in some}
        out: dict[str, Row] = {}
        for row in some:
            self._add(row, by_id, out, frozenset(elsewhere) - by_id.keys())
        return list(out.values())

    @cached_property
    def _others(self) -> "dict[str, list[str]]":
        """The ids of the facts that contradict a fact, by its id."""
        others: dict[str, list[str]] = {}
        for pair in self.pairs:
            for id, other in (pair.ids, pair.ids[::-1]):
                others.setdefault(id, []).append(other)
        return others

    def marked(self, rows: "Iterable[Row]") -> "list[Row]":
        """Return rows in their order, with the ids of facts that say otherwise: `contradicts`."""
        others = self._others
        return [{**row, "contradicts": others.get(row["id"], [])} for row in rows]

    def _add(
        self,
        row: "Row",
        by_id: "dict[str, Row]",
        out: "dict[str, Row]",
        elsewhere: "Collection[str]",
    ) -> None:
        waiting = [row]
        while waiting:
            last = waiting[-1]
            behind = [pair.winner for pair in self.pairs if pair.loser == last["id"]]
            covered = {*out, *elsewhere, *(waiting_pair["id"] for waiting_pair in waiting)}
            missing = [id for id in behind if id not in covered]
            if missing:
                waiting.append(by_id.get(missing[0]) or self._places[missing[0]][1])
                continue
            waiting.pop()
            out.setdefault(last["id"], self._marked(last, behind))

    def _marked(self, row: "Row", behind: "list[str]") -> "Row":
        others = self._others.get(row["id"])
        return {**row, "contradicts": others, "behind": behind} if others else row
