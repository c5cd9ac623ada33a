"""Keeps the full-text index of the code up to date.

It adds files that are new in a commit, and commits before it.
"""

import math
from collections.abc import Callable, Iterator, Sequence

from gitmem.codemap.graph import rank
from gitmem.codemap.graph.code_map import CodeMap
from gitmem.codemap.graph.graph import Graph
from gitmem.codemap.graph.reading_time import WHOLE, ReadingTime
from gitmem.codemap.search.index import PAST, SearchIndex
from gitmem.codemap.search.question import camel_parts, split_name
from gitmem.codemap.tags.tags import Tags
from gitmem.git.code_history import CodeHistory
from gitmem.text.test_files import is_aside

BATCH = 200  # files in one transaction
COMMITS = 500  # commits in one transaction
LONGEST = 400_000  # characters of a file that are read
HEAD, PIECE = 60, 120  # lines of the beginning of a file, and of a definition, that are one piece
STALE = 0.6  # share of rows that no commit at hand has, from which on all is made anew

Progress = Callable[[int, int], None]
Row = tuple[
    str, str, str, str, str, list[tuple[str, str, str, int, int]], list[tuple[str, int, str]]
]


def refresh(
    index: SearchIndex,
    code: CodeMap,
    graph: Graph,
    history: CodeHistory,
    progress: Progress | None = None,
    *,
    store: bool = True,
    reading: ReadingTime = WHOLE,
) -> int:
    """Have the index say what is in a commit and before it; return how many files are left out.

    Files are left out where there is no time for them. Without `store`, for this connection only.
    """
    left_out = graph.unread + _files(index, code, graph, progress, reading)
    ranks = rank.kept_ranks(code, graph, reading) if not left_out else {}
    rows = [(path, oid, ranks.get(path, 0.0), is_aside(path)) for path, oid in graph.files.items()]
    old = index.settle(
        ((_plain(path), oid, value, aside) for path, oid, value, aside in rows), store=store
    )
    if store and not left_out and old > STALE * (len(rows) + old) and old > 500:
        index.remake()
        _files(index, code, graph, progress, WHOLE)
        index.settle(((_plain(path), oid, value, aside) for path, oid, value, aside in rows))
    oids = history.ids(graph.commit, PAST)
    _commits(index, history, index.lacking_commits(oids), reading)
    index.settle_commits(oids, store=store)
    if store and not left_out:
        index.mark("commit", graph.commit)
    return left_out


def _files(
    index: SearchIndex,
    code: CodeMap,
    graph: Graph,
    progress: Progress | None,
    reading: ReadingTime,
) -> int:
    """Add the files that the index lacks; return how many there was no time for."""
    lacking = set(index.lacking([(_plain(path), oid) for path, oid in graph.files.items()]))
    wanted = [(path, oid) for path, oid in graph.files.items() if (_plain(path), oid) in lacking]
    if len(wanted) > BATCH and reading.until < math.inf:
        places = {path: -n for n, path in enumerate(reversed(reading.first()))}
        wanted.sort(key=lambda row: places.get(row[0], 1))
    reading = reading.at_least()
    for start in range(0, len(wanted), BATCH):
        index.add(_rows(code, graph, wanted[start : start + BATCH]))
        done = min(start + BATCH, len(wanted))
        if progress:
            progress(done, len(wanted))
        if reading.is_over:
            return len(wanted) - done
    return 0


def _commits(
    index: SearchIndex, history: CodeHistory, lacking: Sequence[str], reading: ReadingTime
) -> None:
    """Add the commits that the index lacks, the newest first, as far as there is time."""
    for start in range(0, len(lacking), COMMITS):
        index.add_commits(
            (
                commit.oid,
                commit.subject,
                f"{commit.subject}\n{commit.body}",
                [_plain(path) for path in paths],
            )
            for commit, paths in history.with_files(lacking[start : start + COMMITS])
        )
        if reading.is_over:
            return


def _rows(code: CodeMap, graph: Graph, wanted: list[tuple[str, str]]) -> Iterator[Row]:
    texts = dict(code.trees.blobs(sorted({oid for _, oid in wanted})))
    for path, oid in wanted:
        tags = code.tags(graph, path)
        data = texts.get(oid)
        if data is None:
            data = code.text(graph, path)
        text = data.decode("utf-8", "replace")[:LONGEST]
        defined = [
            (name, qualified, kind, at, last)
            for name, qualified, kind, _, last, _, _, at in (tags.symbols if tags else ())
        ]
        names = " ".join(
            f"{name} {' '.join(split_name(name))}"
            for name in dict.fromkeys(row[0] for row in defined)
        )
        words = " ".join(split_name(_plain(path)))
        pieces = [] if is_aside(path) else list(_pieces(tags, text))
        yield (
            _plain(path),
            oid,
            f"{_plain(path).replace('/', ' ')} {words}",
            names,
            f"{text}\n{camel_parts(text)}",
            defined,
            pieces,
        )


def _pieces(tags: Tags | None, text: str) -> Iterator[tuple[str, int, str]]:
    """Yield (definition, line, text) of the parts of a file.

    The parts are its beginning, and each definition with its name.
    """
    rows = text.split("\n")
    head = "\n".join(rows[:HEAD])
    yield "", 1, f"{head}\n{camel_parts(head)}"
    for _, qualified, kind, first, last, *_ in tags.symbols if tags else ():
        if kind != "constant":
            part = "\n".join(rows[first - 1 : min(last, first + PIECE)])
            yield (
                qualified,
                first,
                f"{qualified} {' '.join(split_name(qualified))}\n{part}\n{camel_parts(part)}",
            )


def _plain(path: str) -> str:
    """Return a path as SQLite can have it: bytes that are not UTF-8 by their numbers."""
    return path.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
