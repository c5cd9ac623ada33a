"""Facts about a project, or about one part of it.

They are read from the graph of its code, its manifests and its own words. This module is pure.
"""

import io
import math
import posixpath
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from gitmem.codemap.grammars import TITLES
from gitmem.codemap.graph.graph import Graph
from gitmem.codemap.graph.resolve import Resolution
from gitmem.codemap.tags.tags import Tags
from gitmem.services.dna import commands, dependencies, entries, surroundings, words
from gitmem.services.dna.declared import Declared
from gitmem.services.dna.manifests import reader
from gitmem.text.test_files import is_aside
from gitmem.transcripts.formats import plan_files

# languages of whose code a list of packages can be
_LANGUAGES = {
    "ruby": frozenset({"ruby"}),
    "python": frozenset({"python"}),
    "npm": frozenset({"javascript", "typescript", "tsx"}),
}
README = re.compile(r"^readme(?:\.(?:md|rst|txt|markdown|adoc))?$", re.IGNORECASE)
PLANS = frozenset({"plan.md", "progress.md", "state.json"})
AGENT_FILES = frozenset({"CLAUDE.md", "AGENTS.md", "GEMINI.md"})
KEEP = 60  # of what is gathered of one kind
FILES = 20
USERS = 3  # of a key file, where enough files have as many
# kinds of definitions that a name stands for in C++, whose macros hide what else is defined
_TYPES = frozenset({"class", "struct", "enum", "interface", "trait", "type", "union"})

Text = Callable[[str], bytes]


@dataclass(slots=True)
class KeyFile:
    """A file that other code depends on.

    `users` is how many files use it, and `symbols` is what they use most.
    """

    path: str
    users: int
    symbols: list[str]


@dataclass(slots=True)
class ProjectFacts:
    """What is told of a project or of a workspace; `folder` is '' for the root.

    Rows are in the order of how much they matter.
    """

    name: str
    folder: str = ""
    about: str = ""
    languages: list[tuple[str, int, int]] = field(default_factory=list)  # (language, files, lines)
    unread: list[tuple[str, int]] = field(default_factory=list)  # (language, files)
    stack: list[tuple[str, str]] = field(default_factory=list)  # (language or tool, version)
    # (name, declared version, files that import it)
    dependencies: list[tuple[str, str, int]] = field(default_factory=list)
    optional: list[str] = field(default_factory=list)
    development: list[str] = field(default_factory=list)
    entries: list[tuple[str, str]] = field(default_factory=list)  # (what is started, where)
    routes: list[tuple[str, str, int]] = field(default_factory=list)  # (file, routes, how many)
    commands: list[tuple[str, str]] = field(default_factory=list)  # (command, what it runs)
    files: list[KeyFile] = field(default_factory=list)
    configuration: list[str] = field(default_factory=list)
    environment: list[str] = field(default_factory=list)
    plans: list[str] = field(default_factory=list)  # how far plan and progress files are
    context: list[tuple[str, str]] = field(default_factory=list)  # (file, what it says)
    points: list[tuple[str, list[str]]] = field(default_factory=list)  # (file for agents, points)
    workspaces: list[tuple[str, str, str]] = field(default_factory=list)  # (folder, name, about)
    skipped: int = 0


@dataclass(frozen=True, slots=True)
class Sources:
    """Where facts are read from.

    `declared` are the manifests of the project, `inner` the folders of its workspaces.
    """

    graph: Graph
    tags: Mapping[str, Tags]
    ranks: Mapping[str, float]
    resolution: Resolution
    declared: Sequence[Declared]
    text: Text
    inner: Sequence[str] = ()

    def own(self, folder: str, path: str) -> bool:
        """Say whether a path is in a folder, and in none of the workspaces below it."""
        prefix = folder + "/" if folder else ""
        return path.startswith(prefix) and not any(
            path.startswith(folder_inside + "/")
            for folder_inside in self.inner
            if folder_inside != folder
        )


def gather(sources: Sources, folder: str, name: str = "") -> ProjectFacts:
    """Return the facts about a folder ('' for the root), whose project is called `name`.

    What is in other workspaces is left out, except in the root's files and dependencies.
    """
    prefix = folder + "/" if folder else ""
    paths = [path for path in sources.tags if path.startswith(prefix)]
    listed = [path for path in sources.graph.listing if sources.own(folder, path)]
    here = [manifest for manifest in sources.declared if sources.own(folder, manifest.path)]
    top = _top(here, prefix, alone=not sources.inner)
    _divide_requirements(top)
    _divide_tools(top, {sources.tags[path].language for path in paths if not reader(path)})
    made = ProjectFacts(_name(top, folder, name, bool(sources.inner)), folder)
    made.about = _description(top)
    _languages(made, sources, paths, prefix)
    own_names = _own_names(sources, made)
    made.stack = _stack(top, own_names)
    parts = (
        []
        if folder
        else [manifest for manifest in sources.declared if _folder(manifest) in sources.inner]
    )
    made.dependencies, made.optional, made.development = dependencies.dependencies(
        paths, sources.tags, sources.resolution, [*top, *parts], own_names
    )
    del made.dependencies[KEEP:]
    _start(made, sources, top, [path for path in paths if sources.own(folder, path)], prefix)
    made.files = _key_files(sources, prefix)
    made.configuration = surroundings.configuration(listed, prefix)[:KEEP]
    made.environment = surroundings.environment(paths, listed, sources.tags, sources.text, prefix)[
        :KEEP
    ]
    _words(made, listed, sources.text, prefix)
    return made


