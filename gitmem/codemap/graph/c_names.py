"""What a name means in C and C++: definitions in what a file includes.

A header promises a function, a source file that includes it has it. Namespaces decide what a name
without them can mean; what is in a class is reached through the class only.
"""

import posixpath
import re
from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from gitmem.codemap.imports.files import Binding, shared
from gitmem.codemap.tags.tags import Tags
from gitmem.text.test_files import is_test

C = frozenset({"c", "cpp"})
Place = tuple[str, str]
_INLINE = re.compile(r"v\d+|inline|abi\w*|__\w+")  # namespaces that nobody writes
STANDARD = "std"


class _Row(NamedTuple):
    path: str
    qualified: str
    parts: tuple[str, ...]  # without inline namespaces
    free: bool  # only namespaces are around it
    is_function: bool


class CNames:
    """The definitions of all C and C++ files, by their last names.

    `bindings` gives what the includes of a file bind.
    """

    def __init__(
        self, tags: Mapping[str, Tags], bindings: Callable[[str], Iterable[Binding]]
    ) -> None:
        self._tags = tags
        self._bindings = bindings
        self._closures: dict[str, frozenset[str]] = {}
        self._rows: dict[str, list[_Row]] = {}
        self._declared: dict[str, list[str]] = {}
        self._scopes: dict[str, frozenset[tuple[str, ...]]] = {}
        self._defined: dict[tuple[str, tuple[str, ...]], Place | None] = {}
        for path in sorted(tags):
            if tags[path].language in C:
                self._take(path, tags[path])

    def _take(self, path: str, tags: Tags) -> None:
        spaces = {qualified for _, qualified, kind, *_ in tags.symbols if kind == "module"}
        for name, qualified, kind, *_ in tags.symbols:
            outer = qualified.rpartition(".")[0]
            parts = tuple(part for part in qualified.split(".") if not _INLINE.fullmatch(part))
            row = _Row(path, qualified, parts, not outer or outer in spaces, kind == "function")
            self._rows.setdefault(name, []).append(row)
        for name in tags.declared:
            self._declared.setdefault(name, []).append(path)
        opened: set[tuple[str, ...]] = {()}
        for space in spaces:
            names = [name for name in space.split(".") if not _INLINE.fullmatch(name)]
            opened.update(tuple(names[:n]) for n in range(1, len(names) + 1))
        self._scopes[path] = frozenset(opened)

    def means(self, path: str, key: str) -> tuple[Place, int] | None:
        """Return what the beginning of a chain means in a file, and how many names that is."""
        names = tuple(key.split("."))
        if names[0] == STANDARD:
            return None
        visible = self.closure(path) | {path}
        for count in range(len(names), 0, -1):
            if (place := self._named(path, names[:count], visible)) is not None:
                return place, count
        return None

    def _named(self, path: str, names: tuple[str, ...], visible: "frozenset[str]") -> Place | None:
        rows = [
            row
            for row in self._rows.get(names[-1], ())
            if row.path in visible and self._fits(row, names, path)
        ]
        if rows:
            row = min(rows, key=lambda row: (row.path != path, -shared(row.path, path), row.path))
            return row.path, row.qualified
        for header in self._declared.get(names[-1], ()):
            if header not in visible:
                continue
            place = self.definition(header, names)
            if place is not None or len(names) == 1:
                return place or (header, names[-1])
        return self._of_class(names, visible) if len(names) > 1 else None

    def _fits(self, row: _Row, names: tuple[str, ...], path: str) -> bool:
        """Say whether a file can write a definition in this way."""
        if len(names) > 1:
            return row.parts[-len(names) :] == names
        return row.free and row.parts[:-1] in self._scopes[path]

    def definition(self, header: str, names: tuple[str, ...]) -> Place | None:
        """Return where a function is defined that a header declares, None when it is not clear."""
        key = header, names
        if key not in self._defined:
            self._defined[key] = self._definition(header, names)
        return self._defined[key]

    def _definition(self, header: str, names: tuple[str, ...]) -> Place | None:
        rows = [
            row
            for row in self._rows.get(names[-1], ())
            if row.is_function
            and row.free
            and row.parts[-len(names) :] == names
            and header in self.closure(row.path)
        ]
        if len(rows) > 1:
            stem = posixpath.splitext(posixpath.basename(header))[0]
            same = [row for row in rows if posixpath.basename(row.path).startswith(stem + ".")]
            rows = same or [row for row in rows if not is_test(row.path)]
        return (rows[0].path, rows[0].qualified) if len(rows) == 1 else None

    def _of_class(self, names: tuple[str, ...], visible: "frozenset[str]") -> Place | None:
        """Return the definition, out of its class, of a member whose class a file sees."""
        classes = {
            row.path
            for row in self._rows.get(names[-2], ())
            if row.path in visible and row.parts[-len(names) + 1 :] == names[:-1]
        }
        rows = [
            row
            for row in self._rows.get(names[-1], ())
            if row.parts[-len(names) :] == names and not classes.isdisjoint(self.closure(row.path))
        ]
        return (rows[0].path, rows[0].qualified) if len(rows) == 1 else None

    def closure(self, path: str) -> frozenset[str]:
        """Return the files that a file includes, and those that they include."""
        if path not in self._closures:
            out: set[str] = set()
            open_ = [path]
            while open_:
                targets = {
                    target for binding in self._bindings(open_.pop()) for target in binding.targets
                }
                new = {target for target in targets if target in self._tags} - out
                out |= new
                open_ += new
            self._closures[path] = frozenset(out - {path})
        return self._closures[path]
