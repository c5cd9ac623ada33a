"""Turns without what is never stored.

Never stored are files that a repository ignores (`.gitmemignore`), commands that use them, and
lines that name them. This module is pure.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from gitmem.repo.ignore import Ignored
from gitmem.transcripts.tool_calls import relative
from gitmem.transcripts.turn import TOOL, Turn


def shown(turns: Iterable[Turn], hidden: Ignored, root: str = "") -> Iterator[Turn]:
    """Yield turns as they may be stored or sent.

    `root` is the work tree that the patterns are for.
    """
    roots = [root] if root else []
    for turn in turns:
        yield _without(turn, hidden, roots) if hidden else turn


def _without(turn: Turn, hidden: Ignored, roots: list[str]) -> Turn:
    root = roots[0] if roots else ""
    files = tuple(path for path in turn.files if not hidden.has(relative(path, root)))
    if turn.role == TOOL and (
        len(files) < len(turn.files) or hidden.used_by(turn.command, roots, root)
    ):
        # what it printed is of them
        return replace(turn, text="", command="", files=files, failed=None)
    text = hidden.without(turn.text, roots, root)
    return replace(
        turn, text=text, files=files, rows=turn.rows and text.count("\n") == turn.text.count("\n")
    )