def _stack(top: Sequence[Declared], own_names: frozenset[str]) -> list[tuple[str, str]]:
    """Return the languages and tools that manifests ask for; the first one says the version."""
    stack: dict[str, str] = {}
    for manifest in top:
        for tool, version in manifest.needs.items():
            if tool.lower() not in own_names:
                stack.setdefault(tool, version)
    return list(stack.items())


def _top(here: Sequence[Declared], prefix: str, *, alone: bool) -> list[Declared]:
    """Return the manifests of a folder itself; where it has none, those nearest to it."""
    top = [
        manifest
        for manifest in here
        if "/" not in manifest.path[len(prefix) :] or _is_list(manifest, prefix)
    ]
    if top or not alone:
        return top
    return sorted(here, key=lambda manifest: (manifest.path.count("/"), manifest.path))[:3]


def _description(top: Sequence[Declared]) -> str:
    for manifest in top:
        if said := words.description(manifest.description):
            return said
    return ""


def _folder(manifest: Declared) -> str:
    return posixpath.dirname(manifest.path)


def _divide_requirements(top: Sequence[Declared]) -> None:
    """Note that lists of requirements beside a package are for who works on it.

    One without a name of its own may have what the package needs as well.
    """
    packages = [
        manifest
        for manifest in top
        if manifest.ecosystem == "python" and manifest.name and manifest.uses
    ]
    for manifest in top:
        if not packages or not manifest.path.endswith((".txt", ".in")):
            continue
        if posixpath.basename(manifest.path) in {"requirements.txt", "requirements.in"}:
            manifest.is_loose = True
        else:
            manifest.tries |= manifest.uses
            manifest.uses = {}


def _divide_tools(top: Sequence[Declared], languages: set[str]) -> None:
    """Note that packages of a language in which the project has no code are for development."""
    for manifest in top:
        wanted = _LANGUAGES.get(manifest.ecosystem)
        if wanted and not wanted & languages and not manifest.name:
            manifest.tries |= manifest.uses
            manifest.uses = {}


def _is_list(manifest: Declared, prefix: str) -> bool:
    return manifest.path[len(prefix) :].startswith("requirements/")


def _name(top: Sequence[Declared], folder: str, name: str, has_workspaces: bool) -> str:
    """Return what a project is called: by its manifest, a project of several by its repository."""
    if not folder and has_workspaces and name:
        return name
    declared = next(
        (manifest.name for manifest in top if manifest.name and manifest.ecosystem != "make"), ""
    )
    declared = declared or name or folder.rpartition("/")[2]
    return declared.rpartition("/")[2] if declared.count("/") > 1 else declared


def _own_names(sources: Sources, made: ProjectFacts) -> frozenset[str]:
    names = {manifest.name.lower() for manifest in sources.declared if manifest.name}
    return frozenset(names | {made.name.lower()})


def _languages(made: ProjectFacts, sources: Sources, paths: Sequence[str], prefix: str) -> None:
    counts: Counter[str] = Counter()
    lines: Counter[str] = Counter()
    for path in paths:
        language = TITLES[sources.tags[path].language]
        counts[language] += 1
        lines[language] += sources.tags[path].lines
    if lines["C"] and lines["C++"] and not any(path.endswith(".c") for path in paths):
        counts["C++"] += counts.pop("C")  # its headers, as far as they look like those of C
        lines["C++"] += lines.pop("C")
    made.languages = [
        (language, number, lines[language])
        for language, number in sorted(counts.items(), key=lambda row: (-lines[row[0]], row[0]))
    ]
    unreadable = sources.graph.without_grammar
    made.unread = surroundings.other_languages(
        sources.graph.listing, prefix, len(paths), unreadable
    )
    made.skipped = sum(
        path.startswith(prefix) for path in sources.graph.skipped.keys() - unreadable.keys()
    )


