"""The graph of a commit's code: which file uses what of which other.

Read once, then kept up by what changed.

A refresh starts from the graph of the tree that was looked at last: it parses the blobs that nobody
has seen, resolves again the files whose answer may be another one now, and keeps the rest.
`tests/codemap/graph/test_graph.py` holds it to what a build from nothing gives.
"""

import contextlib
import hashlib
import math
import os
import re
from collections.abc import Callable, Generator, Iterator, Mapping, Set

from gitmem.base.fast import sqlite
from gitmem.base.sqlite import is_damage
from gitmem.codemap import grammars
from gitmem.codemap.graph import parse_worker, sources
from gitmem.codemap.graph.cache import GraphCache, Use, unpack
from gitmem.codemap.graph.file_names import ECMA
from gitmem.codemap.graph.graph import NO_GRAMMAR, Graph, packed, unpacked
from gitmem.codemap.graph.reading_time import WHOLE, ReadingTime
from gitmem.codemap.graph.resolve import Resolution
from gitmem.codemap.imports.files import ProjectFiles, is_manifest
from gitmem.codemap.tags.tags import Tags, uses_at
from gitmem.errors import GitFailed
from gitmem.git.code_trees import CodeTrees
from gitmem.git.work_state import file_on_disk

FORMAT = "3"  # of a state
LARGE = 20_000  # files of code
FEW = 40  # blobs that are read in this process; more are worth the start of others
TOGETHER = 100  # texts that are read at once
MANIFEST = 4 << 20  # bytes of a manifest that is read
# a name may be in any file: these are resolved all at once
GROUPED = frozenset({"go", "java", "csharp", "php", "ruby", "c", "cpp"})
# files that say where packages begin
TURNING = frozenset({"__init__.py", "__init__.pyi", "lib.rs", "main.rs"})
# files that are meant by their folder's name
STANDS_FOR = frozenset({"__init__", "index", "mod", "lib", "main"})
FOLDER = ".."  # in the words of a file: it imports a folder without its name
_SEPARATORS = re.compile(r"[./\\:@#]+")

Progress = Callable[[int, int], None]


