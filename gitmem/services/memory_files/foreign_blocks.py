"""Blocks that other tools write into memory files, by their marks. Pure.

Each tool rewrites its block from a store of its own. Its lines are no statements of the file.
"""

import re
from collections.abc import Iterator, Sequence

OWN = "git-mem"  # the name of blocks of ours
LONGEST = 200  # characters of a mark
_TAG = re.compile(r"<(?P<end>/?)(?P<name>[a-z][a-z0-9-]*-(?:context|memory))>")
_BEFORE = re.compile(r"<!--\s*(?P<word>BEGIN|START|END)[ :]+(?P<name>\S[^>]*)-->", re.IGNORECASE)
_AFTER = re.compile(
    r"<!--\s*(?P<name>\S[^>]*?)[ :_-](?P<word>BEGIN|START|END)\s*-->", re.IGNORECASE
)
Mark = tuple[str, bool]  # (name of the block, whether it ends there)


def foreign_blocks(lines: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield the first and the last line, from 0, of each block. One that does not end is none."""
    open_at: dict[str, int] = {}
    for number, line in enumerate(lines):
        name, is_end = _mark(line.strip())
        if not name:
            continue
        if not is_end:
            open_at.setdefault(name, number)
        elif name in open_at:
            yield open_at.pop(name), number


def _mark(line: str) -> Mark:
    """Return the block that a line begins or ends; its name is "" for any other line."""
    if not line.startswith("<") or len(line) > LONGEST:
        return "", False
    if tag := _TAG.fullmatch(line):
        return tag["name"], bool(tag["end"])
    comment = _BEFORE.fullmatch(line) or _AFTER.fullmatch(line)
    name = comment["name"].strip(" :_-").casefold() if comment else ""
    if comment is None or name.startswith(OWN):
        return "", False
    return name, comment["word"].upper() == "END"
