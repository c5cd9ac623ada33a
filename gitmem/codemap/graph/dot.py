"""A graph of files in the DOT language (graphviz.org/doc/info/lang.html). Pure."""

from collections.abc import Iterator, Mapping

from gitmem.codemap.graph.resolve import Edges


def dot(edges: Mapping[str, Edges], ranks: Mapping[str, float]) -> Iterator[str]:
    """Yield the lines of a digraph: a file a node, by folder, larger the more hangs on it.

    An edge for each file that another uses.
    """
    files = sorted(set(edges) | {other for some in edges.values() for other in some})
    most = max((ranks.get(path, 0.0) for path in files), default=0.0) or 1.0
    yield "digraph code {"
    yield "  rankdir=LR;"
    yield '  node [shape=box, fontname="sans-serif", fontsize=10];'
    folders: dict[str, list[str]] = {}
    for path in files:
        folders.setdefault(path.rpartition("/")[0], []).append(path)
    for number, (folder, some) in enumerate(sorted(folders.items())):
        indent = "  "
        if folder:
            yield f"  subgraph cluster_{number} {{"
            yield f"    label={quoted(folder)};"
            indent = "    "
        for path in some:
            size = 9 + 9 * ranks.get(path, 0.0) / most
            yield (
                f"{indent}{quoted(path)} [label={quoted(path.rpartition('/')[2])}, "
                f"fontsize={size:.1f}];"
            )
        if folder:
            yield "  }"
    for path in sorted(edges):
        for other, names in sorted(edges[path].items()):
            count = sum(names.values())
            yield (
                f'  {quoted(path)} -> {quoted(other)} [label="{count}"];'
                if count > 1
                else f"  {quoted(path)} -> {quoted(other)};"
            )
    yield "}"


def quoted(text: str) -> str:
    """Return a string of DOT."""
    text = text.encode("utf-8", "backslashreplace").decode()
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'