class CodeMap:
    """Reads the code of one repository's commits.

    `hides` says of a path that nothing is kept of it; `salt` is another text when it would say
    something else.
    """

    def __init__(
        self,
        trees: CodeTrees,
        folder: str,
        env: Mapping[str, str],
        hides: Callable[[str], bool] = lambda _: False,
        salt: str = "",
        workers: int = 0,
    ) -> None:
        self.trees = trees
        self.folder = folder
        self.cache = GraphCache(folder)
        self._env = {**env, "GIT_NO_LAZY_FETCH": "1"}  # as `CodeTrees`
        self._hides = hides
        self._workers = workers or max(
            1,
            min(
                8,
                len(os.sched_getaffinity(0))
                if hasattr(os, "sched_getaffinity")
                else os.cpu_count() or 1,
            ),
        )
        versions = " ".join(grammars.version_of(language) for language in sorted(grammars.GRAMMARS))
        self._prefix = hashlib.sha256(f"{FORMAT} {versions} {salt}".encode()).hexdigest()[:16] + " "
        self._read: dict[tuple[str, str], Tags | str] = {}

    def close(self) -> None:
        """Close the cache."""
        self.cache.close()

    def graph(
        self,
        revision: str = "HEAD",
        progress: Progress | None = None,
        *,
        uncommitted: bool = False,
        reading: ReadingTime = WHOLE,
    ) -> Graph:
        """Return the graph of a commit, with what the work tree has besides when `uncommitted`.

        Where the time is too short, files are left `unread`: what was read is kept, and the next
        call goes on. Raises UserError when there is no such commit.
        """
        commit, tree = self.trees.resolve(revision)
        try:
            kept = self._of_tree(commit, tree, progress, reading)
        except sqlite.DatabaseError as error:
            if not is_damage(error):
                raise
            self.cache.forget()  # all of it can be read again
            kept = self._of_tree(commit, tree, progress, reading)
        return self._with_uncommitted(kept, progress) if uncommitted and self.trees.root else kept

    def kept_graph(self, tree: str) -> Graph | None:
        """Return the graph of a tree if it was made before."""
        state = self.cache.state(self._prefix + tree)
        return unpacked("", tree, state, self._prefix + tree) if state else None

    def is_large(self, tree: str) -> bool:
        """Return whether an unread tree has so much code that it is read only on request.

        Reading it takes minutes of work and gigabytes.
        """
        if self.cache.state(self._prefix + tree) is not None:
            return False
        return sum(bool(grammars.language_of(path)) for path in self.trees.listing(tree)) > LARGE

    def tags(self, graph: Graph, path: str) -> Tags | None:
        """Return what a file of a graph says of itself; None for one that was not parsed."""
        oid = graph.files.get(path)
        tags = self._get(oid, grammars.language_of(path)) if oid else "unread"
        return tags if isinstance(tags, Tags) else None

    def every(self, graph: Graph) -> dict[str, Tags]:
        """Return what all files of a graph say of themselves, by path."""
        return self._all(graph.files)

    def text(self, graph: Graph, path: str) -> bytes:
        """Return the text of a file of a graph.

        It is the committed text, or the text on disk for what is not committed yet.
        """
        oid = graph.listing.get(path, "")
        content = next((data for _, data in self.trees.blobs([oid])), None) if oid else None
        return _on_disk(self.trees, path) if content is None else content

    def texts(self, graph: Graph, paths: "list[str]") -> Iterator[tuple[str, bytes]]:
        """Yield (path, text as `text` returns it) of some files, in the order of the paths."""
        for begin in range(0, len(paths), TOGETHER):
            part = paths[begin : begin + TOGETHER]
            oids = {graph.listing[path] for path in part if graph.listing.get(path)}
            blobs = dict(self.trees.blobs(sorted(oids)))
            for path in part:
                data = blobs.get(graph.listing.get(path, ""))
                yield path, _on_disk(self.trees, path) if data is None else data

    def texts_with_uses(
        self, graph: Graph, paths: "list[str]"
    ) -> "Iterator[tuple[str, bytes, list[Use]]]":
        """Yield what `texts` does, with the uses of names in it, as `tags.uses_at` returns them.

        A committed text is parsed once.
        """
        every = self._all({path: graph.files[path] for path in paths})
        new: list[tuple[str, str, list[Use]]] = []
        for path, data in self.texts(graph, paths):
            oid, tags = graph.listing.get(path, ""), every[path]
            uses = self.cache.uses(oid, tags.language) if oid else None
            if uses is None:
                uses = uses_at(data, tags)
                new += [(oid, tags.language, uses)] if oid else []
            yield path, data, uses
        if new:
            self.cache.put_uses(new)

    def lazy_tags(self, graph: Graph, instead: Mapping[str, Tags]) -> Mapping[str, Tags]:
        """Return what the files of a graph say of themselves, each read when it is asked for.

        `instead` has those that say something else now.
        """
        return _Lazy(self, graph.files, instead)

    def resolution(self, graph: Graph, tags: Mapping[str, Tags] | None = None) -> Resolution:
        """Return what resolves the names of a graph's files.

        `tags` is what they say of themselves, if that is not what the graph has.
        """
        return Resolution(self._files(graph.listing), tags or _Lazy(self, graph.files))

    # -- one tree

    def _of_tree(
        self, commit: str, tree: str, progress: Progress | None, reading: ReadingTime
    ) -> Graph:
        key = self._prefix + tree
        state = self.cache.state(key)
        if state:
            return unpacked(commit, tree, state, key)
        latest = self._latest(commit, tree)
        if latest:
            base, changes = latest
            graph = Graph(commit, tree, _changed_listing(base.listing, changes))
            made = self._next(base, graph, set(changes), progress, reading=reading)
            is_like = base.edges == made.edges and base.files.keys() == made.files.keys()
            like = self._prefix + base.tree if is_like else ""
        else:
            graph = Graph(commit, tree, self.trees.listing(tree))
            made, like = self._build(graph, progress, reading), ""
        if made.unread:
            return made
        made.key = key
        self.cache.put_state(key, packed(made), like)
        return made

    def _latest(self, commit: str, tree: str) -> tuple[Graph, dict[str, str]] | None:
        """Return the graph that was kept last, and {path: blob} of what a tree has other than it.

        The blob is empty for a file that is gone. None where no kept tree can be compared.
        """
        for _, before in self.cache.latest(self._prefix):
            try:
                changes = {row.path: row.new for row in self.trees.changed(before["tree"], tree)}
            except GitFailed:  # it was pruned
                continue
            return unpacked(commit, before["tree"], before, ""), changes
        return None

    def _build(self, graph: Graph, progress: Progress | None, reading: ReadingTime) -> Graph:
        graph.attributed = self._attributes(graph, list(graph.listing))
        self._take(graph, graph.listing, progress, {}, reading)
        if graph.unread:
            _leave_unresolved(graph)
        else:
            self._resolve(graph, list(graph.files))
        return graph

    def _next(
        self,
        base: Graph,
        graph: Graph,
        changed: set[str],
        progress: Progress | None,
        texts: "Mapping[str, bytes] | None" = None,
        reading: ReadingTime = WHOLE,
    ) -> Graph:
        """Return the graph of a listing from that of another one that differs in some paths."""
        changed = self._next_attributes(base, graph, changed, texts)
        graph.files = {path: oid for path, oid in base.files.items() if path not in changed}
        graph.skipped = {path: why for path, why in base.skipped.items() if path not in changed}
        self._take(
            graph,
            {path: graph.listing[path] for path in sorted(changed) if path in graph.listing},
            progress,
            texts or {},
            reading,
        )
        graph.files = dict(sorted(graph.files.items()))
        graph.unread += base.unread
        if graph.unread:
            _leave_unresolved(graph, base)
            return graph
        affected = self._affected(base, graph, changed)
        for path in graph.files.keys() - affected:
            graph.edges[path] = base.edges[path]
            graph.consulted[path] = base.consulted[path]
            graph.words[path] = base.words[path]
        self._resolve(graph, sorted(affected))
        graph.edges = dict(sorted(graph.edges.items()))
        return graph

    def _next_attributes(
        self, base: Graph, graph: Graph, changed: set[str], texts: "Mapping[str, bytes] | None"
    ) -> set[str]:
        """Give a graph the attributes of its files; return the files that changed, by these too."""
        if any(path.rsplit("/", 1)[-1] == ".gitattributes" for path in changed):
            graph.attributed = self._attributes(graph, list(graph.listing), texts)
            return changed | {
                path
                for path in graph.attributed.keys() | base.attributed.keys()
                if graph.attributed.get(path) != base.attributed.get(path)
            }
        graph.attributed = {
            path: said
            for path, said in base.attributed.items()
            if path in graph.listing and path not in changed
        }
        graph.attributed |= self._attributes(graph, sorted(changed & graph.listing.keys()), texts)
        return changed

    def _affected(self, base: Graph, graph: Graph, changed: set[str]) -> set[str]:
        """Return the files whose edges may be others than they were."""
        everything = set(graph.files)
        moved = {path for path in changed if _has(base, path) != _has(graph, path)}
        if any(is_manifest(path) for path in changed) or any(
            path.rsplit("/", 1)[-1] in TURNING for path in moved
        ):
            return everything
        # files that say something else to those who import them, or are new or gone
        turned = moved | {
            path
            for path in changed - moved
            if path in graph.files and self._promise(base, path) != self._promise(graph, path)
        }
        out = (changed & everything) | _of_grouped(everything, turned)
        if not turned:
            return out
        turned |= _below_stand_ins(everything, moved) | _naming(base, everything, moved)
        # whoever looked at what passes on something else now
        out |= turned & everything
        out |= {
            path
            for path in everything - out
            if not turned.isdisjoint(base.edges.get(path, ()))
            or not turned.isdisjoint(base.consulted.get(path, ()))
        }
        return out

    def _promise(self, graph: Graph, path: str) -> object:
        tags = self.tags(graph, path)
        if tags is None:
            return None
        return (
            tags.package,
            [(name, qualified, kind) for name, qualified, kind, *_ in tags.symbols],
            [statement._replace(line=0) for statement in tags.imports],
            tags.declared,
            tags.exported,
        )

    def _take(
        self,
        graph: Graph,
        paths: Mapping[str, str],
        progress: Progress | None,
        texts: Mapping[str, bytes],
        reading: ReadingTime = WHOLE,
    ) -> None:
        """Read what is new of some paths, and note which of them are files of the graph."""
        wanted: dict[str, tuple[str, str]] = {}
        for path, oid in paths.items():
            language = grammars.language_of(path)
            why = self._why_not(graph, path, language) if language else ""
            if why:
                graph.skipped[path] = why
            elif language:
                wanted[path] = oid, language
        missing = self.cache.missing(blob for blob in wanted.values() if blob not in self._read)
        graph.fresh += len(missing)
        given = {wanted[path]: data for path, data in texts.items() if path in wanted}
        self._keep(
            [
                (oid, language, parse_worker.read_blob(given[oid, language], language))
                for oid, language in missing
                if (oid, language) in given
            ]
        )
        missing = [blob for blob in missing if blob not in given]
        if len(missing) > FEW and reading.until < math.inf:
            places = {wanted.get(path): -n for n, path in enumerate(reversed(reading.first()))}
            missing.sort(key=lambda blob: places.get(blob, 1))
        left = self._read_missing(missing, progress, reading)
        read = {path: blob for path, blob in wanted.items() if blob not in left}
        graph.unread += len(wanted) - len(read)
        tags = self._all({path: oid for path, (oid, _) in read.items()}, graph.skipped)
        graph.files.update((path, wanted[path][0]) for path in tags)

    def _why_not(self, graph: Graph, path: str, language: str) -> str:
        """Return why a file is not read, '' when it is."""
        if self._hides(path):
            return "ignored"
        why = sources.why_not(path, graph.attributed.get(path, {}))
        return why or ("" if grammars.grammar(language) else NO_GRAMMAR)

    def _read_missing(
        self,
        missing: "list[tuple[str, str]]",
        progress: Progress | None,
        reading: ReadingTime,
    ) -> "set[tuple[str, str]]":
        """Read blobs of a language; return those that there was no time for."""
        left, total = set(missing), len(missing)
        step = (lambda done: progress(done, total)) if progress else (lambda _: None)
        workers, gitdir = self._workers, self.trees.gitdir
        parts = (
            parse_worker.read_all(gitdir, self._env, missing, workers, step)
            if total > FEW
            else self._here(missing)
        )
        rows: list[tuple[str, str, bytes]] = []
        with contextlib.closing(parts):
            for number, part in enumerate(parts):
                if not number:  # the processes that read have started
                    reading = reading.at_least()
                rows += part
                left.difference_update((oid, language) for oid, language, _ in part)
                if len(rows) >= 500:  # what was read is kept, should this be ended
                    self._keep(rows)
                    rows = []
                # what comes first may come from a slower process
                if reading.is_over and total > FEW and missing[0] not in left:
                    break
        self._keep(rows)
        return left

    def _here(
        self, missing: "list[tuple[str, str]]"
    ) -> "Generator[list[tuple[str, str, bytes]], None, None]":
        languages = dict[str, list[str]]()
        for oid, language in missing:
            languages.setdefault(oid, []).append(language)
        for oid, data in self.trees.blobs(list(languages)):
            yield [
                (oid, language, parse_worker.read_blob(data, language))
                for language in languages[oid]
            ]

    def _keep(self, rows: "list[tuple[str, str, bytes]]") -> None:
        said = {(oid, language): unpack(data) for oid, language, data in rows}
        self._read.update(said)
        # a later fetch may bring it
        if present := [row for row in rows if said[row[0], row[1]] != "missing"]:
            self.cache.put(present)

    def _get(self, oid: str, language: str) -> "Tags | str":
        key = oid, language
        if key not in self._read:
            self._read[key] = self.cache.get(oid, language)
            if self._read[key] == "unread":  # it was pruned, or its row is damaged
                for part in self._here([key]):
                    self._keep(part)
        return self._read[key]

    def _all(
        self, files: Mapping[str, str], skipped: "dict[str, str] | None" = None
    ) -> dict[str, Tags]:
        """Return what some files say of themselves; why one does not is noted in `skipped`."""
        wanted = {path: (oid, grammars.language_of(path)) for path, oid in files.items()}
        lacking = {blob: None for blob in wanted.values() if blob not in self._read}
        if len(lacking) > 200:
            self._read.update(
                ((oid, language), said)
                for oid, language, said in self.cache.all(lacking)
                if said != "unread"
            )
        out: dict[str, Tags] = {}
        for path, (oid, language) in wanted.items():
            said = self._get(oid, language)
            if isinstance(said, Tags):
                out[path] = said
            elif skipped is not None:
                skipped[path] = said
        return out

    def _resolve(self, graph: Graph, paths: "list[str]") -> None:
        if len(paths) > 200:
            self._all(graph.files)
        resolution = Resolution(self._files(graph.listing), _Lazy(self, graph.files))
        for path in paths:
            edges, consulted = resolution.edges(path)
            graph.edges[path] = {
                user: names for user, names in sorted(edges.items()) if user in graph.files
            }
            graph.consulted[path] = consulted
            tags = self.tags(graph, path)
            assert tags is not None
            graph.words[path] = _words(tags)

    def _files(self, listing: Mapping[str, str]) -> ProjectFiles:
        manifests = {
            path: oid
            for path, oid in listing.items()
            if is_manifest(path) and not sources.why_not(path, {})
        }
        return ProjectFiles(listing, _BlobTexts(self.trees, manifests))

    def _attributes(
        self, graph: Graph, paths: "list[str]", texts: "Mapping[str, bytes] | None" = None
    ) -> dict[str, dict[str, str]]:
        """Return the attributes of some paths as the tree has them.

        When there are `texts` of the work tree, the attributes are as the work tree has them.
        """
        files = {
            path: oid
            for path, oid in graph.listing.items()
            if path.rsplit("/", 1)[-1] == ".gitattributes"
        }
        own = {path: data for path, data in (texts or {}).items() if path in files}
        said = [
            *own.values(),
            *(
                data or b""
                for _, data in self.trees.blobs(
                    [oid for path, oid in files.items() if path not in own]
                )
            ),
        ]
        if not paths or not any(b"linguist-" in data for data in said):
            return {}
        return self.trees.attributes("" if texts is not None else graph.tree, paths)

    # -- the work tree

    def _with_uncommitted(self, base: Graph, progress: Progress | None) -> Graph:
        texts: dict[str, bytes] = {}
        listing = dict(base.listing)
        changed: set[str] = set()
        for path, oid, data in self.trees.uncommitted(len(base.tree), _matters):
            if listing.get(path, "") != oid:
                changed.add(path)
                texts[path] = data
                if oid:
                    listing[path] = oid
                else:
                    listing.pop(path, None)
        if not changed:
            return base
        graph = Graph(base.commit, base.tree, dict(sorted(listing.items())))
        return self._next(
            base,
            graph,
            changed,
            progress,
            {path: data for path, data in texts.items() if path in listing},
        )

    def prune(self) -> tuple[int, int]:
        """Remove what no branch, tag, work tree or stash needs any more.

        Return (blobs removed, blobs kept).
        """
        trees = self.trees.tips()
        needed: set[str] = set()
        for tree in trees:
            needed.update(self.trees.listing(tree).values())
        return self.cache.prune(needed, {self._prefix + tree for tree in trees})


