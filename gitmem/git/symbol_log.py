"""Changes of some lines of a file, as `git log -L` prints them.

See https://git-scm.com/docs/git-log#Documentation/git-log.txt--Lltstartgtltendgtltfilegt.
"""

import re

from gitmem.git.commit_log import FileChange, parse
from gitmem.git.paths import unquoted

_HUNK = re.compile(rb"@@ -\d+(?:,\d+)? \+(\d+)(?:,\d+)? @@")


def parsed_symbol_changes(out: bytes, path: str) -> list[FileChange]:
    """Return the changes of commits that begin with a byte 1.

    `path` is the file's name where a change tells none.
    """
    changes: list[FileChange] = []
    for part in re.split(rb"(?:\A|\n)\x01", out):
        head, *rows = part.split(b"\n")
        commit = parse(head + b"\x1f")
        if commit is not None:
            name, lines = _added(rows, path)
            changes.append(FileChange(commit, "M", name, lines=lines))
    return changes


def _added(rows: list[bytes], path: str) -> tuple[str, tuple[int, ...]]:
    """Return (the file's name, the numbers of the lines that were added) of a diff."""
    lines: list[int] = []
    number = 0
    for row in rows:
        hunk = _HUNK.match(row)
        if hunk:
            number = int(hunk[1])
        elif not number:
            if row.startswith(b"+++ ") and row != b"+++ /dev/null":
                word = row[4:]
                path = unquoted(word if word.startswith(b'"') else word.rstrip(b"\t"))[2:]
        elif row.startswith(b"diff "):
            number = 0
        elif row[:1] in {b"+", b" "}:
            if row.startswith(b"+"):
                lines.append(number)
            number += 1
    return path, tuple(lines)
