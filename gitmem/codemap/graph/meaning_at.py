"""What the name at a place of a text means: one definition that is sure, or none."""

import re
from collections.abc import Iterator, Mapping

from gitmem.codemap import grammars
from gitmem.codemap.graph.code_map import CodeMap
from gitmem.codemap.graph.graph import Graph
from gitmem.codemap.graph.references import symbols_of
from gitmem.codemap.graph.resolve import Place, Resolution
from gitmem.codemap.graph.use_search import MARKS, Definition, UseSearch
from gitmem.codemap.tags import tags as reader
from gitmem.codemap.tags.tags import Tags

_WORD = re.compile(r"\w+")


def meaning_at(
    code: CodeMap, graph: Graph, path: str, text: str, line: int, column: int
) -> Definition | None:
    """Return the definition that is used at a place of a text of a file.

    The text need not be what the graph has; the line and the column (in characters) are from 0.
    None where no name is used, in an import, and where it is not sure what the name means.
    """
    language = grammars.language_of(path)
    rows = text.split("\n")
    word = word_at(rows[line], column) if line < len(rows) else ""
    data = text.encode("utf-8", "replace")
    tags = reader.read(data, language) if word and language else None
    if tags is None:
        return None
    every = code.lazy_tags(graph, {path: tags})
    resolution = code.resolution(graph, every)
    at = len("\n".join([*rows[:line], rows[line][:column]]).encode("utf-8", "replace"))
    around = _around(symbols_of(path, tags), line + 1)
    for key in _keys_at(data, tags, at, word):
        for target, qualified in _candidates(resolution, path, _until(key, word), word, around):
            wanted = _defined(every, target, qualified)
            if wanted and UseSearch(resolution, wanted).is_use(path, key, word, around, line + 1):
                return wanted[0]
    return None


def _defined(every: Mapping[str, Tags], path: str, qualified: str) -> list[Definition]:
    """Return the definitions of a qualified name in a file."""
    tags = every.get(path)
    symbols = symbols_of(path, tags) if tags is not None else []
    return [symbol for symbol in symbols if symbol.qualified == qualified]


def _around(symbols: list[Definition], line: int) -> list[Definition]:
    """Return the definitions around a line, the outermost first."""
    enclosing = [
        symbol
        for symbol in symbols
        if symbol.kind != "constant" and symbol.first <= line <= symbol.last
    ]
    return sorted(enclosing, key=lambda symbol: (symbol.first, -symbol.last))


def _keys_at(data: bytes, tags: Tags, at: int, word: str) -> Iterator[str]:
    """Yield the uses that are written around a byte of a text and have a name, without imports."""
    for key, begin, end, is_import in reader.uses_at(data, tags):
        if not is_import and begin <= at <= end and word in key.lstrip(MARKS).split("."):
            yield key


def _until(key: str, word: str) -> str:
    """Return a chain of names as far as one of them."""
    names = key.lstrip(MARKS).split(".")
    marks = key[: len(key) - len(key.lstrip(MARKS))]
    return marks + ".".join(names[: names.index(word) + 1])


def word_at(row: str, column: int) -> str:
    """Return the name at a column of a line; '' where none is."""
    return next((m[0] for m in _WORD.finditer(row) if m.start() <= column <= m.end()), "")


def _candidates(
    resolution: Resolution, path: str, key: str, word: str, around: list[Definition]
) -> Iterator[Place]:
    """Yield what a chain of names may mean: by imports, else a member of what is around it."""
    meaning = resolution.means(path, key)
    if meaning is not None and meaning.place[1].rpartition(".")[2]:
        yield meaning.place
    for symbol in reversed(around):
        yield path, f"{symbol.qualified}.{word}"
