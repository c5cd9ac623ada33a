"""Which gotchas this user wants to be told of, and where their code is now.

Part of the hot path.
"""

import os

from gitmem.agents.prompt_text import place, record_line
from gitmem.hooks.context import Hook
from gitmem.repo.source_frames import read_lines
from gitmem.state import moved_code

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    Row = dict[str, Any]


def shown(hook: Hook, rows: "list[Row]") -> "list[Row]":
    """Return the rows that this user wants to be told of."""
    if not hook.repo.settings.get("unconfirmed"):
        rows = [row for row in rows if not row["unconfirmed"]]
    hidden = hook.repo.state.snoozed(hook.now) if rows else {}
    return [row for row in rows if row["id"] not in hidden] if hidden else rows


class Spots:
    """Tells where the code of records is today.

    It looks in the files as they are, as far as a look at the lines themselves can tell.
    """

    def __init__(self, hook: Hook) -> None:
        self._root = hook.repo.root
        self._moved = (
            moved_code.places(hook.repo.state, hook.repo.stored_root) if hook.repo.root else {}
        )
        self._files: dict[str, list[str]] = {}

    def line(self, row: "Row", **options: "Any") -> str:
        """Return a record as one line, with its place of today."""
        return record_line(row, spot=self.of(row), **options)

    def of(self, row: "Row") -> str:
        """Return where a record applies.

        The text has `path:line`, how many more places there are, and whether the code has changed.
        """
        moved = self._moved.get(row["id"])
        if moved:
            path, first, _, was = moved
            if first:
                return f"{path}:{first}"
            return f"{path}, formerly {was}" if was else path
        anchor = next(
            (a for a in row["anchors"] if isinstance(a, dict) and isinstance(a.get("path"), str)),
            None,
        )
        written = place(row)
        if anchor is None or not self._root or not _span(anchor):
            return written
        return self._in_file(anchor, written)

    def _in_file(self, anchor: "Row", written: str) -> str:
        """Return a written place of an anchor with the line that it has in the file today."""
        path = os.path.join(self._root, anchor["path"])
        if path not in self._files:
            self._files[path] = read_lines(path)
        lines = self._files[path]
        if not lines:
            is_there = os.path.lexists(path)
            return written if is_there else f"{written}, which is not there any more"
        number = today(anchor, lines)
        first = _span(anchor)[0]
        if number == first:
            return written
        if number:
            return written.replace(f":{first}", f":{number}", 1)
        return written.replace(f":{first}", "", 1) + ", its code has changed since"


def _span(anchor: "Row") -> "Sequence[int]":
    span = anchor.get("lines")
    return (
        span
        if isinstance(span, list) and len(span) == 2 and all(isinstance(x, int) for x in span)
        else ()
    )


def today(anchor: "Row", lines: "Sequence[str]") -> int:
    """Return the line, from 1, that an anchor's first line is now, by the text that it remembers.

    0 when that cannot be told for sure.

    It is where it was, or it is the one line of the file with its text, neighbours deciding between
    several.
    """
    first = _span(anchor)[0]
    before, remembered, after = (_remembered(anchor, part) for part in ("before", "lines", "after"))
    if not remembered:
        return first  # nothing to compare with
    wanted = remembered[0]
    if 1 <= first <= len(lines) and _bare(lines[first - 1]) == wanted:
        return first
    if len(wanted) < 3:
        return 0
    same = [n for n, line in enumerate(lines, 1) if wanted[:40] in line and _bare(line) == wanted]
    if len(same) < 2:
        return same[0] if same else 0
    ranked = sorted(((_alike(lines, n, before, after), n) for n in same[:200]), reverse=True)
    return ranked[0][1] if ranked[0][0] > ranked[1][0] else 0


def _alike(lines: "Sequence[str]", n: int, before: "list[str]", after: "list[str]") -> int:
    """Return how many lines around a line, from 1, are those that were before and after it."""
    above = [_bare(line) for line in lines[max(0, n - 1 - len(before)) : n - 1]]
    below = [_bare(line) for line in lines[n : n + len(after)]]
    pairs = (
        *zip(reversed(above), reversed(before), strict=False),
        *zip(below, after, strict=False),
    )
    return sum(now == was for now, was in pairs)


def _remembered(anchor: "Row", part: str) -> list[str]:
    """Return the bare lines of a part of what an anchor remembers."""
    context = anchor.get("context")
    lines = context.get(part) if isinstance(context, dict) else None
    if not isinstance(lines, list) or not all(isinstance(line, str) for line in lines):
        return []
    return [_bare(line) for line in lines]


def _bare(line: str) -> str:
    return " ".join(line[:200].split())
