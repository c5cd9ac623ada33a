"""Ids of records in any text: where they stand, which one is under the cursor. Pure."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

LINE_LIMIT = 2000  # characters of a line that are looked at
_ID = re.compile(
    r"(?<![\w-])(?:mem|got|sum|snp|evt)-(?:[0-7][0-9a-hjkmnp-tv-z]{25}"
    r"|(?=[a-z]*[0-9])[0-9a-hjkmnp-tv-z]{8,25})(?![\w-])"
)


@dataclass(frozen=True, slots=True)
class Named:
    """An id, or the unique beginning or end of one, in a text.

    Line and columns count from 0, in code points.
    """

    text: str
    line: int
    start: int
    end: int


def ids_in(lines: Sequence[str], most: int = 500) -> list[Named]:
    """Return what looks like an id."""
    out: list[Named] = []
    for number, line in enumerate(lines):
        if "-" in line:
            out += [Named(m[0], number, *m.span()) for m in _ID.finditer(line[:LINE_LIMIT])]
            if len(out) >= most:
                break
    return out[:most]


def id_at(lines: Sequence[str], line: int, column: int) -> Named | None:
    """Return the id at a spot."""
    if not 0 <= line < len(lines):
        return None
    here = (Named(m[0], line, *m.span()) for m in _ID.finditer(lines[line][:LINE_LIMIT]))
    return next(
        (reference for reference in here if reference.start <= column <= reference.end), None
    )
