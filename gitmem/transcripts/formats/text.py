"""Plain text and Markdown, including dialogues.

Each heading, point and paragraph is a turn, with its line.
"""

import re
from collections.abc import Iterator
from itertools import chain, islice
from typing import IO

from gitmem.transcripts.cleanup import said
from gitmem.transcripts.formats.markdown_tables import MarkdownTable
from gitmem.transcripts.formats.speakers import Speakers, speakers
from gitmem.transcripts.jsonl import JsonLine, lines
from gitmem.transcripts.turn import USER, Turn

BLOCK = 16_000  # characters of a turn
HEAD = 400  # lines by which it is told who speaks
ROOM = 1 << 20  # and how many characters of them
_POINT = re.compile(r"^\s*(?:[-*+•·–] |\d{1,3}[.)、] ?)")
_HEADING = re.compile(r"^#{1,6}\s+\S|^\S[^\n]{0,80}\n[=-]{3,}$")
_FENCE = re.compile(r"^\s*(```+|~~~+)")
_COLOUR = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[ -/]*[0-~])")


def text(stream: IO[bytes]) -> Iterator[Turn]:
    """Yield the turns of a text.

    Who speaks is taken from lines such as `User: ...`; a text without them is its writer's.
    """
    read = _readable(lines(stream, 1 << 20))
    head, room = [], ROOM
    for number, line in islice(read, HEAD):
        head.append((number, line))
        room -= len(line)
        if room < 0:
            break
    blocks = _Blocks(speakers([line for _, line in head]))
    for number, line in chain(head, read):
        yield from blocks.take(number, line)
    yield from blocks.end()


class _Blocks:
    """The lines of a text, put together to blocks that are turns."""

    def __init__(self, speakers: Speakers) -> None:
        self._speakers = speakers
        self._role = USER
        self._lines: list[str] = []  # of the block that is read
        self._size = self._first = self._last = 0
        self._fence = ""  # of the code that is read
        self._table = MarkdownTable()
        self._named = True  # nothing was read yet, or the line before began with who speaks

    def take(self, number: int, line: str) -> Iterator[Turn]:
        """Take in the next line; yield the turns that end with it."""
        fence = _FENCE.match(line)
        if self._fence:
            self._take_code(number, line, fence)
            return
        spoken = self._speakers.speaks(line, begins=self._named or not self._lines)
        self._named = spoken is not None
        if spoken:
            yield from self.end()
            self._role, line = spoken.role, spoken.text
        row = self._table.row(line, talk=self._speakers.talk)
        if row:
            yield from self.end()
            yield Turn(self._role, said(row, BLOCK), line=number)
            return
        blank = not line.strip()
        if blank or _POINT.match(line) or line.startswith("#") or self._size > BLOCK // 2:
            yield from self.end()
        if blank:
            return
        self._add(number, line)
        if fence:
            self._fence = fence[1][:3]
        elif _HEADING.match(line):
            yield from self.end()

    def _add(self, number: int, line: str) -> None:
        if not self._lines:
            self._first = number
        self._lines.append(line)
        self._size, self._last = self._size + len(line), number

    def _take_code(self, number: int, line: str, fence: re.Match[str] | None) -> None:
        """Take in a line of code, with the fence that it may end with."""
        self._add(number, line)
        if fence and fence[1].startswith(self._fence):
            self._fence = ""
        if self._size > BLOCK:
            del self._lines[-1]

    def end(self) -> Iterator[Turn]:
        """Yield the block as a turn, and begin the next one."""
        words = said("\n".join(self._lines), BLOCK)
        rows = self._last - self._first == len(self._lines) - 1 == words.count("\n")
        self._lines.clear()
        self._size = 0
        if words:
            yield Turn(self._role, words, line=self._first, rows=rows)


def _readable(read: Iterator[JsonLine]) -> Iterator[tuple[int, str]]:
    """Yield (number, text) of lines without what nobody wrote, and what is marked private."""
    hidden = False
    for line in read:
        now = line.text.replace("\x00", "")[:BLOCK]
        if "\x1b" in now:
            now = _COLOUR.sub("", now)  # what a terminal said is words without its colours
        low = now.lower()
        if "<private" in low or "</private" in low:  # a mark may go over many blocks
            now, hidden = _public(now, hidden)
        elif hidden:
            continue
        yield line.number, now


def _public(line: str, hidden: bool) -> tuple[str, bool]:
    """Return a line without what is marked private, and whether the mark is still open.

    An end without a mark stays: whoever has all of the turn leaves out what is before it.
    """
    kept = []
    for part in re.split(r"(?i)(</?private(?:\s[^<>]*)?>)", line):
        if part.lower().startswith("<private"):
            hidden = True
        elif hidden and part.lower().startswith("</private"):
            hidden = False
        elif not hidden:
            kept.append(part)
    return "".join(kept), hidden
