"""Commit messages, as `git log` prints them.

Each is a turn with its subject, its body and its trailers.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import islice, pairwise
from typing import IO

from gitmem.transcripts.cleanup import said
from gitmem.transcripts.jsonl import lines
from gitmem.transcripts.turn import ASSISTANT, Turn

TOOL_NAME = "commit"
MESSAGE = 4000  # characters of one
# commits by whose dates it is told in which order they come; between neighbours a merge may turn it
# round
DATED = 20
NEWEST = 20_000  # commits that are held to turn them round
BODY = 400  # lines of a message
_COMMIT = re.compile(r"^commit ([0-9a-f]{7,64})(?:\s.*)?$")
# a line of `git log --oneline`, with what `--graph` draws in front of it
_SHORT_LINE = re.compile(r"^(?:[*|/\\ ]*\* )?([0-9a-f]{7,64}) (?:\([^()]{1,400}\) )?(\S.*)$")
_HEADER = re.compile(r"^(?:Author|AuthorDate|Commit|CommitDate|Date|Merge|gpg): ?\s*(.*)$")
_FILE = re.compile(r"^(?:[ACDMRT]\d{0,3}\t)?([^\s|][^|\t]{0,400}?)(?:\t(.+))?$")


def commits(stream: IO[bytes]) -> Iterator[Turn]:
    """Yield a turn for each commit of `git log [--name-only]` or `--oneline`, oldest first.

    What is newer wins. `line` is where the commit begins.

    What has no dates is taken as git prints it, the newest first. Of more than NEWEST commits,
    those that git prints first are yielded.
    """
    read = printed(stream)
    head = list(islice(read, DATED))
    pairs = [(first.at, other.at) for first, other in pairwise(head)]
    later, earlier = (
        sum(first < other for first, other in pairs),
        sum(first > other for first, other in pairs),
    )
    if later > 2 * earlier and (
        later >= 2 or len(pairs) == 1
    ):  # one that was rebased, or picked from elsewhere, is older than those around it
        yield from head
        yield from read
        return
    head += islice(read, NEWEST - len(head))
    yield from reversed(head)


def printed(stream: IO[bytes]) -> Iterator[Turn]:
    """Yield a turn for each commit, in the order in which they are printed."""
    commit = _Commit()
    for line in lines(stream, 1 << 20):
        header = _COMMIT.match(line.text)
        short = None if header or commit.id else _SHORT_LINE.match(line.text)
        if header:
            yield from commit.turns()
            commit = _Commit(line.number, header[1])
        elif short:
            subject = said(short[2])
            if subject:
                yield Turn(ASSISTANT, subject, "", line.number, TOOL_NAME, short[1])
        else:
            commit.take(line.text)
    yield from commit.turns()


@dataclass(slots=True)
class _Commit:
    """A commit as its lines are read."""

    line: int = 0
    id: str = ""
    at: str = ""
    body: list[str] = field(default_factory=list)
    files: list[str] = field(default_factory=list)

    def take(self, line: str) -> None:
        """Take in a line of its headers, its message or its list of files."""
        if line.startswith("    "):
            if len(self.body) < BODY:
                self.body.append(line[4:])
        elif not line.strip():
            if self.body:
                self.body.append("")
        elif self.body:
            path = _FILE.match(line)
            if path:
                self.files.append(path[2] or path[1])
        elif line.startswith(("Date", "CommitDate", "AuthorDate")):
            header = _HEADER.match(line)
            self.at = (header and _stamp(header[1])) or self.at

    def turns(self) -> Iterator[Turn]:
        """Yield its turn, none without an id or a message."""
        text = said("\n".join(self.body).strip(), MESSAGE)
        if self.id and text:
            yield Turn(
                ASSISTANT, text, self.at, self.line, TOOL_NAME, self.id, tuple(self.files[:20])
            )


def _stamp(text: str) -> str:
    """Return git's date as RFC 3339, UTC; empty when it is none."""
    for form in ("%a %b %d %H:%M:%S %Y %z", "%Y-%m-%d %H:%M:%S %z", "%Y-%m-%dT%H:%M:%S%z"):
        try:
            return (
                datetime.strptime(text.strip(), form).astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
            )
        except ValueError:
            continue
    return ""
