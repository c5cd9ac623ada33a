"""Which gotchas the code of a file calls for: by an expression (RE2), or by a tree-sitter query."""

from collections.abc import Sequence
from typing import Any

from gitmem.services.gotchas.placement import triggered


def lines_of(rows: Sequence[dict[str, Any]], path: str, lines: Sequence[str]) -> dict[str, int]:
    """Return {id: line, from 1} of the gotchas whose trigger is in a text."""
    whole = "\n".join(lines)
    return {
        row["id"]: found[0].first for row in rows if (found := triggered(row, path, lines, whole))
    }
