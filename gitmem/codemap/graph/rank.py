"""How much of a project's code depends on each file: PageRank over the uses between files.

Page, Brin, Motwani, Winograd: The PageRank Citation Ranking (1999). The same graph gives the same
numbers on every machine: files come in order, sums are exact before they are rounded (`math.fsum`),
and the result is rounded to `DIGITS`.
"""

import math
from collections.abc import Mapping
from operator import mul

from gitmem.codemap.graph.code_map import CodeMap
from gitmem.codemap.graph.graph import Graph
from gitmem.codemap.graph.reading_time import WHOLE, ReadingTime

DIGITS = 6
DAMPING = 0.85
TOLERANCE = 1e-12  # change of a file's rank in one step, on average, at which the iteration ends
MUTUAL = 0.25  # weight of a use between two files that use each other; of any other, 1
RESERVE = 3.0  # uses of no file in particular that each file has besides its own
_ELSEWHERE = ""  # no file: what gets the rest of a rank, and passes it on to all alike
STEPS = 1000  # a step takes away 15 % of the error, so that about 170 are enough


def ranks(graph: Graph, reading: ReadingTime = WHOLE) -> dict[str, float]:
    """Return {path: rank} of a graph's files, best first, ties by path; ranks add up to 1.

    Each file that uses another one counts once for it, however often it does. A file passes on
    little of its rank if it uses few others, or else one user would do as well as many. Two files
    that use each other count little for each other, since they are one thing in two parts.
    """
    weights: dict[str, dict[str, float]] = {}
    for path, uses in graph.edges.items():
        weights[path] = {
            other: MUTUAL if path in graph.edges.get(other, ()) else 1.0 for other in uses
        }
        weights[path][_ELSEWHERE] = RESERVE
    exact = pagerank([_ELSEWHERE, *sorted(graph.files)], weights, reading)
    share = 1 - exact.pop(_ELSEWHERE)
    rows = [(path, round(rank / share, DIGITS)) for path, rank in exact.items()]
    return dict(sorted(rows, key=lambda row: (-row[1], row[0])))


def pagerank(
    nodes: list[str],
    weights: Mapping[str, Mapping[str, float]],
    reading: ReadingTime = WHOLE,
) -> dict[str, float]:
    """Return {node: PageRank} by power iteration; `weights` has {source: {target: weight}}.

    A node without outgoing weight spreads its rank over all nodes.
    """
    if not nodes:
        return {}
    incoming = _incoming_shares(nodes, weights)
    dangling = [n for n, node in enumerate(nodes) if not any(weights.get(node, {}).values())]
    ranks = [1 / len(nodes)] * len(nodes)
    for _ in range(STEPS):
        before = ranks
        spread = math.fsum(before[n] for n in dangling)
        base = (1 - DAMPING + DAMPING * spread) / len(nodes)
        ranks = [
            base + DAMPING * math.fsum(map(mul, map(before.__getitem__, sources), shares))
            for sources, shares in incoming
        ]
        change = math.fsum(abs(new - old) for new, old in zip(ranks, before, strict=True))
        if change < TOLERANCE * len(nodes) or reading.is_over:
            break
    return dict(zip(nodes, ranks, strict=True))


def _incoming_shares(
    nodes: list[str], weights: Mapping[str, Mapping[str, float]]
) -> list[tuple[list[int], list[float]]]:
    """Return (sources, the share of its rank that each of them passes on) of each node."""
    number = {node: n for n, node in enumerate(nodes)}
    incoming: list[tuple[list[int], list[float]]] = [([], []) for _ in nodes]
    for source, node in enumerate(nodes):
        targets = weights.get(node, {})
        total = math.fsum(targets.values())
        for target in sorted(targets) if total else ():
            sources, shares = incoming[number[target]]
            sources.append(source)
            shares.append(targets[target] / total)
    return incoming


def kept_ranks(code: CodeMap, graph: Graph, reading: ReadingTime = WHOLE) -> dict[str, float]:
    """Return `ranks`, from the cache where they are known.

    Where the time is too short, they are as near as it allows, and not kept.
    """
    if graph.key and (kept := code.cache.ranks(graph.key)) is not None:
        return kept
    ranked = ranks(graph, reading)
    if graph.key and not reading.is_over:
        code.cache.put_ranks(graph.key, ranked)
    return ranked
