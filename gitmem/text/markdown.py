"""The pieces of a Markdown file.

These are headings, paragraphs, list items with what is below them, code fences and tables. This
module is pure.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

FENCE = re.compile(r"\s*(`{3,}|~{3,})")
_HEADING = re.compile(r" {0,3}(#{1,6})(?:[ \t]++(.*))?$")
_RULER = re.compile(r" {0,3}([-*_])(?:[ \t]*\1){2,}[ \t]*$")
_UNDERLINE = re.compile(r" {0,3}(?:=+|-{2,})[ \t]*$")
ITEM = re.compile(r"([ \t]*)([-*+]|\d{1,9}[.)])([ \t]+)(?=\S)(.*)$")
_BOX = re.compile(r"\[([ xX])\][ \t]+")
_TICKS = re.compile(r"`++")
IMPORT = re.compile(r"@((?:[^\s\\]|\\ )+)$")


@dataclass(slots=True)
class Piece:
    """A paragraph, list item, fence or table: `text` without its mark and its indent."""

    kind: str
    first: int
    last: int
    text: str
    head: str = ""
    ordered: bool = False
    box: str = ""
    number: int = 0  # of an item of a numbered list
    alone: str = ""  # its text before what stands beside it was joined to it


def pieces_of(lines: Sequence[str], at: int) -> Iterator[Piece]:
    """Yield paragraphs, list items with what is below them, fences and tables.

    A heading is noted in those that follow.
    """
    head = ""
    while at < len(lines):
        line = lines[at]
        if not line.strip():
            at += 1
        elif match := _HEADING.match(line):
            head = _heading_text(match[2] or "")
            yield Piece("head", at + 1, at + 1, head, head)
            at += 1
        elif _RULER.match(line):
            at += 1
        elif mark := FENCE.match(line):
            end = _end_of_fence(lines, at, mark[1])
            yield Piece("code", at + 1, end + 1, "\n".join(lines[at : end + 1]), head)
            at = end + 1
        elif item := ITEM.match(line):
            end = _end_of_item(lines, at)
            yield _item(lines, at, end, item, head)
            at = end + 1
        else:
            piece = _paragraph(lines, at, head)
            head = piece.head
            yield piece
            at = piece.last


def _paragraph(lines: Sequence[str], at: int, head: str) -> Piece:
    """Return a paragraph, a table, or a line that is underlined as a heading."""
    end = at
    if not IMPORT.fullmatch(lines[at].strip()):
        while end + 1 < len(lines) and _goes_on(lines[end + 1]):
            end += 1
    if end == at and end + 1 < len(lines) and _UNDERLINE.match(lines[end + 1]):
        head = lines[at].strip()
        return Piece("head", at + 1, at + 2, head, head)
    rows = [line.strip() for line in lines[at : end + 1]]
    kind = "table" if all(row.startswith("|") for row in rows) else "text"
    return Piece(kind, at + 1, end + 1, re.sub(r"(?m)^>[ \t]?", "", "\n".join(rows)), head)


def _heading_text(said: str) -> str:
    """Return the text of a heading without the marks that close it.

    `one ##` has such marks, `C#` has none.
    """
    said = said.rstrip(" \t")
    bare = said.rstrip("#")
    return bare.rstrip(" \t") if not bare or bare[-1] in " \t" else said


def without_code_spans(text: str) -> str:
    """Return a text without what stands between two equally long runs of backticks."""
    runs = [(mark.start(), mark.end()) for mark in _TICKS.finditer(text)]
    places: dict[int, list[int]] = {}
    for number, (start, end) in enumerate(runs):
        places.setdefault(end - start, []).append(number)
    kept: list[str] = []
    at = number = 0
    while number < len(runs):
        start, end = runs[number]
        same = places[end - start]
        following = bisect_right(same, number)
        if following == len(same):
            number += 1
            continue
        kept.append(text[at:start])
        number = same[following] + 1
        at = runs[number - 1][1]
    return "".join(kept) + text[at:]


def _goes_on(line: str) -> bool:
    return bool(line.strip()) and not (
        _HEADING.match(line)
        or FENCE.match(line)
        or ITEM.match(line)
        or _RULER.match(line)
        or _UNDERLINE.match(line)
        or IMPORT.fullmatch(line.strip())
    )


def _end_of_fence(lines: Sequence[str], at: int, mark: str) -> int:
    for n in range(at + 1, len(lines)):
        close = lines[n].strip()
        if close.startswith(mark) and not close.strip(mark[0]):
            return n
    return len(lines) - 1


def _wide(text: str) -> int:
    """Return how far a text is indented."""
    text = text.expandtabs(4)
    return len(text) - len(text.lstrip())


def _end_of_item(lines: Sequence[str], at: int) -> int:
    """Return the last line of a list item.

    The item includes what is indented below it, and lines that continue it without an indent.
    """
    depth = _wide(lines[at])
    end, n = at, at + 1
    while n < len(lines):
        line = lines[n]
        if not line.strip():
            after = next((m for m in range(n, min(n + 3, len(lines))) if lines[m].strip()), -1)
            if after < 0 or _wide(lines[after]) < depth + 2:
                break
            n = after
            continue
        if _ends_item(line, lines[n - 1], depth):
            break
        fence = FENCE.match(line)
        end = n = _end_of_fence(lines, n, fence[1]) if fence else n
        n += 1
    return end


def _ends_item(line: str, before: str, depth: int) -> bool:
    """Return whether a line no longer belongs to an item that is indented by `depth`."""
    indent = _wide(line)
    if indent >= depth + 2:
        return False
    if not before.strip() or IMPORT.fullmatch(line.strip()):
        return True
    begins = ITEM.match(line) or _HEADING.match(line) or _RULER.match(line) or FENCE.match(line)
    return indent <= depth and bool(begins)


def _item(lines: Sequence[str], at: int, end: int, item: "re.Match[str]", head: str) -> Piece:
    first = item[4]
    box = _BOX.match(first)
    rest = [line.expandtabs(4) for line in lines[at + 1 : end + 1]]
    indent = min((_wide(line) for line in rest if line.strip()), default=0)
    text = "\n".join(
        [first[box.end() :] if box else first, *(line[indent:].rstrip() for line in rest)]
    )
    return Piece(
        "item",
        at + 1,
        end + 1,
        text,
        head,
        ordered=item[2][0].isdigit(),
        box=box[1].lower() if box else "",
        number=int(item[2][:-1]) if item[2][0].isdigit() else 0,
    )
