"""Keeps the search over the code up with a commit."""

import math
import time
from collections.abc import Callable

from gitmem.base.fast import sqlite
from gitmem.base.sqlite import is_damage
from gitmem.codemap.graph.code_map import CodeMap
from gitmem.codemap.graph.reading_time import WHOLE, ReadingTime
from gitmem.codemap.search.index import SearchIndex
from gitmem.codemap.search.refresh import refresh
from gitmem.git.code_history import CodeHistory

ADDING = 0.5  # the share of the time in which files are added that were parsed
Progress = Callable[[int, int], None]


def search_index(
    code: CodeMap,
    history: CodeHistory,
    revision: str = "",
    progress: Progress | None = None,
    *,
    stored: bool = False,
    reading: ReadingTime = WHOLE,
) -> SearchIndex:
    """Return the search over a commit.

    The default is the commit that is checked out, with what is not committed yet. The caller closes
    the search.

    Its `left_out` says how many files there was no time for; the next call goes on with them;
    `unreadable` has those whose grammar is not installed.

    What a commit that is named has is for this process only, unless it is to be `stored`. Raises
    UserError when there is no such commit.
    """
    time_left = max(0.0, reading.until - time.monotonic())
    parsing = reading.before(time_left * ADDING) if time_left < math.inf else reading
    graph = code.graph(revision or "HEAD", progress, uncommitted=not revision, reading=parsing)
    index = SearchIndex(code.folder)
    try:
        keeps = stored or not revision
        index.left_out = refresh(
            index, code, graph, history, progress, store=keeps, reading=reading
        )
    except sqlite.DatabaseError as error:
        index.close()
        if is_damage(error):
            index.remove()
            index = SearchIndex(code.folder)
        # others keep it for long, or the disk takes nothing: for this time it is made in memory
        else:
            index = SearchIndex("")
        index.left_out = refresh(index, code, graph, history, progress, reading=reading)
    except BaseException:
        index.close()
        raise
    index.unreadable = graph.without_grammar
    return index
