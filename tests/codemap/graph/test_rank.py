"""PageRank of files, compared with the answer of networkx."""

import networkx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from networkx.algorithms.link_analysis.pagerank_alg import _pagerank_python

from gitmem.codemap.graph.rank import pagerank

NODES = [f"{letter}.py" for letter in "abcdefgh"]
WEIGHTS = st.dictionaries(
    st.sampled_from(NODES),
    st.dictionaries(st.sampled_from(NODES), st.floats(0.5, 50), max_size=8),
    max_size=8,
)


def reference(nodes: list[str], weights: dict[str, dict[str, float]]) -> dict[str, float]:
    """Return what networkx computes for the same graph."""
    graph = networkx.DiGraph()
    graph.add_nodes_from(nodes)
    for source, targets in weights.items():
        graph.add_weighted_edges_from((source, *edge) for edge in targets.items())
    ranks: dict[str, float] = _pagerank_python(graph, tol=1e-12, max_iter=1000)
    return ranks


@given(weights=WEIGHTS)
def test_ranks_are_those_of_networkx(weights: dict[str, dict[str, float]]) -> None:
    """Cycles, uses of a file by itself, files that use nothing, files that nobody uses."""
    ranks = pagerank(NODES, weights)
    assert ranks == pytest.approx(reference(NODES, weights), abs=1e-9)
    assert sum(ranks.values()) == pytest.approx(1)


@given(weights=WEIGHTS, chance=st.randoms(use_true_random=False))
def test_the_order_of_uses_changes_no_digit(weights, chance) -> None:
    """The same graph gives the same numbers, in whatever order it was read."""
    names = list(weights)
    chance.shuffle(names)
    shuffled = {name: dict(reversed(weights[name].items())) for name in names}
    assert pagerank(NODES, shuffled) == pagerank(NODES, weights)


def test_without_uses_all_files_are_alike() -> None:
    """A graph without edges, and one without files."""
    assert pagerank(NODES[:4], {}) == dict.fromkeys(NODES[:4], 0.25)
    assert pagerank([], {}) == {}
    assert pagerank(NODES[:2], {"a.py": {"b.py": 0.0}}) == dict.fromkeys(NODES[:2], 0.5)
