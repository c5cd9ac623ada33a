"""Which files and names the code had once and does not have now, by the history of a commit."""

import posixpath
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import NamedTuple

from gitmem.clock import stamp
from gitmem.codemap import grammars
from gitmem.codemap.graph.code_map import CodeMap
from gitmem.codemap.graph.graph import Graph
from gitmem.errors import GitmemError
from gitmem.git.past_code import PastCode, PastFile, PastVersion, WordHit
from gitmem.services.dna.declared import Declared
from gitmem.services.lifecycle.code_view import (
    DefinitionPlace,
    canonical,
    declared_in,
    is_declaring,
)
from gitmem.services.lifecycle.path_tails import PathTails
from gitmem.text.test_files import is_test

HERE = "0"  # of what is not committed
BLOBS = 4000  # versions of manifests that are read, the newest
# names of manifests; `code_view.is_declaring` says which of these files are some
MANIFESTS = tuple(
    f":(glob)**/{name}"
    for name in (
        *("package.json", "pyproject.toml", "setup.cfg", "setup.py", "requirements*.txt"),
        *("requirements*.in", "Cargo.toml", "go.mod", "pom.xml", "build.gradle*", "composer.json"),
        *("Gemfile", "*.gemspec", "*.csproj", "*.fsproj", "CMakeLists.txt", "Makefile", "makefile"),
        *("GNUmakefile", ".python-version", ".nvmrc", ".node-version", ".ruby-version"),
    )
)
# what only speaks of code, and what tools write
DOCUMENTS = (
    *("**/*.md", "**/*.rst", "**/*.txt", "**/*.adoc", "**/*.lock", "**/*-lock.json", "**/*.svg"),
    *(
        "**/go.sum",
        "**/pnpm-lock.yaml",
        "**/CHANGELOG*",
        "**/*.min.js",
        "**/*.map",
        "**/man/**",
        "**/*.ipynb",
    ),
)


class Gone(NamedTuple):
    """A name that a commit took away; `was` is the version that belongs to it.

    Without a commit, it is gone from the work tree alone.
    """

    name: str
    path: str
    commit: str
    at: int  # seconds since the epoch
    was: str = ""
    ecosystem: str = ""


def when(gone: Gone | PastFile) -> str:
    """Return in words when something went."""
    day = stamp(gone.at)[:10]
    return f"in {gone.commit[:7]} ({day})" if gone.commit else "here, and not committed yet"


class Said(NamedTuple):
    """When a fact was said: the commit that was checked out, '' where it is not known."""

    commit: str
    at: float  # seconds since the epoch


