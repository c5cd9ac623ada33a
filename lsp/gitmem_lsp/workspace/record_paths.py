"""The files that records name, as far as an editor may open them.

A record is written by anybody who can push: its path may lead out of the repository. No answer has
such a path. Reads the disk: not on the loop.
"""

import os
from collections.abc import Mapping
from typing import Any

from gitmem.repo.location import inside


def is_followed(path: Any, worktree: str | None) -> bool:
    """Return whether a record's path names a file of the repository, links resolved."""
    if not isinstance(path, str) or not path or path.startswith(("/", "\\")) or "\0" in path:
        return False
    if ".." in path.replace("\\", "/").split("/") or path[1:2] == ":":
        return False
    root = os.path.realpath(worktree) if worktree else ""
    return not root or bool(inside(path, root, root))


def first_place(row: Mapping[str, Any], worktree: str | None) -> tuple[str, int | None]:
    """Return the path and the line, from 0, of a record's first place that may be opened.

    The line is None for the whole file; ("", None) where there is no such place.
    """
    for anchor in row["anchors"]:
        path, span = anchor.get("path"), anchor.get("lines")
        if is_followed(path, worktree):
            has_line = isinstance(span, list) and span and type(span[0]) is int
            return path, max(0, span[0] - 1) if has_line else None
    return "", None
