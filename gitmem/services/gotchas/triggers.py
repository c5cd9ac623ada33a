"""Which gotchas the code of a file calls for: by an expression (RE2), or by a tree-sitter query."""

from collections.abc import Sequence
from typing import Any

from gitmem.codemap.symbols.triggers import SECONDS, TriggerText
from gitmem.errors import UserError


def fired(row: dict[str, Any], text: TriggerText, most: int, seconds: float = SECONDS) -> list[int]:
    """Return the lines, from 1, on which a gotcha's trigger fires; none if it cannot be searched.

    A record may hold a pattern of a newer version, or one that was written by hand.
    """
    try:
        return text.hits(row["triggers"], most, seconds)
    except UserError:
        return []


def lines_of(rows: Sequence[dict[str, Any]], path: str, lines: Sequence[str]) -> dict[str, int]:
    """Return {id: line, from 1} of the gotchas whose trigger is in a text."""
    text = TriggerText(path, lines)
    return {row["id"]: hits[0] for row in rows if (hits := fired(row, text, 1))}
