"""Which facts each work tree of a repository refutes, as the background saw it."""

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from gitmem.base.tolerated import BUSY
from gitmem.errors import GitmemError
from gitmem.repo.location import storable
from gitmem.state import out_of_date

if TYPE_CHECKING:
    from gitmem.app import App

Marks = Mapping[str, tuple[str, str]]  # {id: (oid of the fact's file, reason)}
Row = Mapping[str, Any]


class TreeMarks:
    """The marks of all work trees, by their paths without links."""

    def __init__(self, trees: Mapping[str, Marks]) -> None:
        self._trees = trees
        # what tells these marks from others
        self.key = tuple((root, *sorted(trees[root].items())) for root in sorted(trees))

    def of(self, worktree: str | None) -> Marks:
        """Return the marks of one work tree."""
        if not self._trees or not worktree:
            return {}
        return self._trees.get(storable(os.path.realpath(worktree)), {})

    @property
    def ids(self) -> tuple[str, ...]:
        """The facts that some work tree refutes."""
        return tuple(sorted({id for marks in self._trees.values() for id in marks}))

    def is_refuted(self, row: Row) -> bool:
        """Return whether some work tree refutes a fact as its file is now."""
        return any(reason_of(row, marks) for marks in self._trees.values())


def read_marks(app: "App") -> TreeMarks:
    """Return what the work trees of a repository refute; nothing where that cannot be read."""
    if not os.path.exists(app.home.join("state.db")):
        return TreeMarks({})
    try:
        return TreeMarks(out_of_date.by_tree(app.state))
    except (*BUSY, GitmemError):
        return TreeMarks({})


def reason_of(row: Row, marks: Marks) -> str:
    """Return why a fact may be out of date in a work tree with some marks; '' if it is not."""
    oid, reason = marks.get(row["id"], ("", ""))
    return reason if oid and oid == row["oid"] else ""
