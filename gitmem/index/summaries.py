"""What the index knows of summaries.

It knows which is the cumulative one, and the entries of their sections. This module is part of the
hot path.
"""

from gitmem.base.fast import loads
from gitmem.base.sqlite import healing
from gitmem.index.reader import Index

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

PROJECT = "project"  # the scope of the project summary
NAMES = (
    "n",
    "section",
    "id",
    "kind",
    "text",
    "detail",
    "at",
    "session",
    "files",
    "pinned",
    "critical",
    "committer",
)


@healing
def cumulative(index: Index) -> "list[int]":
    """Return the rows of project summaries."""
    return [
        n
        for (n,) in index.db.execute(
            "SELECT n FROM summaries WHERE scope = ? ORDER BY n", (PROJECT,)
        )
    ]


@healing
def settled(index: Index, numbers: "Sequence[int]") -> "dict[str, str]":
    """Return what summaries, given by row, have settled of a digest.

    The result has the ids of entries, and until when they are settled.
    """
    marks = ",".join("?" * len(numbers))
    found = index.db.execute(f"SELECT settled FROM summaries WHERE n IN ({marks})", list(numbers))
    return {id: until for (text,) in found if text for id, until in loads(text).items()}


@healing
def entries(index: Index, numbers: "Sequence[int]") -> "list[dict[str, Any]]":
    """Return the entries of summaries, by row, in the order in which they are written."""
    marks = ",".join("?" * len(numbers))
    sql = f"SELECT {', '.join(NAMES)} FROM entries WHERE n IN ({marks}) ORDER BY n, place"
    found = [dict(zip(NAMES, row, strict=True)) for row in index.db.execute(sql, list(numbers))]
    for one in found:
        one["files"] = loads(one["files"]) if one["files"] else []
    return found


@healing
def nth_day_of_work(index: Index, number: int) -> str:
    """Return the day, counted back from the newest, on which a session ended.

    '' when there are fewer such days.
    """
    sql = (
        "SELECT substr(created, 1, 10) AS day FROM records WHERE CASE kind WHEN 'memory' THEN type "
        "ELSE kind END = 'summary' "
        "AND session IS NOT NULL GROUP BY day ORDER BY day DESC LIMIT 1 OFFSET ?"
    )
    row = index.db.execute(sql, (number - 1,)).fetchone()
    return str(row[0]) if row else ""