def _has(graph: Graph, path: str) -> tuple[bool, bool]:
    return path in graph.listing, path in graph.files


def _of_grouped(everything: Set[str], turned: Set[str]) -> set[str]:
    """Return the files of the grouped languages that files which turned are in."""
    languages = {grammars.language_of(path) for path in turned} & GROUPED
    if languages & {"c", "cpp"}:
        languages |= {"c", "cpp"}
    if not languages:
        return set()
    return {path for path in everything if grammars.language_of(path) in languages}


def _below_stand_ins(everything: Set[str], moved: Set[str]) -> set[str]:
    """Return the files beside and below what is meant by its folder's name.

    They may mean the folder without its name: `.`, `..`.
    """
    out: set[str] = set()
    for path in moved:
        folder, _, name = path.rpartition("/")
        if name.partition(".")[0] in STANDS_FOR:
            below = f"{folder}/" if folder else ""
            out |= {inner for inner in everything if inner.startswith(below)}
    return out


def _naming(base: Graph, everything: Set[str], moved: Set[str]) -> set[str]:
    """Return the files that have a word which could name one of the files that moved."""
    words = {f" {word} " for path in moved for word in _words_for(path)}
    return {
        path
        for path, said in base.words.items()
        if path in everything and any(word in said for word in words)
    }


