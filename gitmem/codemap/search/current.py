"""Keeps the search over the code up with a commit."""

from collections.abc import Callable

from gitmem.base.fast import sqlite
from gitmem.base.sqlite import is_damage
from gitmem.codemap.graph.code_map import CodeMap
from gitmem.codemap.search.index import SearchIndex
from gitmem.codemap.search.refresh import refresh
from gitmem.git.code_history import CodeHistory

Progress = Callable[[int, int], None]


def search_index(
    code: CodeMap,
    history: CodeHistory,
    revision: str = "",
    progress: Progress | None = None,
    *,
    stored: bool = False,
) -> SearchIndex:
    """Return the search over a commit.

    The default is the commit that is checked out, with what is not committed yet. The caller closes
    the search.

    What a commit that is named has is for this process only, unless it is to be `stored`. Raises
    UserError when there is no such commit.
    """
    graph = code.graph(revision or "HEAD", progress, uncommitted=not revision)
    index = SearchIndex(code.folder)
    try:
        refresh(index, code, graph, history, progress, store=stored or not revision)
    except sqlite.DatabaseError as error:
        index.close()
        if is_damage(error):
            index.remove()
            index = SearchIndex(code.folder)
        # others keep it for long, or the disk takes nothing: for this time it is made in memory
        else:
            index = SearchIndex("")
        refresh(index, code, graph, history, progress)
    except BaseException:
        index.close()
        raise
    return index
