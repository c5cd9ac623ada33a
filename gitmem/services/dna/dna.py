"""The DNA of a project: read from a commit, and written to the store if it has changed.

A project of several packages has one for each, and one for the whole.
"""

import posixpath
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gitmem.codemap.graph import rank
from gitmem.codemap.graph.code_map import CodeMap
from gitmem.codemap.graph.graph import Graph
from gitmem.codemap.graph.reading_time import WHOLE, ReadingTime
from gitmem.codemap.imports import ecma
from gitmem.codemap.imports.files import ProjectFiles, json_object, table, texts, toml_table
from gitmem.errors import UnknownId
from gitmem.records.record import Record
from gitmem.records.texts import clean_title
from gitmem.redaction.mask import scrub
from gitmem.services.dna import manifests
from gitmem.services.dna.declared import Declared
from gitmem.services.dna.facts import ProjectFacts, Sources, gather
from gitmem.services.dna.page import page
from gitmem.services.records import write
from gitmem.services.records.write import Writer
from gitmem.store.store import Store
from gitmem.text.globs import glob_match
from gitmem.text.slugs import slug
from gitmem.text.test_files import is_aside

WORKSPACES = 24
VENDOR = ("node_modules/", "vendor/")

Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class DnaPage:
    """One DNA: the name of its record, its title, its folder and its text.

    The folder is '' for the whole project.
    """

    slug: str
    title: str
    folder: str
    body: str
    facts: ProjectFacts

    @property
    def id(self) -> str:
        """The id of its record."""
        return f"dna-{self.slug}"


def describe(
    code: CodeMap,
    graph: Graph,
    name: str,
    budget: int,
    progress: Progress | None = None,
    reading: ReadingTime = WHOLE,
) -> list[DnaPage]:
    """Return the pages of a commit: of the whole first, then of each workspace.

    `name` is what the project is called when no manifest says it.
    """
    tags = code.every(graph)
    ranks = rank.kept_ranks(code, graph, reading)
    resolution = code.resolution(graph)
    texts: dict[str, bytes] = {}

    def text(path: str) -> bytes:
        if path not in texts:
            texts[path] = code.text(graph, path)[:200_000]
        return texts[path]

    own = [path for path in graph.listing if _is_own_manifest(path)]
    own += [path for path in WORKSPACE_FILES if path in graph.listing]
    oids = [graph.listing[path] for path in own]
    read = dict(code.trees.blobs(sorted(set(oids))))
    texts.update((path, (read.get(graph.listing[path]) or b"")[:1_000_000]) for path in own)
    declared = [manifests.read(path, texts[path]) for path in own if path not in WORKSPACE_FILES]
    _take_versions(declared, texts.get("Directory.Packages.props", b""))
    inner = workspaces(graph, {path: texts[path] for path in own}, list(tags))
    sources = Sources(graph, tags, ranks, resolution, declared, text, inner)
    pages = []
    for folder in inner:
        pages.append(gather(sources, folder))
        if progress:
            progress(len(pages), len(inner))
    whole = gather(sources, "", name)
    whole.workspaces = [(facts.folder, facts.name, facts.about) for facts in pages]
    _take_over(whole, pages)
    base = slug(name)
    made = [_page(base, whole, budget)]
    taken = {made[0].slug}
    for facts in pages:
        title = _free_slug(f"{base}-{facts.folder}", taken)
        taken.add(title)
        made.append(_page(title, facts, budget))
    return made


def _free_slug(name: str, taken: Collection[str]) -> str:
    title = slug(name.replace("/", "-"))
    while title in taken:
        title = f"{title[:56]}-{len(taken)}"
    return title


def _is_own_manifest(path: str) -> bool:
    """Say whether a file is a manifest of the project: not of tests, examples or other projects.

    A list of requirements may be for its tests.
    """
    if manifests.reader(path) is None or any(part in f"/{path}" for part in VENDOR):
        return False
    folder, _, name = path.rpartition("/")
    return not is_aside(f"{folder}/x" if name.endswith((".txt", ".in")) else path)


def _take_versions(declared: Sequence[Declared], central: bytes) -> None:
    """Give .NET dependencies without a version the one that stands for the whole repository."""
    versions = dict(_CENTRAL.findall(central.decode("utf-8", "replace")))
    for manifest in declared:
        if manifest.ecosystem == "dotnet":
            for name, version in manifest.uses.items():
                manifest.uses[name] = version or versions.get(name, "")


def _take_over(whole: ProjectFacts, pages: Sequence[ProjectFacts]) -> None:
    """Have a project of several packages say what the package of its own name says."""
    main = next((page for page in pages if slug(page.name) == slug(whole.name)), None)
    if main is not None:
        whole.about = whole.about or main.about
        named = {name for name, _ in whole.stack}
        whole.stack += [row for row in main.stack if row[0] not in named]


