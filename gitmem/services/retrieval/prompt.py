"""What a prompt calls for: the records that it is surely about, and none when none is.

The signals are those of `matching`; a prompt is a task of which only the text is known, and asks
for memories as well as for gotchas. Standard library only: the hot path imports this, and only a
prompt pays for it.
"""

from gitmem.services.retrieval.matcher import best, find
from gitmem.services.retrieval.task import Task

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from typing import Any

    from gitmem.index.reader import Index

    Row = dict[str, Any]

MOST = 8  # records of one prompt


def recall(
    index: "Index",
    prompt: str,
    root: str,
    cwd: str,
    agents: "Sequence[str]",
    now: float = 0.0,
    snoozed: "Collection[str]" = (),
    *,
    unconfirmed: bool = True,
) -> "list[Row]":
    """Return rows with a `body` and the `reasons` for them, surest first, at most eight."""
    matches = find(index, Task(prompt), root, cwd, agents, now, ("gotcha", "memory"))
    rows = []
    for match in best(matches, snoozed, unconfirmed=unconfirmed, most=MOST):
        body = index.body(match.row["n"]) if match.row["kind"] == "memory" else ""
        rows.append({**match.row, "body": body, "reasons": match.reasons})
    return rows