def _start(
    made: ProjectFacts,
    sources: Sources,
    top: Sequence[Declared],
    paths: Sequence[str],
    prefix: str,
) -> None:
    """Note what can be started and run."""
    root = frozenset(sources.graph.listing)
    own = frozenset(path[len(prefix) :] for path in root if path.startswith(prefix))
    made.entries = list(entries.declared_entries(top, own, prefix))
    is_package = any(
        manifest.name and manifest.ecosystem in {"python", "npm", "composer"} for manifest in top
    )
    made.entries += entries.other_entries(
        paths, sources.tags, made.entries, prefix, sources.text, is_package=is_package
    )[:KEEP]
    made.routes = entries.route_rows(paths, sources.tags, sources.ranks)[:KEEP]
    tools = sorted(
        {name.lower() for manifest in top for name in (*manifest.tries, *manifest.tools)}
    )
    made.commands = commands.commands(top, root, own, tools)


def _key_files(sources: Sources, prefix: str) -> list[KeyFile]:
    """Return the files on which most depends: by rank, and by how many files use them."""
    counts = sources.graph.dependent_counts()
    rows = []
    for path, rank in sources.ranks.items():
        inside = path[len(prefix) :]
        is_beside = is_aside(path) or entries.is_tooling(inside) or inside.startswith(".")
        if path.startswith(prefix) and not is_beside:
            users = counts[path]
            rows.append((rank * math.log2(1 + users), users, path))
    rows.sort(key=lambda row: (-row[0], row[2]))
    often = [row for row in rows if row[1] >= USERS]
    if len(often) < 5:
        often = [row for row in rows if row[1]]
    return [KeyFile(path, users, _symbols(sources, path)) for _, users, path in often[:FILES]]


def _symbols(sources: Sources, path: str) -> list[str]:
    tags = sources.tags[path]
    used = sorted(sources.graph.used(path).items(), key=lambda row: (-row[1], row[0]))
    names = [(name, name.rpartition(".")[2]) for name, _ in used if name]
    if tags.language == "cpp":
        types = {symbol[1] for symbol in tags.symbols if symbol[2] in _TYPES}
        names = [row for row in names if row[0] in types or row[1] in types]
    return list(dict.fromkeys(short for _, short in names if not short.startswith("__")))[:4]


def _words(made: ProjectFacts, listed: Sequence[str], text: Text, prefix: str) -> None:
    """Note what the project says of itself, and what it tells agents."""
    name = made.name.rpartition("/")[2]
    gone = ""
    for path in sorted(listed, key=lambda path: (path.count("/"), path)):
        short = path[len(prefix) :]
        if README.match(short) and not made.context:
            gone = _read_readme(made, short, text(path).decode("utf-8", "replace"), name) or gone
        elif short in AGENT_FILES:
            _note_points(made, short, words.agent_points(text(path).decode("utf-8", "replace")))
        elif short.lower() in PLANS:
            made.plans += _plan(short, text(path))
    if gone:  # what it was says nothing of what it is
        made.about, made.context = gone, []
    elif not made.about and made.context:
        made.about = made.context.pop()[1]
    made.about = made.about or _head(listed, text, prefix, name)
    made.context = [row for row in made.context if _says_more(row[1], made.about)]


def _read_readme(made: ProjectFacts, path: str, text: str, name: str) -> str:
    """Note what a README says of a project; return what it says if that is over or elsewhere."""
    said = words.readme_sentence(text, name)
    made.context += [(path, said)] if said else []
    return words.gone_sentence(text, name)


def _note_points(made: ProjectFacts, name: str, points: list[str]) -> None:
    # projects have one file for all agents, under several names
    if points and all(points != other for _, other in made.points):
        made.points.append((name, points))


def _head(listed: Sequence[str], text: Text, prefix: str, name: str) -> str:
    """Return what the first file of a package says of it, '' for nothing."""
    module = re.sub(r"[-.]", "_", name.lower())
    wanted = {f"{module}/__init__.py", f"src/{module}/__init__.py", "doc.go", f"{module}.go"}
    for path in listed:
        if path[len(prefix) :] in wanted:
            said = words.head_of_code(path, text(path)[:20_000].decode("utf-8", "replace"))
            if said:
                return said
    return ""


def _says_more(text: str, about: str) -> bool:
    """Say whether the first sentence of a text says something that another does not.

    That is so when the other has less than half of its words.
    """
    said = set(re.findall(r"\w+", about.lower()))
    new = set(re.findall(r"\w{3,}", re.split(r"(?<=[.!?。])\s", text)[0].lower()))
    return len(new - said) * 2 > len(new)


def _plan(name: str, data: bytes) -> list[str]:
    """Return in one line how far a plan is: its phase, how many of its tasks are done."""
    read = plan_files.state if posixpath.splitext(name)[1] == ".json" else plan_files.plan
    how = plan_files.progress(read(io.BytesIO(data)))
    said = [f"phase {how.phase}"] if how.phase else []
    said += [f"{how.done} of {how.total} tasks done"] if how.total else []
    said += [f"next: {how.pending[0]}"] if how.pending else []
    return [f"{name}: {', '.join(said)}"] if said else []
