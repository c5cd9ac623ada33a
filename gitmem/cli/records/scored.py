"""Lists of records with a look at their scores: what has decayed, and the order `score`."""

from collections.abc import Collection, Sequence
from typing import Any

from gitmem.app import App
from gitmem.records.kinds import FACTS
from gitmem.records.score import FIELDS

SCORE = "score"  # the order


def decay_filters(
    app: App, *, shows_all: bool, only_decayed: bool
) -> tuple[dict[str, Any], Collection[str]]:
    """Return filters of `App.rows` and `search` by age, and the ids of what has decayed.

    There are no ids where nothing of it is shown.
    """
    scores = app.scores()
    if only_decayed:
        decayed = scores.decayed()
        return {"ids": tuple(decayed)}, decayed
    return ({}, scores.decayed()) if shows_all else (scores.hiding(), ())


def by_score(
    app: App, limit: int, fields: Sequence[str], filters: dict[str, Any]
) -> list[dict[str, Any]]:
    """Return the rows of facts with their `effective_score`, the highest first."""
    kinds = tuple(FACTS.intersection(filters["kinds"] or FACTS)) or ("none",)
    wanted = (*fields, *FIELDS, "id", "store")
    rows = app.rows(**{**filters, "kinds": kinds}, fields=wanted)
    scores = app.scores()
    scored = [(scores.of(row).value, row) for row in rows]
    scored.sort(key=lambda pair: (-pair[0], pair[1]["id"]))
    return [
        {**row, "effective_score": round(value, 2)}
        for value, row in scored[: limit if limit >= 0 else None]
    ]


def mark_decayed(rows: Sequence[dict[str, Any]], decayed: Collection[str]) -> None:
    """Have rows say that age put them away."""
    for row in rows:
        if row["id"] in decayed:
            row["decayed"] = True
