"""What is known of the code of one tree: its files, who uses what of whom. Pure."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from gitmem.codemap.grammars import language_of
from gitmem.codemap.graph.resolve import Edges

NO_GRAMMAR = "no grammar"  # why a file was skipped


@dataclass(slots=True)
class Graph:
    """The code of one tree.

    `files` are the paths that were parsed, with their blobs; `skipped` says in a word why others of
    a known language were not.

    `edges` maps a file to the definitions of other files that it uses: {file: {definition, '' for
    the whole file: how often}}.
    """

    commit: str
    tree: str
    listing: dict[str, str]
    files: dict[str, str] = field(default_factory=dict)
    skipped: dict[str, str] = field(default_factory=dict)
    edges: dict[str, Edges] = field(default_factory=dict)
    consulted: dict[str, list[str]] = field(default_factory=dict)
    words: dict[str, str] = field(default_factory=dict)
    attributed: dict[str, dict[str, str]] = field(default_factory=dict)
    key: str = ""  # '' for what is not kept
    fresh: int = 0  # blobs that were parsed for it
    unread: int = 0  # files that there was no time for; then no file has edges that were not known

    @property
    def without_grammar(self) -> dict[str, str]:
        """The files whose language no installed grammar reads, each with the language."""
        return {path: language_of(path) for path, why in self.skipped.items() if why == NO_GRAMMAR}

    def dependents(self, path: str) -> list[str]:
        """Return the files that use a file, sorted."""
        return sorted(user for user, edges in self.edges.items() if path in edges)

    def dependent_counts(self) -> Counter[str]:
        """Return how many files use each file."""
        return Counter(path for edges in self.edges.values() for path in edges)

    def used(self, path: str) -> dict[str, int]:
        """Return how often other files use each definition of a file.

        The key '' stands for the file as a whole. A use of a member counts for its class, where
        that is used by its name too.
        """
        out: dict[str, int] = {}
        for edges in self.edges.values():
            for name, number in edges.get(path, {}).items():
                out[name] = out.get(name, 0) + number
        for name in sorted(out, key=lambda name: -name.count(".")):
            outer = name.rpartition(".")[0]
            if outer and outer in out:
                out[outer] += out.pop(name)
        return out


def packed(graph: Graph) -> dict[str, Any]:
    """Return what is kept of a graph."""
    return {
        "tree": graph.tree,
        "listing": graph.listing,
        "files": list(graph.files),
        "skipped": graph.skipped,
        "edges": graph.edges,
        "consulted": graph.consulted,
        "words": graph.words,
        "attributed": graph.attributed,
    }


def unpacked(commit: str, tree: str, state: Mapping[str, Any], key: str) -> Graph:
    """Return the graph of what was kept."""
    listing = state["listing"]
    return Graph(
        commit,
        tree,
        listing,
        {path: listing[path] for path in state["files"]},
        state["skipped"],
        state["edges"],
        state["consulted"],
        state["words"],
        state["attributed"],
        key,
    )
