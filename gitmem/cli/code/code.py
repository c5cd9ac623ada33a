"""`git mem code`: definitions, references, imports, the graph of files and their rank."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import click

from gitmem.app import App
from gitmem.cli import options, places
from gitmem.cli.code.reading import note_without_grammar
from gitmem.cli.terminal import Terminal, path_shown, path_text, plain
from gitmem.codemap.graph import rank as ranking
from gitmem.codemap.graph.code_map import CodeMap
from gitmem.codemap.graph.dot import dot
from gitmem.codemap.graph.graph import NO_GRAMMAR, Graph
from gitmem.codemap.graph.references import Reference, named, references, symbols_of
from gitmem.codemap.graph.resolve import Edges
from gitmem.codemap.graph.use_search import Definition
from gitmem.codemap.tags.import_statements import Import
from gitmem.errors import UserError

at_option = click.option(
    "--at",
    "revision",
    default="",
    metavar="REV",
    help="Read this commit; without it, HEAD and what is not committed yet.",
)


def graph_of(term: Terminal, app: App, revision: str) -> tuple[CodeMap, Graph]:
    """Return the map and the graph that a command reads."""
    code = app.code_map
    graph = code.graph(revision or "HEAD", term.progress("reading code"), uncommitted=not revision)
    note_without_grammar(term, graph.without_grammar)
    return code, graph


def note_skipped(term: Terminal, graph: Graph) -> None:
    """Say how many files were not read, and why."""
    counts = Counter(graph.skipped.values())
    if counts:
        term.note(
            "not read: "
            + ", ".join(f"{number} {why}" for why, number in sorted(counts.items()))
            + ". Which: --json"
        )


def path_of(app: App, graph: Graph, given: str) -> str:
    """Return the file of a graph that the user names.

    Raises UserError when it is none, or was not read.
    """
    path = places.parse(app, given).path
    if path in graph.files:
        return path
    if path in graph.skipped:
        raise UserError(
            f"'{given}' was not read: {_reason(graph.skipped[path])}.",
            "See what is read: git mem code rank --json",
        )
    if path in graph.listing:
        raise UserError(
            f"'{given}' is in no language that is known.",
            "Known: C, C++, C#, Go, Java, JavaScript, PHP, Python, Ruby, Rust, TypeScript.",
        )
    raise UserError(
        f"there is no '{given}' in the code that was read.",
        "Name a file that git knows: git ls-files",
    )


def _reason(why: str) -> str:
    """Return why a file was skipped, in words that follow a colon."""
    return "its grammar is not installed" if why == NO_GRAMMAR else f"it is {why}"


@click.command("symbols", cls=options.CountedCommand)
@click.argument("what", metavar="[FILE|FOLDER|NAME]", default="")
@click.option("--kind", default="", help="Only this kind: function, class, method, ...")
@click.option(
    "-n",
    "--limit",
    type=click.IntRange(min=1),
    default=200,
    show_default=True,
    help="Show at most so many.",
)
@at_option
@options.json_option
@click.pass_obj
def symbols_command(
    term: Terminal, what: str, kind: str, limit: int, revision: str, as_json: bool
) -> None:
    """List the definitions of a file, of a folder, or of a name."""
    with term.open() as app:
        code, graph = graph_of(term, app, revision)
        rows = [
            symbol
            for symbol in _definitions(app, code, graph, what)
            if not kind or symbol.kind == kind
        ]
        if as_json:
            term.json([_definition(symbol) for symbol in rows])
            return
        if not rows:
            term.say(
                "there are no definitions."
                if not what
                else f"nothing of that name is defined: {plain(what)}"
            )
            return
        several = len({symbol.path for symbol in rows}) > 1
        term.rows((_definition_line(term, symbol, several) for symbol in rows[:limit]), app)
        if len(rows) > limit:
            term.note(f"and {len(rows) - limit} more: -n {len(rows)}, or name a file.")


def _definitions(app: App, code: CodeMap, graph: Graph, what: str) -> list[Definition]:
    if not what:
        return _all_symbols(code, graph, graph.files)
    try:
        place = places.parse(app, what)
    except UserError:
        place = places.GivenPlace("")
    path = place.path.rstrip("/")
    if path in graph.files or path in graph.skipped:
        tags = code.tags(graph, path_of(app, graph, what))
        symbols = symbols_of(path, tags) if tags else []
        wanted = place.symbol
        return [each for each in symbols if not wanted or wanted in {each.qualified, each.name}]
    inside = [each for each in graph.files if path and each.startswith(path + "/")]
    if inside or path == ".":
        return _all_symbols(code, graph, inside or graph.files)
    return named(code, graph, what)


def _all_symbols(code: CodeMap, graph: Graph, paths: Iterable[str]) -> list[Definition]:
    every = code.every(graph)
    return [symbol for path in paths for symbol in symbols_of(path, every[path])]


def _definition(definition: Definition) -> dict[str, Any]:
    return {
        "path": path_text(definition.path),
        "line": definition.first,
        "end_line": definition.last,
        "name_line": definition.at,
        "name": definition.name,
        "qualified_name": definition.qualified,
        "kind": definition.kind,
    }


def _definition_line(term: Terminal, definition: Definition, with_path: bool) -> str:
    where = f"{path_shown(definition.path)}:{definition.at}" if with_path else f"{definition.at:>5}"
    return f"{term.style(where, fg='cyan')}  {definition.kind:<9} {plain(definition.qualified)}"


@click.command("refs", cls=options.CountedCommand)
@click.argument("what", metavar="NAME|FILE#NAME")
@click.option(
    "-n",
    "--limit",
    type=click.IntRange(min=1),
    default=200,
    show_default=True,
    help="Show at most so many.",
)
@at_option
@options.json_option
@click.pass_obj
def refs_command(term: Terminal, what: str, limit: int, revision: str, as_json: bool) -> None:
    """Show where something is defined and used.

    A use counts when an import or the receiver says that it is the definition. Where only the name
    is the same, as with methods of objects whose type is not known, the line is marked '?'. Imports
    are shown and counted apart; in --json, `is_import` marks them.
    """
    with term.open() as app:
        code, graph = graph_of(term, app, revision)
        wanted = _definitions(app, code, graph, what) if "#" in what else named(code, graph, what)
        if not wanted:
            raise UserError(
                f"nothing of that name is defined: '{what}'.",
                "Search for a part of it: git mem code symbols --json",
            )
        uses = list(references(code, graph, wanted))
        if as_json:
            term.json(
                {
                    "definitions": [_definition(each) for each in wanted],
                    "references": [_reference(each) for each in uses],
                }
            )
            return
        rows = _by_line(uses)
        term.rows(_reference_lines(term, wanted, rows[:limit]), app)
        term.note(
            _reference_counts(uses)
            + (f"; the first {limit} lines are shown" if len(rows) > limit else "")
            + "."
        )


def _by_line(uses: list[Reference]) -> list[Reference]:
    """Return one reference for each line, a sure one if there is one."""
    lines: dict[tuple[str, int], Reference] = {}
    for use in uses:
        key = use.path, use.line
        if key not in lines or (use.sure and not lines[key].sure):
            lines[key] = use
    return list(lines.values())


def _reference_counts(listed: list[Reference]) -> str:
    """Say how often a definition is used, imported, and perhaps meant."""
    uses = [use for use in listed if use.sure and not use.is_import]
    imports = [use for use in listed if use.sure and use.is_import]
    rest = len(listed) - len(uses) - len(imports)
    files = len({use.path for use in uses})
    importers = len({use.path for use in imports})
    out = f"{_plural(len(uses), 'use')} in {_plural(files, 'file')}"
    if imports:
        out += f", {_plural(len(imports), 'import')} in {_plural(importers, 'file')}"
    return out + (f", {rest} more of the same name (?)" if rest else "")


def _plural(number: int, word: str) -> str:
    return f"{number} {word}{'' if number == 1 else 's'}"


def _reference(reference: Reference) -> dict[str, Any]:
    return {
        "path": path_text(reference.path),
        "line": reference.line,
        "column": reference.column,
        "text": reference.text,
        "sure": reference.sure,
        "inside": reference.inside or None,
        "is_import": reference.is_import,
    }


def _reference_lines(
    term: Terminal, wanted: list[Definition], uses: list[Reference]
) -> Iterator[str]:
    for definition in wanted:
        yield (
            f"{term.style(f'{path_shown(definition.path)}:{definition.at}', fg='cyan')}  "
            f"{term.style(f'{definition.kind} {plain(definition.qualified)}', bold=True)}"
        )
    path = ""
    for use in uses:
        if use.path != path:
            path = use.path
            yield term.style(path_shown(path), fg="cyan")
        mark = " " if use.sure else "?"
        yield f"  {mark} {use.line:>5}  {plain(use.text)}"


@click.command("imports")
@click.argument("file")
@click.option("--of", "reverse", is_flag=True, help="Show who imports the file instead.")
@at_option
@options.json_option
@click.pass_obj
def imports_command(term: Terminal, file: str, reverse: bool, revision: str, as_json: bool) -> None:
    """Show what a file imports, and which files that is, or who uses the file."""
    with term.open() as app:
        code, graph = graph_of(term, app, revision)
        path = path_of(app, graph, file)
        if reverse:
            users = {user: graph.edges[user][path] for user in graph.dependents(path)}
            _show_users(term, path, users, as_json)
            return
        tags = code.tags(graph, path)
        resolution = code.resolution(graph)
        imports = tags.imports if tags else ()
        _show_imports(
            term, path, [(made, resolution.imported(path, made)) for made in imports], as_json
        )


def _show_users(term: Terminal, path: str, users: Edges, as_json: bool) -> None:
    """Show who uses a file, and how often which of its names."""
    if as_json:
        term.json([_use_json("path", user, names) for user, names in users.items()])
        return
    for user, names in users.items():
        shown = ", ".join(_names(names)[:6])
        uses = f"{sum(names.values())} use{'s' if sum(names.values()) > 1 else ''}"
        term.say(f"{term.style(path_shown(user), fg='cyan')}  {uses}  {plain(shown)}".rstrip())
    if not users:
        term.say(f"no file uses {path_shown(path)}, according to the imports.")


def _use_json(key: str, path: str, names: "dict[str, int]") -> dict[str, Any]:
    return {key: path_text(path), "use_count": sum(names.values()), "names": _names(names)}


def _show_imports(
    term: Terminal, path: str, rows: Sequence[tuple[Import, Sequence[str]]], as_json: bool
) -> None:
    """Show the imports of a file, each with the files that it means."""
    if as_json:
        term.json(
            [
                {
                    "module": made.module,
                    "names": [name for name, _ in made.names],
                    "line": made.line,
                    "paths": [path_text(to) for to in files],
                }
                for made, files in rows
            ]
        )
        return
    for made, files in rows:
        names = ", ".join(name for name, _ in made.names)
        said = f"{plain(made.module)}{f' ({plain(names)})' if names else ''}"
        term.say(f"{made.line:>5}  {said} → {_targets(term, path, files)}")
    if not rows:
        term.say(f"{path_shown(path)} imports nothing.")


def _targets(term: Terminal, path: str, files: Sequence[str]) -> str:
    if not files:
        return term.style("not of this project", fg="bright_black")
    where = ", ".join("this file" if to == path else path_shown(to) for to in files[:4])
    more = f" and {len(files) - 4} more" if len(files) > 4 else ""
    return term.style(where + more, fg="cyan")


def _skipped(graph: Graph) -> list[dict[str, str]]:
    """Return the files that were not read, and why."""
    return [
        {"path": path_text(path), "reason": reason}
        for path, reason in sorted(graph.skipped.items())
    ]


def _names(names: dict[str, int]) -> list[str]:
    return [name for name, _ in sorted(names.items(), key=lambda row: (-row[1], row[0])) if name]


@click.command("graph")
@click.argument("file", default="")
@click.option("--dot", "as_dot", is_flag=True, help="Print DOT, for Graphviz.")
@at_option
@options.json_option
@click.pass_obj
def graph_command(term: Terminal, file: str, as_dot: bool, revision: str, as_json: bool) -> None:
    """Show which files use which others; for one file, its neighbours."""
    with term.open() as app:
        code, graph = graph_of(term, app, revision)
        edges = graph.edges
        if file:
            path = path_of(app, graph, file)
            edges = _edges_of(path, edges)
        if as_dot:
            shown = {source: targets for source, targets in edges.items() if targets or file}
            term.page(dot(shown, ranking.kept_ranks(code, graph)), None)
            return
        if as_json:
            used = {to for targets in edges.values() for to in targets}
            paths = {*edges, *used} if file else graph.files
            term.json(
                {
                    "commit": graph.commit,
                    "paths": sorted(map(path_text, paths)),
                    "edges": list(_edges_json(edges)),
                    "skipped_files": _skipped(graph),
                }
            )
            return
        term.rows(_graph_lines(term, edges), app)
        note_skipped(term, graph)


def _edges_json(edges: dict[str, Edges]) -> Iterator[dict[str, Any]]:
    for source, targets in sorted(edges.items()):
        for target, names in targets.items():
            yield {"source": path_text(source), **_use_json("target", target, names)}


def _edges_of(path: str, edges: dict[str, Edges]) -> dict[str, Edges]:
    """Return the edges from a file and those to it."""
    into = {source: {path: targets[path]} for source, targets in edges.items() if path in targets}
    return {
        source: edges[source] if source == path else into[source]
        for source in edges
        if source in {path, *into}
    }


def _graph_lines(term: Terminal, edges: "dict[str, Any]") -> Iterator[str]:
    for source, some in sorted(edges.items()):
        if some:
            yield term.style(path_shown(source), fg="cyan")
            for to, names in sorted(some.items(), key=lambda row: (-sum(row[1].values()), row[0])):
                shown = ", ".join(_names(names)[:5])
                yield f"  → {path_shown(to)}  {sum(names.values())}  {plain(shown)}".rstrip()


@click.command("rank", cls=options.CountedCommand)
@click.argument("folder", default="")
@click.option(
    "-n",
    "--limit",
    type=click.IntRange(min=1),
    default=20,
    show_default=True,
    help="Show at most so many.",
)
@at_option
@options.json_option
@click.pass_obj
def rank_command(term: Terminal, folder: str, limit: int, revision: str, as_json: bool) -> None:
    """Show on which files most of the code hangs: PageRank over who uses what."""
    with term.open() as app:
        code, graph = graph_of(term, app, revision)
        ranks = ranking.kept_ranks(code, graph)
        prefix = (
            places.parse(app, folder).path.rstrip("/")
            if folder and folder not in {".", "./"}
            else ""
        )
        rows = [
            (path, value)
            for path, value in ranks.items()
            if not prefix or path == prefix or path.startswith(prefix + "/")
        ]
        if as_json:
            term.json(
                {
                    "commit": graph.commit,
                    "files": [
                        {
                            "path": path_text(path),
                            "score": value,
                            "dependent_count": len(graph.dependents(path)),
                            "names": _names(graph.used(path))[:10],
                        }
                        for path, value in rows[:limit]
                    ],
                    "skipped_files": _skipped(graph),
                }
            )
            return
        for path, value in rows[:limit]:
            shown = ", ".join(_names(graph.used(path))[:4])
            term.say(
                f"{value:.4f}  {term.style(path_shown(path), fg='cyan')}  used by "
                f"{len(graph.dependents(path))}  {plain(shown)}".rstrip()
            )
        if not rows:
            term.say("there is no code in a language that is known.")
        note_skipped(term, graph)


@click.command("prune")
@options.json_option
@click.pass_obj
def prune_command(term: Terminal, as_json: bool) -> None:
    """Remove from the cache what no branch, tag, work tree or stash has any more."""
    with term.open() as app:
        removed, kept = app.code_map.prune()
        if as_json:
            term.json({"removed_count": removed, "kept_count": kept})
        else:
            term.say(
                f"{removed} version{'' if removed == 1 else 's'} of files removed from the cache, "
                f"{kept} kept."
            )
