"""A gotcha as a line of a list."""

from typing import Any

from gitmem.cli.terminal import LINE, Terminal, age, line
from gitmem.index.reader import SORTED_BY

ENTRY = (*LINE, *SORTED_BY["severity"], "occurrences")  # what `entry` shows


def entry(term: Terminal, row: dict[str, Any], now: float, id: str = "") -> str:
    """Return the one line of a gotcha in a list: with how often it was seen, and when last.

    `id` names it among the others.
    """
    count = int(row.get("occurrences") or 0)
    seen = f" ×{count}, {age(row['last_seen'], now)}" if count > 1 and row.get("last_seen") else ""
    return line(term, row, cut=True, id=id) + term.style(seen, fg="bright_black")
