"""How records of other people are injected.

They are injected with the name of their author, at no better place than others, and in no more than
half of a budget. This module is part of the hot path.
"""

from gitmem.services.records.committers import claim, disputed, is_accepted, is_foreign, writers
from gitmem.text.tokens import tokens

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    Row = dict[str, Any]

AGENTS = "agents"  # stands for the agents of all other persons
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
    claimed, _, written = claim(row).partition(", written by ")
    by = f"{written}, {claimed}" if claimed else writers(row["committer"])
    out = {**row, "by": by}
    if is_accepted(row, own):
        return out
    out["status"] = PLAIN_STATUS.get(str(row.get("status")), row.get("status"))
    out["severity"] = PLAIN_SEVERITY.get(str(row.get("severity")), row.get("severity"))
    return out


def _is_others(row: "Row", own: frozenset[str]) -> bool:
    return "committer" in row and not is_accepted(row, own)


def _is_others_agents(row: "Row", own: frozenset[str]) -> bool:
    """Return whether an agent of somebody else wrote a record, and no person confirmed it."""
    return row.get("origin") == "agent" and bool(row["unconfirmed"]) and _is_others(row, own)


class Shares:
    """What others have of the words that one answer injects.

    Each person has half of the budget, and the agents of all others a fifth.
    """

    def __init__(self) -> None:
        self._spent: dict[str, int] = {}

    def fitted(self, row: "Row", line: str, budget: int, own: frozenset[str]) -> str:
        """Return a line, cut to what its committer has left of their share of a budget.

        "" when that is next to nothing.
        """
        if not _is_others(row, own):
            return line
        left = budget // 2 - self._spent.get(str(row["committer"]), 0)
        if _is_others_agents(row, own):
            left = min(left, budget // 5 - self._spent.get(AGENTS, 0))
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
        if _is_others_agents(row, own):
            self._spent[AGENTS] = self._spent.get(AGENTS, 0) + tokens(line)
