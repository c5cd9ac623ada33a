"""Commits of the code, and the changes of one file, as `git log` prints them for us. Pure.

Paths are str with bytes that are not UTF-8 as surrogates.
"""

import os
from collections.abc import Iterator
from typing import NamedTuple  # a dataclass takes a millisecond to make

SHORT = "%H%x1f%an%x1f%ae%x1f%at%x1f%ct%x1f%x1f%s"  # a commit without parents and text
FORMAT = "%H%x1f%an%x1f%ae%x1f%at%x1f%ct%x1f%P%x1f%s%x1f%b"


class CodeCommit(NamedTuple):
    """A commit as history tells it. Times are epoch seconds; `at` is the committer's."""

    oid: str
    author: str
    mail: str
    authored: int
    at: int
    subject: str
    parents: tuple[str, ...] = ()
    body: str = ""


class FileChange(NamedTuple):
    """A change of a file by a commit.

    The field `what` is git's letter (A, M, D, R, C, T), `path` its name then, and `was` the one
    before when it had another.

    `lines` are the numbers of those that it added; None where it was not asked for some lines
    alone.
    """

    commit: CodeCommit
    what: str
    path: str
    was: str = ""
    lines: tuple[int, ...] | None = None


def parse(row: bytes) -> CodeCommit | None:
    """Return a commit printed as `FORMAT`; None for another line."""
    parts = row.decode("utf-8", "replace").strip("\n").split("\x1f", 7)
    if len(parts) < 8 or not parts[3].isdigit() or not parts[4].isdigit():
        return None
    oid, author, mail, authored, at, parents, subject, body = parts
    return CodeCommit(
        oid, author, mail, int(authored), int(at), subject, tuple(parents.split()), body.strip()
    )


def parsed_changes(out: bytes) -> Iterator[FileChange]:
    """Yield the changes of `git log --name-status -z` whose commits begin with a byte 1."""
    for part in out.split(b"\1")[1:]:
        head, _, rest = part.partition(b"\0")
        commit = parse(head + b"\x1f")
        words = rest.strip(b"\0\n").split(b"\0")
        if commit is None or not words[0]:
            continue
        letter = words[0].strip(b"\n").decode("ascii", "replace")[:1]
        names = [os.fsdecode(word) for word in words[1:]]
        if letter in {"R", "C"} and len(names) > 1:
            yield FileChange(commit, letter, names[1], names[0])
        elif names:
            yield FileChange(commit, letter, names[0])
