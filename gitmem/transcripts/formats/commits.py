"""Commit messages, as `git log` prints them.

Each is a turn with its subject, its body and its trailers.
"""

import re
from collections.abc import Iterator
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
_ONE_LINE = re.compile(r"^(?:[*|/\\ ]*\* )?([0-9a-f]{7,64}) (?:\([^()]{1,400}\) )?(\S.*)$")
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
    pairs = [(one.at, other.at) for one, other in pairwise(head)]
    later, earlier = (
        sum(one < other for one, other in pairs),
        sum(one > other for one, other in pairs),
    )
    if later > 2 * earlier and (
        later >= 2 or len(pairs) == 1
    ):  # one that was rebased, or picked from elsewhere, is older than those around it
        yield from head
        yield from read
        return
    head += islice(read, NEWEST - len(head))
    yield from reversed(head)


def printed(stream: IO[bytes]) -> Iterator[Turn]:  # noqa: C901
    """Yield a turn for each commit, in the order in which they are printed."""
    start, id, at = 0, "", ""
    body: list[str] = []
    files: list[str] = []

    def made() -> Iterator[Turn]:
        text = said("\n".join(body).strip(), MESSAGE)
        if id and text:
            yield Turn(ASSISTANT, text, at, start, TOOL_NAME, id, tuple(files[:20]))

    for line in lines(stream, 1 << 20):
        begun = _COMMIT.match(line.text)
        if not (begun or start) and (short := _ONE_LINE.match(line.text)):
            if text := said(short[2]):
                yield Turn(ASSISTANT, text, "", line.number, TOOL_NAME, short[1])
        elif begun:
            yield from made()
            start, id, at = line.number, begun[1], ""
            body, files = [], []
        elif line.text.startswith("    "):
            if len(body) < BODY:
                body.append(line.text[4:])
        elif not line.text.strip():
            if body:
                body.append("")
        elif not body and (head := _HEADER.match(line.text)):
            if line.text.startswith(("Date", "CommitDate", "AuthorDate")):
                at = _stamp(head[1]) or at
        elif body and (path := _FILE.match(line.text)):
            files.append(path[2] or path[1])
    yield from made()


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
