"""The command that shows what links to what, and since when."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import click

from gitmem.app import App
from gitmem.cli import options
from gitmem.cli.rows import as_row
from gitmem.cli.terminal import Terminal, plain, short
from gitmem.clock import stamp
from gitmem.errors import UserError
from gitmem.services.records import history
from gitmem.services.records.committers import TRUST_FIELDS, marked_title, trust_marks
from gitmem.store.reader import Damaged

DEEPEST = 40  # levels that a graph is indented by
Edge = tuple[str, str, str]  # source, relation, target


@dataclass(slots=True)
class _Graph:
    """Edges, the rows of what they lead to, and since when each edge is there."""

    edges: list[Edge] = field(default_factory=list)
    rows: dict[str, dict[str, Any]] = field(default_factory=dict)  # by id
    since: dict[Edge, str] = field(default_factory=dict)

    def of(self, id: str) -> str:
        """Return a record's title."""
        return marked_title(self.rows[id]) if id in self.rows else "(not here)"


@click.command("show --graph", short_help="Show what links to what")
@click.argument("id", required=False)
@click.option(
    "--depth",
    type=click.IntRange(1, 20),
    default=3,
    show_default=True,
    help="How many steps from ID.",
)
@click.option("--at", metavar="REV", help="As it was at a revision or a date.")
@click.option("--dot", is_flag=True, help="Print Graphviz DOT.")
@options.json_option
@click.pass_obj
def graph_command(
    term: Terminal, id: str | None, depth: int, at: str | None, dot: bool, as_json: bool
) -> None:
    """Show links and supersedes chains of a record or the store, and since when each exists.

    With an ID, each edge has the day of the commit that made it. Without one, only `supersedes` has
    a day: that of the successor.

    \b
    Examples:
      git mem show --graph 7k2m9qxa
      git mem show --graph --at 2026-10-01
      git mem show --graph --dot | dot -Tsvg > memory.svg
    """
    with term.open_any() as app:
        start = app.find(id) if id else None
        graph = _graph(app, start, depth, at)
        if start:
            _date_by_history(app, graph, at, term.progress("reading history"))
        if as_json:
            term.json(_as_json(graph, start))
        elif dot:
            _print_dot(graph, start)
        else:
            term.rows(_tree(term, start, graph), app)
            if not graph.edges:
                term.note("no links yet. Link two records with: git mem link ID ID")


def _graph(app: App, start: str | None, depth: int, at: str | None) -> _Graph:
    """Return the graph of now or of a revision, of all records or of those around one.

    Raises UserError when the one was not there.
    """
    if at is None:
        graph = _present(app, start, depth)
    else:
        graph = _past(app, at)
        if start:
            graph.edges = _near(_edges_of(graph.edges), start, depth)
            if start not in graph.rows:
                raise UserError(
                    f"{start} was not there at '{at}'.", f"See its life: git mem log {short(start)}"
                )
    _date(graph)
    return graph


def _ids(edges: Sequence[Edge], start: str | None) -> list[str]:
    """Return the ids of the records of a graph, sorted."""
    ids = {id for source, _, target in edges for id in (source, target)}
    return sorted(ids | {start} if start else ids)


def _as_json(graph: _Graph, start: str | None) -> dict[str, list[dict[str, Any]]]:
    return {
        "nodes": [
            {"id": id, "missing": id not in graph.rows, **_node(graph.rows.get(id))}
            for id in _ids(graph.edges, start)
        ],
        "edges": [
            {"source": e[0], "relation": e[1], "target": e[2], "created": graph.since.get(e)}
            for e in graph.edges
        ],
    }


def _print_dot(graph: _Graph, start: str | None) -> None:
    click.echo("digraph memory {")
    for id in _ids(graph.edges, start):
        click.echo(f'  "{_dot(id)}" [label="{_dot(short(id))}\\n{_dot(graph.of(id))}"];')
    for source, relation, target in graph.edges:
        click.echo(f'  "{_dot(source)}" -> "{_dot(target)}" [label="{relation}"];')
    click.echo("}")


def _present(app: App, start: str | None, depth: int) -> _Graph:
    """Return the graph of all records, or of those around one."""
    out = _Graph()
    indexes = [index for _, index in app.indexes()]
    if start:

        def edges_of(id: str) -> list[Edge]:
            return [edge for index in indexes for edge in index.edges_of(id)]

        out.edges = _near(edges_of, start, depth)
    else:
        out.edges = sorted({edge for index in indexes for edge in index.edges()})
    wanted = _ids(out.edges, start)
    for index in indexes:
        for row in index.rows(ids=wanted, fields=(*TRUST_FIELDS, "id", "created")):
            out.rows.setdefault(row["id"], row)
    return out


def _past(app: App, at: str) -> _Graph:
    """Return the graph of the stores as of a revision, read from git."""
    out = _Graph()
    for scope in ("shared", "private"):
        store = app.store(scope)
        if store.tip() is None:
            continue
        for stored in store.records(history.resolve(store, app.git, at)):
            if isinstance(stored, Damaged):
                continue
            record = stored.record
            out.rows.setdefault(record.id, as_row(scope, stored))
            out.edges += [
                (record.id, rel, target)
                for rel in ("links", "supersedes")
                for target in record.get(rel) or ()
            ]
    out.edges = sorted(set(out.edges))
    return out