def _changed_listing(listing: Mapping[str, str], changes: Mapping[str, str]) -> dict[str, str]:
    """Return {path: blob} with changes; an empty blob is a file that is gone."""
    return {path: oid for path, oid in sorted({**listing, **changes}.items()) if oid}


def _leave_unresolved(graph: Graph, base: Graph | None = None) -> None:
    """Take over the edges that are known of the files of a graph; the others have none."""
    for path in graph.files:
        graph.edges[path] = base.edges.get(path, {}) if base else {}
        graph.consulted[path] = base.consulted.get(path, []) if base else []
        graph.words[path] = base.words.get(path, "") if base else ""


class _Lazy(Mapping[str, Tags]):
    """What the files of a graph say of themselves, read when it is asked for."""

    def __init__(
        self, code: CodeMap, files: Mapping[str, str], instead: Mapping[str, Tags] | None = None
    ) -> None:
        self._code = code
        self._files = {**files, **dict.fromkeys(instead, "")} if instead else files
        self._found: dict[str, Tags] = dict(instead or {})

    def __getitem__(self, path: str) -> Tags:
        if path in self._found:
            return self._found[path]
        tags = self._code._get(self._files[path], grammars.language_of(path))
        if not isinstance(tags, Tags):
            raise KeyError(path)
        self._found[path] = tags
        return tags

    def __contains__(self, path: object) -> bool:
        return path in self._files

    def __iter__(self) -> Iterator[str]:
        self._code._all(self._files)
        return iter(self._files)

    def __len__(self) -> int:
        return len(self._files)


