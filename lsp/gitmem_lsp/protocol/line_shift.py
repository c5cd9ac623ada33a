"""Where a line is after edits, without reading the text.

This keeps marks in place between two keystrokes. This module is pure.
"""

from collections.abc import Sequence
from typing import Any

from lsprotocol import types as t

from gitmem_lsp.protocol.positions import split_lines

# first line and column, last line, line ends in what was put there
Edit = tuple[int, int, int, int]


def edits_of(changes: Sequence[Any]) -> list[Edit] | None:
    """Return the edits of a `didChange`; None when one of them replaces the whole text."""
    out = []
    for change in changes:
        if not isinstance(change, t.TextDocumentContentChangePartial):
            return None
        start, end = change.range.start, change.range.end
        out.append((start.line, start.character, end.line, len(split_lines(change.text)) - 1))
    return out


def edit_between(old: Sequence[str], new: Sequence[str]) -> Edit | None:
    """Return the edit that made one text of another: what is between their equal ends.

    None where as many lines are there as before.
    """
    most = min(len(old), len(new))
    head = 0
    while head < most and old[head] == new[head]:
        head += 1
    tail = 0
    while tail < most - head and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    if len(old) == len(new):
        return None
    column = _equal_letters(old[head], new[head]) if head < most else 0
    return head, column, len(old) - tail, len(new) - tail - head


def _equal_letters(left: str, right: str) -> int:
    return next((n for n, (a, b) in enumerate(zip(left, right, strict=False)) if a != b), 0)


def shift(line: int, edits: Sequence[Edit]) -> int | None:
    """Return where a line is after edits in their order; None when it was removed."""
    for first, column, last, added in edits:
        if line < first or (line == first and (column > 0 or last < first)):
            continue
        if line < last or (line == first < last):
            return None
        line += added - (max(first, last) - first)
    return line