def _page(name: str, facts: ProjectFacts, budget: int) -> DnaPage:
    return DnaPage(
        name, clean_title(facts.name or name), facts.folder, scrub(page(facts, budget)).text, facts
    )


def _outermost(folders: Collection[str]) -> set[str]:
    """Return the folders that are in none of the others."""
    return {
        folder for folder in folders if not any(folder.startswith(other + "/") for other in folders)
    }


def workspaces(graph: Graph, given: Mapping[str, bytes], paths: Sequence[str]) -> list[str]:
    """Return the folders of the packages of a project, by path.

    None when there is one package only.
    """
    folders_of_members, globs = _members(graph, given)
    folders = {posixpath.dirname(path) for path, data in given.items() if _is_package(path, data)}
    folders.discard("")
    folders_of_members |= {
        folder for folder in folders if any(glob_match(glob, folder) for glob in globs)
    }
    if not folders_of_members:  # nothing says what belongs together: what has a manifest of its own
        folders_of_members = _outermost(folders)
    busy = {}
    for folder in folders_of_members:
        count = sum(path.startswith(folder + "/") for path in paths)
        if count and not is_aside(folder + "/x"):
            busy[folder] = count
    if len(busy) < 2:
        return []
    return sorted(sorted(busy, key=lambda folder: (-busy[folder], folder))[:WORKSPACES])


def _members(graph: Graph, given: Mapping[str, bytes]) -> tuple[set[str], list[str]]:
    """Return the folders, and the patterns of folders, that say that they belong together."""

    def text(path: str) -> str:
        return given.get(path, b"").decode("utf-8", "replace")

    files = ProjectFiles(graph.listing, given)
    is_node = "package.json" in given or "pnpm-workspace.yaml" in given
    folders: set[str] = set(ecma.workspaces(files)) if is_node else set()
    globs = texts(table(toml_table(text("Cargo.toml")), "workspace").get("members"))
    globs += texts(
        table(toml_table(text("pyproject.toml")), "tool", "uv", "workspace").get("members")
    )
    globs += texts(json_object(text("lerna.json")).get("packages"))
    for block in re.findall(
        r"^use[ \t]*(?:\(([^()]{0,4000})\)|([^\s()]+))", text("go.work"), re.MULTILINE
    ):
        globs += "".join(block).split()
    globs = [posixpath.normpath(glob) for glob in globs]
    return folders, [glob for glob in globs if glob != "."]


def _is_package(path: str, data: bytes) -> bool:
    name = path.rsplit("/", 1)[-1]
    if name == "package.json":  # many hold no more than settings
        return bool(json_object(data.decode("utf-8", "replace")).get("name"))
    return name in _PACKAGES or name.endswith((".csproj", ".fsproj", ".gemspec"))


# versions of .NET packages for all projects of a repository
_CENTRAL = re.compile(r'<PackageVersion\s+Include="([^"]+)"\s+Version="([^"$]+)"')
WORKSPACE_FILES = ("pnpm-workspace.yaml", "go.work", "lerna.json", "Directory.Packages.props")
_PACKAGES = frozenset(
    {
        "package.json",
        "pyproject.toml",
        "setup.py",
        "setup.cfg",
        "Cargo.toml",
        "go.mod",
        "pom.xml",
        "build.gradle",
        "build.gradle.kts",
        "composer.json",
        "mix.exs",
        "Package.swift",
        "pubspec.yaml",
    }
)


@dataclass(frozen=True, slots=True)
class DnaOutcome:
    """What was done about a page: `how` is `made`, `changed` or `kept`.

    `commit` is that of the store, '' for none.
    """

    page: DnaPage
    how: str
    record: Record
    commit: str = ""


def save(
    store: Store, who: Writer, pages: Sequence[DnaPage], sources: Mapping[str, Any]
) -> list[DnaOutcome]:
    """Write pages to a store, those that say something else than their records.

    A person's archive stays.
    """
    out = []
    for dna_page in pages:
        try:
            before = store.get(dna_page.id).record
        except UnknownId:
            before = None
        if before is None and not dna_page.body.strip():
            continue  # there is nothing to say
        if (
            before is not None
            and before.body.strip() == dna_page.body.strip()
            and before.title == dna_page.title
        ):
            out.append(DnaOutcome(dna_page, "kept", before))
            continue
        if before is None:
            made = write.draft(
                who,
                "dna",
                dna_page.title,
                dna_page.body,
                origin="consolidated",
                id=dna_page.id,
                project=dna_page.slug,
                sources=dict(sources),
            )
            change = write.add(store, who, made, "refresh")
        else:
            after = Record(
                dna_page.id,
                before.kind,
                dna_page.title,
                dna_page.body,
                {**before.fields, "author": who.person, "sources": dict(sources)},
            )
            change = write.update(store, who, before, after, "refresh")
        out.append(
            DnaOutcome(
                dna_page,
                "made" if before is None else "changed",
                change.after,
                change.written.commit or "",
            )
        )
    return out