class GoneNames:
    """Reads the history of a commit, as far as it is asked for.

    `text` gives a file of the work tree: what is not committed is the newest change.
    """

    def __init__(
        self, past: PastCode, code: CodeMap, commit: str, text: Callable[[str], str | None]
    ) -> None:
        self._past = past
        self._code = code
        self._commit = commit
        self._text = text
        self._listings: dict[str, dict[str, str]] = {}
        self._below: dict[tuple[str, str], bool] = {}

    def is_since(self, gone: Gone | PastFile, said: Said) -> bool:
        """Return whether something went after a fact was said."""
        if not gone.commit:
            return True
        if said.commit and self._is_below(said.commit, self._commit):
            return not self._is_below(gone.commit, said.commit)
        return gone.at > said.at

    def _is_below(self, commit: str, tip: str) -> bool:
        key = commit, tip
        line = self._mainline
        if commit in line and tip in line:
            return line[commit] >= line[tip]
        if key not in self._below:
            self._below[key] = self._past.is_below(commit, tip)
        return self._below[key]

    @cached_property
    def _mainline(self) -> dict[str, int]:
        """How far each first parent is below the commit."""
        return {oid: number for number, oid in enumerate(self._past.mainline(self._commit))}

    # -- files

    @cached_property
    def _removed(self) -> list[PastFile]:
        here = [PastFile(change.path, "", 0) for change in self._uncommitted if not change.new]
        return here + self._past.removed(self._commit)

    @cached_property
    def _uncommitted(self) -> list[PastVersion]:
        return self._past.uncommitted()

    @cached_property
    def _last_removals(self) -> dict[str, PastFile]:
        """The last removal of each file, and of a file in each folder, the newest first."""
        out: dict[str, PastFile] = {}
        for file in self._removed:
            out.setdefault(file.path, file)
            folder = posixpath.dirname(file.path)
            while folder and f"{folder}/" not in out:
                out[f"{folder}/"] = file
                folder = posixpath.dirname(folder)
        return out

    @cached_property
    def _removed_files(self) -> PathTails:
        return PathTails(path for path in self._last_removals if not path.endswith("/"))

    @cached_property
    def _removed_folders(self) -> PathTails:
        return PathTails(path[:-1] for path in self._last_removals if path.endswith("/"))

    def file(self, path: str) -> PastFile | None:
        """Return the last removal of a file, or of the files of a folder, that a path names."""
        if path.endswith("/"):
            folder = self._removed_folders.first(path[:-1])
            return None if folder is None else self._last_removals[f"{folder}/"]
        name = self._removed_files.first(path)
        if name is not None:
            return self._last_removals[name]
        return self._last_removals.get(f"{path}/") if "/" in path else None

    # -- manifests

    @cached_property
    def _changes(self) -> list[tuple[PastVersion, Declared, Declared]]:
        """The changes of manifests, the newest first: what they declared before and after."""
        every = self._uncommitted + self._past.versions(self._commit, MANIFESTS)
        rows = [change for change in every if is_declaring(change.path)][:BLOBS]
        oids = sorted({oid for change in rows for oid in (change.old, change.new)} - {"", HERE})
        texts = dict(self._code.trees.blobs(oids))
        read: dict[tuple[str, str], Declared] = {}
        for change in rows:
            for oid in (change.old, change.new):
                key = change.path, oid
                if key not in read:
                    here = (self._text(change.path) or "").encode() if oid == HERE else b""
                    read[key] = declared_in(change.path, texts.get(oid) or here)
        return [
            (change, read[change.path, change.old], read[change.path, change.new])
            for change in rows
        ]

    @cached_property
    def dependencies(self) -> dict[str, Gone]:
        """The last removal of each dependency, by its name in one spelling."""
        return {canonical(gone.name): gone for gone in reversed(list(self._lost(_dependencies)))}

    @cached_property
    def named_elsewhere(self) -> dict[str, set[str]]:
        """In which files of the work tree, but code, the names of lost dependencies are."""
        every = self.words_now(sorted({gone.name for gone in self.dependencies.values()}))
        return {
            name: {path for path in paths if not grammars.language_of(path)}
            for name, paths in every.items()
        }

    @cached_property
    def scripts(self) -> dict[tuple[str, str], Gone]:
        """The last removal of each script and command, by what runs it and its name."""
        every = reversed(list(self._lost(_scripts)))
        return {(gone.ecosystem, gone.name): gone for gone in every}

    def _lost(self, names: Callable[[Declared], dict[str, str]]) -> Iterator[Gone]:
        for change, old, new in self._changes:
            after = names(new)
            for name, was in names(old).items():
                if name not in after:
                    place = change.path, change.commit, change.at
                    yield Gone(name, *place, was, old.ecosystem)

    @cached_property
    def versions(self) -> dict[str, list[Gone]]:
        """The versions that dependencies, languages and tools had before each change of them."""
        out: dict[str, list[Gone]] = {}
        for change, old, new in self._changes:
            after = _versions(new)
            for name, was in _versions(old).items():
                if was and after.get(name) != was:
                    gone = Gone(name, change.path, change.commit, change.at, was, old.ecosystem)
                    out.setdefault(canonical(name), []).append(gone)
        return out

    # -- words

    @cached_property
    def _dates(self) -> list[tuple[int, str]]:
        return self._past.dates(self._commit)

    def base(self, said: Said) -> str:
        """Return the commit whose code a fact was said of; '' where there was none."""
        if said.commit:
            return said.commit
        number = bisect_right(self._dates, (said.at, "~"))
        return self._dates[number - 1][1] if number else ""

    def words_now(self, words: Sequence[str]) -> dict[str, set[str]]:
        """Return in which files of the work tree words are, documents left out."""
        out: dict[str, set[str]] = {}
        for hit in self._past.hits(words, without=DOCUMENTS):
            out.setdefault(hit.word, set()).add(hit.path)
        return out

    def words_then(self, words: Sequence[str], commit: str) -> dict[str, list[WordHit]]:
        """Return where words were in the files of a commit that are not as they were.

        Documents and tests are left out.
        """
        changed = {change.path for change in self._uncommitted}
        changed.update(self._past.differing(commit, self._commit))
        paths = [f":(top,literal){path}" for path in sorted(changed)]
        hits = self._past.hits(words, commit, paths=paths, without=DOCUMENTS)
        out: dict[str, list[WordHit]] = {}
        for hit in hits:
            out.setdefault(hit.word, []).append(hit)
        return {word: [hit for hit in some if not is_test(hit.path)] for word, some in out.items()}

    def _listing(self, commit: str) -> dict[str, str]:
        if commit not in self._listings:
            try:
                tree = self._code.trees.resolve(commit)[1]
            except GitmemError:
                return {}
            self._listings = {commit: self._code.trees.listing(tree)}  # facts come by commits
        return self._listings[commit]

    def defined_then(
        self, symbol: str, hits: Sequence[WordHit], commit: str
    ) -> DefinitionPlace | None:
        """Return where a name was defined in a commit, in the files that have its last part."""
        listing = self._listing(commit)
        for path in dict.fromkeys(hit.path for hit in hits):
            oid = listing.get(path)
            if not oid or not grammars.language_of(path):
                continue
            tags = self._code.tags(Graph(commit, "", {}, {path: oid}), path)
            for name, qualified, _, first, *_ in tags.symbols if tags else ():
                if symbol in {name, qualified} or qualified.endswith(f".{symbol}"):
                    return DefinitionPlace(path, first)
        return None


def _dependencies(declared: Declared) -> dict[str, str]:
    return declared.dependencies


def _versions(declared: Declared) -> dict[str, str]:
    return declared.dependencies | declared.needs


def _scripts(declared: Declared) -> dict[str, str]:
    return declared.scripts | dict.fromkeys(declared.starts, "")
