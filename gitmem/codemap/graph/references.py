"""Where a definition is used.

Uses by imports that lead to it are kept apart from places where only the name is the same.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate

from gitmem.codemap.graph.code_map import CodeMap
from gitmem.codemap.graph.graph import Graph
from gitmem.codemap.graph.resolve import ATTRIBUTE, TYPES, Place, Resolution
from gitmem.codemap.symbols.definitions import parts
from gitmem.codemap.tags import tags as reader
from gitmem.codemap.tags.import_statements import DEFAULT, STAR
from gitmem.codemap.tags.tags import Tags
from gitmem.codemap.tags.uses import ANNOTATION, SELF, SELF_BY_LANGUAGE, TYPED, TYPENAME

MARKS = f"{TYPED}{ANNOTATION}{TYPENAME}\\"
FUNCTIONS = frozenset({"function", "method", "macro"})
# languages in which what is written like a type and is of no file here is a type of elsewhere
TYPE_HEADS = frozenset({"rust", "java", "php"})
# languages in which a name alone may be a member of the object at hand
IMPLICIT = frozenset({"java", "csharp", "cpp", "ruby"})


@dataclass(frozen=True, slots=True)
class Definition:
    """A definition in a file; lines from 1."""

    path: str
    name: str
    qualified: str
    kind: str
    first: int
    last: int
    at: int = 0
    column: int = 0


@dataclass(frozen=True, slots=True)
class Reference:
    """A use of a name; line from 1, column in characters from 1.

    `sure` when imports lead from there to the definition, else only the name is the same.
    """

    path: str
    line: int
    column: int
    text: str
    sure: bool
    inside: str = ""  # the definition around it
    is_import: bool = False


def symbols_of(path: str, tags: Tags) -> list[Definition]:
    """Return the definitions of a file, in order."""
    return [
        Definition(path, name, qualified, kind, first, last, at, column)
        for name, qualified, kind, first, last, column, _, at in tags.symbols
    ]


def named(code: CodeMap, graph: Graph, name: str) -> list[Definition]:
    """Return the definitions of a name in a graph: by qualified name, else by the end of it.

    By path, then line.
    """
    want = parts(name)
    if not want:
        return []
    found = [
        one
        for path, tags in code.every(graph).items()
        for one in symbols_of(path, tags)
        if one.name == want[-1] and parts(one.qualified)[-len(want) :] == want
    ]
    exact = [one for one in found if parts(one.qualified) == want]
    return exact or found


def references(code: CodeMap, graph: Graph, wanted: list[Definition]) -> Iterator[Reference]:
    """Yield the uses of some definitions of one name, by path, then line."""
    if not wanted:
        return
    resolution = code.resolution(graph)
    search = _Search(resolution, wanted)
    every = code.every(graph)
    paths = [
        path
        for path, tags in sorted(every.items())
        if any(_names(tags, name) for name in search.names_in(path))
    ]
    for path, data in code.texts(graph, paths):
        yield from _in_file(search, path, every[path], data)


def _in_file(search: "_Search", path: str, tags: Tags, data: bytes) -> Iterator[Reference]:
    """Yield the uses of what is searched in one file."""
    rows = data.split(b"\n")
    starts = list(accumulate((len(row) + 1 for row in rows), initial=0))
    symbols = [one for one in symbols_of(path, tags) if one.kind != "constant"]
    names = search.names_in(path)
    seen: set[tuple[int, int]] = set()
    for key, begin, end, imported in reader.uses_at(data, tags):
        parts = key.lstrip(MARKS).split(".")
        used = next((part for part in parts if part in names), None)
        if used is None:
            continue
        at = bisect_right(starts, begin) - 1
        around = [one for one in symbols if one.first <= at + 1 <= one.last]
        sure = (
            search.imports(path, used)
            if imported
            else search.is_use(path, key, used, sorted(around, key=lambda one: one.first))
        )
        if sure is None:
            continue
        written = data[begin:end].decode("utf-8", "replace")
        column = len(rows[at][: begin - starts[at]].decode("utf-8", "replace")) + max(
            0, _within(written, used)
        )
        if (at, column) in seen:
            continue
        seen.add((at, column))
        inner = max(around, key=lambda one: (one.first, -one.last), default=None)
        text = rows[at].decode("utf-8", "replace").strip()[:200]
        yield Reference(
            path, at + 1, column + 1, text, sure, inner.qualified if inner else "", imported
        )


def _within(text: str, name: str) -> int:
    """Return where a name begins in a text as a word of its own, or -1."""
    match = re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text)
    return match.start() if match else -1


def is_type_name(name: str) -> bool:
    """Say whether a name is written like that of a type: `Vec`, not `vec` or `MAX`."""
    return name[:1].isupper() and not (len(name) > 1 and name.isupper())


class _Search:
    """Tells uses of some definitions of one name from other things that are called the same."""

    def __init__(self, resolution: Resolution, wanted: list[Definition]) -> None:
        self._resolution = resolution
        self.name = wanted[0].name
        self._targets = {resolution.identity((one.path, one.qualified)) for one in wanted}
        self._is_type = any(one.kind in TYPES for one in wanted)
        self._is_inner = all("." in one.qualified for one in wanted)
        self._bound: dict[str, list[tuple[str, str]]] = {}

    def names_in(self, path: str) -> set[str]:
        """Return the names by which a file may call what is searched."""
        names = {self.name}.union(*self._names_bound(path))
        if self._resolution.language(path) == "csharp" and self.name.endswith(ATTRIBUTE):
            names.add(self.name.removesuffix(ATTRIBUTE))
        return names

    def _names_bound(self, path: str) -> list[tuple[str, str]]:
        """Return (name there, name here) of the imports that lead to what is searched."""
        if path not in self._bound:
            self._bound[path] = [
                (one.local if one.name in {DEFAULT, STAR} else one.name, one.local)
                for one in self._resolution.bindings(path)
                if one.local not in {"", STAR}
                and one.name
                and self._hits(self._resolution.bound(one, path))
            ]
        return self._bound[path]

    def _hits(self, place: Place | None) -> bool:
        return place is not None and self._resolution.identity(place) in self._targets

    def imports(self, path: str, used: str) -> bool | None:
        """Return True when a name in an import is what is searched, else None."""
        return True if any(used == there for there, _ in self._names_bound(path)) else None

    def is_use(self, path: str, key: str, used: str, around: list[Definition]) -> bool | None:
        """Say whether a use is one of what is searched, or may be (False), or is not (None).

        `around` are the definitions around it, the outermost first.
        """
        typed = key.startswith(TYPED)
        if key[0] in {ANNOTATION, TYPENAME}:
            return self._as_type(path, key, used, around)
        names = key.removeprefix(TYPED).split(".")
        at = next((n for n, name in enumerate(names) if name.removeprefix("\\") == used), -1)
        if typed and at == 0:
            return None  # the name of the type is not written there
        names = names[: at + 1]
        language = self._resolution.language(path)
        if len(names) == 1:
            return self._alone(path, names[0], language, around)
        if not names[0]:
            return self._perhaps(used)
        if len(names) == 2 and (own := self._own_member(path, names, language, around)) is not None:
            return True if self._hits(own) else None
        meaning = self._resolution.means(path, ".".join([TYPED * typed + names[0], *names[1:]]))
        if meaning is not None and meaning.length == len(names):
            return True if self._hits(meaning.place) else None
        if meaning is None and (
            names[0] in self._resolution.external(path)
            or (language in TYPE_HEADS and not typed and is_type_name(names[0]))
        ):
            return None
        return self._perhaps(used)

    def _as_type(self, path: str, key: str, used: str, around: list[Definition]) -> bool | None:
        """Judge a name that can only be one of a type."""
        types = self._resolution.types(path)
        for one in reversed(around):
            if f"{one.qualified}.{used}" in types:
                return True if self._hits((path, f"{one.qualified}.{used}")) else None
        meaning = self._resolution.means(path, key)
        if meaning is not None:
            return True if self._hits(meaning.place) else None
        return self._perhaps(used) if self._is_type else None

    def _perhaps(self, used: str) -> bool | None:
        return False if used == self.name else None

    def _own_member(
        self, path: str, names: list[str], language: str, around: list[Definition]
    ) -> Place | None:
        """Return the member of the class around a use that `self.name` means."""
        if names[0] not in SELF | SELF_BY_LANGUAGE.get(language, SELF):
            return None
        if names[0] in {"super", "parent", "base"}:
            return None
        return self._member_around(path, names[1], around, containers=True)

    def _member_around(
        self, path: str, name: str, around: list[Definition], *, containers: bool
    ) -> Place | None:
        """Return the definition of a name inside of what is around a use, from the inside out."""
        for one in reversed(around):
            outer = [one.qualified] if containers or one.kind in FUNCTIONS else []
            if containers and one.kind in FUNCTIONS:
                outer = [one.qualified.rpartition(".")[0]]
            for qualified in outer:
                place = (
                    self._resolution.member((path, qualified), name, path) if qualified else None
                )
                if place is not None:
                    return place
        return None

    def _alone(self, path: str, name: str, language: str, around: list[Definition]) -> bool | None:
        """Judge a name that is written without a receiver."""
        implicit = language in IMPLICIT
        inner = self._member_around(path, name, around, containers=False)
        if inner is None and implicit:
            inner = self._member_around(path, name, around, containers=True)
        meaning = self._resolution.means(path, name)
        if inner is not None and implicit and meaning is not None and meaning.place != inner:
            # a member that is called like a type: which of the two, only the grammar knows
            return False if self._hits(inner) or self._hits(meaning.place) else None
        if inner is not None:
            return True if self._hits(inner) else None
        if meaning is not None:
            return True if self._hits(meaning.place) else None
        if name in self._resolution.external(path) or (self._is_inner and not implicit):
            return None
        return self._perhaps(name)


def _names(tags: Tags, name: str) -> bool:
    if any(name in key.lstrip(MARKS).split(".") for key in tags.uses if name in key):
        return True
    return any(name in pair for one in tags.imports for pair in one.names)
