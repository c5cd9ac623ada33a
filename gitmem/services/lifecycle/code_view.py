"""The code of a work tree, or of a commit, as checks look at it: files, manifests, definitions.

Nothing is executed.
"""

import posixpath
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from itertools import chain
from typing import NamedTuple

from gitmem.codemap.graph.code_map import CodeMap
from gitmem.codemap.graph.graph import Graph
from gitmem.codemap.imports.files import json_object, toml_table
from gitmem.codemap.tags.tags import Tags
from gitmem.errors import UserError
from gitmem.services.dna import manifests
from gitmem.services.dna.declared import Declared
from gitmem.services.lifecycle.path_tails import PathTails
from gitmem.services.lifecycle.source_tree import CommitSource, SourceTree, folders_of
from gitmem.text.test_files import is_aside

_MARKER = "<<<<<<< "  # at the beginning of a line, where git found a conflict
_READERS = {"json": json_object, "toml": toml_table}
# how a file begins that stands for a text that was not fetched: of Git LFS, of git-annex
_POINTERS = (b"version https://git-lfs.github.com/spec/", b"/annex/objects/")


class DefinitionPlace(NamedTuple):
    """Where a name is defined: lines from 1."""

    path: str
    line: int


class Manifest(NamedTuple):
    """What a manifest declares, and its text."""

    declared: Declared
    text: str

    @property
    def path(self) -> str:
        """Its path."""
        return self.declared.path

    def where(self, name: str) -> str:
        """Return `path:line` of the first line that has a name in it, else the path."""
        return place_of(self.path, self.text, name)


def place_of(path: str, text: str, words: str) -> str:
    """Return `path:line` of the first line of a text that has some words, else the path."""
    for number, line in enumerate(text.split("\n"), 1):
        if words in line:
            return f"{path}:{number}"
    return path


class Need(NamedTuple):
    """A dependency, or a language, as a manifest names it."""

    manifest: Manifest
    name: str
    version: str


class CodeView:
    """What checks know of one state of the code; each part is read when it is first asked for.

    `graph` gives the state's graph, whose definitions come from the cache of the code map.
    """

    def __init__(
        self, source: SourceTree, code: CodeMap, graph: Callable[[], Graph | None]
    ) -> None:
        self.source = source
        self._code = code
        self._graph = graph

    def has(self, path: str) -> bool:
        """Return whether there is a file or a folder of this name."""
        return self.source.has(path)

    def absence(self, path: str) -> str:
        """Return why it says nothing that a path is not there; '' where it says something."""
        return self.absences([path]).get(path, "")

    def absences(self, paths: Iterable[str]) -> Mapping[str, str]:
        """Return why it says nothing that paths are not there, of those where it says nothing."""
        return self.source.absences(paths)

    def text(self, path: str) -> str | None:
        """Return a text; None for none, for what is no text in UTF-8, and for a pointer to it."""
        data = self.source.read(path)
        if data is None or b"\0" in data or data.startswith(_POINTERS):
            return None
        try:
            return data.decode()
        except UnicodeDecodeError:
            return None

    @cached_property
    def paths(self) -> frozenset[str]:
        """All files."""
        return frozenset(self.source.paths)

    @cached_property
    def folders(self) -> frozenset[str]:
        """All folders that have a file."""
        return frozenset(folders_of(self.paths))

    @cached_property
    def file_tails(self) -> PathTails:
        """All files, by their last parts."""
        return PathTails(self.paths)

    @cached_property
    def folder_tails(self) -> PathTails:
        """All folders that have a file, by their last parts."""
        return PathTails(self.folders)

    @cached_property
    def manifests(self) -> list[Manifest]:
        """What the project's manifests and files such as `.python-version` declare."""
        out = []
        for path in sorted(self.paths, key=lambda path: (path.count("/"), path)):
            if is_declaring(path) and (text := self.text(path)) is not None:
                out.append(Manifest(declared_in(path, text.encode()), text))
        return out

    @cached_property
    def _needs(self) -> dict[str, list[Need]]:
        out: dict[str, list[Need]] = {}
        for manifest in self.manifests:
            declared = manifest.declared
            for names in (declared.needs, declared.uses, declared.tries, declared.options):
                for name, version in names.items():
                    out.setdefault(canonical(name), []).append(Need(manifest, name, version))
        return out

    def needs_of(self, name: str) -> list[Need]:
        """Return what the manifests say of a dependency, language or tool; nearest the root first.

        Names are compared without case, and `-` is as good as `_` and `.`.
        """
        return self._needs.get(canonical(name), [])

    @cached_property
    def unread_manifests(self) -> frozenset[str]:
        """The manifests that cannot be read, such as one with conflict markers."""
        read = {
            manifest.path
            for manifest in self.manifests
            if manifest.declared.ecosystem and not _is_broken(manifest.path, manifest.text)
        }
        return frozenset(path for path in self.paths if is_declaring(path) and path not in read)

    @cached_property
    def _tags(self) -> Mapping[str, Tags] | None:
        graph = self._graph()
        return None if graph is None else self._code.every(graph)

    @property
    def has_definitions(self) -> bool:
        """Whether it is known what is defined."""
        return self._tags is not None

    @cached_property
    def without_grammar(self) -> Mapping[str, str]:
        """The language of each file that is not read because its grammar is not installed."""
        graph = self._graph()
        return {} if graph is None else graph.without_grammar

    @cached_property
    def definitions(self) -> dict[str, DefinitionPlace]:
        """Where each name is defined, by its qualified name and by its parts from the right."""
        out: dict[str, DefinitionPlace] = {}
        for path, tags in (self._tags or {}).items():
            for name, qualified, _, first, *_ in tags.symbols:
                for spelling in (qualified, name, f"{tags.package}.{qualified}"):
                    out.setdefault(spelling.lstrip("."), DefinitionPlace(path, first))
        return out

    @cached_property
    def imported(self) -> frozenset[str]:
        """The first parts of all modules that are imported, folded."""
        imports = chain.from_iterable(tags.imports for tags in (self._tags or {}).values())
        return frozenset(fold(imported.module) for imported in imports)

    def defines(self, symbol: str) -> DefinitionPlace | None:
        """Return where a symbol is defined that is written `A.b`, `A::b`, `A#b` or `b()`."""
        name = symbol.removesuffix("()").replace("::", ".").replace("#", ".")
        place = self.definitions.get(name)
        if place is None and "." in name:
            place = self._module_member(name)
        return place

    def _module_member(self, name: str) -> DefinitionPlace | None:
        """Return where a name is defined whose first parts are those of its file: `app.run`."""
        parts = name.split(".")
        for start in range(1, len(parts)):
            place = self.definitions.get(".".join(parts[start:]))
            stem = "/".join(parts[:start])
            if place and f"/{posixpath.splitext(place.path)[0]}".endswith(f"/{stem}"):
                return place
        return None


