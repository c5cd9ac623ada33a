"""Where a definition is used.

Uses by imports that lead to it are kept apart from places where only the name is the same.
"""

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import accumulate

from gitmem.codemap.graph.cache import Use
from gitmem.codemap.graph.code_map import CodeMap
from gitmem.codemap.graph.graph import Graph
from gitmem.codemap.graph.use_search import MARKS, Definition, UseSearch
from gitmem.codemap.symbols.definitions import parts
from gitmem.codemap.tags.tags import Tags


@dataclass(frozen=True, slots=True)
class Reference:
    """A use of a name; line from 1, column in characters from 1.

    `sure` when an import or the receiver says that it is the definition, else only the name is the
    same.
    """

    path: str
    line: int
    column: int
    text: str
    sure: bool
    inside: str = ""  # the definition around it
    is_import: bool = False


def symbols_of(path: str, tags: Tags) -> list[Definition]:
    """Return the definitions of a file, in order."""
    return [
        Definition(path, name, qualified, kind, first, last, at, column)
        for name, qualified, kind, first, last, column, _, at in tags.symbols
    ]


def named(code: CodeMap, graph: Graph, name: str) -> list[Definition]:
    """Return the definitions of a name in a graph: by qualified name, else by the end of it.

    By path, then line.
    """
    want = parts(name)
    if not want:
        return []
    candidates = [
        symbol
        for path, tags in code.every(graph).items()
        for symbol in symbols_of(path, tags)
        if symbol.name == want[-1] and parts(symbol.qualified)[-len(want) :] == want
    ]
    exact = [symbol for symbol in candidates if parts(symbol.qualified) == want]
    return exact or candidates


def references(code: CodeMap, graph: Graph, wanted: list[Definition]) -> Iterator[Reference]:
    """Yield the uses of some definitions of one name, by path, then line."""
    if not wanted:
        return
    resolution = code.resolution(graph)
    search = UseSearch(resolution, wanted)
    every = code.every(graph)
    paths = [
        path
        for path, tags in sorted(every.items())
        if any(_names(tags, name) for name in search.names_in(path))
    ]
    for path, data, uses in code.texts_with_uses(graph, paths):
        yield from _in_file(search, path, every[path], data, uses)


def _in_file(
    search: UseSearch, path: str, tags: Tags, data: bytes, uses: Iterable[Use]
) -> Iterator[Reference]:
    """Yield the uses of what is searched in one file."""
    rows = data.split(b"\n")
    starts = list(accumulate((len(row) + 1 for row in rows), initial=0))
    symbols = sorted(
        (symbol for symbol in symbols_of(path, tags) if symbol.kind != "constant"),
        key=lambda symbol: (symbol.first, -symbol.last),
    )
    seen: set[tuple[int, int]] = set()
    for used, key, begin, end, imported in _candidates(search.names_in(path), uses):
        at = bisect_right(starts, begin) - 1
        around = [symbol for symbol in symbols if symbol.first <= at + 1 <= symbol.last]
        sure = search.imports(path, used)
        if not imported:
            sure = search.is_use(path, key, used, around, at + 1)
        column = _column(data[starts[at] : begin], data[begin:end], used)
        if sure is None or (at, column) in seen:
            continue
        seen.add((at, column))
        text = rows[at].decode("utf-8", "replace").strip()[:200]
        inside = around[-1].qualified if around else ""
        yield Reference(path, at + 1, column, text, sure, inside, imported)


def _candidates(names: set[str], uses: Iterable[Use]) -> Iterator[tuple[str, str, int, int, bool]]:
    """Yield the uses with one of some names: (name, key, begin, end, whether in an import)."""
    for key, begin, end, imported in uses:
        used = next((part for part in key.lstrip(MARKS).split(".") if part in names), None)
        if used is not None:
            yield used, key, begin, end, imported


def _column(before: bytes, written: bytes, name: str) -> int:
    """Return the column, from 1, of a name in what is written after the beginning of a line."""
    at = _within(written.decode("utf-8", "replace"), name)
    return len(before.decode("utf-8", "replace")) + max(0, at) + 1


def _within(text: str, name: str) -> int:
    """Return where a name begins in a text as a word of its own, or -1."""
    at = text.find(name)
    while at >= 0:
        around = text[at - 1 : at] + text[at + len(name) : at + len(name) + 1]
        if not any(letter.isalnum() or letter == "_" for letter in around):
            return at
        at = text.find(name, at + 1)
    return -1


def _names(tags: Tags, name: str) -> bool:
    if any(name in key.lstrip(MARKS).split(".") for key in tags.uses if name in key):
        return True
    return any(name in pair for statement in tags.imports for pair in statement.names)
