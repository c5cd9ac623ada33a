"""Plain text and Markdown, including dialogues.

Each heading, point and paragraph is a turn, with its line.
"""

import re
from collections.abc import Iterator
from itertools import chain, islice
from typing import IO

from gitmem.transcripts.cleanup import said
from gitmem.transcripts.formats.markdown_tables import MarkdownTable
from gitmem.transcripts.formats.speakers import speakers
from gitmem.transcripts.jsonl import JsonLine, lines
from gitmem.transcripts.turn import USER, Turn

BLOCK = 16_000  # characters of a turn
HEAD = 400  # lines by which it is told who speaks
ROOM = 1 << 20  # and how many characters of them
_POINT = re.compile(r"^\s*(?:[-*+•·–] |\d{1,3}[.)、] ?)")
_HEADING = re.compile(r"^#{1,6}\s+\S|^\S[^\n]{0,80}\n[=-]{3,}$")
_FENCE = re.compile(r"^\s*(```+|~~~+)")
_COLOUR = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[ -/]*[0-~])")


def text(stream: IO[bytes]) -> Iterator[Turn]:  # noqa: C901
    """Yield the turns of a text.

    Who speaks is taken from lines such as `User: ...`; a text without them is its writer's.
    """
    role = USER
    block: list[str] = []
    size = first = last = 0
    fence = ""
    table = MarkdownTable()
    named = True  # nothing was read yet, or the line before began with who speaks

    def ended() -> Iterator[Turn]:
        nonlocal size
        words = said("\n".join(block), BLOCK)
        rows = last - first == len(block) - 1 == words.count("\n")
        block.clear()
        size = 0
        if words:
            yield Turn(role, words, line=first, rows=rows)

    read = _readable(lines(stream, 1 << 20))
    head, room = [], ROOM
    for one in islice(read, HEAD):
        head.append(one)
        room -= len(one[1])
        if room < 0:
            break
    who = speakers([now for _, now in head])
    for number, now in chain(head, read):
        mark = _FENCE.match(now)
        if fence:
            block.append(now)
            size, last = size + len(now), number
            if mark and mark[1].startswith(fence):
                fence = ""
            if size > BLOCK:
                del block[-1]
            continue
        spoken = who.speaks(now, begins=named or not block)
        named = spoken is not None
        if spoken:
            yield from ended()
            role, now = spoken.role, spoken.text
        if row := table.row(now, talk=who.talk):
            yield from ended()
            yield Turn(role, said(row, BLOCK), line=number)
            continue
        blank = not now.strip()
        if blank or _POINT.match(now) or now.startswith("#") or size > BLOCK // 2:
            yield from ended()
        if blank:
            continue
        if not block:
            first = number
        block.append(now)
        size, last = size + len(now), number
        if mark:
            fence = mark[1][:3]
        elif _HEADING.match(now):
            yield from ended()
    yield from ended()


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