def fold(name: str) -> str:
    """Return the name of a package or module as one spelling of all that mean it."""
    return name.lower().replace("-", "_")


def canonical(name: str) -> str:
    """Return the one spelling of a dependency's name; a language's file ending is left out."""
    low = fold(name).replace(".", "_")
    return {"nodejs": "node_js", "node": "node_js", "golang": "go"}.get(low, low)


def is_declaring(path: str) -> bool:
    """Return whether a file is a manifest of the project itself, not of what is in or beside it."""
    is_own = not is_aside(path) and not any(folder in f"/{path}" for folder in VENDOR)
    return is_own and (manifests.reader(path) or manifests.version_file(path)) is not None


VENDOR = ("/node_modules/", "/vendor/")


def _is_broken(path: str, text: str) -> bool:
    """Return whether a manifest has conflict markers, or is JSON or TOML that cannot be read."""
    if text.startswith(_MARKER) or f"\n{_MARKER}" in text:
        return True
    reader = _READERS.get(path.rpartition(".")[2])
    return reader is not None and not reader(text) and bool(text.strip(" {}\n\r\t"))


def declared_in(path: str, data: bytes) -> Declared:
    """Return what a manifest declares, or a file such as `.python-version` needs."""
    needs = manifests.version_file(path)
    if needs is None:
        return manifests.read(path, data)
    version = data.decode("utf-8", "replace").partition("\n")[0].strip()
    return Declared(path, "version", needs={needs: version} if version[:60] == version else {})


def work_tree_view(source: SourceTree, code: CodeMap, *, quick: bool = False) -> CodeView:
    """Return the code of a work tree.

    With `quick`, code that was never read and takes minutes to read has no definitions.
    """

    def graph() -> Graph | None:
        try:
            if quick and code.is_large(code.trees.resolve("HEAD")[1]):
                return None
            return code.graph("HEAD", uncommitted=True)
        except UserError:  # there is no commit
            return None

    return CodeView(source, code, graph)


def commit_view(commit: str, code: CodeMap) -> CodeView:
    """Return the code of a commit; raises UserError where there is none."""
    return CodeView(CommitSource(code.trees, commit), code, lambda: code.graph(commit))