def _date(graph: _Graph) -> None:
    """Note since when edges are there: of a successor, which supersedes from its first day."""
    graph.since = {
        edge: str(graph.rows[edge[0]]["created"])
        for edge in graph.edges
        if edge[1] == "supersedes" and edge[0] in graph.rows
    }


def _date_by_history(
    app: App, graph: _Graph, at: str | None, progress: Callable[[int, int], None] | None
) -> None:
    """Note since when the few edges around one record are there, as the history has it."""
    for scope in ("shared", "private"):
        store = app.store(scope)
        if store.tip() is not None:
            start = history.resolve(store, app.git, at) if at else None
            times = history.edge_times(store, graph.edges, start, progress)
            graph.since |= {edge: stamp(seconds) for edge, seconds in times.items()}


def _node(row: dict[str, Any] | None) -> dict[str, Any]:
    """Return what JSON says of a record; of one that is not there, that nothing is known."""
    fields = {key: row[key] if row else None for key in ("title", "kind", "created")}
    return {**fields, "trust_marks": trust_marks(row) if row else []}


def _dot(text: str) -> str:
    """Return text as it stands between the quotes of a DOT string."""
    return plain(text).replace("\\", "\\\\").replace('"', '\\"')


def _edges_of(edges: Sequence[Edge]) -> Callable[[str], Sequence[Edge]]:
    """Return what gives the edges that a record takes part in."""
    by_id: dict[str, list[Edge]] = {}
    for edge in edges:
        for id in {edge[0], edge[2]}:
            by_id.setdefault(id, []).append(edge)
    return lambda record_id: by_id.get(record_id, ())


def _near(edges_of: Callable[[str], Sequence[Edge]], start: str, depth: int) -> list[Edge]:
    """Return the edges between records that are at most `depth` steps from one record.

    A link counts in both directions.
    """
    edges: set[Edge] = set()
    near, last = {start}, {start}
    for _ in range(depth):
        around = {edge for id in last for edge in edges_of(id)}
        edges |= around
        last = {id for source, _, target in around for id in (source, target)} - near
        near |= last
    edges |= {edge for id in last for edge in edges_of(id)}
    return sorted(edge for edge in edges if edge[0] in near and edge[2] in near)


def _tree(term: Terminal, start: str | None, graph: _Graph) -> list[str]:
    """Return the graph as indented lines: from one record, or from each that nothing points to."""
    leaving: dict[str, list[Edge]] = {}
    for edge in graph.edges:
        leaving.setdefault(edge[0], []).append(edge)
    out: list[str] = []
    shown: set[str] = set()
    for root in _roots(start, graph.edges):
        # no recursion: a chain of supersedes may be longer than Python's stack
        todo = [] if root in shown else [_Branch(root)]
        while todo:
            branch = todo.pop()
            is_repeated = branch.id in shown
            out.append(_branch_line(term, graph, branch, is_repeated=is_repeated))
            if not is_repeated:
                shown.add(branch.id)
                todo += _branches(graph, leaving, branch, is_start=branch.is_of(start))[::-1]
    return out


@dataclass(frozen=True, slots=True)
class _Branch:
    """A record in the tree: how deep it stands, and the edge that leads to it, in words."""

    id: str
    depth: int = 0
    label: str = ""

    def is_of(self, start: str | None) -> bool:
        """Return whether this is the record that the tree was asked for."""
        return bool(start) and self.depth == 0


def _roots(start: str | None, edges: Sequence[Edge]) -> list[str]:
    """Return the records that the tree begins with; those not reached by then come last."""
    sources = [source for source, _, _ in edges]
    targets = {target for _, _, target in edges}
    first = sorted(set(sources) - targets) or sorted(sources)[:1]
    return [*([start] if start else first), *sources]


def _branch_line(term: Terminal, graph: _Graph, branch: _Branch, *, is_repeated: bool) -> str:
    lead = "  " * min(branch.depth, DEEPEST) + branch.label
    day = str(graph.rows[branch.id]["created"])[:10] if branch.id in graph.rows else ""
    more = " …" if is_repeated else ""
    id = term.style(plain(short(branch.id)), fg="yellow")
    return f"{lead}{id} {day} {plain(graph.of(branch.id))}{more}"


def _branches(
    graph: _Graph, leaving: Mapping[str, Sequence[Edge]], branch: _Branch, *, is_start: bool
) -> list[_Branch]:
    """Return what a record leads to; of the first one, also what leads to it."""
    depth = branch.depth + 1
    out = [
        _Branch(edge[2], depth, f"{edge[1]}{_since(graph, edge)} → ")
        for edge in leaving.get(branch.id, ())
    ]
    if is_start:
        out += [
            _Branch(edge[0], depth, f"← {edge[1]} of{_since(graph, edge)} ")
            for edge in graph.edges
            if edge[2] == branch.id
        ]
    return out


def _since(graph: _Graph, edge: Edge) -> str:
    return f" since {graph.since[edge][:10]}" if edge in graph.since else ""
