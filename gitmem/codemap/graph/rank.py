"""How much of a project's code hangs on each file: PageRank over who uses what, by networkx.

Page, Brin, Motwani, Winograd: The PageRank Citation Ranking (1999). The same graph gives the same
numbers: files come in order, and what differs by machine is rounded away.
"""

import math

from gitmem.codemap.graph.code_map import CodeMap
from gitmem.codemap.graph.graph import Graph

DIGITS = 6


def ranks(graph: Graph) -> dict[str, float]:
    """Return {path: rank} of a graph's files, best first, ties by path; ranks add up to 1.

    A use weighs by the root of how often it is made.
    """
    if not graph.files:
        return {}
    if not any(graph.edges.values()):  # all are alike, and nothing has to be loaded to say so
        return dict.fromkeys(sorted(graph.files), round(1 / len(graph.files), DIGITS))
    import networkx

    made = networkx.DiGraph()
    made.add_nodes_from(sorted(graph.files))
    for path in sorted(graph.edges):
        made.add_weighted_edges_from(
            (path, other, round(math.sqrt(sum(names.values())), DIGITS))
            for other, names in sorted(graph.edges[path].items())
        )
    found = networkx.pagerank(made)
    rows = [(path, round(float(value), DIGITS)) for path, value in found.items()]
    return dict(sorted(rows, key=lambda row: (-row[1], row[0])))


def kept_ranks(code: CodeMap, graph: Graph) -> dict[str, float]:
    """Return `ranks`, from the cache where they are known."""
    if graph.key and (known := code.cache.ranks(graph.key)) is not None:
        return known
    found = ranks(graph)
    if graph.key:
        code.cache.put_ranks(graph.key, found)
    return found
