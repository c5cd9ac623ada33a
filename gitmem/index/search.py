"""Search: the records whose words fit a text best. Standard library only.

`Index.search` asks for it. One read transaction holds all that a search asks SQLite, which takes a
tenth less time than a transaction for each statement, and all answers are of one state.
"""

from gitmem.index.explain import explain
from gitmem.index.filters import FIELDS, is_automatic, marks

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import Any

    from gitmem.base.fast import sqlite

    # rows of the table `records`, by the names of their columns, as dicts
    Dicts = Callable[[Sequence[str], Iterable[Sequence[Any]]], list[dict[str, Any]]]
    # number of a row, rank (less is better), the next row in its session, who made it
    Ranked = tuple[int, float, "int | None", int]

# context (of neighbours), title, tags, body, anchors: see tests/benchmarks/bench_recall.py
WEIGHTS = (0.6, 8.0, 4.0, 3.0, 4.0)
RANKED = 60  # of the best rows, those that stand together count for each other
BESIDE_SHARE = 0.15
NAMED_SHARE = 1.5  # of its rank, for a row by whom the question names
_NAMES = ("n", *FIELDS)
_COLUMNS = ", ".join(_NAMES)
# the weights given in full: a third quicker than the configured `rank`
_RANK = (
    "SELECT w.n, w.score, b.after, b.by FROM (SELECT rowid AS n, "
    f"bm25(words, {', '.join(map(str, WEIGHTS))}) AS score FROM words WHERE words MATCH ? "
    "ORDER BY 2 LIMIT ?) w CROSS JOIN beside b ON b.n = w.n"
)


class Search:
    """One search of one index for the rows for which conditions hold."""

    def __init__(
        self,
        db: "sqlite.Connection",
        dicts: "Dicts",
        text: str,
        query: str,
        where: "list[str]",
        values: "list[Any]",
        *,
        in_titles: bool,
    ) -> None:
        self._db = db
        self._dicts = dicts
        self._text = text
        self._query = query
        self._where = "".join(f" AND {condition}" for condition in where)
        self._values = values
        self._in_titles = in_titles

    def hits(self, limit: int, *, explained: bool) -> "list[dict[str, Any]]":
        """Return the best rows, with snippet and reason where that is asked for."""
        db = self._db
        if db.in_transaction:
            return self._hits(limit, explained)
        db.execute("BEGIN")
        try:
            return self._hits(limit, explained)
        finally:
            db.execute("ROLLBACK")

    def _hits(self, limit: int, explained: bool) -> "list[dict[str, Any]]":
        hits = self._best(limit)
        if explained and hits and not self._in_titles:
            explain(self._db, self._query, self._text, hits)
        return hits

    def _best(self, limit: int) -> "list[dict[str, Any]]":
        """Return the best rows, automatic ones last."""
        hits: list[dict[str, Any]] = []
        automatic: list[dict[str, Any]] = []
        query = f"{{title}} : ({self._query})" if self._in_titles else self._query
        # rank without a join, then look at as many rows as the filters need
        want, seen = max(RANKED, limit * 4), 0
        while len(hits) < limit:
            ranked = self._db.execute(_RANK, (query, want)).fetchall()
            fresh = self._fresh(ranked, seen)
            for start in range(0, len(fresh), limit):  # most of them are not needed
                for hit in self._rows(fresh[start : start + limit]):
                    (automatic if is_automatic(hit) else hits).append(hit)
                if len(hits) >= limit:
                    break
            if len(ranked) < want or not fresh:
                break
            seen, want = len(ranked), want * 8
        return [*hits, *automatic][:limit]

    def _fresh(self, ranked: "Sequence[Ranked]", seen: int) -> "list[tuple[int, float]]":
        """Return (row, rank) that were not looked at, the best with a share of their neighbours'.

        The neighbours of a title say nothing of it.
        """
        plain = [(n, rank) for n, rank, *_ in ranked[seen:]]
        if seen or self._in_titles:
            return plain
        return [*self._together(ranked[:RANKED]), *plain[RANKED:]]

    def _together(self, ranked: "Sequence[Ranked]") -> "list[tuple[int, float]]":
        """Return the best rows, ordered with a share of the rank of their neighbours.

        A neighbour is the row right before or after one in its session.

        Two that stand together and both match are about the question more often than two that do
        not. Rows by whom the question names count more.
        """
        named = self._named({by for *_, by in ranked})
        ranks = {n: rank * NAMED_SHARE if by in named else rank for n, rank, _, by in ranked}
        best: dict[int, float] = {}
        for n, _, after, _ in ranked:
            if after in ranks:
                best[n] = min(best.get(n, 0.0), ranks[after])
                best[after] = min(best.get(after, 0.0), ranks[n])
        if not best:
            return sorted(ranks.items(), key=_rank)
        return sorted(
            ((n, rank + BESIDE_SHARE * best.get(n, 0.0)) for n, rank in ranks.items()), key=_rank
        )

    def _named(self, people: "set[int]") -> "list[int]":
        """Return those of some authors and their agents whom the text names."""
        from gitmem.index.named_author import rows_of_named

        sql = f"SELECT n, author, agent FROM people WHERE n IN ({marks(list(people))})"
        return rows_of_named(self._text, self._db.execute(sql, list(people)))

    def _rows(self, ranked: "Sequence[tuple[int, float]]") -> "list[dict[str, Any]]":
        out = []
        for start in range(0, len(ranked), 500):
            part = ranked[start : start + 500]
            sql = f"SELECT {_COLUMNS} FROM records WHERE n IN ({marks(part)}){self._where}"
            rows = self._db.execute(sql, (*(n for n, _ in part), *self._values))
            by_number = {row["n"]: row for row in self._dicts(_NAMES, rows)}
            for n, rank in part:
                if n in by_number:
                    # tiny in a small store: no fixed number of digits would do
                    by_number[n]["score"] = float(f"{-rank:.6g}")
                    out.append(by_number[n])
        return out


def _rank(row: "tuple[int, float]") -> float:
    return row[1]
