"""What depends on code, for editors.

It says who uses a file, how much of the project depends on it, and where a definition is used.
"""

from dataclasses import dataclass
from typing import Any

from gitmem.app import App
from gitmem.codemap.graph import rank
from gitmem.codemap.graph.code_map import CodeMap
from gitmem.codemap.graph.graph import Graph
from gitmem.errors import GitmemError
from gitmem.repo.refs import head
from gitmem_lsp.workspace.repositories import DocumentPlace

LISTED = 100  # files that use another one


@dataclass(frozen=True, slots=True)
class CommitCode:
    """The code of a commit, in the order of its ranks."""

    commit: str
    graph: Graph
    ranks: dict[str, float]


# one commit of each repository is held: the editor asks again and again about the one that is
# checked out
_codes: dict[str, CommitCode] = {}


async def commit_code(place: DocumentPlace, *, build: bool) -> CommitCode | None:
    """Return the code of the commit that is checked out.

    None where there is none, or, unless it may be built, where nobody has read it yet.
    """
    location = place.location
    commit = head(location)
    if commit and (kept := _codes.get(location.commondir)) is not None and kept.commit == commit:
        return kept
    app: App = await place.repository.run(lambda: place.repository.view.app)
    try:
        code: CodeMap = await place.repository.run(app.open_code_map)
        # a hover does not wait for a project that is being read
        run = place.repository.read_history if build else place.repository.read_line
        made = await run(_read, code, commit or "HEAD", build)
    except GitmemError:  # no commit yet
        return None
    if made is not None:
        _codes[location.commondir] = made
    return made


def _read(code: CodeMap, commit: str, build: bool) -> CommitCode | None:
    try:
        _, tree = code.trees.resolve(commit)
        graph = code.graph(commit) if build and not code.is_large(tree) else code.kept_graph(tree)
        return (
            CommitCode(commit, graph, rank.kept_ranks(code, graph)) if graph is not None else None
        )
    finally:
        code.close()


async def used_at(
    place: DocumentPlace, path: str, text: str, line: int, column: int
) -> tuple[str, str] | None:
    """Return (path, qualified name) of the definition that is used at a place of a text.

    None where that is not sure, or nobody has read the code yet: it is not read for this.
    """
    code = await commit_code(place, build=False)
    if code is None:
        return None
    app: App = await place.repository.run(lambda: place.repository.view.app)
    source: CodeMap = await place.repository.run(app.open_code_map)

    def look() -> tuple[str, str] | None:
        from gitmem.codemap.graph.meaning_at import meaning_at

        try:
            meaning = meaning_at(source, code.graph, path, text, line, column)
        finally:
            source.close()
        return (meaning.path, meaning.qualified) if meaning is not None else None

    return await place.repository.read_line(look)


async def of_file(place: DocumentPlace, path: str) -> dict[str, Any] | None:
    """Return what hangs on a file: its place among the ranks, who uses it, what it uses.

    None for one that was not read.
    """
    code = await commit_code(place, build=True)
    if code is None or path not in code.graph.files:
        return None
    users = sorted(code.graph.dependents(path), key=lambda user: (-code.ranks.get(user, 0.0), user))
    return {
        "path": path,
        "rank": code.ranks.get(path, 0.0),
        "place": list(code.ranks).index(path) + 1,
        "of": len(code.ranks),
        "usedBy": users[:LISTED],
        "users": len(users),
        "uses": sorted(code.graph.edges.get(path, ())),
        "names": code.graph.used(path),
    }


async def usage_of(place: DocumentPlace, path: str, qualified: str) -> str:
    """Return how often a definition is used, in one line.

    '' where that is not known, or nothing does.
    """
    code = await commit_code(place, build=False)
    if code is None or path not in code.graph.files:
        return ""
    uses, files = 0, 0
    name = qualified.partition(".")[0]
    for edges in code.graph.edges.values():
        names = edges.get(path, {})
        number = names.get(qualified) or sum(
            names[used] for used in names if used == name or used.startswith(f"{name}.")
        )
        uses, files = uses + number, files + bool(number)
    if not uses:
        return ""
    used = f"{name} is used {times(uses)} in {plural(files, 'file')}"
    return f"{used}." if qualified == name else f"{used}; {qualified} belongs to it."


def times(number: int) -> str:
    """Return how often, in words."""
    return "once" if number == 1 else f"{number} times"


def plural(number: int, word: str) -> str:
    """Return a number with its word."""
    return f"{number} {word}{'' if number == 1 else 's'}"
