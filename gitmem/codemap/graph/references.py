"""Where a definition is used.

Uses by imports that lead to it are kept apart from places where only the name is the same.
"""

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate

from gitmem.codemap.graph.code_map import CodeMap
from gitmem.codemap.graph.graph import Graph
from gitmem.codemap.symbols.definitions import parts
from gitmem.codemap.tags import tags as reader
from gitmem.codemap.tags.import_statements import DEFAULT
from gitmem.codemap.tags.tags import Tags


@dataclass(frozen=True, slots=True)
class Definition:
    """A definition in a file; lines from 1."""

    path: str
    name: str
    qualified: str
    kind: str
    first: int
    last: int
    at: int = 0
    column: int = 0


@dataclass(frozen=True, slots=True)
class Reference:
    """A use of a name; line from 1, column in characters from 1.

    `sure` when imports lead from there to the definition, else only the name is the same.
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
    found = [
        one
        for path, tags in code.every(graph).items()
        for one in symbols_of(path, tags)
        if one.name == want[-1] and parts(one.qualified)[-len(want) :] == want
    ]
    exact = [one for one in found if parts(one.qualified) == want]
    return exact or found


def references(code: CodeMap, graph: Graph, wanted: list[Definition]) -> Iterator[Reference]:
    """Yield the uses of some definitions of one name, by path, then line."""
    if not wanted:
        return
    name = wanted[0].name
    targets = {(one.path, one.qualified) for one in wanted}
    # what a chain such as `Cart.total` is resolved to is the class
    targets |= {
        (one.path, one.qualified.rpartition(".")[0]) for one in wanted if "." in one.qualified
    }
    own = {(one.path, one.at, one.column) for one in wanted}
    resolution = code.resolution(graph)
    for path, tags in sorted(code.every(graph).items()):
        bound = [
            one
            for one in resolution.bindings(path)
            if one.local and one.name and resolution.bound(one) in targets
        ]
        names = {name, *(one.local for one in bound)}
        if not any(_names(tags, one) for one in names):
            continue
        taken = {one.local if one.name == DEFAULT else one.name for one in bound}
        data = code.text(graph, path)
        rows = data.split(b"\n")
        starts = list(accumulate((len(row) + 1 for row in rows), initial=0))
        symbols = [one for one in symbols_of(path, tags) if one.kind != "constant"]
        meanings: dict[str, tuple[str, str] | None] = {}
        seen: set[tuple[int, int]] = set()
        for key, begin, end, imported in reader.uses_at(data, tags.language):
            segments = key.split(".")
            used = next((segment for segment in segments if segment in names), None)
            if used is None:
                continue
            chain = ".".join(segments[: segments.index(used) + 1])
            if chain not in meanings:
                meanings[chain] = (
                    None
                    if chain[0] == "." or segments[0] in reader.SELF
                    else resolution.means(path, chain)
                )
            meant = meanings[chain]
            sure = used in taken if imported else meant in targets
            if not sure and (
                imported
                or used != name
                or (meant is not None and (len(segments) == 1 or meant[1] == name))
            ):
                continue  # another thing of this name
            at = bisect_right(starts, begin) - 1
            written = data[begin:end].decode("utf-8", "replace")
            column = len(rows[at][: begin - starts[at]].decode("utf-8", "replace")) + max(
                0, written.find(used)
            )
            if (at, column) in seen or (path, at + 1, column) in own:
                continue
            seen.add((at, column))
            around = max(
                (one for one in symbols if one.first <= at + 1 <= one.last),
                key=lambda one: (one.first, -one.last),
                default=None,
            )
            text = rows[at].decode("utf-8", "replace").strip()[:200]
            yield Reference(
                path, at + 1, column + 1, text, sure, around.qualified if around else "", imported
            )


def _names(tags: Tags, name: str) -> bool:
    if any(name in key.split(".") for key in tags.uses if name in key):
        return True
    return any(name in pair for one in tags.imports for pair in one.names)