class _BlobTexts(Mapping[str, bytes]):
    """The texts of a tree's manifests, read all at once when the first is asked for."""

    def __init__(self, trees: CodeTrees, manifests: Mapping[str, str]) -> None:
        self._trees = trees
        self._manifests = manifests
        self._read: dict[str, bytes] | None = None

    def __getitem__(self, path: str) -> bytes:
        if self._read is None:
            texts = dict(self._trees.blobs(sorted(set(self._manifests.values()))))
            self._read = {}
            for manifest, oid in self._manifests.items():
                data = texts.get(oid)
                self._read[manifest] = (_on_disk(self._trees, manifest) if data is None else data)[
                    :MANIFEST
                ]
        return self._read[path]

    def __contains__(self, path: object) -> bool:
        return path in self._manifests

    def __iter__(self) -> Iterator[str]:
        return iter(self._manifests)

    def __len__(self) -> int:
        return len(self._manifests)


def _matters(path: str) -> bool:
    return (
        bool(grammars.language_of(path))
        or is_manifest(path)
        or path.rsplit("/", 1)[-1] == ".gitattributes"
    )


def _on_disk(trees: CodeTrees, path: str) -> bytes:
    """Return the text of a file that is not committed yet; nothing when there is none."""
    content = file_on_disk(trees.root, path, MANIFEST) if trees.root else None
    return content[1] if isinstance(content, tuple) else b""


def _words_for(path: str) -> set[str]:
    """Return the names of which an import has one if it may mean a file."""
    folder, _, name = path.rpartition("/")
    stem = name.partition(".")[0]
    out = {stem}
    if stem in STANDS_FOR and folder:
        out.add(folder.rpartition("/")[2])
    if grammars.language_of(path) in ECMA:  # a package.json may name it for its folder
        out.update((FOLDER, *folder.split("/")))
    return out


def _words(tags: Tags) -> str:
    """Return the names in a file's imports, each between spaces; `FOLDER` for one of `..`.

    A file matters to the imports only if it has one of these names.
    """
    words: dict[str, None] = {}
    for statement in tags.imports:
        words.update(dict.fromkeys(_SEPARATORS.split(statement.module)))
        if not statement.module.strip("./"):
            words[FOLDER] = None
        words.update((name, None) for name, _ in statement.names)
    return f" {' '.join(words)} "
