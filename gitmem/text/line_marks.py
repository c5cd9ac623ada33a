"""Marks of lines: by them a line is known again without its text. Standard library only; the hot path imports this.

A mark is the CRC-32 of a line without the white space around it; a blank line has none.
"""

from zlib import crc32

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

WHOLE = 0  # no line's mark; at the beginning it says that the marks are of all of a file


def mark(line: str) -> int:
    """Return the mark of a line, 32 bits; 0 for a blank one."""
    line = line.strip()
    return (crc32(line.encode("utf-8", "replace")) or 1) if line else 0


def marks(lines: "Iterable[str]") -> "list[int]":
    """Return the marks of lines, blank ones left out."""
    return [found for found in map(mark, lines) if found]
