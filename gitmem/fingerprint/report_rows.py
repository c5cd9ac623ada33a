"""Reports that a row of `tools.json` describes: where the error stands in the output of a tool.

`start` matches the line that has it, or the line above it. The groups of `start` are `said`, the
error itself, and `name`, the test that has it. Without `said`, `pick` finds it in the lines below,
and without `pick` it is the next line that says something, `skip` lines later. Pure, read by hooks.
"""

from gitmem.base.fast import Lazy
from gitmem.fingerprint.line_text import completed, next_said, tidy
from gitmem.fingerprint.tables import at_start

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from collections.abc import Sequence
    from typing import Any

    PickedLine = tuple[int, str] | None

_WITHIN = 40  # lines below its start in which a report has its error


class ReportRow:
    """The report of a tool, as its row says: by expressions, or by the name of a reader."""

    __slots__ = ("_is_last", "_named", "_pick", "_skip", "_start", "is_fallback", "reader", "sign")

    def __init__(self, row: "dict[str, Any]") -> None:
        self.sign: str = row["sign"]
        self.reader: str = row.get("reader", "")
        self.is_fallback: bool = row.get("fallback", False)
        self._start = Lazy(at_start(row.get("start", "")))
        self._pick = Lazy(at_start(row["pick"])) if "pick" in row else None
        self._named = Lazy(row["named"]) if "named" in row else None
        self._skip: int = row.get("skip", 0)
        self._is_last: bool = row.get("last", False)

    def read(self, lines: "Sequence[str]") -> "PickedLine":
        """Return the number and the text of the line that names the error.

        None when the output is not what it seemed.
        """
        last: PickedLine = None
        for number, line in enumerate(lines):
            start = self._start.match(line)
            picked = self._said(lines, number, start) if start else None
            if picked is not None and not self._is_last:
                return picked
            last = picked or last
        return last

    def _said(self, lines: "Sequence[str]", number: int, start: "re.Match[str]") -> "PickedLine":
        groups = start.groupdict()
        if groups.get("said"):
            picked: PickedLine = number, groups["said"].strip()
        elif self._pick is not None:
            picked = self._picked(lines, number + 1)
        else:
            picked = self._next(lines, number + 1)
        if picked is None:
            return None
        said = completed(lines, picked[0], tidy(picked[1]))
        name = (groups.get("name") or "").strip()
        has_name = name and (self._named is None or self._named.search(said))
        return picked[0], f"{name}: {said}" if has_name else said

    def _picked(self, lines: "Sequence[str]", start: int) -> "PickedLine":
        assert self._pick is not None
        for number in range(start, min(len(lines), start + _WITHIN)):
            picked = self._pick.match(lines[number])
            if picked:
                return number, picked[1].strip()
        return None

    def _next(self, lines: "Sequence[str]", start: int) -> "PickedLine":
        next_line = next_said(lines, start)
        for _ in range(self._skip):
            next_line = next_line and next_said(lines, next_line[0] + 1)
        return next_line
