"""How records of other people are injected.

They are injected with the name of their author, at no better place than others, and in no more than
half of a budget. This module is part of the hot path.
"""

from gitmem.services.records.committers import disputed, is_accepted, is_foreign, writers
from gitmem.text.tokens import tokens

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    Row = dict[str, Any]

LEAST = 40  # tokens that a line is worth cutting to
LETTERS = 3  # characters of a cut line for each token that there is room for
PLAIN_STATUS = {"pinned": "active"}
PLAIN_SEVERITY = {"critical": "warning"}


def in_order(rows: "Iterable[Row]", own: frozenset[str]) -> "list[Row]":
    """Return rows, those last whose place others chose by pinning them or calling them critical."""
    kept: list[Row] = []
    last: list[Row] = []
    for row in rows:
        urged = row.get("status") in PLAIN_STATUS or row.get("severity") in PLAIN_SEVERITY
        (last if urged and _is_others(row, own) else kept).append(row)
    return kept + last


def attributed(row: "Row", own: frozenset[str]) -> "Row":
    """Return a row with `by`, who committed it, when that is somebody else.

    Without their marks unless this user accepted it.
    """
    if "committer" not in row:
        return row
    if not is_foreign(row, own):
        return {**row, "by": writers(row["committer"]).partition(" (")[0]} if disputed(row) else row
    claimed = str(row.get("author") or "").partition("<")[0].strip() if disputed(row) else ""
    out = {
        **row,
        "by": writers(row["committer"]) + (f", claims to be by {claimed}" if claimed else ""),
    }
    if is_accepted(row, own):
        return out
    out["status"] = PLAIN_STATUS.get(str(row.get("status")), row.get("status"))
    out["severity"] = PLAIN_SEVERITY.get(str(row.get("severity")), row.get("severity"))
    return out


def _is_others(row: "Row", own: frozenset[str]) -> bool:
    return "committer" in row and not is_accepted(row, own)


class Shares:
    """What each other person has of the words that one answer injects."""

    def __init__(self) -> None:
        self._spent: dict[str, int] = {}

    def fitted(self, row: "Row", line: str, budget: int, own: frozenset[str]) -> str:
        """Return a line, cut to what its committer has left of half a budget.

        "" when that is next to nothing.
        """
        if not _is_others(row, own):
            return line
        left = budget // 2 - self._spent.get(str(row["committer"]), 0)
        if tokens(line) <= left:
            return line
        if left < LEAST:
            return ""
        cut = line[: left * LETTERS].rstrip() + "…"
        return cut if tokens(cut) <= left else ""

    def note(self, row: "Row", line: str, own: frozenset[str]) -> None:
        """Note that a line is told."""
        if _is_others(row, own):
            who = str(row["committer"])
            self._spent[who] = self._spent.get(who, 0) + tokens(line)
