"""Blocks that other tools write into memory files, by their marks. Pure.

Each tool rewrites its block from a store of its own. Its lines are no statements of the file.
"""

import re
from collections.abc import Iterator, Sequence

OWN = "git-mem"  # the name of blocks of ours
_TAG = re.compile(r"[ \t]*<(?P<name>[a-z][a-z0-9]*-(?:[a-z0-9]+-)*(?:context|memory))>[ \t]*")
_BEFORE = re.compile(
    r"[ \t]*<!--[ \t]*(?:BEGIN|START)[ :]+(?P<name>[^>]*?)[ \t]*-->[ \t]*", re.IGNORECASE
)
_AFTER = re.compile(
    r"[ \t]*<!--[ \t]*(?P<name>[^>]*?)[ :_-]+(?:BEGIN|START)[ \t]*-->[ \t]*", re.IGNORECASE
)
_ENDS = r"[ \t]*<!--[ \t]*(?:END[ :]+{name}|{name}[ :_-]+END)[ \t]*-->[ \t]*"


def foreign_blocks(lines: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield the first and the last line, from 0, of each block. One that does not end is none."""
    at = 0
    while at < len(lines):
        end = _end(lines[at])
        last = _find(lines, at + 1, end) if end else -1
        if last > 0:
            yield at, last
            at = last
        at += 1


def _end(line: str) -> "re.Pattern[str] | None":
    """Return what the line looks like that ends the block which a line begins."""
    if tag := _TAG.fullmatch(line):
        return re.compile(rf"[ \t]*</{tag['name']}>[ \t]*")
    comment = _BEFORE.fullmatch(line) or _AFTER.fullmatch(line)
    if comment and comment["name"] and not comment["name"].startswith(OWN):
        return re.compile(_ENDS.format(name=re.escape(comment["name"])), re.IGNORECASE)
    return None


def _find(lines: Sequence[str], start: int, pattern: "re.Pattern[str]") -> int:
    for number in range(start, len(lines)):
        if pattern.fullmatch(lines[number]):
            return number
    return -1
