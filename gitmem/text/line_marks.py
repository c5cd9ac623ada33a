"""Marks of lines: a line is recognised by its mark, so that its text need not be kept.

Standard library only; the hot path imports this.

A mark is the CRC-32 of a line as `squeezed` leaves it, so that a formatter which only changes white
space, quotes or a trailing comma leaves the mark as it is. A blank line has the mark 0.
"""

from zlib import crc32

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

BLANK = 0
_QUOTES = bytes.maketrans(b"'`", b'""')
_SPACE = b" \t\r\f\v"
_CLOSERS = (b")", b"]", b"}")
_TRAILING = b",;"
_BOM = b"\xef\xbb\xbf"


def squeezed(data: bytes) -> "list[bytes]":
    """Return the lines of a text without white space.

    They have one kind of quotes, and no comma before a closing bracket.
    """
    data = data.removeprefix(_BOM).translate(_QUOTES, _SPACE)
    for closer in _CLOSERS:
        data = data.replace(b"," + closer, closer)
    lines = data.split(b"\n")
    if not lines[-1]:
        lines.pop()
    return lines


def marks(lines: "Iterable[bytes]") -> "list[int]":
    """Return the marks of squeezed lines."""
    return [(crc32(line.rstrip(_TRAILING)) or 1) if line else BLANK for line in lines]


def mark(line: str) -> int:
    """Return the mark of one line of text."""
    lines = squeezed(line.encode("utf-8", "replace"))
    return marks(lines)[0] if lines else BLANK


class Unit:
    """A squeezed line as a part of a longer one: formatters join lines and split them.

    `length` is without trailing commas, `comma` says whether there was one, `closes` whether the
    line begins with a bracket.
    """

    __slots__ = ("closes", "comma", "length", "mark")

    def __init__(self, mark: int, length: int, *, comma: bool, closes: bool) -> None:
        self.mark = mark
        self.length = length
        self.comma = comma
        self.closes = closes


def unit(line: bytes) -> Unit:
    """Return a squeezed line as a part of a longer one."""
    bare = line.rstrip(_TRAILING)
    return Unit(crc32(bare), len(bare), comma=line.endswith(b","), closes=line[:1] in _CLOSERS)


def joined(units: "Sequence[Unit]") -> "tuple[int, int]":
    """Return (CRC-32, length) of the line that these lines are when they are joined.

    A CRC-32 is linear: that of a text with another one behind it follows from both CRCs and the
    length.
    """
    crc = length = 0
    for number, part in enumerate(units):
        crc = crc32(bytes(part.length), crc) ^ crc32(bytes(part.length)) ^ part.mark
        length += part.length
        following = units[number + 1] if number + 1 < len(units) else None
        if part.comma and following is not None and not following.closes:
            crc = crc32(b",", crc)
            length += 1
    return crc, length


class EditMarks:
    """A file as an edit left it: the marks of its lines, and which part of them the edit changed.

    `after` are marks of lines; the edit changed those from `start` on, of which `units` has one for
    each, and took out lines with the marks `gone` there. `given` says for each of them whether the
    tool was given it.
    """

    __slots__ = ("after", "first", "given", "gone", "start", "units")

    def __init__(
        self,
        after: "list[int]",
        start: int,
        units: "list[Unit]",
        gone: "list[int]",
        given: "list[bool]",
    ) -> None:
        self.first = 0  # line of the file that `after` begins with
        self.after = after
        self.start = start
        self.units = units
        self.gone = gone
        self.given = given
