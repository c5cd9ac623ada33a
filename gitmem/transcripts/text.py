"""Plain text and Markdown, dialogues too: each heading, point and paragraph is a turn, with its line."""

import re
from collections.abc import Iterator
from itertools import chain, islice
from typing import IO

from gitmem.model.turn import USER, Turn
from gitmem.transcripts.lines import lines
from gitmem.transcripts.said import said
from gitmem.transcripts.speakers import speakers
from gitmem.transcripts.tables import Table

BLOCK = 16_000  # characters of a turn
HEAD = 400  # lines by which it is told who speaks
LEAD = 60  # characters of a line that stands before a list, for it to be its heading
_POINT = re.compile(r"^\s*(?:[-*+•·–] |\d{1,3}[.)、] ?)")
_HEADING = re.compile(r"^#{1,6}\s+\S|^\S[^\n]{0,80}\n[=-]{3,}$")
_FENCE = re.compile(r"^\s*(```+|~~~+)")
_SAYS = (".", "!", "?", ";", "。", "！", "？", "；", "…")
_COLOUR = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[ -/]*[0-~])")


def text(stream: IO[bytes]) -> Iterator[Turn]:
    """Yield the turns of a text. Who speaks is taken from lines such as `User: ...`; a text without them is its writer's."""
    role = USER
    block: list[str] = []
    size = first = 0
    fence = ""
    hidden = False
    heading = ""  # the last one
    listing = False  # a line that stood before a list was told as its heading
    table = Table()
    named = True  # nothing was read yet, or the line before began with who speaks

    def ended() -> Iterator[Turn]:
        nonlocal size
        words = said("\n".join(block), BLOCK)
        block.clear()
        size = 0
        if words:
            yield Turn(role, words, line=first)

    read = lines(stream, 1 << 20)
    head = list(islice(read, HEAD))
    who = speakers([line.text[:BLOCK] for line in head])
    for line in chain(head, read):
        now = line.text.replace("\x00", "")[:BLOCK]
        if "\x1b" in now:
            now = _COLOUR.sub("", now)  # what a terminal said is words without its colours
        low = now.lower()
        if "<private" in low or "</private" in low:  # a mark may go over many blocks
            now, hidden = _public(now, hidden)
        elif hidden:
            continue
        mark = _FENCE.match(now)
        if fence:
            block.append(now)
            size += len(now)
            if mark and mark[1].startswith(fence):
                fence = ""
            if size > BLOCK:
                del block[-1]
            continue
        spoken = who.speaks(now, begins=named or not block)
        named = spoken is not None
        if spoken:
            yield from ended()
            role, now, listing, heading = spoken.role, spoken.text, False, ""
        if row := table.row(now, talk=who.talk):
            yield from ended()
            yield Turn(role, said(row, BLOCK), line=line.number)
            continue
        blank = not now.strip()
        point = bool(_POINT.match(now))
        if point and len(block) == 1 and not spoken and (lead := _leads(block[0])):
            block[0], listing = f"#### {lead}", True
        elif listing and not (point or blank or now[:1].isspace() or block):
            listing = False
            if heading and not now.startswith("#"):
                yield Turn(role, heading, line=line.number)  # the list is over
        if blank and len(block) == 1 and _leads(block[0]) and block[0].rstrip().endswith((":", "：")):
            continue  # its list may come after an empty line
        if blank or point or now.startswith("#") or size > BLOCK // 2:
            yield from ended()
        if blank:
            continue
        if not block:
            first = line.number
        block.append(now)
        size += len(now)
        if mark:
            fence = mark[1][:3]
        elif _HEADING.match(now):
            heading, listing = now, False
            yield from ended()
    yield from ended()


def _leads(line: str) -> str:
    """Return the heading that a line is which stands before a list: `Next`, `Still open:`; empty for none."""
    bare = line.strip()
    name = bare.strip("*_ ").rstrip(":： ").strip("*_ ")
    if line[:1].isspace() or bare.startswith(("#", "```", "~~~", ">", "|")) or _POINT.match(line) or not name:
        return ""
    told = bare.rstrip("*_").endswith((":", "：")) or (
        len(name) <= LEAD // 2 and not name.endswith(_SAYS) and "," not in name and "，" not in name
    )
    return name if told and len(name) <= LEAD else ""


def _public(line: str, hidden: bool) -> tuple[str, bool]:
    """Return a line without what is marked private, and whether the mark is still open."""
    kept = []
    for part in re.split(r"(?i)(</?private(?:\s[^<>]*)?>)", line):
        if part.lower().startswith("<private"):
            hidden = True
        elif part.lower().startswith("</private"):
            hidden = False
        elif not hidden:
            kept.append(part)
    return "".join(kept), hidden
