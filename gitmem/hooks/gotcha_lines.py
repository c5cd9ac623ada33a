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
    if not hook.repo.settings.get("injectUnconfirmed"):
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
        found = self._moved.get(row["id"])
        if found:
            path, first, _, was = found
            return f"{path}:{first}" if first else path if not was else f"{path}, formerly {was}"
        anchor = next(
            (a for a in row["anchors"] if isinstance(a, dict) and isinstance(a.get("path"), str)),
            None,
        )
        written = place(row)
        if anchor is None or not self._root or not _span(anchor):
            return written
        path = anchor["path"]
        if path not in self._files:
            self._files[path] = read_lines(os.path.join(self._root, path))
        lines = self._files[path]
        if not lines:
            return (
                f"{written}, which is not there any more"
                if not os.path.lexists(os.path.join(self._root, path))
                else written
            )
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
    context = anchor.get("context")
    first = _span(anchor)[0]
    remembered = context.get("lines") if isinstance(context, dict) else None
    if (
        not isinstance(context, dict)
        or not isinstance(remembered, list)
        or not remembered
        or not isinstance(remembered[0], str)
    ):
        return first  # nothing to compare with
    wanted = _bare(remembered[0])
    if 1 <= first <= len(lines) and _bare(lines[first - 1]) == wanted:
        return first
    if len(wanted) < 3:
        return 0
    same = [n for n, line in enumerate(lines, 1) if wanted[:40] in line and _bare(line) == wanted]
    if len(same) < 2:
        return same[0] if same else 0
    before = [_bare(x) for x in context.get("before") or [] if isinstance(x, str)][::-1]
    after = [_bare(x) for x in context.get("after") or [] if isinstance(x, str)]

    def alike(n: int) -> int:
        above = sum(n - 1 - i >= 1 and _bare(lines[n - 2 - i]) == x for i, x in enumerate(before))
        below = sum(n + i < len(lines) and _bare(lines[n + i]) == x for i, x in enumerate(after))
        return above + below

    ranked = sorted(((alike(n), n) for n in same[:200]), reverse=True)
    return ranked[0][1] if ranked[0][0] > ranked[1][0] else 0


def _bare(line: str) -> str:
    return " ".join(line[:200].split())
