r"""Lines and columns: what ends a line, and what a column counts.

The protocol ends a line at `\n`, `\r\n` and `\r`, and nowhere else; git ends it at `\n` alone;
Python's `str.splitlines` ends it at a form feed and at U+2028 too, which is why nobody here uses
it. A column counts bytes of UTF-8, units of UTF-16 or code points, as the client chose. All of that
is here and only here. Pure.
"""

import re
from collections.abc import Sequence

from lsprotocol import types as t

# code points of a line that a range covers at most: a minified file is one line of a megabyte
CODE_LIMIT = 1000

# what ends a line for Python and not for the protocol, and `\r`, which does so in its own way
_OTHER_ENDS = ("\r", "\x0b", "\x0c", "\x1c", "\x1d", "\x1e", "\x85", "\u2028", "\u2029")
_ENDED = re.compile(r"(?<![^\r\n])[^\r\n]*+(?:\r\n|\r|\n)")
_COMMENT = re.compile(r"(?<=\S)\s+(?://|#|--|/\*)\s[^'\"`]*$")


def split_lines(text: str) -> list[str]:
    """Return the lines of a text with their ends; the last one has none and may be empty."""
    if not any(mark in text for mark in _OTHER_ENDS):
        lines = text.splitlines(keepends=True)  # a quarter of the time of what follows
        return [*lines, ""] if not text or text.endswith("\n") else lines
    lines = _ENDED.findall(text)
    rest = len(text) - sum(map(len, lines))
    return [*lines, text[len(text) - rest :]]


def content(line: str) -> str:
    """Return a line without its end."""
    return line.rstrip("\r\n")


def to_units(line: str, index: int, encoding: str) -> int:
    """Return the client's column for a code point of a line."""
    head = line[:index]
    if head.isascii() or encoding == t.PositionEncodingKind.Utf32:
        return len(head)
    if encoding == t.PositionEncodingKind.Utf8:
        return sum(_utf8(c) for c in head)
    return len(head) + sum(c > "\uffff" for c in head)


def to_index(line: str, units: int, encoding: str) -> int:
    """Return the code point for a client's column.

    Past the end of the line's content it is that end.
    """
    text = content(line)
    if text.isascii() or encoding == t.PositionEncodingKind.Utf32:
        return max(0, min(units, len(text)))
    width = _utf8 if encoding == t.PositionEncodingKind.Utf8 else _utf16
    seen = 0
    for index, char in enumerate(text):
        if seen >= units:
            return index
        seen += width(char)
    return len(text)


def _utf8(char: str) -> int:
    return 1 if char < "\x80" else 2 if char < "\u0800" else 3 if char < "\U00010000" else 4


def _utf16(char: str) -> int:
    return 1 + (char > "\uffff")


def spot(lines: Sequence[str], position: t.Position, encoding: str) -> tuple[int, int]:
    """Return (line, code point) of a client's position; one past the end of the text is the end."""
    if position.line >= len(lines):
        return len(lines) - 1, len(content(lines[-1]))
    line = max(0, position.line)
    return line, to_index(lines[line], position.character, encoding)


def code_range(lines: Sequence[str], number: int, encoding: str) -> t.Range:
    """Return the range of the code on a line.

    It starts at the first character that is not a blank, and ends before a comment.
    """
    number = max(0, min(number, len(lines) - 1))
    line = content(lines[number])[:CODE_LIMIT].rstrip()
    start = len(line) - len(line.lstrip())
    comment = _COMMENT.search(line)
    end = comment.start() if comment else len(line)
    return t.Range(
        t.Position(number, to_units(line, start, encoding)),
        t.Position(number, to_units(line, max(start, end), encoding)),
    )


def git_lines(lines: Sequence[str]) -> tuple[Sequence[str], Sequence[int]]:
    r"""Return the lines as git counts them, and for each the protocol's number of its first part.

    They differ only where a `\r` stands alone.
    """
    if not any(line.endswith("\r") for line in lines):
        return lines, range(len(lines))
    joined: list[str] = []
    starts: list[int] = []
    open_line = False
    for number, line in enumerate(lines):
        if open_line:
            joined[-1] += line
        else:
            joined.append(line)
            starts.append(number)
        open_line = line.endswith("\r")
    return joined, starts
